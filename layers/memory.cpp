#include "layers/memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "layers/checked.h"
#include "layers/error.h"

namespace stagger::layers {
namespace {

constexpr int64_t kCacheLine = 64;
constexpr int64_t kHugePage = 2 << 20;

// The address sanitizer sees only what comes from the heap.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAlwaysHeap = true;
#else
constexpr bool kAlwaysHeap = false;
#endif

[[noreturn]] void out_of_memory(int64_t bytes) {
  throw ConfigError("out of memory: " + std::to_string(bytes) + " bytes were asked for");
}

Memory from_heap(int64_t bytes) {
  const auto size = static_cast<size_t>(round_up(bytes > 0 ? bytes : 1, kCacheLine));
  void* data = std::aligned_alloc(static_cast<size_t>(kCacheLine), size);
  if (data == nullptr) out_of_memory(bytes);
  std::memset(data, 0, size);
  return {static_cast<std::byte*>(data), bytes, [](std::byte* block) { std::free(block); }};
}

// Pages come zeroed, and only when they are touched: a plan can be made for more memory than will be used.
// One huge page more than needed leaves room to align.
Memory from_pages(int64_t bytes) {
  const auto size = static_cast<size_t>(round_up(bytes, kHugePage) + kHugePage);
  void* pages =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) out_of_memory(bytes);
  const auto address = reinterpret_cast<uintptr_t>(pages);
  const uintptr_t aligned = (address + kHugePage - 1) / kHugePage * kHugePage;
  auto* data = static_cast<std::byte*>(pages) + (aligned - address);
  ::madvise(data, size - (aligned - address), MADV_HUGEPAGE);
  return {data, bytes, [pages, size](std::byte*) { ::munmap(pages, size); }};
}

}  // namespace

Memory allocate_host(int64_t bytes) {
  require(bytes >= 0, "a negative number of bytes was asked for");
  return bytes >= kHugePage && !kAlwaysHeap ? from_pages(bytes) : from_heap(bytes);
}

}  // namespace stagger::layers

#include "runtime/data/idx_file.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>

#include "layers/error.h"

namespace stagger::runtime::data {
namespace {

constexpr int64_t kWordBytes = 4;
constexpr int64_t kFirstChunk = int64_t{1} << 20;

std::string hexadecimal(uint32_t value) {
  std::array<char, 11> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", value);
  return text.data();
}

}  // namespace

IdxFile::IdxFile(const std::string& path, uint32_t magic) : file_(path) {
  const int64_t dimensions = magic & 0xff;
  const int64_t header_bytes = kWordBytes * (1 + dimensions);
  const uint32_t found = read_word(0, header_bytes);
  if (found != magic)
    fail("magic number " + hexadecimal(found) + " found, " + hexadecimal(magic) + " (IDX " +
         (magic == kImages ? "images" : "labels") + ") expected");
  for (int64_t i = 1; i <= dimensions; ++i) sizes_.push_back(read_word(kWordBytes * i, header_bytes));
  if (sizes_[0] == 0) fail("holds no samples");
  for (int64_t size : sizes_) {
    if (size == 0) fail("header says " + sizes_in_words() + "; sizes are 1 or more");
    if (__builtin_mul_overflow(bytes_, size, &bytes_))
      fail("header says " + sizes_in_words() + ", which no file can hold");
  }
}

void IdxFile::fail(const std::string& what) const { throw layers::DataError(path() + ": " + what); }

uint32_t IdxFile::read_word(int64_t position, int64_t header_bytes) {
  std::array<uint8_t, kWordBytes> bytes{};
  const int64_t count = file_.read(bytes.data(), kWordBytes);
  if (position + count == 0)
    fail("is empty; an IDX header of " + std::to_string(header_bytes) + " bytes is expected");
  if (count < kWordBytes)
    fail("truncated: ends inside its header after " + std::to_string(position + count) + " of " +
         std::to_string(header_bytes) + " bytes");
  uint32_t word = 0;
  for (uint8_t byte : bytes) word = word << 8 | byte;
  return word;
}

std::string IdxFile::sizes_in_words() const {
  std::string text;
  for (int64_t size : sizes_) {
    if (!text.empty()) text += " x ";
    text += std::to_string(size);
  }
  return text;
}

std::vector<uint8_t> IdxFile::read_body() try {
  std::vector<uint8_t> body = read_at_most(bytes_);
  if (static_cast<int64_t>(body.size()) < bytes_)
    fail("truncated: header says " + sizes_in_words() + " = " + std::to_string(bytes_) + " bytes, " +
         std::to_string(body.size()) + " found");
  uint8_t surplus = 0;
  if (file_.read(&surplus, 1) != 0)
    fail("trailing bytes: longer than the " + sizes_in_words() + " = " + std::to_string(bytes_) +
         " bytes that its header says");
  return body;
} catch (const std::bad_alloc&) {
  fail("does not fit into memory: " + std::to_string(bytes_) + " bytes");
}

std::vector<uint8_t> IdxFile::read_at_most(int64_t bytes) {
  std::vector<uint8_t> body;
  int64_t have = 0;
  while (have < bytes) {
    const int64_t room = std::min(bytes, std::max(kFirstChunk, 2 * have));
    // Never doubled by the vector itself, so that the last growth ends at the exact size.
    body.reserve(static_cast<size_t>(room));
    body.resize(static_cast<size_t>(room));
    const int64_t count = file_.read(body.data() + have, room - have);
    have += count;
    if (have < room) break;
  }
  body.resize(static_cast<size_t>(have));
  return body;
}

}  // namespace stagger::runtime::data

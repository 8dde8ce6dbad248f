// Owned, aligned memory on one device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace stagger::layers {

/// A block of device memory. Move-only; frees itself. Aligned to at least 64 bytes; its contents start
/// undefined unless the device says otherwise.
class Memory {
 public:
  using Free = std::function<void(std::byte*)>;

  Memory() = default;
  Memory(std::byte* data, int64_t bytes, Free free) : data_(data, std::move(free)), bytes_(bytes) {}

  std::byte* data() const { return data_.get(); }
  /// The block as floats.
  float* floats() const { return reinterpret_cast<float*>(data_.get()); }
  int64_t bytes() const { return bytes_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  std::unique_ptr<std::byte, Free> data_;
  int64_t bytes_ = 0;
};

/// Host memory of `bytes`, zeroed, in huge pages where the system grants them. Throws ConfigError where there
/// is not that much.
Memory allocate_host(int64_t bytes);

}  // namespace stagger::layers

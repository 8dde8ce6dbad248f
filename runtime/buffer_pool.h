// Message buffers that change hands without being copied.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "layers/checked.h"
#include "layers/error.h"
#include "runtime/progress.h"
#include "runtime/token.h"

namespace stagger::runtime {

class BufferPool;

/// A buffer of a pool, with room for a header and a tensor. Move-only; goes back to its pool when it dies.
/// The pool must outlive it.
class Buffer {
 public:
  Buffer() = default;
  Buffer(BufferPool* pool, std::byte* data) : pool_(pool), data_(data) {}
  Buffer(Buffer&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      release();
      pool_ = std::exchange(other.pool_, nullptr);
      data_ = std::exchange(other.data_, nullptr);
    }
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  explicit operator bool() const { return data_ != nullptr; }
  std::byte* data() const { return data_; }
  float* tensor() const { return reinterpret_cast<float*>(data_ + kHeaderBytes); }
  TokenHeader header() const {
    TokenHeader header;
    std::memcpy(&header, data_, sizeof(header));
    return header;
  }
  void set_header(const TokenHeader& header) const { std::memcpy(data_, &header, sizeof(header)); }

 private:
  void release();

  BufferPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
};

/// A fixed number of buffers of one size, allocated at the start. Not thread-safe.
class BufferPool {
 public:
  /// Buffers for tensors of up to `payload_bytes`.
  BufferPool(Progress& progress, int64_t payload_bytes, int64_t count)
      : bytes_(kHeaderBytes + layers::round_up(payload_bytes, kBlockBytes)) {
    for (int64_t i = 0; i < count; ++i) free_.push_back(progress.allocate(bytes_));
  }
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// Size of a buffer, header included; a multiple of kBlockBytes.
  int64_t bytes() const { return bytes_; }
  bool empty() const { return free_.empty(); }
  /// Throws InternalError where all are out: the schedule says how many can be, so that is a fault in the
  /// loop.
  Buffer take() {
    layers::require(!free_.empty(), "a queue holds more tokens than its schedule allows");
    std::byte* data = free_.back();
    free_.pop_back();
    return {this, data};
  }

 private:
  friend class Buffer;
  int64_t bytes_;
  std::vector<std::byte*> free_;
};

inline void Buffer::release() {
  if (data_ != nullptr) pool_->free_.push_back(data_);
  data_ = nullptr;
}

}  // namespace stagger::runtime

// Counter-based randomness: every number is a function of what it is for, never of when it is drawn.
//
// The generator is Philox-4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011). A Stream is named by (seed, purpose, layer, epoch, batch); its numbers are indexed by (sample,
// i). A forward that is recomputed later therefore meets the same numbers, whatever else was drawn in
// between.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stagger::layers {

/// Ten rounds of Philox-4x32 on one counter with one key.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// What a stream of random numbers is for. Values are part of the reproducibility promise: append, never
/// renumber.
enum class Purpose : uint32_t {
  kInitialisation = 1,
  kShuffle = 2,
  kAugmentation = 3,
  kDropout = 4,
  kSynthetic = 5
};

/// A 64-bit name for a layer that does not depend on how the model is cut (FNV-1a of its full name).
uint64_t layer_key(std::string_view name);

/// A stream of random numbers, addressable at any position. Copyable; holds no state that a draw would
/// change.
class Stream {
 public:
  Stream(uint64_t seed, Purpose purpose, uint64_t layer = 0, int64_t epoch = 0, int64_t batch = 0);

  /// Four independent 32-bit numbers: block `i` of sample `sample`.
  std::array<uint32_t, 4> block(int64_t sample, int64_t i) const;
  /// One 32-bit number: the i-th of sample `sample` (number i % 4 of block i / 4).
  uint32_t bits(int64_t sample, int64_t i) const;
  /// Uniform in [0, 1) with 24 bits, so that float holds it exactly.
  float uniform(int64_t sample, int64_t i) const;
  /// Uniform in 0 .. bound-1, without bias beyond 2^-32. REQUIRES: 1 <= bound <= 2^32.
  int64_t below(int64_t sample, int64_t i, int64_t bound) const;
  /// Standard normal (Box-Muller on numbers 2i and 2i+1).
  float normal(int64_t sample, int64_t i) const;

 private:
  std::array<uint32_t, 2> key_;
};

}  // namespace stagger::layers

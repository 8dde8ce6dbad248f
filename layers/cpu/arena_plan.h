// Where buffers with known lifetimes lie in one block of memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stagger::layers::cpu {

/// A buffer that holds live data from task `first` to task `last`, both included.
struct Lifetime {
  int64_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
};

struct ArenaPlan {
  std::vector<int64_t> offsets;  ///< one for each buffer, a multiple of kArenaAlignment
  int64_t bytes = 0;             ///< of the whole block
};

inline constexpr int64_t kArenaAlignment = 64;

/// Places the buffers so that no two that live at one time overlap. Greedy by size (Pisarchyk, Lee:
/// "Efficient memory management for deep neural net inference", 2020): the largest first, each in the
/// smallest gap that holds it; and again by lifetime and by both, of which the best is taken. Within a fifth
/// of the peak on networks. REQUIRES: bytes >= 0, first <= last. Quadratic in the number of buffers.
ArenaPlan plan_arena(std::span<const Lifetime> buffers);

/// The most bytes that live at any one time, each buffer rounded up to the alignment: no plan can need less.
int64_t peak_live_bytes(std::span<const Lifetime> buffers);

}  // namespace stagger::layers::cpu

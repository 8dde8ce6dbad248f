// How our own loops reach the vector units and the threads.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

/// Before a function: compiles it for each of these instruction sets; the best one is chosen when the program
/// starts. The loops of such functions have no order of additions that an instruction set could change, and
/// no fused multiply-add (-ffp-contract=off): results are the same everywhere. Sanitizers do not work with
/// such functions.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STAGGER_VECTORISED __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define STAGGER_VECTORISED
#endif

namespace stagger::layers::cpu {

/// Calls work(begin, end) for pieces of 0 .. count, one a thread. Pieces begin at multiples of `grain`.
template <class Work>
void parallel_for(int64_t count, int64_t grain, const Work& work) {
  const int64_t grains = (count + grain - 1) / grain;
#pragma omp parallel if (grains > 1)
  {
    const int64_t threads = omp_get_num_threads();
    const int64_t thread = omp_get_thread_num();
    const int64_t begin = std::min(count, grains * thread / threads * grain);
    const int64_t end = std::min(count, grains * (thread + 1) / threads * grain);
    if (begin < end) work(begin, end);
  }
}

}  // namespace stagger::layers::cpu

// The notation of Xu, Huo and Huang (CVPR 2020) for diversely stale parameters: DSP(1,1,0;4,2,0).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stagger::launch {

struct QueueLengths {
  std::vector<int64_t> activation;  ///< one a hop
  std::vector<int64_t> error;
};

/// Queue lengths from "a_0,...,a_K-1;s_0,...,s_K-1": the lengths of the activation queues, the last stage's
/// being 0, and the staleness of the stages, the last one's being 0. The error queues follow, e[k] = s[k] -
/// s[k+1] - a[k]. This reading of the paper's notation is our own.
///
/// Throws ConfigError, beginning with "found", where the text has another form or not `stages` numbers in
/// each part, a last number is not 0, or a length is not in 0 .. 1000.
QueueLengths parse_dsp(const std::string& text, int64_t stages);

}  // namespace stagger::launch

// Diversely Stale Parameters (Xu, Huo, Huang: "On the Acceleration of Deep Learning Model Parallelism with
// Staleness", CVPR 2020): bubbles in both queues of every hop, the input of a batch replayed through the
// current weights.
#pragma once

#include "runtime/schedule.h"

namespace stagger::runtime {

Schedule make_dsp(const ScheduleOptions& options);

}  // namespace stagger::runtime

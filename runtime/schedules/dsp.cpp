#include "runtime/schedules/dsp.h"

namespace stagger::runtime {

Schedule make_dsp(const ScheduleOptions& options) {
  return {.method = {},
          .a = options.activation_queue,
          .e = options.error_queue,
          .weights = Schedule::Weights::kCurrent,
          .replay = Schedule::Replay::kRecompute};
}

}  // namespace stagger::runtime

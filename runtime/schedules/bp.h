// Backpropagation: all queues start empty, so that each batch passes forward and backward within one step.
#pragma once

#include "runtime/schedule.h"

namespace stagger::runtime {

Schedule make_bp(const ScheduleOptions& options);

}  // namespace stagger::runtime

// How large the queue ends of a stage are: the loop makes them so, `describe` says so beforehand.
#pragma once

#include <cstdint>
#include <optional>

#include "layers/shape.h"
#include "runtime/inbox.h"
#include "runtime/schedule.h"

namespace stagger::runtime {

struct QueuePlanOptions {
  int64_t stage = 0;
  int previous = -1;     ///< rank of stage-1
  int next = -1;         ///< rank of stage+1
  layers::Shape input;   ///< of one sample
  layers::Shape output;  ///< of one sample; not used on the last stage
  int64_t most_training_samples = 1;
  int64_t most_samples = 1;  ///< of any batch, evaluations included
};

/// The ends that a stage has: all four in the middle, the two towards its neighbour at an end of the
/// pipeline.
struct QueuePlan {
  std::optional<QueueOptions> activation_in;
  std::optional<QueueOptions> activation_out;
  std::optional<QueueOptions> error_in;
  std::optional<QueueOptions> error_out;
  int64_t image_buffers = 0;  ///< stage 0: buffers for images instead of an inbox
  int64_t image_bytes = 0;    ///< payload of each

  /// Bytes of all message buffers, those that keep saved inputs included.
  int64_t bytes() const;
};

QueuePlan plan_queues(const Schedule& schedule, const QueuePlanOptions& options);

}  // namespace stagger::runtime

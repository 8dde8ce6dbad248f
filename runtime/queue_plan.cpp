#include "runtime/queue_plan.h"

#include "layers/checked.h"

namespace stagger::runtime {
namespace {

constexpr int64_t kFloatBytes = 4;

int64_t payload(const layers::Shape& shape, int64_t samples) {
  return layers::checked_product(shape.elements(), layers::checked_product(samples, kFloatBytes));
}

int64_t buffer(int64_t payload_bytes) { return kHeaderBytes + layers::round_up(payload_bytes, kBlockBytes); }

}  // namespace

QueuePlan plan_queues(const Schedule& schedule, const QueuePlanOptions& options) {
  const int64_t k = options.stage;
  QueuePlan plan;
  if (k == 0) {
    plan.image_buffers = schedule.saved_inputs(0);
    plan.image_bytes = payload(options.input, options.most_samples);
  } else {
    QueueOptions queue{.peer = options.previous, .ring = schedule.ring(k - 1)};
    queue.direction = Direction::kError;
    queue.payload_bytes = payload(options.input, options.most_training_samples);
    plan.error_out = queue;
    queue.direction = Direction::kActivation;
    queue.bubbles = schedule.a[static_cast<size_t>(k - 1)];
    queue.payload_bytes = payload(options.input, options.most_samples);
    queue.held = schedule.saved_inputs(k);
    plan.activation_in = queue;
  }
  if (k < schedule.stages() - 1) {
    QueueOptions queue{.peer = options.next, .ring = schedule.ring(k)};
    queue.direction = Direction::kActivation;
    queue.payload_bytes = payload(options.output, options.most_samples);
    plan.activation_out = queue;
    queue.direction = Direction::kError;
    queue.bubbles = schedule.e[static_cast<size_t>(k)];
    queue.payload_bytes = payload(options.output, options.most_training_samples);
    plan.error_in = queue;
  }
  return plan;
}

int64_t QueuePlan::bytes() const {
  int64_t sum = image_buffers * buffer(image_bytes);
  for (const auto* inbox : {&activation_in, &error_in}) {
    if (*inbox) sum += ((*inbox)->ring + (*inbox)->held) * buffer((*inbox)->payload_bytes);
  }
  for (const auto* outbox : {&activation_out, &error_out}) {
    if (*outbox) sum += (*outbox)->ring * buffer((*outbox)->payload_bytes);
  }
  return sum;
}

}  // namespace stagger::runtime

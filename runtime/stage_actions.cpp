// What each action does: the tokens it takes, the work it starts, the tokens it puts.
#include <utility>

#include "layers/error.h"
#include "runtime/stage_loop.h"

namespace stagger::runtime {
namespace {

constexpr int64_t kFloatBytes = 4;

}  // namespace

void StageLoop::start(Action action) {
  switch (action) {
    case Action::kForward:
      return start_forward();
    case Action::kReplay:
      return start_replay();
    case Action::kBackward:
      return start_backward();
    case Action::kUpdate:
      return start_update();
    case Action::kEvaluate:
      return start_evaluate();
  }
}

void StageLoop::finish(Action action) {
  switch (action) {
    case Action::kForward:
      return finish_forward();
    case Action::kBackward:
      return finish_backward();
    case Action::kEvaluate:
      return finish_evaluate();
    case Action::kReplay:
    case Action::kUpdate:
      return;
  }
}

Token StageLoop::take_activation() {
  if (!first()) {
    Token token = activation_in_->take();
    learn(token.header);
    return token;
  }
  Token token;
  if (machine_.step() < source_->batches() || !training()) {
    token.header = source_->next();
    token.buffer = inputs_->take();
    source_->take(token.buffer.tensor());
  }
  token.header.stop_at = stop_at_;
  return token;
}

// Bubbles that stood in the queue before the first step know nothing of the run; all others do.
void StageLoop::learn(const TokenHeader& header) {
  if (header.stop_at == kNever) return;
  layers::require(header.stop_at >= machine_.step(), "the end of the run was told too late");
  stop_at_ = header.stop_at;
}

void StageLoop::start_forward() {
  ledger_.activation_came();
  forward_ = take_activation();
  if (forward_.header.kind == TokenKind::kBubble) return;
  const float* input = forward_.buffer.tensor();
  if (last()) {
    compute_.forward_loss(forward_.header, input, sink_->labels(forward_.header));
  } else {
    const bool keep = !options_.schedule.recomputes(stage());
    compute_.forward(forward_.header, input, activation_out_->reserve(), keep);
  }
}

void StageLoop::finish_forward() {
  const TokenHeader header = forward_.header;
  if (last() && header.kind == TokenKind::kTraining) sink_->scored(header, compute_.loss());
  send_activation(header);
  replay_.push_back({header, std::move(forward_.buffer), machine_.step(), compute_.version()});
  ledger_.saved_inputs(static_cast<int64_t>(replay_.size()));
}

void StageLoop::start_evaluate() {
  ledger_.activation_came();
  forward_ = take_activation();
  const TokenHeader& header = forward_.header;
  if (last()) {
    compute_.evaluate(header, forward_.buffer.tensor(), nullptr, sink_->labels(header));
  } else {
    compute_.evaluate(header, forward_.buffer.tensor(), activation_out_->reserve(), {});
  }
}

void StageLoop::finish_evaluate() {
  if (last()) sink_->scored(forward_.header, compute_.loss());
  send_activation(forward_.header);
  forward_.buffer = {};
}

void StageLoop::send_activation(TokenHeader header) {
  if (last()) return;
  const bool tensor = header.kind == TokenKind::kTraining || header.kind == TokenKind::kEvaluation;
  header.payload_bytes = tensor ? header.samples * options_.queues.output.elements() * kFloatBytes : 0;
  header.step = machine_.step();
  activation_out_->send(header);
}

void StageLoop::start_replay() {
  backward_ = std::move(replay_.front());
  replay_.pop_front();
  if (backward_.header.kind == TokenKind::kBubble) return;
  if (options_.schedule.recomputes(stage())) compute_.replay(backward_.header, backward_.input.tensor());
}

void StageLoop::start_backward() {
  ledger_.error_came();
  if (!last()) error_ = error_in_->take();
  check_batch();
  if (backward_.header.kind == TokenKind::kBubble) return;
  ledger_.used_batch(machine_.step() - backward_.step, compute_.version() - backward_.version);
  compute_.backward(backward_.header, last() ? nullptr : error_.buffer.tensor(),
                    first() ? nullptr : error_out_->reserve());
}

void StageLoop::check_batch() const {
  const TokenHeader& saved = backward_.header;
  layers::require(last() || (error_.header.kind == saved.kind && error_.header.batch == saved.batch),
                  "the error that arrived is not that of the batch that was replayed");
  if (saved.kind == TokenKind::kBubble) return;
  const int64_t k = stage();
  layers::require(machine_.step() == options_.schedule.backward_step(k, saved.batch) &&
                      backward_.step == options_.schedule.forward_step(k, saved.batch),
                  "a batch is used in another step than its schedule declares");
  layers::require(compute_.version() - backward_.version == options_.schedule.updates_between(k, saved.batch),
                  "the staleness of a gradient is not what its schedule declares");
}

void StageLoop::finish_backward() {
  error_.buffer = {};
  backward_.input = {};
  if (first()) return;
  TokenHeader header = backward_.header;
  const bool tensor = header.kind == TokenKind::kTraining;
  header.payload_bytes = tensor ? header.samples * options_.queues.input.elements() * kFloatBytes : 0;
  header.step = machine_.step();
  error_out_->send(header);
}

void StageLoop::start_update() {
  const TokenHeader& header = backward_.header;
  if (header.kind == TokenKind::kBubble) return;
  const bool apply = ++group_ == options_.schedule.accumulate || header.last != 0;
  if (apply) group_ = 0;
  compute_.update(header, apply);
}

}  // namespace stagger::runtime

// Which action when: readiness, the end of a run, and what to do while there is nothing to do.
#include "runtime/stage_loop.h"

#include <time.h>

#include <utility>

#include "layers/error.h"

namespace stagger::runtime {
namespace {

Lane lane_of(Action action) {
  return action == Action::kForward || action == Action::kEvaluate ? Lane::kForward : Lane::kBackward;
}

double thread_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

StageLoop::StageLoop(StageLoopOptions options, Progress& progress, Compute& compute, Source* source,
                     Sink* sink)
    : options_(std::move(options)),
      progress_(progress),
      compute_(compute),
      source_(source),
      sink_(sink),
      machine_(options_.schedule, options_.queues.stage),
      watchdog_(options_.watchdog_seconds, [this](const std::string& text) {
        if (options_.warn) options_.warn(text);
      }) {
  layers::require(!first() || source_ != nullptr, "stage 0 has no source");
  layers::require(!last() || sink_ != nullptr, "the last stage has no sink");
  if (first()) stop_at_ = options_.schedule.total_steps(source_->batches());
  make_queues(progress);
  for (int64_t i = 0; i < options_.schedule.staleness(stage()); ++i) replay_.emplace_back();
}

void StageLoop::make_queues(Progress& progress) {
  const QueuePlan plan = plan_queues(options_.schedule, options_.queues);
  if (plan.image_buffers > 0)
    inputs_ = std::make_unique<BufferPool>(progress, plan.image_bytes, plan.image_buffers);
  if (plan.activation_in) activation_in_ = std::make_unique<Inbox>(progress, *plan.activation_in);
  if (plan.activation_out) activation_out_ = std::make_unique<Outbox>(progress, *plan.activation_out);
  if (plan.error_in) error_in_ = std::make_unique<Inbox>(progress, *plan.error_in);
  if (plan.error_out) error_out_ = std::make_unique<Outbox>(progress, *plan.error_out);
}

StageReport StageLoop::run() {
  const double start = last_event_ = now();
  watchdog_.moved(start);
  while (!ended_) {
    bool moved = progress_.poll();
    moved = finish_running() || moved;
    moved = start_ready() || moved;
    moved = (!training() && advance_end()) || moved;
    if (!moved) {
      idle();
      continue;
    }
    last_event_ = now();
    watchdog_.moved(last_event_);
    idle_.reset();
  }
  StageReport& report = ledger_.report();
  report.total = now() - start;
  report.steps = machine_.step();
  if (activation_out_) report.sent_bytes += activation_out_->sent_bytes();
  if (error_out_) report.sent_bytes += error_out_->sent_bytes();
  report.message_memory = progress_.allocated_bytes();
  return report;
}

// What is at the heads of the queues. After the last step only evaluations are left to do.
Ports StageLoop::ports() {
  Ports ports;
  ports.activation_room = last() || activation_out_->room();
  ports.error_room = first() || error_out_->room();
  ports.error = !last() && error_in_->head().has_value();
  if (first()) {
    const bool flush = machine_.step() >= source_->batches() && training();
    const TokenKind next = source_->next().kind;
    ports.activation = flush || (next == TokenKind::kTraining && source_->ready());
    ports.evaluation = !flush && next == TokenKind::kEvaluation && source_->ready();
  } else if (const auto head = activation_in_->head()) {
    ports.evaluation = head->kind == TokenKind::kEvaluation;
    ports.activation = training() && !ports.evaluation;
  }
  return ports;
}

bool StageLoop::start_ready() {
  bool moved = false;
  for (const Action action : options_.order) {
    if (!training() && action != Action::kEvaluate) continue;
    moved = start_if_ready(action) || moved;
  }
  return moved;
}

bool StageLoop::start_if_ready(Action action) {
  if (machine_.blocker(action, ports()) != Blocker::kNone || put_off(action)) return false;
  machine_.start(action);
  started_[static_cast<size_t>(action)] = now();
  start(action);
  finish_running();
  return true;
}

bool StageLoop::put_off(Action action) {
  if (!options_.pause) return false;
  auto& deadline = not_before_[static_cast<size_t>(action)];
  if (!deadline) deadline = now() + options_.pause(machine_.step(), action);
  if (now() < *deadline) return true;
  deadline.reset();
  return false;
}

bool StageLoop::finish_running() {
  bool moved = false;
  for (int i = 0; i < kActions; ++i) {
    auto& started = started_[static_cast<size_t>(i)];
    const auto action = static_cast<Action>(i);
    if (!started || !compute_.finished(lane_of(action))) continue;
    ledger_.worked(action, now() - *started);
    started.reset();
    finish(action);
    machine_.finish(action);
    moved = true;
  }
  return moved;
}

// After the last step the queues hold the bubbles that they started with; behind them come the evaluations of
// the flushed model, which start_ready() runs, and the end.
bool StageLoop::advance_end() {
  bool moved = drain_bubbles();
  if (!end_taken_ && may_take_end()) {
    if (!first()) activation_in_->take();
    send_activation({.kind = TokenKind::kEnd, .last = 1, .stop_at = stop_at_});
    end_taken_ = moved = true;
  }
  const bool sent = (last() || activation_out_->empty()) && (first() || error_out_->empty());
  if (!end_taken_ || !sent) return moved;
  if (activation_in_) activation_in_->close();
  if (error_in_) error_in_->close();
  ended_ = true;
  return true;
}

bool StageLoop::may_take_end() {
  if (!machine_.between_steps()) return false;
  if (!last()) {
    const int64_t all_errors = machine_.step() + options_.schedule.e[static_cast<size_t>(stage())];
    if (error_in_->taken() != all_errors || !activation_out_->room()) return false;
  }
  if (first()) return source_->next().kind == TokenKind::kEnd;
  const auto head = activation_in_->head();
  return head && head->kind == TokenKind::kEnd;
}

bool StageLoop::drain_bubbles() {
  bool moved = false;
  for (Inbox* inbox : {activation_in_.get(), error_in_.get()}) {
    if (inbox == nullptr) continue;
    for (auto head = inbox->head(); head && head->kind == TokenKind::kBubble; head = inbox->head()) {
      inbox->take();
      moved = true;
    }
    layers::require(!inbox->head() || inbox->head()->kind != TokenKind::kTraining,
                    "a batch was left in a queue after the last step");
  }
  return moved;
}

void StageLoop::idle() {
  const double cpu = thread_cpu_seconds();
  const double begin = last_event_;
  idle_.wait();
  last_event_ = now();
  const Ports seen = ports();
  const bool forward_waits = machine_.blocker(Action::kForward, seen) == Blocker::kActivation;
  const bool backward_waits = machine_.blocker(Action::kBackward, seen) == Blocker::kError;
  ledger_.waited({.activation = forward_waits,
                  .error = backward_waits,
                  .room = !seen.activation_room || !seen.error_room},
                 last_event_ - begin);
  ledger_.report().idle_cpu += thread_cpu_seconds() - cpu;
  watchdog_.waiting(last_event_, [this] { return describe_wait(); });
}

std::string StageLoop::describe_wait() {
  const Ports seen = ports();
  std::string text = where() + " has waited";
  if (machine_.blocker(Action::kForward, seen) == Blocker::kActivation) {
    text +=
        first() ? " for data" : " for the activation from rank " + std::to_string(options_.queues.previous);
  }
  if (machine_.blocker(Action::kBackward, seen) == Blocker::kError) {
    text += " for the error from rank " + std::to_string(options_.queues.next);
  }
  if (!seen.activation_room) text += " for room in the queue to rank " + std::to_string(options_.queues.next);
  if (!seen.error_room) text += " for room in the queue to rank " + std::to_string(options_.queues.previous);
  return text;
}

std::string StageLoop::where() const {
  const int64_t step = machine_.step();
  std::string text = "stage " + std::to_string(stage()) + ", step " + std::to_string(step);
  const int64_t batch = step - options_.schedule.delay_to(stage());
  if (batch >= 0) text += ", batch " + std::to_string(batch);
  return text;
}

double StageLoop::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - epoch_).count();
}

}  // namespace stagger::runtime

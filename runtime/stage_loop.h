// The event loop of one stage: which queue moved, which work ended, which action is ready, is it over.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/compute.h"
#include "runtime/ends.h"
#include "runtime/idle.h"
#include "runtime/inbox.h"
#include "runtime/ledger.h"
#include "runtime/outbox.h"
#include "runtime/queue_plan.h"
#include "runtime/schedule.h"
#include "runtime/step_machine.h"
#include "runtime/watchdog.h"

namespace stagger::runtime {

struct StageLoopOptions {
  Schedule schedule;
  QueuePlanOptions queues;  ///< and which stage this is
  double watchdog_seconds = 60;
  std::function<void(const std::string&)> warn;  ///< for the watchdog; may be empty

  /// The order in which ready actions are tried. Changes when things happen, never what comes out.
  std::array<Action, kActions> order{Action::kUpdate, Action::kEvaluate, Action::kForward, Action::kReplay,
                                     Action::kBackward};
  /// Seconds by which the start of an action is put off while messages keep moving; may be empty.
  std::function<double(int64_t step, Action)> pause;
};

/// Runs a stage from the first step to the end of the evaluations of the flushed model.
///
/// Owns the stage's four queue ends and the replay queue. Nothing in here is collective, and no decision
/// depends on time: what a stage does in step n is written in the schedule and in the headers of its tokens.
/// Every backward checks that the batch it works on, and the number of weight changes since that batch's
/// forward, are those that the schedule declares; otherwise it throws InternalError.
class StageLoop {
 public:
  /// `source` on stage 0 and `sink` on the last stage must be given; all must outlive the loop.
  StageLoop(StageLoopOptions options, Progress& progress, Compute& compute, Source* source, Sink* sink);

  StageReport run();
  /// "stage 1, step 37, batch 33", for messages to people.
  std::string where() const;

 private:
  /// A batch between its forward and its backward.
  struct Saved {
    TokenHeader header;
    Buffer input;
    int64_t step = 0;
    int64_t version = 0;
  };

  int64_t stage() const { return options_.queues.stage; }
  bool first() const { return stage() == 0; }
  bool last() const { return stage() == options_.schedule.stages() - 1; }
  bool training() const { return machine_.step() < stop_at_; }

  void make_queues(Progress& progress);
  Ports ports();
  bool start_ready();
  bool start_if_ready(Action action);
  bool put_off(Action action);
  bool finish_running();
  void start(Action action);
  void finish(Action action);
  Token take_activation();
  void learn(const TokenHeader& header);
  void start_forward();
  void finish_forward();
  void start_evaluate();
  void finish_evaluate();
  void start_replay();
  void start_backward();
  void check_batch() const;
  void finish_backward();
  void start_update();
  void send_activation(TokenHeader header);
  bool advance_end();
  bool may_take_end();
  bool drain_bubbles();
  void idle();
  std::string describe_wait();
  double now() const;

  StageLoopOptions options_;
  Progress& progress_;
  Compute& compute_;
  Source* source_;
  Sink* sink_;
  StepMachine machine_;
  std::unique_ptr<BufferPool> inputs_;  // stage 0: images; elsewhere they are the inbox's
  std::unique_ptr<Inbox> activation_in_, error_in_;
  std::unique_ptr<Outbox> activation_out_, error_out_;
  std::deque<Saved> replay_;
  Token forward_;   // on the forward lane
  Saved backward_;  // on the backward lane
  Token error_;
  std::array<std::optional<double>, kActions> started_{};
  std::array<std::optional<double>, kActions> not_before_{};
  int64_t stop_at_ = kNever;
  int64_t group_ = 0;  // batches whose gradients wait for the update of their group
  bool end_taken_ = false;
  bool ended_ = false;
  Ledger ledger_;
  Idle idle_;
  Watchdog watchdog_;
  std::chrono::steady_clock::time_point epoch_ = std::chrono::steady_clock::now();
  double last_event_ = 0;
};

}  // namespace stagger::runtime

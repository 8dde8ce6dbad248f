// What a stage did with its time, and how stale its gradients were.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "runtime/step_machine.h"

namespace stagger::runtime {

/// Plain numbers, so that a report can be sent as it is. Times are in seconds.
struct StageReport {
  int64_t steps = 0;
  int64_t batches = 0;                  ///< whose errors came back
  std::array<double, kActions> busy{};  ///< computing, by action
  double wait_activation = 0;           ///< nothing to do, and the activation (stage 0: the data) came last
  double wait_error = 0;                ///< nothing to do, and the error came last
  double wait_room = 0;                 ///< nothing to do for want of room in a queue
  double put_off = 0;                   ///< nothing to do but what a pause holds back
  double total = 0;                     ///< from the first step to the end of the last
  double idle_cpu = 0;                  ///< processor time used while there was nothing to do
  /// Steps, and changes of the weights, between the forward and the backward of a batch.
  int64_t least_steps = std::numeric_limits<int64_t>::max();
  int64_t most_steps = 0;
  int64_t least_updates = std::numeric_limits<int64_t>::max();
  int64_t most_updates = 0;
  int64_t most_saved_inputs = 0;
  int64_t sent_bytes = 0;
  int64_t message_memory = 0;  ///< bytes of message buffers, saved inputs included
  int64_t model_memory = 0;    ///< bytes of weights, gradients, optimizer and workspace

  double busy_total() const;
};

/// Books kept while the loop runs.
class Ledger {
 public:
  void worked(Action action, double seconds) { report_.busy[static_cast<size_t>(action)] += seconds; }
  /// What was missing while nothing could run.
  struct Missing {
    bool activation = false;
    bool error = false;
    bool room = false;
  };
  /// Nothing could run for `seconds`. Where activation and error are both missing, the time is booked on
  /// whichever comes last: see activation_came and error_came.
  void waited(const Missing& missing, double seconds);
  void activation_came();
  void error_came();
  void used_batch(int64_t steps, int64_t updates);
  void saved_inputs(int64_t count);

  StageReport& report() { return report_; }

 private:
  StageReport report_;
  double both_ = 0;
};

}  // namespace stagger::runtime

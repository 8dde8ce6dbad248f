// What one stage may do next: the order of F, R, B and U, without tensors, messages or clocks.
//
// The real loop, the tests with fake stages and a simulation in virtual time run this same object.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/schedule.h"

namespace stagger::runtime {

enum class Action : int { kForward = 0, kReplay = 1, kBackward = 2, kUpdate = 3, kEvaluate = 4 };
constexpr int kActions = 5;
const char* name(Action action);

/// Why an action may not start. The order is that of the checks: the first reason that holds is given.
enum class Blocker {
  kNone,        ///< it may start
  kDone,        ///< it has started or ended in this step
  kLane,        ///< other work runs on its lane
  kOrder,       ///< another action of this step comes first
  kActivation,  ///< its activation token has not arrived
  kError,       ///< its error token has not arrived
  kRoom,        ///< the queue to the neighbour has no room
};

/// What a stage sees of its queues.
struct Ports {
  bool activation = false;  ///< a training token or bubble is at the head (stage 0: the next batch is ready)
  bool evaluation = false;  ///< an evaluation token is at the head
  bool error = false;       ///< an error token is at the head
  bool activation_room = false;  ///< true on the last stage
  bool error_room = false;       ///< true on stage 0
};

/// The progress of one stage through its steps. F and evaluation share a lane, R and B share another; lanes
/// may run at the same time. U needs both.
///
/// Guarantees: in every step exactly one F, one R, one B, one U; U last; R before B; evaluations before F,
/// with the weights that the last U left. Where the stage has no staleness, F keeps what backward needs, and
/// R follows F at once.
class StepMachine {
 public:
  StepMachine(const Schedule& schedule, int64_t stage);

  /// May `action` start now?
  Blocker blocker(Action action, const Ports& ports) const;
  /// REQUIRES: blocker(action, .) is kNone.
  void start(Action action);
  /// REQUIRES: it was started. Finishing U begins the next step.
  void finish(Action action);

  /// Steps completed, which is also the number of the current one.
  int64_t step() const { return step_; }
  /// No action of the current step has begun and nothing runs: where a run ends or is cut.
  bool between_steps() const;

 private:
  enum class State : char { kWaiting, kRunning, kDone };
  State& state(Action action) { return state_[static_cast<size_t>(action)]; }
  State state(Action action) const { return state_[static_cast<size_t>(action)]; }
  bool done(Action action) const { return state(action) == State::kDone; }
  bool running(Action action) const { return state(action) == State::kRunning; }
  bool lane_busy(Action action) const;
  Blocker order(Action action) const;
  Blocker input(Action action, const Ports& ports) const;

  bool last_;
  bool recomputes_;
  bool immediate_;  // forward and backward of a batch fall into one step
  int64_t step_ = 0;
  std::array<State, kActions> state_{};
};

}  // namespace stagger::runtime

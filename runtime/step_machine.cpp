#include "runtime/step_machine.h"

#include <algorithm>

#include "layers/error.h"

namespace stagger::runtime {

const char* name(Action action) {
  constexpr std::array<const char*, kActions> kNames{"forward", "recompute", "backward", "update",
                                                     "evaluate"};
  return kNames[static_cast<size_t>(action)];
}

StepMachine::StepMachine(const Schedule& schedule, int64_t stage)
    : last_(stage == schedule.stages() - 1),
      recomputes_(schedule.recomputes(stage)),
      immediate_(schedule.staleness(stage) == 0) {}

bool StepMachine::lane_busy(Action action) const {
  const bool forward_lane = running(Action::kForward) || running(Action::kEvaluate);
  const bool backward_lane = running(Action::kReplay) || running(Action::kBackward);
  switch (action) {
    case Action::kForward:
    case Action::kEvaluate:
      return forward_lane || running(Action::kUpdate);
    case Action::kReplay:
    case Action::kBackward:
      return backward_lane || running(Action::kUpdate);
    case Action::kUpdate:
      return forward_lane || backward_lane;
  }
  return true;
}

Blocker StepMachine::order(Action action) const {
  bool ready = true;
  switch (action) {
    case Action::kForward:
      break;
    case Action::kEvaluate:
      ready = state(Action::kForward) == State::kWaiting;
      break;
    case Action::kReplay:
      ready = !immediate_ || done(Action::kForward);
      break;
    case Action::kBackward:
      ready = done(Action::kReplay) && (!last_ || done(Action::kForward));
      break;
    case Action::kUpdate:
      ready = done(Action::kForward) && done(Action::kReplay) && done(Action::kBackward);
      break;
  }
  return ready ? Blocker::kNone : Blocker::kOrder;
}

Blocker StepMachine::input(Action action, const Ports& ports) const {
  switch (action) {
    case Action::kForward:
      if (!ports.activation) return Blocker::kActivation;
      return ports.activation_room ? Blocker::kNone : Blocker::kRoom;
    case Action::kEvaluate:
      if (!ports.evaluation) return Blocker::kActivation;
      return ports.activation_room ? Blocker::kNone : Blocker::kRoom;
    case Action::kBackward:
      if (!last_ && !ports.error) return Blocker::kError;
      return ports.error_room ? Blocker::kNone : Blocker::kRoom;
    case Action::kReplay:
    case Action::kUpdate:
      return Blocker::kNone;
  }
  return Blocker::kOrder;
}

Blocker StepMachine::blocker(Action action, const Ports& ports) const {
  if (action != Action::kEvaluate && state(action) != State::kWaiting) return Blocker::kDone;
  if (lane_busy(action)) return Blocker::kLane;
  if (const Blocker by_order = order(action); by_order != Blocker::kNone) return by_order;
  return input(action, ports);
}

void StepMachine::start(Action action) {
  layers::require(!running(action) && !lane_busy(action) && order(action) == Blocker::kNone,
                  "an action was started out of order");
  state(action) = State::kRunning;
}

void StepMachine::finish(Action action) {
  layers::require(running(action), "an action ended that was not running");
  state(action) = State::kDone;
  if (action == Action::kEvaluate) state(action) = State::kWaiting;
  if (action != Action::kUpdate) return;
  state_.fill(State::kWaiting);
  ++step_;
}

bool StepMachine::between_steps() const {
  return std::all_of(state_.begin(), state_.end(), [](State s) { return s == State::kWaiting; });
}

}  // namespace stagger::runtime

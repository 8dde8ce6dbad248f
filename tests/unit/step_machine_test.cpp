// Networks of step machines in virtual time: random durations, random orders, checked against the definition.
#include "runtime/step_machine.h"

#include <deque>
#include <queue>
#include <random>

#include "tests/catch.h"

using namespace stagger;
using runtime::Action;
using runtime::Blocker;
using runtime::Schedule;
using runtime::StepMachine;

namespace {

constexpr std::array<Action, 4> kWork{Action::kForward, Action::kReplay, Action::kBackward, Action::kUpdate};

/// K machines, queues that hold what was sent, and a clock that jumps from one end of work to the next.
class Network {
 public:
  Network(Schedule schedule, uint32_t seed) : schedule_(std::move(schedule)), random_(seed) {
    const auto stages = static_cast<size_t>(schedule_.stages());
    for (size_t k = 0; k < stages; ++k) machines_.emplace_back(schedule_, static_cast<int64_t>(k));
    for (size_t hop = 0; hop + 1 < stages; ++hop) {
      activations_.push_back(std::deque<int64_t>(static_cast<size_t>(schedule_.a[hop]), kBubble));
      errors_.push_back(std::deque<int64_t>(static_cast<size_t>(schedule_.e[hop]), kBubble));
    }
    saved_.resize(stages);
    for (size_t k = 0; k < stages; ++k)
      saved_[k].assign(static_cast<size_t>(schedule_.staleness(static_cast<int64_t>(k))), kBubble);
    current_.resize(stages, kBubble);
    taken_.resize(stages, kBubble);
  }

  /// Until every stage has completed `steps`. `batches` are trained, then bubbles follow.
  void run(int64_t batches, int64_t steps) {
    batches_ = batches;
    steps_ = steps;
    start_all();
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      time_ = event.time;
      finish(event);
      start_all();
      check_leads();
    }
    for (const StepMachine& machine : machines_) REQUIRE(machine.step() == steps);
  }

  int64_t most_in_a_queue(size_t hop) const { return most_.at(hop); }
  int64_t most_lead_down = 0, most_lead_up = 0;

 private:
  static constexpr int64_t kBubble = -1;
  struct Event {
    int64_t time;
    size_t stage;
    Action action;
    bool operator<(const Event& other) const { return time > other.time; }
  };

  bool last(size_t k) const { return k + 1 == machines_.size(); }

  runtime::Ports ports(size_t k) const {
    runtime::Ports ports;
    ports.activation = k == 0 || !activations_[k - 1].empty();
    ports.error = !last(k) && !errors_[k].empty();
    ports.activation_room =
        last(k) || static_cast<int64_t>(activations_[k].size()) < schedule_.ring(static_cast<int64_t>(k));
    ports.error_room =
        k == 0 || static_cast<int64_t>(errors_[k - 1].size()) < schedule_.ring(static_cast<int64_t>(k) - 1);
    return ports;
  }

  void start_all() {
    for (size_t k = 0; k < machines_.size(); ++k) {
      auto order = kWork;
      std::shuffle(order.begin(), order.end(), random_);
      for (const Action action : order) {
        if (machines_[k].step() == steps_ || machines_[k].blocker(action, ports(k)) != Blocker::kNone)
          continue;
        machines_[k].start(action);
        start(k, action);
        events_.push({time_ + static_cast<int64_t>(random_() % 5), k, action});
      }
    }
  }

  void start(size_t k, Action action) {
    const auto stage = static_cast<int64_t>(k);
    const int64_t n = machines_[k].step();
    if (action == Action::kForward) {
      taken_[k] = k == 0 ? (n < batches_ ? n : kBubble) : pop(activations_[k - 1]);
      const int64_t expected = n - schedule_.delay_to(stage);
      REQUIRE(taken_[k] == (expected >= 0 && expected < batches_ ? expected : kBubble));
    } else if (action == Action::kReplay) {
      current_[k] = pop(saved_[k]);
    } else if (action == Action::kBackward) {
      const int64_t error = last(k) ? taken_[k] : pop(errors_[k]);
      REQUIRE(error == current_[k]);  // the batch that was replayed
      if (error != kBubble) REQUIRE(n == schedule_.backward_step(stage, error));
    }
  }

  void finish(const Event& event) {
    const size_t k = event.stage;
    if (event.action == Action::kForward) {
      saved_[k].push_back(taken_[k]);
      if (!last(k)) push(activations_[k], taken_[k], k);
    } else if (event.action == Action::kBackward && k > 0) {
      push(errors_[k - 1], current_[k], k - 1);
    }
    machines_[k].finish(event.action);
  }

  static int64_t pop(std::deque<int64_t>& queue) {
    REQUIRE(!queue.empty());
    const int64_t token = queue.front();
    queue.pop_front();
    return token;
  }
  void push(std::deque<int64_t>& queue, int64_t token, size_t hop) {
    queue.push_back(token);
    most_.resize(machines_.size());
    most_[hop] = std::max(most_[hop], static_cast<int64_t>(queue.size()));
  }

  // A stage leads the next by at most e + 1 completed steps, the next leads it by at most a + 1.
  void check_leads() {
    for (size_t k = 0; k + 1 < machines_.size(); ++k) {
      const int64_t lead = machines_[k].step() - machines_[k + 1].step();
      REQUIRE(lead <= schedule_.e[k] + 1);
      REQUIRE(-lead <= schedule_.a[k] + 1);
      most_lead_down = std::max(most_lead_down, lead - schedule_.e[k] - 1);
      most_lead_up = std::max(most_lead_up, -lead - schedule_.a[k] - 1);
    }
  }

  Schedule schedule_;
  std::mt19937 random_;
  std::vector<StepMachine> machines_;
  std::vector<std::deque<int64_t>> activations_, errors_, saved_;
  std::vector<int64_t> current_, taken_, most_;
  std::priority_queue<Event> events_;
  int64_t time_ = 0, batches_ = 0, steps_ = 0;
};

}  // namespace

TEST_CASE("random networks run to their end, use the declared batches and keep their leads") {
  std::mt19937 random(5);
  for (uint32_t seed = 0; seed < 600; ++seed) {
    Schedule schedule;
    schedule.method = "test";
    const size_t hops = random() % 6;
    for (size_t hop = 0; hop < hops; ++hop) {
      schedule.a.push_back(static_cast<int64_t>(random() % 4));
      schedule.e.push_back(static_cast<int64_t>(random() % 4));
    }
    const auto batches = static_cast<int64_t>(1 + random() % 30);
    INFO(schedule.describe() << ", " << batches << " batches, seed " << seed);
    Network network(schedule, seed);
    network.run(batches, schedule.total_steps(batches));
    for (size_t hop = 0; hop < hops; ++hop) {
      REQUIRE(network.most_in_a_queue(hop) <= schedule.ring(static_cast<int64_t>(hop)));
    }
  }
}

TEST_CASE("a stage does in a step what the order allows, no more") {
  Schedule schedule;
  schedule.a = {1};
  schedule.e = {1};
  StepMachine machine(schedule, 0);
  runtime::Ports ports{.activation = true, .error = true, .activation_room = true, .error_room = true};
  CHECK(machine.blocker(Action::kReplay, ports) == Blocker::kNone);  // needs neither F nor the error
  CHECK(machine.blocker(Action::kBackward, ports) == Blocker::kOrder);
  CHECK(machine.blocker(Action::kUpdate, ports) == Blocker::kOrder);
  machine.start(Action::kForward);
  machine.start(Action::kReplay);  // at the same time
  CHECK(machine.blocker(Action::kEvaluate, ports) == Blocker::kLane);
  machine.finish(Action::kReplay);
  ports.error = false;
  CHECK(machine.blocker(Action::kBackward, ports) == Blocker::kError);
  ports.error = true;
  machine.start(Action::kBackward);
  machine.finish(Action::kBackward);
  CHECK(machine.blocker(Action::kUpdate, ports) == Blocker::kLane);  // F still runs with these weights
  machine.finish(Action::kForward);
  ports.evaluation = true;
  CHECK(machine.blocker(Action::kEvaluate, ports) == Blocker::kOrder);  // its turn is after U
  machine.start(Action::kUpdate);
  machine.finish(Action::kUpdate);
  CHECK(machine.step() == 1);
  CHECK(machine.blocker(Action::kEvaluate, ports) == Blocker::kNone);
  ports.activation_room = false;
  CHECK(machine.blocker(Action::kForward, ports) == Blocker::kRoom);
  CHECK_THROWS(machine.start(Action::kUpdate));
}

TEST_CASE("without staleness R follows F, and the last stage's B needs no error") {
  Schedule schedule;
  schedule.a = {0};
  schedule.e = {0};
  const runtime::Ports ports{.activation = true, .activation_room = true, .error_room = true};
  StepMachine first(schedule, 0);
  CHECK(first.blocker(Action::kReplay, ports) == Blocker::kOrder);
  StepMachine last(schedule, 1);
  for (const Action action : {Action::kForward, Action::kReplay, Action::kBackward}) {
    REQUIRE(last.blocker(action, ports) == Blocker::kNone);
    last.start(action);
    last.finish(action);
  }
}

// One bit is one bit: what comes out depends on the schedule alone, never on when things happen.
#include <sched.h>

#include <cstring>

#include "tests/catch.h"
#include "tests/ranks/networks.h"
#include "tests/ranks/step_by_step.h"

using namespace stagger;
using runtime::Action;

namespace {

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

void check_same(const tests::PipelineResult& ours, const tests::PipelineResult& expected) {
  CHECK(same_bits(ours.values, expected.values));
  CHECK(same_bits(ours.running, expected.running));
  CHECK(same_bits(ours.losses, expected.losses));
  REQUIRE(ours.evaluations.size() == expected.evaluations.size());
  for (const auto& [number, result] : expected.evaluations) {
    INFO("evaluation " << number);
    CHECK(ours.evaluations.at(number).loss_sum == result.loss_sum);
    CHECK(ours.evaluations.at(number).correct == result.correct);
    CHECK(ours.evaluations.at(number).samples == result.samples);
  }
}

/// Pauses of 0-4 ms before one action in three, drawn by (seed, rank, step, action).
std::function<double(int64_t, Action)> random_pauses(uint64_t seed) {
  return
      [stream = layers::Stream(seed, layers::Purpose::kSynthetic,
                               static_cast<uint64_t>(tests::session().rank()))](int64_t step, Action action) {
        const auto i = static_cast<int64_t>(action);
        return stream.below(step, 2 * i, 3) == 0 ? 4e-3 * static_cast<double>(stream.uniform(step, 2 * i + 1))
                                                 : 0.0;
      };
}

/// Keeps this process on one core while it lives.
class OneCore {
 public:
  OneCore() {
    sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    int core = 0;
    while (!CPU_ISSET(core, &before_)) ++core;
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof(one), &one);
  }
  ~OneCore() { sched_setaffinity(0, sizeof(before_), &before_); }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
  cpu_set_t before_;
};

constexpr std::array<Action, runtime::kActions> kForwardFirst{
    Action::kUpdate, Action::kEvaluate, Action::kForward, Action::kReplay, Action::kBackward};
constexpr std::array<Action, runtime::kActions> kReplayFirst{
    Action::kReplay, Action::kBackward, Action::kUpdate, Action::kEvaluate, Action::kForward};

void check_timing_independence(const runtime::Schedule& schedule) {
  INFO(schedule.describe() << ", accumulate " << schedule.accumulate);
  tests::PipelineRun run = tests::small_run(schedule);
  const auto expected = tests::StepByStep(run).run()[static_cast<size_t>(tests::session().rank())];
  check_same(tests::run_pipeline(run), expected);
  check_same(tests::run_pipeline(run), expected);
  run.order = kReplayFirst;
  check_same(tests::run_pipeline(run), expected);
  for (uint64_t seed = 0; seed < 3; ++seed) {
    run.order = seed % 2 == 0 ? kForwardFirst : kReplayFirst;
    run.pause = random_pauses(seed);
    check_same(tests::run_pipeline(run), expected);
  }
  const OneCore one_core;
  run.pause = nullptr;
  check_same(tests::run_pipeline(run), expected);
}

}  // namespace

TEST_CASE("bp gives the bits of the step-by-step network, whatever the timing") {
  const int64_t k = tests::session().size();
  check_timing_independence(tests::queues(k, {}, {}));
}

TEST_CASE("dsp gives the bits of the step-by-step network, whatever the timing") {
  const int64_t k = tests::session().size();
  check_timing_independence(tests::queues(k, {1, 1, 1, 1}, {1, 1, 1, 1}));
  check_timing_independence(tests::queues(k, {2, 1, 3, 1}, {1, 2, 0, 1}));
}

TEST_CASE("queues that are partly empty and groups of batches give the bits of the step-by-step network") {
  const int64_t k = tests::session().size();
  check_timing_independence(tests::queues(k, {0, 1, 0, 2}, {1, 0, 0, 0}));
  check_timing_independence(tests::queues(k, {1, 1, 1, 1}, {1, 1, 1, 1}, 5));
}

TEST_CASE("another seed gives other bits") {
  tests::PipelineRun run =
      tests::small_run(tests::queues(tests::session().size(), {1, 1, 1, 1}, {1, 1, 1, 1}));
  const auto first = tests::run_pipeline(run);
  run.seed = 2;
  CHECK_FALSE(same_bits(tests::run_pipeline(run).values, first.values));
}

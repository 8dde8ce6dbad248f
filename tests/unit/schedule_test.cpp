// The schedules' arithmetic against what the definition gives by hand.
#include "runtime/schedule.h"

#include "layers/error.h"
#include "tests/catch.h"

using namespace stagger;
using runtime::make_schedule;
using runtime::Schedule;

namespace {

Schedule dsp(std::vector<int64_t> a, std::vector<int64_t> e) {
  const auto stages = static_cast<int64_t>(a.size()) + 1;
  return make_schedule(
      {.method = "dsp", .stages = stages, .activation_queue = std::move(a), .error_queue = std::move(e)});
}

}  // namespace

TEST_CASE("DSP(1,1,0;4,2,0)") {
  const Schedule schedule = dsp({1, 1}, {1, 1});
  CHECK(schedule.stages() == 3);
  CHECK(schedule.staleness(0) == 4);
  CHECK(schedule.staleness(1) == 2);
  CHECK(schedule.staleness(2) == 0);
  // Batch 7 enters in step 7, is on the last stage in step 9, and its error is back in step 11.
  CHECK(schedule.forward_step(0, 7) == 7);
  CHECK(schedule.forward_step(2, 7) == 9);
  CHECK(schedule.backward_step(2, 7) == 9);
  CHECK(schedule.backward_step(1, 7) == 10);
  CHECK(schedule.backward_step(0, 7) == 11);
  CHECK(schedule.total_steps(100) == 104);
  CHECK(schedule.ring(0) == 4);
  CHECK(schedule.saved_inputs(0) == 5);
  CHECK((schedule.recomputes(0) && schedule.recomputes(1) && !schedule.recomputes(2)));
  CHECK(schedule.describe() == "dsp, activation queues 1,1, error queues 1,1, staleness 4,2,0");
}

TEST_CASE("uneven queues") {
  const Schedule schedule = dsp({1, 2, 0}, {0, 1, 3});
  CHECK(schedule.staleness(0) == 7);
  CHECK(schedule.staleness(1) == 6);
  CHECK(schedule.staleness(2) == 3);
  CHECK(schedule.staleness(3) == 0);
  CHECK(schedule.delay_to(3) == 3);
  // forward on stage 1 in step b + 1, backward there in step b + 3 + 1 + 3
  CHECK(schedule.backward_step(1, 0) - schedule.forward_step(1, 0) == 6);
  CHECK(schedule.ring(1) == 5);
}

TEST_CASE("weight changes between forward and backward") {
  Schedule schedule = dsp({1, 1}, {1, 1});
  CHECK(schedule.updates_between(0, 0) == 0);
  CHECK(schedule.updates_between(0, 3) == 3);
  CHECK(schedule.updates_between(0, 50) == 4);
  schedule.accumulate = 3;  // changes after batches 2, 5, 8, ...
  CHECK(schedule.updates_between(0, 2) == 0);
  CHECK(schedule.updates_between(0, 3) == 1);
  CHECK(schedule.updates_between(0, 6) == 2);  // forward after batch 1, backward after batch 5
  CHECK(schedule.updates_between(0, 8) == 1);  // forward after batch 3, backward after batch 7
}

TEST_CASE("bp has empty queues and never recomputes") {
  const Schedule schedule = make_schedule({.method = "bp", .stages = 4});
  CHECK(schedule.a == std::vector<int64_t>{0, 0, 0});
  for (int64_t k = 0; k < 4; ++k) {
    CHECK(schedule.staleness(k) == 0);
    CHECK_FALSE(schedule.recomputes(k));
  }
  CHECK(make_schedule({.method = "bp", .stages = 1}).describe() == "bp, one stage");
}

TEST_CASE("what is not a schedule") {
  CHECK_THROWS_WITH(make_schedule({.method = "dps", .stages = 2}),
                    "pipeline.schedule: found dps, allowed are bp, dsp");
  CHECK_THROWS_AS(dsp({1, 1}, {1}), layers::ConfigError);
  CHECK_THROWS_AS(dsp({-1}, {1}), layers::ConfigError);
  CHECK_THROWS_AS(make_schedule({.method = "dsp", .stages = 4, .activation_queue = {1}, .error_queue = {1}}),
                  layers::ConfigError);
  CHECK_THROWS_AS(make_schedule({.method = "bp", .stages = 2, .accumulate = 0}), layers::ConfigError);
}

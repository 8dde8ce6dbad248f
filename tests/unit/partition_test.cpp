// Partitions: the best split against every split there is, and the checks of cuts that a user gives.
#include <algorithm>
#include <functional>
#include <numeric>

#include "layers/error.h"
#include "layers/random.h"
#include "runtime/partition.h"
#include "tests/catch.h"

using namespace stagger::runtime;
using stagger::layers::ConfigError;
using stagger::layers::InternalError;

namespace {

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no ConfigError";
}

double worst_stage(const std::vector<double>& costs, const Partition& partition, double last_stage_weight) {
  double worst = 0;
  for (size_t k = 0; k < partition.size(); ++k) {
    const double sum =
        std::accumulate(costs.begin() + partition[k].first, costs.begin() + partition[k].last, 0.0);
    worst = std::max(worst, k + 1 == partition.size() ? last_stage_weight * sum : sum);
  }
  return worst;
}

/// Tries every split with `stages` stages, those with earlier cuts first, and keeps the first of the best.
Partition brute_force(const std::vector<double>& costs, int64_t stages, double last_stage_weight) {
  const auto n = static_cast<int64_t>(costs.size());
  Partition best, current;
  double least = std::numeric_limits<double>::infinity();
  const std::function<void(int64_t)> extend = [&](int64_t first) {
    const auto open = stages - static_cast<int64_t>(current.size());
    for (int64_t last = open == 1 ? n : first + 1; last <= n - (open - 1); ++last) {
      current.push_back({first, last});
      if (open == 1) {
        const double worst = worst_stage(costs, current, last_stage_weight);
        if (worst < least) {
          least = worst;
          best = current;
        }
      } else {
        extend(last);
      }
      current.pop_back();
    }
  };
  extend(0);
  return best;
}

}  // namespace

TEST_CASE("a balanced partition is the earliest of the best") {
  const stagger::layers::Stream random(7, stagger::layers::Purpose::kSynthetic);
  for (int64_t trial = 0; trial < 1500; ++trial) {
    const int64_t n = 1 + random.below(trial, 0, 9);
    const int64_t stages = 1 + random.below(trial, 1, n);
    // Small whole numbers: sums are exact, ties abound.
    std::vector<double> costs;
    for (int64_t i = 0; i < n; ++i) costs.push_back(static_cast<double>(random.below(trial, 2 + i, 8)));
    const double weight = trial % 3 == 0 ? 1 : trial % 3 == 1 ? 0.75 : 2;
    const Partition found = balance(costs, {.stages = stages, .last_stage_weight = weight});
    const Partition expected = brute_force(costs, stages, weight);
    REQUIRE(found == expected);
  }
}

TEST_CASE("balancing by hand") {
  const std::vector<double> even(8, 1.0);
  CHECK(balance(even, {.stages = 2}) == Partition{{0, 4}, {4, 8}});
  // 4 units a block for three stages, 3 for the last: 7 blocks are 2+2+3, hence 8, 8, 9.
  CHECK(
      balance(std::vector<double>(7, 1.0), {.stages = 3, .last_stage_weight = kLastStageWeightRecomputing}) ==
      Partition{{0, 2}, {2, 4}, {4, 7}});
  CHECK(balance(std::vector<double>(7, 1.0), {.stages = 3}) == Partition{{0, 1}, {1, 4}, {4, 7}});
  CHECK(balance(even, {.stages = 8}).size() == 8);
  CHECK(balance(even, {.stages = 1}) == Partition{{0, 8}});
  // No stage is empty even where blocks cost nothing.
  CHECK(balance(std::vector<double>(4, 0.0), {.stages = 3}) == Partition{{0, 1}, {1, 2}, {2, 4}});
}

TEST_CASE("sums that are not exact do not disturb the balance") {
  const stagger::layers::Stream random(8, stagger::layers::Purpose::kSynthetic);
  for (int64_t trial = 0; trial < 300; ++trial) {
    const int64_t n = 1 + random.below(trial, 0, 40);
    const int64_t stages = 1 + random.below(trial, 1, n);
    std::vector<double> costs;
    for (int64_t i = 0; i < n; ++i) costs.push_back(0.1 + random.uniform(trial, 2 + i) / 3.0);
    const Partition found = balance(costs, {.stages = stages, .last_stage_weight = 0.75});
    REQUIRE(found.size() == static_cast<size_t>(stages));
    REQUIRE(found.front().first == 0);
    REQUIRE(found.back().last == n);
    for (size_t k = 0; k < found.size(); ++k) {
      REQUIRE(found[k].first < found[k].last);
      if (k > 0) REQUIRE(found[k].first == found[k - 1].last);
    }
  }
}

TEST_CASE("more stages than blocks, and other nonsense") {
  const std::vector<double> costs(3, 1.0);
  CHECK(message_of([&] { balance(costs, {.stages = 4}); }) ==
        "the model has 3 blocks, too few for 4 stages; each stage needs 1 block or more");
  CHECK(message_of([&] { balance(costs, {.stages = 0}); }) ==
        "the number of stages is 0; it must be 1 or more");
  CHECK(message_of([&] { balance({}, {.stages = 1}); }) ==
        "the model has 0 blocks, too few for 1 stages; each stage needs 1 block or more");
  CHECK_THROWS_AS(balance(std::vector<double>{1, -1}, {.stages = 1}), InternalError);
  CHECK_THROWS_AS(balance(std::vector<double>{1, std::nan("")}, {.stages = 1}), InternalError);
  CHECK_THROWS_AS(balance(costs, {.stages = 1, .last_stage_weight = 0}), InternalError);
}

TEST_CASE("cuts by hand") {
  const auto cut = [](int64_t blocks, int64_t stages, std::vector<int64_t> cuts) {
    return cut_at(blocks, stages, cuts);
  };
  const auto message = [&](int64_t blocks, int64_t stages, std::vector<int64_t> cuts) {
    return message_of([&] { cut(blocks, stages, cuts); });
  };
  CHECK(cut(9, 3, {1, 8}) == Partition{{0, 1}, {1, 8}, {8, 9}});
  CHECK(cut(9, 1, {}) == Partition{{0, 9}});
  CHECK(message(9, 3, {4}) == "3 stages need 2 cuts, got 1: [4]");
  CHECK(message(9, 3, {4, 4}) == "cuts [4, 4]: 4 does not fit; cuts must increase within 1 to 8");
  CHECK(message(9, 3, {5, 4}) == "cuts [5, 4]: 4 does not fit; cuts must increase within 1 to 8");
  CHECK(message(9, 3, {0, 4}) == "cuts [0, 4]: 0 does not fit; cuts must increase within 1 to 8");
  CHECK(message(9, 3, {4, 9}) == "cuts [4, 9]: 9 does not fit; cuts must increase within 1 to 8");
  CHECK(message(2, 3, {1, 2}) ==
        "the model has 2 blocks, too few for 3 stages; each stage needs 1 block or more");
}

TEST_CASE("estimated costs follow the arithmetic of a block") {
  using namespace stagger::layers;
  // conv: 2 * 9 * 3 * (16 * 8 * 8) flops and 4 * 16 * 8 * 8 bytes; batch norm with its ReLU: its flops, once
  // the bytes.
  Graph graph({3, 8, 8});
  graph.add("conv", Conv2d{.out_channels = 16, .padding = 1});
  const double conv = 2.0 * 9 * 3 * 1024 / 150e9 + 4.0 * 1024 / 10e9;
  CHECK(estimate_cost(graph) == Approx(conv).epsilon(1e-12));
  graph.add("norm", BatchNorm{});
  const double without_relu = estimate_cost(graph);
  CHECK(without_relu > conv + 4.0 * 1024 / 10e9);
  graph.add("relu", Relu{});
  CHECK(estimate_cost(graph) < without_relu + 2.0 * 1024 / 150e9);

  const Model model = make_resnet({3, 32, 32}, 10, {.depth = 20});
  const std::vector<double> costs = estimate_costs(model);
  REQUIRE(costs.size() == 11);
  CHECK(costs[1] == costs[2]);
  CHECK(costs.back() < costs[1]);
  // Half of the bytes, the same flops.
  CHECK(costs[5] < costs[2]);
  CHECK(costs[5] > 0.5 * costs[2]);
  for (const BlockRange& range : balance(costs, {.stages = 3, .last_stage_weight = 0.75}))
    CHECK(range.last - range.first >= 3);
}

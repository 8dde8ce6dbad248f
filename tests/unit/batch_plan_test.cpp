// Which samples make which batch.
#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "layers/error.h"
#include "runtime/data/loader.h"
#include "tests/catch.h"

namespace stagger::runtime::data {
namespace {

using Sizes = std::vector<int64_t>;

Sizes all_sizes(const BatchPlan& plan) {
  Sizes sizes;
  for (int64_t i = 0; i < plan.batches(); ++i) sizes.push_back(plan.size(i));
  return sizes;
}

TEST_CASE("the last batch is smaller or dropped") {
  REQUIRE(all_sizes({.samples = 10, .batch = 4}) == Sizes{4, 4, 2});
  REQUIRE(all_sizes({.samples = 10, .batch = 4, .drop_last = true}) == Sizes{4, 4});
  REQUIRE(all_sizes({.samples = 8, .batch = 4}) == Sizes{4, 4});
  REQUIRE(all_sizes({.samples = 8, .batch = 4, .drop_last = true}) == Sizes{4, 4});
  REQUIRE(all_sizes({.samples = 3, .batch = 4}) == Sizes{3});
  REQUIRE(all_sizes({.samples = 3, .batch = 4, .drop_last = true}).empty());
  REQUIRE(all_sizes({.samples = 0, .batch = 4}).empty());
}

TEST_CASE("each size that occurs is named once, the full one first") {
  REQUIRE(BatchPlan{.samples = 10, .batch = 4}.sizes() == Sizes{4, 2});
  REQUIRE(BatchPlan{.samples = 10, .batch = 4, .drop_last = true}.sizes() == Sizes{4});
  REQUIRE(BatchPlan{.samples = 8, .batch = 4}.sizes() == Sizes{4});
  REQUIRE(BatchPlan{.samples = 3, .batch = 4}.sizes() == Sizes{3});
  REQUIRE(BatchPlan{.samples = 3, .batch = 4, .drop_last = true}.sizes().empty());
  const BatchPlan plan{.samples = 10, .batch = 4};
  REQUIRE_THROWS_AS(plan.size(3), layers::InternalError);
  REQUIRE_THROWS_AS(plan.size(-1), layers::InternalError);
}

TEST_CASE("the order of an epoch is a permutation of its own") {
  const auto order = epoch_order(1000, 1, 0, true);
  Sizes sorted = order;
  std::sort(sorted.begin(), sorted.end());
  Sizes natural(1000);
  std::iota(natural.begin(), natural.end(), int64_t{0});
  REQUIRE(sorted == natural);
  REQUIRE(order != natural);
  REQUIRE(epoch_order(1000, 1, 0, true) == order);
  REQUIRE(epoch_order(1000, 1, 1, true) != order);
  REQUIRE(epoch_order(1000, 2, 0, true) != order);
  REQUIRE(epoch_order(1000, 1, 5, false) == natural);
  REQUIRE(epoch_order(1, 1, 0, true) == Sizes{0});
  REQUIRE(epoch_order(0, 1, 0, true).empty());
}

TEST_CASE("the order of an epoch is that of an independent Philox") {
  // golden/make_epoch_order.py
  REQUIRE(epoch_order(12, 7, 3, true) == Sizes{9, 1, 4, 10, 8, 3, 7, 5, 6, 2, 11, 0});
}

TEST_CASE("all orders of four samples come equally often") {
  std::vector<int64_t> seen(256);
  constexpr int64_t kEpochs = 24000;
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const auto order = epoch_order(4, 99, epoch, true);
    ++seen[static_cast<size_t>(order[0] * 64 + order[1] * 16 + order[2] * 4 + order[3])];
  }
  const auto orders = std::count_if(seen.begin(), seen.end(), [](int64_t count) { return count > 0; });
  REQUIRE(orders == 24);
  // Five standard deviations of 1000.
  for (int64_t count : seen) REQUIRE((count == 0 || (count > 845 && count < 1155)));
}

TEST_CASE("an epoch trains each sample once") {
  TrainingOrder order{.plan = {.samples = 10, .batch = 4}, .epochs = 3, .seed = 6};
  BatchIndices indices(order);
  REQUIRE(order.total_batches() == 9);
  std::vector<Sizes> epochs;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    Sizes seen;
    for (int64_t batch = 3 * epoch; batch < 3 * epoch + 3; ++batch) {
      REQUIRE(order.epoch_of(batch) == epoch);
      const auto samples = indices.of(batch);
      REQUIRE(static_cast<int64_t>(samples.size()) == order.size_of(batch));
      seen.insert(seen.end(), samples.begin(), samples.end());
    }
    REQUIRE(seen == epoch_order(10, 6, epoch, true));
    epochs.push_back(seen);
  }
  REQUIRE(std::set<Sizes>(epochs.begin(), epochs.end()).size() == 3);
}

TEST_CASE("a dropped last batch leaves out other samples in each epoch") {
  const TrainingOrder order{.plan = {.samples = 10, .batch = 4, .drop_last = true}, .epochs = 8, .seed = 6};
  BatchIndices indices(order);
  std::set<int64_t> left_out;
  for (int64_t epoch = 0; epoch < 8; ++epoch) {
    std::set<int64_t> seen;
    for (int64_t batch = 2 * epoch; batch < 2 * epoch + 2; ++batch)
      for (int64_t index : indices.of(batch)) seen.insert(index);
    REQUIRE(seen.size() == 8);
    for (int64_t i = 0; i < 10; ++i)
      if (!seen.contains(i)) left_out.insert(i);
  }
  REQUIRE(left_out.size() > 2);
}

TEST_CASE("batches may be asked for in any order") {
  const TrainingOrder order{.plan = {.samples = 10, .batch = 4}, .epochs = 3, .seed = 6};
  BatchIndices forward(order);
  std::vector<Sizes> batches;
  for (int64_t b = 0; b < 9; ++b) batches.emplace_back(forward.of(b).begin(), forward.of(b).end());
  BatchIndices jumping(order);
  for (int64_t b : {8, 0, 3, 2, 7, 7, 1, 6, 0}) {
    const auto samples = jumping.of(b);
    REQUIRE(Sizes(samples.begin(), samples.end()) == batches[static_cast<size_t>(b)]);
  }
  REQUIRE_THROWS_AS(jumping.of(9), layers::InternalError);
  REQUIRE_THROWS_AS(jumping.of(-1), layers::InternalError);
  BatchIndices none({.plan = {.samples = 3, .batch = 4, .drop_last = true}});
  REQUIRE_THROWS_AS(none.of(0), layers::InternalError);
}

}  // namespace
}  // namespace stagger::runtime::data

// Learning rates against torch.optim.lr_scheduler (golden/make_optimizer_values.py) and against numbers
// derived by hand.
#include "optim/learning_rate.h"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "layers/error.h"
#include "tests/catch.h"

namespace stagger::optim {
namespace {

using Kind = LearningRateOptions::Kind;

std::vector<double> golden(const char* name) {
  std::ifstream file(STAGGER_SOURCE_DIR "/tests/golden/optimizer_values.json");
  return nlohmann::json::parse(file).at(name).get<std::vector<double>>();
}

// PyTorch goes from rate to rate and so collects rounding; ours are closed forms.
auto close(double value) { return Approx(value).epsilon(1e-12).margin(1e-15); }

void require_from(const LearningRate& rate, int64_t first, const std::vector<double>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO("batch " << first + static_cast<int64_t>(i));
    REQUIRE(rate.at(first + static_cast<int64_t>(i)) == close(expected[i]));
  }
}

TEST_CASE("a constant rate stays") {
  const LearningRate rate({.base = 0.25}, 10, 40);
  for (int64_t batch : {0, 1, 39, 40, 1000}) REQUIRE(rate.at(batch) == 0.25);
}

TEST_CASE("steps equal MultiStepLR") {
  const LearningRate rate({.kind = Kind::kStep, .base = 0.3, .milestones = {1.5, 3, 3.5}, .factor = 0.2}, 10,
                          40);
  const auto expected = golden("step");
  REQUIRE(expected.size() == 40);
  require_from(rate, 0, expected);
  REQUIRE(rate.at(14) == 0.3);
  REQUIRE(rate.at(15) == close(0.06));
  REQUIRE(rate.at(10000) == close(0.0024));
}

TEST_CASE("a milestone that is no whole number of batches takes effect with the next one") {
  const LearningRate rate({.kind = Kind::kStep, .base = 1, .milestones = {0.5}, .factor = 0.5}, 3, 6);
  REQUIRE(rate.at(1) == 1);  // epoch 1/3
  REQUIRE(rate.at(2) == 0.5);
}

TEST_CASE("the cosine equals CosineAnnealingLR") {
  const LearningRate rate({.kind = Kind::kCosine, .base = 0.3, .final = 0.02}, 10, 40);
  const auto expected = golden("cosine");
  REQUIRE(expected.size() == 40);
  require_from(rate, 0, expected);
  REQUIRE(rate.at(20) == close(0.16));  // half way: the mean of both ends
  REQUIRE(rate.at(40) == rate.at(39));
  REQUIRE(rate.at(79) == rate.at(39));
}

TEST_CASE("the warm-up equals LinearLR and the cosine starts after it") {
  const LearningRate rate({.kind = Kind::kCosine, .base = 0.3, .final = 0.02, .warmup_epochs = 0.8}, 10, 40);
  const auto rise = golden("warm-up of 8");
  const auto fall = golden("cosine after warm-up");
  REQUIRE(rise.size() == 8);
  REQUIRE(fall.size() == 32);
  require_from(rate, 0, rise);
  require_from(rate, 8, fall);
  REQUIRE(rate.at(0) == close(0.3 / 8));
  REQUIRE(rate.at(7) == 0.3);
}

TEST_CASE("a warm-up is rounded to whole batches and may fill the run") {
  const LearningRate rounded({.base = 1, .warmup_epochs = 0.35}, 10, 40);  // 3.5 batches: 4
  for (int64_t batch : {0, 1, 2, 3, 4})
    REQUIRE(rounded.at(batch) == std::min(1.0, 0.25 * static_cast<double>(batch + 1)));
  const LearningRate whole({.kind = Kind::kCosine, .base = 1, .warmup_epochs = 4}, 10, 40);
  REQUIRE(whole.at(38) == close(39.0 / 40));
  REQUIRE(whole.at(39) == 1);
  REQUIRE(whole.at(100) == 1);
  const LearningRate one_batch({.base = 1, .warmup_epochs = 0.1}, 10, 40);
  REQUIRE(one_batch.at(0) == 1);
}

TEST_CASE("learning rates refuse what they cannot do") {
  using layers::ConfigError;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto make = [](LearningRateOptions options) { return LearningRate(std::move(options), 10, 40); };
  for (double bad : {-0.1, nan, infinity}) {
    REQUIRE_THROWS_AS(make({.base = bad}), ConfigError);
    REQUIRE_THROWS_AS(make({.milestones = {bad}}), ConfigError);
    REQUIRE_THROWS_AS(make({.factor = bad}), ConfigError);
    REQUIRE_THROWS_AS(make({.final = bad}), ConfigError);
    REQUIRE_THROWS_AS(make({.warmup_epochs = bad}), ConfigError);
  }
  REQUIRE_THROWS_AS(make({.milestones = {2, 2}}), ConfigError);
  REQUIRE_THROWS_AS(make({.milestones = {3, 2}}), ConfigError);
  REQUIRE_THROWS_AS(make({.warmup_epochs = 4.1}), ConfigError);
  REQUIRE_THROWS_AS(make({.warmup_epochs = 1e300}), ConfigError);
  REQUIRE_THROWS_WITH(make({.base = -0.5}),
                      "learning rate: base is -0.500000; allowed is a finite number of 0 or more");
  REQUIRE_THROWS_AS(make({}).at(-1), layers::InternalError);
}

}  // namespace
}  // namespace stagger::optim

#include <cmath>
#include <limits>
#include <vector>

#include "layers/device.h"
#include "layers/error.h"
#include "tests/catch.h"

namespace stagger::layers {
namespace {

struct Result {
  LossResult loss;
  std::vector<float> gradient;
};

Result evaluate(const std::vector<float>& logits, const std::vector<int32_t>& labels) {
  const auto samples = static_cast<int64_t>(labels.size());
  const auto classes = static_cast<int64_t>(logits.size()) / samples;
  Result result{.loss = {}, .gradient = std::vector<float>(logits.size(), 7)};
  const auto device = make_cpu_device(1);
  result.loss = device->cross_entropy(logits.data(), labels.data(), samples, classes, result.gradient.data());
  const auto without = device->cross_entropy(logits.data(), labels.data(), samples, classes, nullptr);
  CHECK((without.loss_sum == result.loss.loss_sum || std::isnan(without.loss_sum)));
  CHECK(without.correct == result.loss.correct);
  return result;
}

TEST_CASE("equal logits: the loss is log(classes)") {
  const auto [loss, gradient] = evaluate({2, 2, 2, 2}, {1});
  CHECK(loss.loss_sum == Approx(std::log(4.0)));
  CHECK(loss.samples == 1);
  CHECK(loss.correct == 0);  // the first of several largest is at 0
  CHECK(gradient == std::vector<float>{0.25F, -0.75F, 0.25F, 0.25F});
  CHECK(evaluate({2, 2, 2, 2}, {0}).loss.correct == 1);
}

TEST_CASE("two classes: the logistic loss; the gradient is that of the mean") {
  // log(1 + exp(-3)) for a label with a lead of 3, log(1 + exp(1)) for one that lags by 1.
  const auto [loss, gradient] = evaluate({4, 1, 0, -1}, {0, 1});
  CHECK(loss.loss_sum == Approx(std::log1p(std::exp(-3.0)) + std::log1p(std::exp(1.0))));
  CHECK(loss.correct == 1);
  CHECK(loss.samples == 2);
  const double p = 1 / (1 + std::exp(3.0)), q = 1 / (1 + std::exp(-1.0));
  CHECK(gradient[0] == Approx(-p / 2));
  CHECK(gradient[1] == Approx(p / 2));
  CHECK(gradient[2] == Approx(q / 2));
  CHECK(gradient[3] == Approx(-q / 2));
}

TEST_CASE("large logits neither overflow nor lose the loss") {
  const auto [loss, gradient] = evaluate({3e38F, 0, -3e38F}, {0});
  CHECK(loss.loss_sum == 0);
  CHECK(gradient == std::vector<float>{0, 0, 0});
  CHECK(evaluate({1000, 0}, {1}).loss.loss_sum == Approx(1000));
  CHECK(evaluate({1e-8F, 0}, {0}).loss.loss_sum == Approx(std::log(2.0)));
}

TEST_CASE("logits that are not finite give a loss of NaN") {
  for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    const auto [loss, gradient] = evaluate({1, bad, 2, 0, 1, 2}, {0, 2});
    CHECK(std::isnan(loss.loss_sum));
    CHECK(loss.samples == 2);
    CHECK(std::isnan(gradient[0]));
    CHECK(std::isfinite(gradient[5]));
  }
}

TEST_CASE("a label out of range is an internal error") {
  const std::vector<float> logits{1, 2};
  const auto device = make_cpu_device(1);
  for (const int32_t label : {-1, 2}) {
    CHECK_THROWS_AS(device->cross_entropy(logits.data(), &label, 1, 2, nullptr), InternalError);
  }
}

}  // namespace
}  // namespace stagger::layers

// Synthetic data: balanced, reproducible, made of pattern and noise as declared, and learnable.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "layers/error.h"
#include "layers/random.h"
#include "runtime/data/dataset.h"
#include "tests/catch.h"

namespace stagger::runtime::data {
namespace {

std::vector<float> image_of(const Dataset& data, int64_t index) {
  std::vector<float> image(static_cast<size_t>(data.shape().elements()));
  data.image(index, image.data());
  return image;
}

TEST_CASE("every class comes once in each run of as many samples, in changing order") {
  const auto data = make_synthetic({.shape = {1, 4, 4}, .classes = 7, .size = 350, .seed = 3}, {});
  std::vector<int32_t> firsts;
  for (int64_t run = 0; run < 50; ++run) {
    std::vector<int32_t> labels;
    for (int64_t i = 0; i < 7; ++i) labels.push_back(data->label(7 * run + i));
    firsts.push_back(labels[0]);
    std::sort(labels.begin(), labels.end());
    REQUIRE(labels == std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6});
  }
  std::sort(firsts.begin(), firsts.end());
  REQUIRE(std::unique(firsts.begin(), firsts.end()) - firsts.begin() == 7);
}

TEST_CASE("a sample is a function of seed and index alone") {
  const SyntheticOptions options{.shape = {3, 5, 6}, .classes = 4, .size = 40, .seed = 11};
  const auto data = make_synthetic(options, {});
  const auto again = make_synthetic(options, {});
  SyntheticOptions shifted = options;
  shifted.first_index = 17;
  const auto tail = make_synthetic(shifted, {});
  SyntheticOptions other = options;
  other.seed = 12;
  const auto others = make_synthetic(other, {});
  for (int64_t i : {39, 0, 20}) {
    REQUIRE(image_of(*data, i) == image_of(*again, i));
    REQUIRE(data->label(i) == again->label(i));
    REQUIRE(image_of(*data, i) != image_of(*others, i));
  }
  for (int64_t i = 0; i < 23; ++i) {
    REQUIRE(image_of(*tail, i) == image_of(*data, i + 17));
    REQUIRE(tail->label(i) == data->label(i + 17));
  }
}

TEST_CASE("an image is the declared mix of the pattern of its class and noise") {
  const SyntheticOptions pure{.shape = {2, 8, 8}, .classes = 3, .size = 30, .seed = 5, .noise = 0};
  SyntheticOptions noise = pure;
  noise.noise = 1;
  SyntheticOptions mixed = pure;
  mixed.noise = 0.25;
  const auto patterns = make_synthetic(pure, {});
  const auto noises = make_synthetic(noise, {});
  const auto mix = make_synthetic(mixed, {});
  const layers::Stream pattern_stream(5, layers::Purpose::kSynthetic, 1);
  const layers::Stream noise_stream(5, layers::Purpose::kSynthetic, 2);
  for (int64_t i = 0; i < 30; ++i) {
    const auto p = image_of(*patterns, i);
    const auto n = image_of(*noises, i);
    const auto m = image_of(*mix, i);
    for (int64_t j = 0; j < 128; ++j) {
      const auto at = static_cast<size_t>(j);
      const int64_t cell = j / 64 * 16 + j % 64 / 8 / 2 * 4 + j % 8 / 2;  // 2 x 2 pixels a cell
      REQUIRE(p[at] == pattern_stream.uniform(patterns->label(i), cell));
      REQUIRE(n[at] == noise_stream.uniform(i, j));
      REQUIRE(m[at] == Approx(0.75F * p[at] + 0.25F * n[at]).epsilon(1e-6));
    }
  }
}

TEST_CASE("values are uniform in 0..1 and sizes that four does not divide work") {
  for (const layers::Shape& shape : {layers::Shape{3, 5, 7}, layers::Shape{2, 1, 3}, layers::Shape{13}}) {
    const auto data = make_synthetic({.shape = shape, .classes = 2, .size = 400, .noise = 1}, {});
    double sum = 0;
    for (int64_t i = 0; i < 400; ++i)
      for (float value : image_of(*data, i)) {
        if (!(value >= 0 && value < 1)) FAIL("out of range: " << value);
        sum += static_cast<double>(value);
      }
    const auto count = static_cast<double>(400 * shape.elements());
    // Five standard errors of a mean of uniform numbers.
    REQUIRE(sum / count == Approx(0.5).margin(5 / std::sqrt(12 * count)));
  }
}

// Softmax regression, one sample at a time.
class Linear {
 public:
  Linear(int64_t classes, int64_t features)
      : weights_(static_cast<size_t>(classes), std::vector<double>(static_cast<size_t>(features) + 1)) {}

  size_t predict(const std::vector<float>& x) const {
    const auto z = scores(x);
    return static_cast<size_t>(std::max_element(z.begin(), z.end()) - z.begin());
  }
  void learn(const std::vector<float>& x, size_t label, double rate) {
    auto z = scores(x);
    const double top = *std::max_element(z.begin(), z.end());
    double sum = 0;
    for (double& value : z) sum += value = std::exp(value - top);
    for (size_t c = 0; c < z.size(); ++c) {
      const double error = z[c] / sum - (c == label ? 1 : 0);
      for (size_t i = 0; i < x.size(); ++i)
        weights_[c][i] -= rate * error * (static_cast<double>(x[i]) - 0.5);
      weights_[c].back() -= rate * error;
    }
  }

 private:
  std::vector<double> scores(const std::vector<float>& x) const {
    std::vector<double> z;
    for (const auto& w : weights_) {
      double sum = w.back();
      for (size_t i = 0; i < x.size(); ++i) sum += w[i] * (static_cast<double>(x[i]) - 0.5);
      z.push_back(sum);
    }
    return z;
  }
  std::vector<std::vector<double>> weights_;
};

TEST_CASE("one pass teaches a linear model samples that it has not seen") {
  for (const layers::Shape& shape : {layers::Shape{1, 12, 12}, layers::Shape{20}}) {
    const auto train = make_synthetic({.shape = shape, .size = 1000, .seed = 1}, {});
    const auto test = make_synthetic({.shape = shape, .size = 500, .seed = 1, .first_index = 1000}, {});
    Linear model(10, shape.elements());
    for (int64_t i = 0; i < train->size(); ++i)
      model.learn(image_of(*train, i), static_cast<size_t>(train->label(i)), 0.1);
    int64_t correct = 0;
    for (int64_t i = 0; i < test->size(); ++i)
      correct += model.predict(image_of(*test, i)) == static_cast<size_t>(test->label(i)) ? 1 : 0;
    INFO(shape.to_string());
    REQUIRE(correct >= 475);
  }
}

TEST_CASE("synthetic data refuses what it cannot be") {
  using layers::ConfigError;
  const auto make = [](SyntheticOptions options) {
    options.shape = {1, 2, 2};
    return make_synthetic(options, {});
  };
  REQUIRE_THROWS_AS(make({.classes = 0}), ConfigError);
  REQUIRE_THROWS_AS(make({.classes = int64_t{1} << 31}), ConfigError);
  REQUIRE_THROWS_AS(make({.size = 0}), ConfigError);
  REQUIRE_THROWS_AS(make({.noise = -0.1}), ConfigError);
  REQUIRE_THROWS_AS(make({.noise = 1.1}), ConfigError);
  REQUIRE_THROWS_AS(make({.noise = std::numeric_limits<double>::quiet_NaN()}), ConfigError);
  REQUIRE_THROWS_AS(make({.first_index = -1}), ConfigError);
  REQUIRE_THROWS_AS(make({.first_index = std::numeric_limits<int64_t>::max()}), ConfigError);
  const auto labels = make_synthetic({.shape = {1, 2, 2}, .size = 4}, {.images = false, .labels = true});
  float out[4];
  REQUIRE_THROWS_AS(labels->image(0, out), layers::InternalError);
  REQUIRE_THROWS_AS(labels->label(4), layers::InternalError);
}

}  // namespace
}  // namespace stagger::runtime::data

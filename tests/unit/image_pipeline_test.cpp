// What is done to an image, against an independent implementation that pads, crops, mirrors and normalises as
// one would say it.
#include <cmath>
#include <limits>
#include <vector>

#include "layers/error.h"
#include "layers/random.h"
#include "runtime/data/loader.h"
#include "tests/catch.h"

namespace stagger::runtime::data {
namespace {

std::unique_ptr<Dataset> some_images(const layers::Shape& shape) {
  return make_synthetic({.shape = shape, .size = 50, .seed = 4, .noise = 1}, {});
}

std::vector<float> raw(const Dataset& data, int64_t index) {
  std::vector<float> image(static_cast<size_t>(data.shape().elements()));
  data.image(index, image.data());
  return image;
}

std::vector<float> trained(const ImagePipeline& pipeline, const Dataset& data, int64_t index, int64_t epoch,
                           int64_t batch, int64_t position) {
  std::vector<float> image(raw(data, index).size(), 77.0F);
  pipeline.training(index, epoch, batch, position, image.data());
  return image;
}

struct Draws {
  int64_t row = 0;
  int64_t column = 0;
  bool flip = false;
};

// Makes the padded image and reads the crop out of it.
std::vector<float> naive(const std::vector<float>& image, const layers::Shape& shape, const Preprocessing& p,
                         Draws draws) {
  const int64_t height = shape[1];
  const int64_t width = shape[2];
  const int64_t wide = width + 2 * p.pad_crop;
  std::vector<float> result;
  for (int64_t c = 0; c < shape[0]; ++c) {
    std::vector<float> padded(static_cast<size_t>((height + 2 * p.pad_crop) * wide));
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        padded[static_cast<size_t>((y + p.pad_crop) * wide + x + p.pad_crop)] =
            image[static_cast<size_t>((c * height + y) * width + x)];
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x) {
        const int64_t from = draws.flip ? width - 1 - x : x;
        const float value = padded[static_cast<size_t>((y + draws.row) * wide + from + draws.column)];
        result.push_back((value - p.mean[static_cast<size_t>(c)]) / p.deviation[static_cast<size_t>(c)]);
      }
  }
  return result;
}

TEST_CASE("evaluation normalises each channel and no more") {
  const auto data = some_images({2, 3, 3});
  const ImagePipeline pipeline(
      *data, {.mean = {0.5F, 0.25F}, .deviation = {2, 0.125F}, .pad_crop = 1, .flip = true}, 1);
  const auto before = raw(*data, 6);
  std::vector<float> image(18);
  pipeline.evaluation(6, image.data());
  for (size_t i = 0; i < 18; ++i)
    REQUIRE(image[i] == (i < 9 ? (before[i] - 0.5F) / 2.0F : (before[i] - 0.25F) / 0.125F));
  const ImagePipeline nothing(*data, {}, 1);
  nothing.evaluation(6, image.data());
  REQUIRE(image == before);
  const ImagePipeline mean_only(*data, {.mean = {0.5F, 0.5F}}, 1);
  mean_only.evaluation(6, image.data());
  REQUIRE(image[3] == before[3] - 0.5F);
}

TEST_CASE("without augmentation training is evaluation") {
  const auto data = some_images({1, 4, 4});
  const ImagePipeline pipeline(*data, {.mean = {0.3F}, .deviation = {0.7F}}, 9);
  std::vector<float> image(16);
  pipeline.evaluation(5, image.data());
  REQUIRE(trained(pipeline, *data, 5, 3, 20, 1) == image);
}

TEST_CASE("augmentation equals a naive one for every image, epoch and place in the batch") {
  const layers::Shape shape{3, 6, 9};
  const auto data = some_images(shape);
  for (const int64_t pad : {1, 2, 5}) {
    for (const bool flip : {false, true}) {
      const Preprocessing p{
          .mean = {0.5F, 0.4F, 0.3F}, .deviation = {0.5F, 2, 1}, .pad_crop = pad, .flip = flip};
      const ImagePipeline pipeline(*data, p, 21);
      for (int64_t i = 0; i < 300; ++i) {
        const int64_t epoch = i / 100;
        const int64_t batch = i / 7;
        const int64_t position = i % 7;
        const layers::Stream stream(21, layers::Purpose::kAugmentation, 0, epoch, batch);
        const Draws draws{.row = stream.below(position, 0, 2 * pad + 1),
                          .column = stream.below(position, 1, 2 * pad + 1),
                          .flip = flip && stream.below(position, 2, 2) == 1};
        INFO("image " << i << ", pad " << pad << ", flip " << flip);
        REQUIRE(trained(pipeline, *data, i % 50, epoch, batch, position) ==
                naive(raw(*data, i % 50), shape, p, draws));
      }
    }
  }
}

TEST_CASE("crops and flips are those of an independent Philox") {
  // golden/make_epoch_order.py: row, column and flip for seed 5, epoch 1, batch 2, pad 2, positions 0 .. 5.
  const std::vector<Draws> expected{{4, 2, false}, {2, 3, false}, {4, 1, false},
                                    {4, 1, false}, {0, 0, true},  {2, 0, false}};
  const layers::Shape shape{1, 6, 6};
  const auto data = some_images(shape);
  const Preprocessing p{.mean = {0}, .deviation = {1}, .pad_crop = 2, .flip = true};
  const ImagePipeline pipeline(*data, p, 5);
  for (int64_t i = 0; i < 6; ++i)
    REQUIRE(trained(pipeline, *data, 3, 1, 2, i) ==
            naive(raw(*data, 3), shape, p, expected[static_cast<size_t>(i)]));
}

TEST_CASE("every offset of the crop comes equally often, and half of the images are mirrored") {
  const auto data = some_images({1, 3, 3});
  const Preprocessing p{.mean = {0}, .deviation = {1}, .pad_crop = 1, .flip = true};
  const ImagePipeline pipeline(*data, p, 8);
  constexpr int64_t kDraws = 9000;
  std::vector<int64_t> seen(18);
  for (int64_t i = 0; i < kDraws; ++i) {
    const auto image = trained(pipeline, *data, 0, 0, i / 100, i % 100);
    int64_t matches = 0;
    for (int64_t k = 0; k < 18; ++k)
      if (image ==
          naive(raw(*data, 0), {1, 3, 3}, p, {.row = k / 6, .column = k / 2 % 3, .flip = k % 2 == 1})) {
        ++seen[static_cast<size_t>(k)];
        ++matches;
      }
    if (matches != 1) FAIL("an image is no crop of the original");
  }
  // 500 each; five standard deviations of a binomial.
  for (int64_t count : seen)
    REQUIRE(std::abs(static_cast<double>(count) - 500.0) < 5 * std::sqrt(500.0 * 17 / 18));
}

TEST_CASE("the pipeline refuses settings that do not fit the samples") {
  using layers::ConfigError;
  const auto data = some_images({2, 4, 5});
  const auto make = [&](Preprocessing p) { return ImagePipeline(*data, std::move(p), 0); };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  REQUIRE_THROWS_AS(make({.mean = {0.5F}}), ConfigError);
  REQUIRE_THROWS_AS(make({.deviation = {1, 1, 1}}), ConfigError);
  REQUIRE_THROWS_AS(make({.mean = {0, nan}}), ConfigError);
  REQUIRE_THROWS_AS(make({.deviation = {1, 0}}), ConfigError);
  REQUIRE_THROWS_AS(make({.deviation = {1, nan}}), ConfigError);
  REQUIRE_THROWS_AS(make({.pad_crop = -1}), ConfigError);
  REQUIRE_THROWS_AS(make({.pad_crop = 4}), ConfigError);
  REQUIRE_NOTHROW(make({.pad_crop = 3}));
  const auto vectors = some_images({8});
  REQUIRE_THROWS_AS(ImagePipeline(*vectors, {.flip = true}, 0), ConfigError);
  REQUIRE_THROWS_AS(ImagePipeline(*vectors, {.pad_crop = 1}, 0), ConfigError);
  REQUIRE_NOTHROW(ImagePipeline(*vectors, {.mean = {0.5F}, .deviation = {1}}, 0));
}

}  // namespace
}  // namespace stagger::runtime::data

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "layers/error.h"
#include "layers/random.h"
#include "runtime/data/loader.h"

namespace stagger::runtime::data {
namespace {

// Numbers of the augmentation stream. Fixed: what one of them means must not depend on what else is switched
// on.
constexpr int64_t kRowDraw = 0;
constexpr int64_t kColumnDraw = 1;
constexpr int64_t kFlipDraw = 2;

int64_t channels(const layers::Shape& shape) { return shape.is_image() ? shape[0] : 1; }

void check_count(const char* what, const std::vector<float>& numbers, const layers::Shape& shape) {
  if (numbers.empty() || static_cast<int64_t>(numbers.size()) == channels(shape)) return;
  throw layers::ConfigError(std::string("data: ") + what + " has " + std::to_string(numbers.size()) +
                            " numbers; samples of " + shape.to_string() + " need " +
                            std::to_string(channels(shape)) + ", one a channel, or none");
}

void check(const Preprocessing& p, const layers::Shape& shape) {
  check_count("mean", p.mean, shape);
  check_count("deviation", p.deviation, shape);
  for (float mean : p.mean)
    if (!std::isfinite(mean)) throw layers::ConfigError("data: mean has a number that is not finite");
  for (float deviation : p.deviation)
    if (!(deviation > 0 && std::isfinite(deviation)))
      throw layers::ConfigError("data: deviation has a number of " + std::to_string(deviation) +
                                "; allowed is above 0");
  if (!shape.is_image() && (p.pad_crop != 0 || p.flip))
    throw layers::ConfigError("data: crop and flip are for images; samples are " + shape.to_string());
  const int64_t limit = shape.is_image() ? std::min(shape[1], shape[2]) - 1 : 0;
  if (p.pad_crop < 0 || p.pad_crop > limit)
    throw layers::ConfigError("data: pad for crop is " + std::to_string(p.pad_crop) + "; samples of " +
                              shape.to_string() + " allow 0 .. " + std::to_string(limit));
}

// to[x] = from[x + shift], zero where `from` has no such element; the two may be the same row.
void shift_row(float* to, const float* from, int64_t width, int64_t shift) {
  const int64_t kept = width - std::abs(shift);
  float* kept_to = to + std::max<int64_t>(-shift, 0);
  std::memmove(kept_to, from + std::max<int64_t>(shift, 0), static_cast<size_t>(kept) * sizeof(float));
  std::fill(to, kept_to, 0.0F);
  std::fill(kept_to + kept, to + width, 0.0F);
}

// In place, hence without a scratch buffer: rows are moved in the order in which none is overwritten before
// it is read.
void shift_plane(float* plane, int64_t height, int64_t width, int64_t down, int64_t right) {
  for (int64_t i = 0; i < height; ++i) {
    const int64_t y = down >= 0 ? i : height - 1 - i;
    const int64_t source = y + down;
    if (source >= 0 && source < height) {
      shift_row(plane + y * width, plane + source * width, width, right);
    } else {
      std::fill_n(plane + y * width, width, 0.0F);
    }
  }
}

}  // namespace

ImagePipeline::ImagePipeline(const Dataset& dataset, Preprocessing preprocessing, uint64_t seed)
    : dataset_(dataset), preprocessing_(std::move(preprocessing)), seed_(seed) {
  check(preprocessing_, dataset_.shape());
}

void ImagePipeline::training(int64_t index, int64_t epoch, int64_t batch, int64_t position,
                             float* out) const {
  dataset_.image(index, out);
  const int64_t pad = preprocessing_.pad_crop;
  if (pad > 0 || preprocessing_.flip) {
    const layers::Shape& shape = dataset_.shape();
    const layers::Stream stream(seed_, layers::Purpose::kAugmentation, 0, epoch, batch);
    if (pad > 0) {
      const int64_t row = stream.below(position, kRowDraw, 2 * pad + 1);
      const int64_t column = stream.below(position, kColumnDraw, 2 * pad + 1);
      for (int64_t c = 0; c < shape[0]; ++c)
        shift_plane(out + c * shape[1] * shape[2], shape[1], shape[2], row - pad, column - pad);
    }
    if (preprocessing_.flip && stream.below(position, kFlipDraw, 2) == 1)
      for (int64_t r = 0; r < shape[0] * shape[1]; ++r)
        std::reverse(out + r * shape[2], out + (r + 1) * shape[2]);
  }
  normalise(out);
}

void ImagePipeline::evaluation(int64_t index, float* out) const {
  dataset_.image(index, out);
  normalise(out);
}

void ImagePipeline::normalise(float* image) const {
  const auto& [means, deviations, pad_crop, flip] = preprocessing_;
  if (means.empty() && deviations.empty()) return;
  const int64_t count = channels(dataset_.shape());
  const int64_t plane = dataset_.shape().elements() / count;
  for (int64_t c = 0; c < count; ++c) {
    const float mean = means.empty() ? 0.0F : means[static_cast<size_t>(c)];
    const float deviation = deviations.empty() ? 1.0F : deviations[static_cast<size_t>(c)];
    float* values = image + c * plane;
    for (int64_t i = 0; i < plane; ++i) values[i] = (values[i] - mean) / deviation;
  }
}

}  // namespace stagger::runtime::data

#include <algorithm>
#include <limits>
#include <utility>

#include "layers/checked.h"
#include "layers/error.h"
#include "layers/random.h"
#include "runtime/data/dataset.h"

namespace stagger::runtime::data {
namespace {

// Which of the data set's streams: each needs its own, or pattern and noise would be the same numbers.
constexpr uint64_t kClassStream = 0;
constexpr uint64_t kPatternStream = 1;
constexpr uint64_t kNoiseStream = 2;

// Patterns are coarse, so that they survive cropping and that convolutions with pooling can tell them apart.
constexpr int64_t kPatternCells = 4;

void check(const SyntheticOptions& o) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  const auto fail = [](const std::string& what) { throw layers::ConfigError("synthetic data: " + what); };
  if (o.classes < 1 || o.classes > kMax)
    fail("classes is " + std::to_string(o.classes) + "; allowed is 1 .. " + std::to_string(kMax));
  if (o.size < 1) fail("size is " + std::to_string(o.size) + "; allowed is 1 or more");
  if (!(o.noise >= 0 && o.noise <= 1)) fail("noise is " + std::to_string(o.noise) + "; allowed is 0 .. 1");
  if (o.first_index < 0 || o.first_index > std::numeric_limits<int64_t>::max() - o.size)
    fail("first index is " + std::to_string(o.first_index) +
         "; allowed is 0 or more, and all indices in 63 bits");
}

class Synthetic final : public Dataset {
 public:
  Synthetic(SyntheticOptions options, Parts parts)
      : options_(std::move(options)),
        parts_(parts),
        class_stream_(options_.seed, layers::Purpose::kSynthetic, kClassStream),
        noise_stream_(options_.seed, layers::Purpose::kSynthetic, kNoiseStream) {
    const bool image = options_.shape.is_image();
    channels_ = image ? options_.shape[0] : 1;
    height_ = image ? options_.shape[1] : 1;
    width_ = image ? options_.shape[2] : options_.shape.elements();
    // A vector has no neighbourhood: there each feature is a cell.
    cell_rows_ = std::min(height_, kPatternCells);
    cell_columns_ = image ? std::min(width_, kPatternCells) : width_;
    if (parts_.images) draw_patterns();
  }

  int64_t size() const override { return options_.size; }
  int64_t classes() const override { return options_.classes; }
  const layers::Shape& shape() const override { return options_.shape; }

  void image(int64_t index, float* out) const override {
    layers::require(parts_.images && has(index), "image of a data set that does not hold it");
    draw_noise(options_.first_index + index, out);
    add_pattern(class_of(index), out);
  }

  int32_t label(int64_t index) const override {
    layers::require(parts_.labels && has(index), "label of a data set that does not hold it");
    return class_of(index);
  }

 private:
  bool has(int64_t index) const { return index >= 0 && index < options_.size; }

  // Each run of `classes` indices has every class once, in an order rotated at random.
  int32_t class_of(int64_t index) const {
    const int64_t global = options_.first_index + index;
    const int64_t turn = class_stream_.below(global / options_.classes, 0, options_.classes);
    return static_cast<int32_t>((global % options_.classes + turn) % options_.classes);
  }

  void draw_patterns() {
    const layers::Stream stream(options_.seed, layers::Purpose::kSynthetic, kPatternStream);
    const int64_t cells = channels_ * cell_rows_ * cell_columns_;
    patterns_.resize(layers::narrow<size_t>(layers::checked_product(options_.classes, cells)));
    for (int64_t c = 0; c < options_.classes; ++c)
      for (int64_t i = 0; i < cells; ++i)
        patterns_[static_cast<size_t>(c * cells + i)] = stream.uniform(c, i);
  }

  void draw_noise(int64_t global, float* out) const {
    const auto share = static_cast<float>(options_.noise);
    const int64_t elements = options_.shape.elements();
    for (int64_t i = 0; i < elements; i += 4) {
      const auto block = noise_stream_.block(global, i / 4);
      for (int64_t j = 0; j < std::min<int64_t>(4, elements - i); ++j)
        out[i + j] = share * (static_cast<float>(block[static_cast<size_t>(j)] >> 8) * 0x1p-24F);
    }
  }

  void add_pattern(int64_t label, float* out) const {
    const auto share = static_cast<float>(1 - options_.noise);
    const float* cells = patterns_.data() + label * channels_ * cell_rows_ * cell_columns_;
    for (int64_t row = 0; row < channels_ * height_; ++row) {
      const int64_t cell_row = row / height_ * cell_rows_ + row % height_ * cell_rows_ / height_;
      const float* line = cells + cell_row * cell_columns_;
      for (int64_t x = 0; x < width_; ++x) out[row * width_ + x] += share * line[x * cell_columns_ / width_];
    }
  }

  SyntheticOptions options_;
  Parts parts_;
  layers::Stream class_stream_;
  layers::Stream noise_stream_;
  int64_t channels_ = 0;
  int64_t height_ = 0;
  int64_t width_ = 0;
  int64_t cell_rows_ = 0;
  int64_t cell_columns_ = 0;
  std::vector<float> patterns_;
};

}  // namespace

std::unique_ptr<Dataset> make_synthetic(const SyntheticOptions& options, Parts parts) {
  check(options);
  return std::make_unique<Synthetic>(options, parts);
}

}  // namespace stagger::runtime::data

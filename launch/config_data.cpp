#include <algorithm>

#include "launch/config_sections.h"
#include "layers/checked.h"

namespace stagger::launch {
namespace {

constexpr int64_t kMostClasses = 65'536;

IdxData read_idx(Section& section) {
  IdxData data;
  data.train.images = section.text("train_images");
  data.train.labels = section.text("train_labels");
  data.test.images = section.text("test_images");
  data.test.labels = section.text("test_labels");
  data.train.classes = section.integer("classes", {.fallback = 10, .least = 2, .most = 256});
  data.test.classes = data.train.classes;
  return data;
}

SyntheticData read_synthetic(Section& section) {
  constexpr int64_t kMostSamples = 1'000'000'000;
  SyntheticData data;
  const std::vector<int64_t> shape = section.integers("shape", {.fallback = std::vector<int64_t>{1, 28, 28},
                                                                .each = {.least = 1, .most = 4096},
                                                                .fewest = 3,
                                                                .largest = 3});
  data.train.shape = layers::Shape(shape);
  data.train.classes = section.integer("classes", {.fallback = 10, .least = 2, .most = kMostClasses});
  data.train.noise = section.number("noise", {.fallback = 0.5, .least = 0, .most = 1});
  // Not the seed of the run: runs that differ by their seed are to learn the same task.
  data.train.seed = layers::narrow<uint64_t>(section.integer("seed", {.fallback = 1, .least = 0}));
  data.test = data.train;
  data.train.size = section.integer("train_size", {.fallback = 1000, .least = 1, .most = kMostSamples});
  data.test.size = section.integer("test_size", {.fallback = 200, .least = 1, .most = kMostSamples});
  data.test.first_index = data.train.size;
  return data;
}

std::vector<float> to_floats(const std::vector<double>& numbers) {
  std::vector<float> floats(numbers.size());
  std::transform(numbers.begin(), numbers.end(), floats.begin(),
                 [](double number) { return static_cast<float>(number); });
  return floats;
}

void read_normalize(Section section, runtime::data::Preprocessing& preprocessing) {
  const auto empty = std::vector<double>{};
  const auto mean =
      section.numbers("mean", {.fallback = empty, .each = {.least = -1e6, .most = 1e6}, .largest = 4096});
  // Not smaller than what a float can divide by.
  const auto deviation = section.numbers(
      "deviation", {.fallback = empty, .each = {.least = 1e-6, .most = 1e6}, .largest = 4096});
  if (!mean.empty() && !deviation.empty() && mean.size() != deviation.size()) {
    section.fail("deviation", "found " + std::to_string(deviation.size()) +
                                  " numbers, allowed are as many as in mean, " + std::to_string(mean.size()));
  }
  section.finish();
  preprocessing.mean = to_floats(mean);
  preprocessing.deviation = to_floats(deviation);
}

void read_augment(Section section, runtime::data::Preprocessing& preprocessing) {
  preprocessing.pad_crop = section.integer("pad_crop", {.fallback = 0, .least = 0, .most = 1024});
  preprocessing.flip = section.boolean("flip", false);
  section.finish();
}

}  // namespace

int64_t DataConfig::classes() const {
  if (const auto* idx = std::get_if<IdxData>(&source)) return idx->train.classes;
  return std::get<SyntheticData>(source).train.classes;
}

DataConfig read_data(Section section) {
  DataConfig data;
  if (section.choice("kind", {"idx", "synthetic"}) == "idx") {
    data.source = read_idx(section);
    section.belongs_to("data.kind: synthetic", {"shape", "noise", "seed", "train_size", "test_size"});
  } else {
    data.source = read_synthetic(section);
    section.belongs_to("data.kind: idx", {"train_images", "train_labels", "test_images", "test_labels"});
  }
  read_normalize(section.section("normalize"), data.preprocessing);
  read_augment(section.section("augment"), data.preprocessing);
  data.drop_last = section.boolean("drop_last", false);
  data.shuffle = section.boolean("shuffle", true);
  data.prefetch = section.integer("prefetch", {.fallback = 4, .least = 1, .most = 1000});
  section.finish();
  return data;
}

}  // namespace stagger::launch

// Batches in the order of training, made ready beside the compute.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/data/dataset.h"

namespace stagger::runtime::data {

/// The batches of one pass over `samples` samples. REQUIRES: samples >= 0, batch >= 1. A batch larger than
/// `samples` makes one batch of all of them, or none with drop_last.
struct BatchPlan {
  int64_t samples = 0;
  int64_t batch = 1;
  bool drop_last = false;  ///< leave out a last batch that would be smaller than the rest

  int64_t batches() const;            ///< in one pass
  int64_t size(int64_t index) const;  ///< samples of batch `index` of a pass
  /// Each number of samples that occurs, once, the full one first.
  std::vector<int64_t> sizes() const;
};

/// The samples of an epoch in the order in which they are trained: a permutation that is a function of (seed,
/// epoch). Fisher-Yates on Stream(seed, kShuffle, 0, epoch): for i = samples-1 .. 1, swap i with below(0, i,
/// i + 1). With `shuffle` false: 0, 1, 2, ...
std::vector<int64_t> epoch_order(int64_t samples, uint64_t seed, int64_t epoch, bool shuffle);

/// What is done to the images of a batch. Normalisation applies always, augmentation in training only.
struct Preprocessing {
  std::vector<float> mean{};       ///< one a channel, of values in 0..1; empty: 0
  std::vector<float> deviation{};  ///< one a channel; empty: 1
  int64_t pad_crop =
      0;  ///< pad by this many zeros (before normalisation) on each side, crop back at a random place
  bool flip = false;  ///< mirror left to right, every second time on average
};

/// Fills one image at a time. Thread-safe. The data set must outlive it.
class ImagePipeline {
 public:
  /// Throws ConfigError where mean or deviation do not have one finite number a channel (a sample that is no
  /// image is one channel), a deviation is not above 0, pad_crop is negative or not smaller than height and
  /// width, or crop or flip are asked for samples that are no images.
  ImagePipeline(const Dataset& dataset, Preprocessing preprocessing, uint64_t seed);

  /// Sample `index` of the data set, as sample `position` of batch `batch` of `epoch`. Crop and flip are
  /// drawn from Stream(seed, kAugmentation, 0, epoch, batch) at (position, i): i = 0 and 1 row and column of
  /// the crop, each uniform in 0 .. 2 * pad_crop, and 2 the flip.
  void training(int64_t index, int64_t epoch, int64_t batch, int64_t position, float* out) const;
  void evaluation(int64_t index, float* out) const;

 private:
  void normalise(float* image) const;

  const Dataset& dataset_;
  Preprocessing preprocessing_;
  uint64_t seed_;
};

/// Training batches by number, counted from the start of the run over all epochs. `first_batch` .. end, in
/// order.
struct TrainingOrder {
  BatchPlan plan{};
  int64_t epochs = 1;
  uint64_t seed = 0;
  bool shuffle = true;

  int64_t total_batches() const { return plan.batches() * epochs; }
  int64_t epoch_of(int64_t batch) const { return batch / plan.batches(); }
  int64_t size_of(int64_t batch) const { return plan.size(batch % plan.batches()); }
};

/// The indices of the samples of training batches, cached by epoch: batch b -> data set indices. Not
/// thread-safe.
class BatchIndices {
 public:
  explicit BatchIndices(TrainingOrder order) : order_(order) {}
  /// Valid until the next call.
  std::span<const int64_t> of(int64_t batch);

 private:
  TrainingOrder order_;
  int64_t epoch_ = -1;
  std::vector<int64_t> permutation_;
};

/// Training images made ready by one thread beside the compute, at most `depth` batches ahead.
///
/// The consumer calls from one thread. Batches are the same whatever the depth and the timing; so is an
/// error, which comes in place of the batch that it struck, after all earlier ones. Nothing is allocated per
/// batch. The destructor ends the thread after the image at hand.
class Loader {
 public:
  /// Both references must outlive the loader. Throws ConfigError where depth is less than 1.
  Loader(const Dataset& dataset, const ImagePipeline& pipeline, TrainingOrder order, int64_t depth);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Copies the images of the next batch to `out` (size_of(batch) x shape) if they are ready, and says so.
  /// Batches come in order from 0; does not block. False for ever after the last one. Throws what the thread
  /// met, each time it is called from then on.
  bool try_take(float* out);
  /// Whether try_take() would not answer false: a batch is ready, or an error is.
  bool ready() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stagger::runtime::data

// Samples that a run learns from or is scored on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "layers/shape.h"

namespace stagger::runtime::data {

/// Images and labels, whole in memory. Immutable once made, hence safe to read from several threads.
///
/// Both ends of the pipeline make the same data set: the first stage reads its images, the last one its
/// labels.
class Dataset {
 public:
  virtual ~Dataset() = default;
  Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  virtual int64_t size() const = 0;
  virtual int64_t classes() const = 0;
  /// Channels x height x width of one sample.
  virtual const layers::Shape& shape() const = 0;
  /// Writes sample `index`, shape().elements() floats in 0..1 row-major, to `out`. REQUIRES: made with
  /// images.
  virtual void image(int64_t index, float* out) const = 0;
  /// 0 .. classes()-1. REQUIRES: made with labels.
  virtual int32_t label(int64_t index) const = 0;
};

/// What of a data set to hold. Headers of all files are read and compared in every case.
struct Parts {
  bool images = true;
  bool labels = true;
};

/// A pair of IDX files as MNIST has them, each plain or gzipped (told by content, not by name). Images:
/// unsigned bytes, magic 0x00000803 (count x rows x columns) -> 1 x rows x columns, byte / 255. Labels:
/// unsigned bytes, magic 0x00000801.
struct IdxOptions {
  std::string images{};
  std::string labels{};
  int64_t classes = 10;
};
/// Throws DataError, naming the file, where one is missing, truncated, longer than its header says or of
/// another magic, the counts differ, there are no samples, or a label is not in 0 .. classes-1 (with its
/// index).
std::unique_ptr<Dataset> open_idx(const IdxOptions& options, Parts parts);

/// Images that a network can learn: (1 - noise) * a fixed pattern for each class + noise * uniform noise.
/// Pattern, noise and class are functions of (seed, index). A pattern is 4 x 4 cells of uniform brightness in
/// each channel; of a sample that is no image, each feature is a cell. Of any `classes` indices that start at
/// a multiple of `classes`, each class has one.
struct SyntheticOptions {
  layers::Shape shape{};
  int64_t classes = 10;
  int64_t size = 1000;
  uint64_t seed = 0;
  double noise = 0.5;  ///< share of the image that is noise, 0..1
  /// Added to each index: a test set takes samples that the training set does not have.
  int64_t first_index = 0;
};
/// Throws ConfigError where classes or size are less than 1, noise is not in 0..1, or an index is negative.
std::unique_ptr<Dataset> make_synthetic(const SyntheticOptions& options, Parts parts);

}  // namespace stagger::runtime::data

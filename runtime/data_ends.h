// The ends of the pipeline over real data: images on stage 0, labels and results on the last stage.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/data/dataset.h"
#include "runtime/data/loader.h"
#include "runtime/ends.h"
#include "runtime/job.h"

namespace stagger::runtime {

/// When evaluations take place: after epochs `every`, 2 every, ..., and always once after the last batch.
struct EvaluationTimes {
  int64_t batches_per_epoch = 1;
  int64_t total_batches = 1;
  int64_t every = 1;
  /// Whether one follows the first `batches` training batches.
  bool due_after(int64_t batches) const;
};

/// Training images come from a loader's thread; evaluation images are made when they are taken.
class DataSource : public Source {
 public:
  /// The data sets must outlive it.
  DataSource(const Job& job, const RunSizes& sizes, const data::Dataset& training_set,
             const data::Dataset& test_set);

  int64_t batches() const override { return order_.total_batches(); }
  TokenHeader next() const override;
  bool ready() override;
  void take(float* images) override;

 private:
  void take_evaluation(float* images);

  data::TrainingOrder order_;
  data::BatchPlan evaluation_plan_;
  EvaluationTimes times_;
  data::ImagePipeline training_, evaluation_;
  int64_t sample_floats_;
  data::Loader loader_;
  int64_t batch_ = 0;
  int64_t evaluations_ = 0;
  int64_t evaluation_batch_ = -1;  // -1: none is under way
};

/// Sums of an evaluation.
struct EvaluationResult {
  int64_t batches_before = 0;  ///< training batches that the model had been sent
  int64_t epoch = 0;
  double loss = 0;      ///< mean over samples
  double accuracy = 0;  ///< 0..1
  int64_t correct = 0;
  int64_t samples = 0;
};

/// Labels by the same order as the source's images, and results to whoever listens.
class DataSink : public Sink {
 public:
  struct Listener {
    std::function<void(const TokenHeader&, const layers::LossResult&)> trained;
    std::function<void(const EvaluationResult&)> evaluated;
  };

  DataSink(const Job& job, const RunSizes& sizes, const data::Dataset& training_set,
           const data::Dataset& test_set, Listener listener);

  std::span<const int32_t> labels(const TokenHeader& header) override;
  void scored(const TokenHeader& header, const layers::LossResult& result) override;

 private:
  data::BatchIndices indices_;
  data::BatchPlan evaluation_plan_;
  const data::Dataset& training_set_;
  const data::Dataset& test_set_;
  Listener listener_;
  std::vector<int32_t> labels_;
  layers::LossResult sum_;
};

}  // namespace stagger::runtime

#include "runtime/data_ends.h"

#include <algorithm>
#include <utility>

#include "layers/error.h"

namespace stagger::runtime {

bool EvaluationTimes::due_after(int64_t batches) const {
  if (batches == total_batches) return true;
  return every > 0 && batches % (batches_per_epoch * every) == 0;
}

DataSource::DataSource(const Job& job, const RunSizes& sizes, const data::Dataset& training_set,
                       const data::Dataset& test_set)
    : order_(training_order(job, sizes)),
      evaluation_plan_(evaluation_plan(job, sizes)),
      times_{.batches_per_epoch = order_.plan.batches(),
             .total_batches = order_.total_batches(),
             .every = job.evaluate_every},
      training_(training_set, job.preprocessing, job.seed),
      evaluation_(test_set, job.preprocessing, job.seed),
      sample_floats_(training_set.shape().elements()),
      loader_(training_set, training_, order_, job.prefetch) {}

TokenHeader DataSource::next() const {
  TokenHeader header;
  if (evaluation_batch_ >= 0) {
    header.kind = TokenKind::kEvaluation;
    header.epoch = batch_ / order_.plan.batches();
    header.batch = evaluation_batch_;
    header.samples = evaluation_plan_.size(evaluation_batch_);
    header.evaluation = evaluations_;
    header.batches_before = batch_;
    header.last = evaluation_batch_ + 1 == evaluation_plan_.batches() ? 1 : 0;
  } else if (batch_ < batches()) {
    header.kind = TokenKind::kTraining;
    header.epoch = order_.epoch_of(batch_);
    header.batch = batch_;
    header.samples = order_.size_of(batch_);
    header.last = batch_ + 1 == batches() ? 1 : 0;
  } else {
    header.kind = TokenKind::kEnd;
  }
  return header;
}

bool DataSource::ready() {
  if (evaluation_batch_ >= 0) return true;
  return batch_ < batches() && loader_.ready();
}

void DataSource::take(float* images) {
  if (evaluation_batch_ >= 0) return take_evaluation(images);
  layers::require(loader_.try_take(images), "a batch was taken before it was ready");
  ++batch_;
  if (times_.due_after(batch_)) evaluation_batch_ = 0;
}

void DataSource::take_evaluation(float* images) {
  const int64_t first = evaluation_batch_ * evaluation_plan_.batch;
  for (int64_t i = 0; i < evaluation_plan_.size(evaluation_batch_); ++i) {
    evaluation_.evaluation(first + i, images + i * sample_floats_);
  }
  if (++evaluation_batch_ < evaluation_plan_.batches()) return;
  evaluation_batch_ = -1;
  ++evaluations_;
}

DataSink::DataSink(const Job& job, const RunSizes& sizes, const data::Dataset& training_set,
                   const data::Dataset& test_set, Listener listener)
    : indices_(training_order(job, sizes)),
      evaluation_plan_(evaluation_plan(job, sizes)),
      training_set_(training_set),
      test_set_(test_set),
      listener_(std::move(listener)) {
  labels_.reserve(static_cast<size_t>(std::max(job.batch, job.evaluation_batch)));
}

std::span<const int32_t> DataSink::labels(const TokenHeader& header) {
  labels_.clear();
  if (header.kind == TokenKind::kTraining) {
    for (int64_t index : indices_.of(header.batch)) labels_.push_back(training_set_.label(index));
    return labels_;
  }
  const int64_t first = header.batch * evaluation_plan_.batch;
  for (int64_t i = 0; i < header.samples; ++i) labels_.push_back(test_set_.label(first + i));
  return labels_;
}

void DataSink::scored(const TokenHeader& header, const layers::LossResult& result) {
  if (header.kind == TokenKind::kTraining) return listener_.trained(header, result);
  sum_.loss_sum += result.loss_sum;
  sum_.correct += result.correct;
  sum_.samples += result.samples;
  if (header.last == 0) return;
  const auto samples = static_cast<double>(sum_.samples);
  listener_.evaluated({.batches_before = header.batches_before,
                       .epoch = header.epoch,
                       .loss = sum_.loss_sum / samples,
                       .accuracy = static_cast<double>(sum_.correct) / samples,
                       .correct = sum_.correct,
                       .samples = sum_.samples});
  sum_ = {};
}

}  // namespace stagger::runtime

// Runs a small network through the real event loop, one stage a rank, on batches given in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "layers/device.h"
#include "layers/graph.h"
#include "optim/optimizer.h"
#include "runtime/ends.h"
#include "runtime/layer_compute.h"
#include "runtime/progress.h"
#include "runtime/schedule.h"
#include "runtime/stage_loop.h"
#include "tests/ranks/rank_main.h"

namespace stagger::tests {

struct GivenBatch {
  std::vector<float> images;
  std::vector<int32_t> labels;
  int64_t samples() const { return static_cast<int64_t>(labels.size()); }
};

/// All stages of a network and what to run on it.
struct PipelineRun {
  runtime::Schedule schedule;
  std::vector<layers::Graph> stages;
  std::vector<GivenBatch> batches;
  std::vector<GivenBatch> evaluation;
  std::vector<int64_t>
      evaluate_before;  ///< evaluations before these training batches; one more always follows at the end
  optim::SgdOptions sgd;
  double learning_rate = 0.1;
  uint64_t seed = 1;
  /// Sets initial weights; empty: from the seed.
  std::function<void(int64_t stage, layers::Parameters&)> initialise;
  /// Called after every update of a batch, apply or not.
  std::function<void(layers::Parameters&)> after_update;
  std::array<runtime::Action, runtime::kActions> order = runtime::StageLoopOptions{}.order;
  std::function<double(int64_t step, runtime::Action)> pause;
  double watchdog_seconds = 0;
  std::function<void(const std::string&)> warn;
};

struct PipelineResult {
  std::vector<double> losses;  ///< mean loss of training batch 0, 1, ...; on the last rank
  std::map<int64_t, layers::LossResult> evaluations;  ///< by number of the evaluation; on the last rank
  std::vector<float> values;                          ///< parameters of this rank's stage
  std::vector<float> running;
  layers::ParameterLayout layout{layers::Graph{layers::Shape{1}}};
  runtime::StageReport report;
  int64_t planned_queue_bytes = 0;
};

class GivenSource : public runtime::Source {
 public:
  explicit GivenSource(const PipelineRun& run) : run_(run) { plan(); }

  int64_t batches() const override { return static_cast<int64_t>(run_.batches.size()); }
  runtime::TokenHeader next() const override { return script_[position_].first; }
  bool ready() override { return script_[position_].second != nullptr; }
  void take(float* images) override {
    const GivenBatch& batch = *script_[position_++].second;
    std::copy(batch.images.begin(), batch.images.end(), images);
  }

 private:
  void plan() {
    using runtime::TokenKind;
    for (int64_t b = 0; b < batches(); ++b) {
      for (int64_t before : run_.evaluate_before) {
        if (before == b) plan_evaluation(b);
      }
      const GivenBatch& batch = run_.batches[static_cast<size_t>(b)];
      script_.push_back(
          {{.kind = TokenKind::kTraining, .batch = b, .samples = batch.samples(), .last = b + 1 == batches()},
           &batch});
    }
    plan_evaluation(batches());
    script_.push_back({{.kind = TokenKind::kEnd}, nullptr});
  }
  void plan_evaluation(int64_t before) {
    int64_t index = 0;
    for (const GivenBatch& batch : run_.evaluation) {
      script_.push_back({{.kind = runtime::TokenKind::kEvaluation,
                          .batch = index++,
                          .samples = batch.samples(),
                          .evaluation = evaluations_,
                          .batches_before = before},
                         &batch});
    }
    ++evaluations_;
  }

  const PipelineRun& run_;
  std::vector<std::pair<runtime::TokenHeader, const GivenBatch*>> script_;
  size_t position_ = 0;
  int64_t evaluations_ = 0;
};

class GivenSink : public runtime::Sink {
 public:
  GivenSink(const PipelineRun& run, PipelineResult& result) : run_(run), result_(result) {}

  std::span<const int32_t> labels(const runtime::TokenHeader& header) override {
    const auto& batches = header.kind == runtime::TokenKind::kTraining ? run_.batches : run_.evaluation;
    return batches.at(static_cast<size_t>(header.batch)).labels;
  }
  void scored(const runtime::TokenHeader& header, const layers::LossResult& result) override {
    if (header.kind == runtime::TokenKind::kTraining) {
      result_.losses.push_back(result.loss_sum / static_cast<double>(result.samples));
      return;
    }
    layers::LossResult& sum = result_.evaluations[header.evaluation];
    sum.loss_sum += result.loss_sum;
    sum.correct += result.correct;
    sum.samples += result.samples;
  }

 private:
  const PipelineRun& run_;
  PipelineResult& result_;
};

/// LayerCompute that tells after each update.
class WatchedCompute : public runtime::LayerCompute {
 public:
  using LayerCompute::LayerCompute;
  std::function<void(layers::Parameters&)> after_update;
  void update(const runtime::TokenHeader& header, bool apply) override {
    LayerCompute::update(header, apply);
    if (after_update) after_update(parameters());
  }
};

inline std::vector<int64_t> sizes_of(const std::vector<GivenBatch>& batches) {
  std::vector<int64_t> sizes;
  for (const GivenBatch& batch : batches) {
    if (std::find(sizes.begin(), sizes.end(), batch.samples()) == sizes.end())
      sizes.push_back(batch.samples());
  }
  return sizes;
}

/// Collective over all ranks of the session; rank k runs stage k. `inspect` sees the model at the end.
template <class Compute = WatchedCompute>
PipelineResult run_pipeline(const PipelineRun& run, const std::function<void(Compute&)>& inspect = {}) {
  const int64_t k = session().rank();
  const layers::Graph& graph = run.stages.at(static_cast<size_t>(k));
  const auto device = layers::make_cpu_device(1);
  runtime::Progress progress(session());

  runtime::LayerComputeOptions model{.graph = layers::fuse_relu(graph)};
  model.first = k == 0;
  model.last = k == run.schedule.stages() - 1;
  model.recomputes = run.schedule.recomputes(k);
  model.accumulate = run.schedule.accumulate;
  model.training_samples = sizes_of(run.batches);
  model.evaluation_samples = sizes_of(run.evaluation);
  model.seed = run.seed;
  Compute compute(
      *device, model,
      [&](int64_t size, auto segments) { return optim::make_sgd(run.sgd, size, std::move(segments)); },
      [&](int64_t) { return run.learning_rate; }, [&] { progress.poll(); });
  if (run.initialise) run.initialise(k, compute.parameters());
  compute.parameters().mark_changed();
  compute.after_update = run.after_update;

  runtime::StageLoopOptions options{.schedule = run.schedule};
  options.queues.stage = k;
  options.queues.previous = static_cast<int>(k - 1);
  options.queues.next = static_cast<int>(k + 1);
  options.queues.input = graph.input_shape();
  options.queues.output = graph.output_shape();
  for (int64_t samples : model.training_samples)
    options.queues.most_training_samples = std::max(options.queues.most_training_samples, samples);
  options.queues.most_samples = options.queues.most_training_samples;
  for (int64_t samples : model.evaluation_samples)
    options.queues.most_samples = std::max(options.queues.most_samples, samples);
  options.order = run.order;
  options.pause = run.pause;
  options.watchdog_seconds = run.watchdog_seconds;
  options.warn = run.warn;

  PipelineResult result;
  GivenSource source(run);
  GivenSink sink(run, result);
  runtime::StageLoop loop(options, progress, compute, model.first ? &source : nullptr,
                          model.last ? &sink : nullptr);
  result.report = loop.run();
  result.planned_queue_bytes = runtime::plan_queues(options.schedule, options.queues).bytes();
  // A neighbour that already runs the next pipeline must not meet receives of this one.
  MPI_Barrier(session().comm());

  if (inspect) inspect(compute);
  const layers::Parameters& parameters = compute.parameters();
  result.layout = parameters.layout();
  result.values.assign(parameters.values(), parameters.values() + result.layout.parameter_floats);
  result.running.assign(parameters.running(), parameters.running() + result.layout.statistic_floats);
  return result;
}

}  // namespace stagger::tests

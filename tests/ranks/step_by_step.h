// The network of queues in one process, one step after the other: what the event loop must reproduce bit for
// bit.
//
// Written from the definition alone (deques, no messages, no readiness): in step n every stage in turn takes
// an activation, then, from the last to the first, an error.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "tests/ranks/pipeline.h"

namespace stagger::tests {

class StepByStep {
 public:
  explicit StepByStep(const PipelineRun& run) : run_(run), device_(layers::make_cpu_device(1)) {
    const int64_t stages = run.schedule.stages();
    for (int64_t k = 0; k < stages; ++k) add_stage(k, k == 0, k == stages - 1);
    for (int64_t k = 0; k + 1 < stages; ++k) {
      activations_.emplace_back(static_cast<size_t>(run.schedule.a[static_cast<size_t>(k)]));
      errors_.emplace_back(static_cast<size_t>(run.schedule.e[static_cast<size_t>(k)]));
    }
  }

  /// Losses, evaluations, and the parameters of every stage.
  std::vector<PipelineResult> run() {
    std::vector<PipelineResult> results(stages_.size());
    PipelineResult& last = results.back();
    const auto batches = static_cast<int64_t>(run_.batches.size());
    int64_t evaluation = 0;
    for (int64_t before : run_.evaluate_before) pending_.push_back({before, evaluation++});
    for (int64_t n = 0; n < run_.schedule.total_steps(batches); ++n) {
      forward_all(n < batches ? std::optional<int64_t>(n) : std::nullopt, n, last);
      backward_all();
    }
    for (Stage& stage : stages_) stage.input.reset();
    for (size_t k = 0; k < stages_.size(); ++k) evaluate(k, evaluation, last);
    for (size_t k = 0; k < stages_.size(); ++k) read(*stages_[k].compute, results[k]);
    return results;
  }

 private:
  using Tensor = std::vector<float>;
  struct Item {
    int64_t batch;
    Tensor tensor;
  };
  using Slot = std::optional<Item>;
  struct Stage {
    std::unique_ptr<runtime::LayerCompute> compute;
    std::deque<Slot> saved;
    std::optional<Item> input;
    Tensor scores;
  };

  void add_stage(int64_t k, bool first, bool last) {
    const layers::Graph& graph = run_.stages[static_cast<size_t>(k)];
    runtime::LayerComputeOptions model{.graph = layers::fuse_relu(graph), .first = first, .last = last};
    model.recomputes = run_.schedule.recomputes(k);
    model.accumulate = run_.schedule.accumulate;
    model.training_samples = sizes_of(run_.batches);
    model.evaluation_samples = sizes_of(run_.evaluation);
    model.seed = run_.seed;
    auto make = [this](int64_t size, auto segments) {
      return optim::make_sgd(run_.sgd, size, std::move(segments));
    };
    auto rate = [this](int64_t) { return run_.learning_rate; };
    stages_.push_back(
        {std::make_unique<runtime::LayerCompute>(*device_, model, make, rate, nullptr), {}, {}, {}});
    if (run_.initialise) run_.initialise(k, stages_.back().compute->parameters());
    stages_.back().compute->parameters().mark_changed();
  }

  const GivenBatch& batch(int64_t b) const { return run_.batches[static_cast<size_t>(b)]; }
  runtime::TokenHeader header(int64_t b) const {
    return {.kind = runtime::TokenKind::kTraining,
            .batch = b,
            .samples = batch(b).samples(),
            .last = b + 1 == static_cast<int64_t>(run_.batches.size())};
  }
  int64_t output_size(size_t k, int64_t samples) const {
    return samples * run_.stages[k].output_shape().elements();
  }

  void forward_all(std::optional<int64_t> fresh, int64_t n, PipelineResult& last) {
    for (size_t k = 0; k < stages_.size(); ++k) {
      // Injected before batch b, an evaluation meets stage k in step b + the bubbles on the way, before its
      // forward.
      for (const auto& [before, number] : pending_) {
        if (n == before + run_.schedule.delay_to(static_cast<int64_t>(k))) evaluate(k, number, last);
      }
      Slot item;
      if (k == 0) {
        if (fresh) item = Item{*fresh, batch(*fresh).images};
      } else {
        item = std::move(activations_[k - 1].front());
        activations_[k - 1].pop_front();
      }
      forward(k, std::move(item), last);
    }
  }

  void forward(size_t k, Slot item, PipelineResult& last) {
    Stage& stage = stages_[k];
    const bool is_last = k + 1 == stages_.size();
    Slot output;
    if (item && is_last) {
      stage.input = std::move(item);
      stage.compute->forward_loss(header(stage.input->batch), stage.input->tensor.data(),
                                  batch(stage.input->batch).labels);
      const layers::LossResult loss = stage.compute->loss();
      last.losses.push_back(loss.loss_sum / static_cast<double>(loss.samples));
      return;
    }
    if (is_last) return;
    const bool keep = !run_.schedule.recomputes(static_cast<int64_t>(k));
    if (item) {
      output = Item{item->batch, Tensor(static_cast<size_t>(output_size(k, batch(item->batch).samples())))};
      if (keep) stage.input = item;
      stage.compute->forward(header(item->batch), keep ? stage.input->tensor.data() : item->tensor.data(),
                             output->tensor.data(), keep);
    }
    if (!keep || !item) stage.saved.push_back(item);
    if (keep && item) stage.saved.push_back(Item{item->batch, {}});
    activations_[k].push_back(std::move(output));
  }

  void backward_all() {
    for (size_t k = stages_.size(); k-- > 0;) backward(k);
  }

  void backward(size_t k) {
    Stage& stage = stages_[k];
    const bool is_last = k + 1 == stages_.size();
    Slot error;
    std::optional<int64_t> b;
    if (is_last) {
      if (stage.input) b = stage.input->batch;
    } else {
      error = std::move(errors_[k].front());
      errors_[k].pop_front();
      // The first staleness(k) steps have nothing saved yet: their errors are bubbles.
      if (error) {
        while (!stage.saved.front()) stage.saved.pop_front();
        b = stage.saved.front()->batch;
        if (run_.schedule.recomputes(static_cast<int64_t>(k))) {
          stage.input = std::move(stage.saved.front());
          stage.compute->replay(header(*b), stage.input->tensor.data());
        }
        stage.saved.pop_front();
      }
    }
    Slot upstream;
    if (b) {
      if (k > 0) upstream = Item{*b, Tensor(stage.input->tensor.size())};
      stage.compute->backward(header(*b), is_last ? nullptr : error->tensor.data(),
                              k > 0 ? upstream->tensor.data() : nullptr);
      stage.compute->update(header(*b),
                            ++stage_batches(k) % run_.schedule.accumulate == 0 || header(*b).last != 0);
      stage.input.reset();
    }
    if (k > 0) errors_[k - 1].push_back(std::move(upstream));
  }

  int64_t& stage_batches(size_t k) {
    counts_.resize(stages_.size());
    return counts_[k];
  }

  /// Scores all evaluation batches on stage k, from what stage k-1 left of evaluation `number`.
  void evaluate(size_t k, int64_t number, PipelineResult& last) {
    std::vector<Tensor>& outputs = evaluations_[number];
    outputs.resize(run_.evaluation.size());
    for (size_t i = 0; i < run_.evaluation.size(); ++i) {
      const GivenBatch& given = run_.evaluation[i];
      const runtime::TokenHeader head{.kind = runtime::TokenKind::kEvaluation,
                                      .batch = static_cast<int64_t>(i),
                                      .samples = given.samples()};
      const Tensor input = k == 0 ? given.images : outputs[i];
      const bool is_last = k + 1 == stages_.size();
      outputs[i].assign(static_cast<size_t>(output_size(k, given.samples())), 0);
      stages_[k].compute->evaluate(
          head, input.data(), is_last ? nullptr : outputs[i].data(),
          is_last ? std::span<const int32_t>(given.labels) : std::span<const int32_t>());
      if (!is_last) continue;
      const layers::LossResult loss = stages_[k].compute->loss();
      layers::LossResult& sum = last.evaluations[number];
      sum.loss_sum += loss.loss_sum;
      sum.correct += loss.correct;
      sum.samples += loss.samples;
    }
  }

  static void read(runtime::LayerCompute& compute, PipelineResult& result) {
    const layers::Parameters& p = compute.parameters();
    result.values.assign(p.values(), p.values() + p.layout().parameter_floats);
    result.running.assign(p.running(), p.running() + p.layout().statistic_floats);
  }

  const PipelineRun& run_;
  std::unique_ptr<layers::Device> device_;
  std::vector<Stage> stages_;
  std::vector<std::deque<Slot>> activations_, errors_;
  std::vector<std::pair<int64_t, int64_t>> pending_;
  std::map<int64_t, std::vector<Tensor>> evaluations_;
  std::vector<int64_t> counts_;
};

}  // namespace stagger::tests

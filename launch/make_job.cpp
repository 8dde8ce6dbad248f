#include "launch/make_job.h"

#include <utility>

#include "layers/error.h"

namespace stagger::launch {
namespace {

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

layers::Model make_listed(const std::vector<layers::NamedLayer>& entries, const layers::Shape& input,
                          int64_t classes) {
  std::vector<layers::NamedLayer> list;
  for (const layers::NamedLayer& entry : entries) {
    std::visit([&](const auto& what) { list.push_back({entry.name, what}); }, entry.what);
  }
  return layers::make_chain(input, classes, list);
}

runtime::Schedule make_schedule(const PipelineConfig& config) {
  return runtime::make_schedule({.method = config.schedule,
                                 .stages = config.stages,
                                 .activation_queue = config.activation_queue,
                                 .error_queue = config.error_queue,
                                 .accumulate = config.accumulate});
}

runtime::Partition make_partition(const PipelineConfig& config, const layers::Model& model,
                                  const runtime::Schedule& schedule) {
  const auto blocks = static_cast<int64_t>(model.blocks.size());
  if (config.cuts) return runtime::cut_at(blocks, config.stages, *config.cuts);
  runtime::BalanceOptions options{.stages = config.stages};
  if (schedule.recomputes(0)) options.last_stage_weight = runtime::kLastStageWeightRecomputing;
  return runtime::balance(runtime::estimate_costs(model), options);
}

}  // namespace

layers::Model make_model(const ModelConfig& config, const layers::Shape& input, int64_t classes) {
  try {
    return std::visit(
        Overloaded{
            [&](const layers::ResNetOptions& options) {
              return layers::make_resnet(input, classes, options);
            },
            [&](const layers::MlpOptions& options) { return layers::make_mlp(input, classes, options); },
            [&](const std::vector<layers::NamedLayer>& list) { return make_listed(list, input, classes); }},
        config);
  } catch (const layers::ConfigError& error) {
    throw layers::ConfigError(std::string("model: ") + error.what());
  }
}

std::unique_ptr<runtime::data::Dataset> open_dataset(const DataConfig& config, DataSet which,
                                                     runtime::data::Parts parts) {
  const bool training = which == DataSet::kTraining;
  return std::visit(
      Overloaded{
          [&](const IdxData& idx) { return runtime::data::open_idx(training ? idx.train : idx.test, parts); },
          [&](const SyntheticData& made) {
            return runtime::data::make_synthetic(training ? made.train : made.test, parts);
          }},
      config.source);
}

runtime::Job make_job(const Config& config, const layers::Shape& input, int64_t threads) {
  runtime::Job job;
  job.name = config.name;
  job.seed = config.seed;
  job.model = make_model(config.model, input, config.data.classes());
  job.schedule = make_schedule(config.pipeline);
  job.partition = make_partition(config.pipeline, job.model, job.schedule);
  job.training_set = [data = config.data](runtime::data::Parts parts) {
    return open_dataset(data, DataSet::kTraining, parts);
  };
  job.test_set = [data = config.data](runtime::data::Parts parts) {
    return open_dataset(data, DataSet::kTest, parts);
  };
  job.preprocessing = config.data.preprocessing;
  job.shuffle = config.data.shuffle;
  job.drop_last = config.data.drop_last;
  job.prefetch = config.data.prefetch;
  job.epochs = config.train.epochs;
  job.batch = config.train.batch;
  job.sgd = config.train.sgd;
  job.decay_norm_and_bias = config.train.decay_norm_and_bias;
  job.learning_rate = config.train.learning_rate;
  job.evaluate_every = config.evaluate.every;
  job.evaluation_batch = config.evaluate.batch;
  job.threads = config.run.threads.value_or(threads);
  job.watchdog_seconds = config.run.watchdog;
  job.log_every = config.run.log_every;
  job.resolved_config = config.resolved;
  return job;
}

}  // namespace stagger::launch

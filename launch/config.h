// What a run is, as typed and checked values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "layers/graph.h"
#include "layers/model.h"
#include "optim/learning_rate.h"
#include "optim/optimizer.h"
#include "runtime/data/dataset.h"
#include "runtime/data/loader.h"

namespace stagger::launch {

/// data.kind: idx
struct IdxData {
  runtime::data::IdxOptions train;
  runtime::data::IdxOptions test;
};

/// data.kind: synthetic. Both sets have the same patterns; no sample is in both.
struct SyntheticData {
  runtime::data::SyntheticOptions train;
  runtime::data::SyntheticOptions test;
};

struct DataConfig {
  std::variant<IdxData, SyntheticData> source;
  runtime::data::Preprocessing preprocessing;
  bool drop_last = false;
  bool shuffle = true;
  int64_t prefetch = 4;  ///< batches

  int64_t classes() const;
};

/// model.kind: resnet, mlp or layers (names are unique)
using ModelConfig = std::variant<layers::ResNetOptions, layers::MlpOptions, std::vector<layers::NamedLayer>>;

struct PipelineConfig {
  int64_t stages = 1;
  std::string schedule = "bp";
  std::vector<int64_t> activation_queue;  ///< bubbles of each of the stages-1 hops; zeros for bp
  std::vector<int64_t> error_queue;
  /// The first block of each stage but stage 0, increasing; nothing: balanced.
  std::optional<std::vector<int64_t>> cuts;
  int64_t accumulate = 1;
};

struct TrainConfig {
  int64_t epochs = 1;
  int64_t batch = 128;
  optim::SgdOptions sgd;
  bool decay_norm_and_bias = true;
  optim::LearningRateOptions learning_rate;
};

struct EvaluateConfig {
  int64_t every = 1;  ///< epochs; 0: only at the end
  int64_t batch = 128;
};

struct RunConfig {
  std::optional<int64_t> threads;  ///< of one rank; nothing: as many as there are cores for it
  double watchdog = 60;            ///< seconds without progress after which a rank says what it waits for
  int64_t log_every = 1;           ///< batches
};

struct Config {
  std::string name;
  uint64_t seed = 1;
  DataConfig data;
  ModelConfig model;
  PipelineConfig pipeline;
  TrainConfig train;
  EvaluateConfig evaluate;
  RunConfig run;
  /// Every key with its value, defaults included, as YAML that reads as this configuration.
  std::string resolved;
};

/// Reads `file` and applies `settings` ("key.path=value") to it. Throws ConfigError, one line, on the first
/// thing that is wrong. Checks all that the configuration alone can tell; that data exist and that blocks
/// suffice for the stages is for whoever opens them.
Config load_config(const std::string& file, std::span<const std::string> settings = {});

/// The same for text. `source` stands for the file in messages; `default_name` is the run's name where it has
/// none.
Config parse_config(const std::string& text, const std::string& source, const std::string& default_name,
                    std::span<const std::string> settings = {});

}  // namespace stagger::launch

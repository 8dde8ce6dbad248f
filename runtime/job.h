// Everything that defines a training run, typed and checked as far as it can be without data.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layers/model.h"
#include "optim/learning_rate.h"
#include "optim/optimizer.h"
#include "runtime/data/dataset.h"
#include "runtime/data/loader.h"
#include "runtime/partition.h"
#include "runtime/schedule.h"

namespace stagger::runtime {

using OpenDataset = std::function<std::unique_ptr<data::Dataset>(data::Parts)>;

struct Job {
  std::string name;
  uint64_t seed = 1;
  layers::Model model;
  Schedule schedule;
  Partition partition;  ///< one range of blocks a stage

  OpenDataset training_set;
  OpenDataset test_set;
  data::Preprocessing preprocessing;
  bool shuffle = true;
  bool drop_last = false;
  int64_t prefetch = 4;  ///< batches made ready ahead

  int64_t epochs = 1;
  int64_t batch = 128;
  optim::SgdOptions sgd;
  bool decay_norm_and_bias = true;
  optim::LearningRateOptions learning_rate;

  int64_t evaluate_every = 1;  ///< epochs; 0: only at the end
  int64_t evaluation_batch = 128;

  int64_t threads = 1;  ///< of each rank
  double watchdog_seconds = 60;
  int64_t log_every = 1;  ///< batches between two step lines of the metrics

  std::string folder;  ///< of the run
  bool overwrite = false;
  std::string resolved_config;  ///< text of config.yaml
  bool live_progress = false;   ///< redraw one line; else a plain line now and then
  bool quiet = false;           ///< no progress at all
};

/// What follows from a job and the sizes of its data.
struct RunSizes {
  int64_t training_samples = 0;
  int64_t test_samples = 0;
};

/// Training batches of the run, in order.
data::TrainingOrder training_order(const Job& job, const RunSizes& sizes);
data::BatchPlan evaluation_plan(const Job& job, const RunSizes& sizes);
/// Throws ConfigError where the batch is larger than the training set.
void check_sizes(const Job& job, const RunSizes& sizes);

/// The layers of stage k, as they are compiled.
layers::Graph stage_graph(const Job& job, int64_t k);
/// "stem .. layer1.2", for people.
std::string stage_blocks(const Job& job, int64_t k);

}  // namespace stagger::runtime

// From a configuration to a job: models are built, queues and cuts are settled.
#pragma once

#include <cstdint>
#include <memory>

#include "launch/config.h"
#include "runtime/job.h"

namespace stagger::launch {

/// The model of a configuration for images of `input`. Throws ConfigError where the layers do not fit.
layers::Model make_model(const ModelConfig& config, const layers::Shape& input, int64_t classes);

/// One of the two data sets of a configuration.
enum class DataSet { kTraining, kTest };
std::unique_ptr<runtime::data::Dataset> open_dataset(const DataConfig& config, DataSet which,
                                                     runtime::data::Parts parts);

/// Everything but where the run goes and how it is shown. `input` is the shape of one image, `threads` what
/// "auto" stands for. Throws ConfigError where model, stages and cuts do not go together.
runtime::Job make_job(const Config& config, const layers::Shape& input, int64_t threads);

}  // namespace stagger::launch

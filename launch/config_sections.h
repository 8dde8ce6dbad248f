// The readers of the configuration's sections, one file each.
#pragma once

#include "launch/config.h"
#include "launch/yaml_reader.h"

namespace stagger::launch {

DataConfig read_data(Section section);
ModelConfig read_model(Section section);
/// model.layers, the list.
std::vector<layers::NamedLayer> read_layers(Section& model);
PipelineConfig read_pipeline(Section section);
TrainConfig read_train(Section section);
EvaluateConfig read_evaluate(Section section, int64_t train_batch);
RunConfig read_run(Section section);

/// The largest sizes that are taken for meant; beyond them are slips.
inline constexpr int64_t kMillion = 1'000'000;
inline constexpr int64_t kMostChannels = 65'536;

}  // namespace stagger::launch

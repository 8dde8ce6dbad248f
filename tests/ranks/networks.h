// A small network with everything that could depend on timing (batch norm, dropout, a residual block), cut
// into 1..5 stages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "layers/graph.h"
#include "layers/random.h"
#include "tests/ranks/pipeline.h"

namespace stagger::tests {

inline layers::Graph conv_bn(const layers::Shape& input, const std::string& name, int64_t channels,
                             double dropout) {
  layers::Graph graph(input);
  graph.add(name + ".conv", layers::Conv2d{.out_channels = channels, .kernel = 3, .padding = 1});
  graph.add(name + ".bn", layers::BatchNorm{});
  graph.add(name + ".relu", layers::Relu{});
  if (dropout > 0) graph.add(name + ".drop", layers::Dropout{.probability = dropout});
  return graph;
}

inline layers::Graph residual(const layers::Shape& input, const std::string& name) {
  layers::Graph graph = conv_bn(input, name, input[0], 0);
  graph.add(name + ".conv2", layers::Conv2d{.out_channels = input[0], .kernel = 3, .padding = 1});
  graph.add(name + ".bn2", layers::BatchNorm{});
  graph.add(name + ".add", layers::Add{}, {graph.output(), 0});
  graph.add(name + ".relu2", layers::Relu{});
  return graph;
}

/// Five blocks on 2 x 6 x 6 images, dealt out evenly to `stages` <= 5 stages.
inline std::vector<layers::Graph> small_network(int64_t stages) {
  std::vector<layers::Graph> blocks;
  blocks.push_back(conv_bn({2, 6, 6}, "b0", 5, 0.2));
  blocks.push_back(residual({5, 6, 6}, "b1"));
  blocks.push_back(conv_bn({5, 6, 6}, "b2", 16, 0.3));
  blocks.push_back(residual({16, 6, 6}, "b3"));
  layers::Graph head({16, 6, 6});
  head.add("pool", layers::GlobalAveragePool{});
  head.add("flatten", layers::Flatten{});
  head.add("fc", layers::Linear{.out_features = 3});
  blocks.push_back(head);

  std::vector<layers::Graph> cut;
  const auto count = static_cast<int64_t>(blocks.size());
  for (int64_t k = 0; k < stages; ++k) {
    layers::Graph stage = blocks[static_cast<size_t>(k * count / stages)];
    for (int64_t b = k * count / stages + 1; b < (k + 1) * count / stages; ++b)
      stage.append(blocks[static_cast<size_t>(b)]);
    cut.push_back(stage);
  }
  return cut;
}

inline std::vector<GivenBatch> random_batches(int64_t count, const std::vector<int64_t>& sizes,
                                              uint64_t seed) {
  std::vector<GivenBatch> batches;
  for (int64_t b = 0; b < count; ++b) {
    const layers::Stream stream(seed, layers::Purpose::kSynthetic, 0, 0, b);
    const int64_t samples = sizes[static_cast<size_t>(b) % sizes.size()];
    GivenBatch batch;
    for (int64_t i = 0; i < samples * 72; ++i) batch.images.push_back(stream.normal(0, i));
    for (int64_t i = 0; i < samples; ++i) batch.labels.push_back(static_cast<int32_t>(stream.below(1, i, 3)));
    batches.push_back(batch);
  }
  return batches;
}

/// A schedule over given queues, shortened to the number of hops there is.
inline runtime::Schedule queues(int64_t stages, std::vector<int64_t> a, std::vector<int64_t> e,
                                int64_t accumulate = 1) {
  a.resize(static_cast<size_t>(stages - 1));
  e.resize(static_cast<size_t>(stages - 1));
  runtime::Schedule schedule;
  schedule.method = "test";
  schedule.a = a;
  schedule.e = e;
  schedule.accumulate = accumulate;
  return schedule;
}

/// 24 batches of two sizes, evaluations in between, momentum and weight decay.
inline PipelineRun small_run(const runtime::Schedule& schedule) {
  PipelineRun run;
  run.schedule = schedule;
  run.stages = small_network(schedule.stages());
  run.batches = random_batches(24, {6, 6, 4}, 11);
  run.evaluation = random_batches(3, {8, 8, 3}, 12);
  run.evaluate_before = {0, 1, 9, 9, 20};
  run.sgd = {.momentum = 0.9, .weight_decay = 5e-4};
  run.learning_rate = 0.05;
  return run;
}

}  // namespace stagger::tests

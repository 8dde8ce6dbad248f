// The methods against stored results of an independent float64 implementation (tests/golden/README.md):
// losses, the norm of each stage's weights after every update, final weights and running statistics, through
// the real event loop.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/ranks/pipeline.h"

using namespace stagger;
using nlohmann::json;

namespace {

constexpr double kTolerance = 1e-4;  // 2-norm of the difference over 2-norm, per tensor

const json& golden() {
  static const json data = json::parse(std::ifstream(STAGGER_SOURCE_DIR "/tests/golden/methods.json"));
  return data;
}

layers::Graph linear_block(const layers::Shape& input, int64_t out, bool relu) {
  layers::Graph graph(input);
  graph.add("fc", layers::Linear{.out_features = out});
  if (relu) graph.add("relu", layers::Relu{});
  return graph;
}

layers::Graph conv_block(const layers::Shape& input, int64_t out) {
  layers::Graph graph(input);
  graph.add("conv", layers::Conv2d{.out_channels = out, .kernel = 3, .padding = 1});
  graph.add("bn", layers::BatchNorm{});
  graph.add("relu", layers::Relu{});
  return graph;
}

layers::Graph pool_linear_block(const layers::Shape& input, int64_t out) {
  layers::Graph graph(input);
  graph.add("pool", layers::GlobalAveragePool{});
  graph.add("flatten", layers::Flatten{});
  graph.add("fc", layers::Linear{.out_features = out});
  return graph;
}

std::vector<layers::Graph> network(const std::string& name) {
  if (name == "mlp3")
    return {linear_block({6}, 8, true), linear_block({8}, 8, true), linear_block({8}, 4, false)};
  if (name == "mlp4") {
    return {linear_block({6}, 8, true), linear_block({8}, 7, true), linear_block({7}, 5, true),
            linear_block({5}, 4, false)};
  }
  return {conv_block({2, 6, 6}, 4), conv_block({4, 6, 6}, 4), pool_linear_block({4, 6, 6}, 3)};
}

/// Our name of a tensor that the stored results call `name`.
std::string our_name(const std::string& net, int64_t stage, const std::string& name) {
  const bool conv = net == "conv3" && stage < 2;
  if (!conv) return "fc." + name;
  if (name == "weight") return "conv.weight";
  if (name == "gamma") return "bn.weight";
  if (name == "beta") return "bn.bias";
  return "bn." + name;
}

bool is_statistic(const std::string& name) { return name.rfind("running", 0) == 0; }

void load(const json& state, const std::string& net, int64_t stage, layers::Parameters& parameters) {
  for (const auto& [name, tensor] : state.items()) {
    if (is_statistic(name)) continue;  // they start as ours do
    const layers::Tensor& ours = parameters.layout().parameter(our_name(net, stage, name));
    const auto data = tensor["data"].get<std::vector<float>>();
    REQUIRE(static_cast<int64_t>(data.size()) == ours.shape.elements());
    std::copy(data.begin(), data.end(), parameters.values() + ours.offset);
  }
}

double relative_difference(const std::vector<double>& ours, const std::vector<double>& expected) {
  REQUIRE(ours.size() == expected.size());
  double difference = 0;
  double norm = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    difference += (ours[i] - expected[i]) * (ours[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

void compare_state(const json& state, const std::string& net, int64_t stage,
                   const tests::PipelineResult& result) {
  for (const auto& [name, tensor] : state.items()) {
    const std::string ours = our_name(net, stage, name);
    const bool statistic = is_statistic(name);
    const layers::Tensor& place = statistic ? result.layout.statistic(ours) : result.layout.parameter(ours);
    const auto first = (statistic ? result.running : result.values).begin() + place.offset;
    INFO("stage " << stage << " tensor " << ours);
    CHECK(relative_difference(std::vector<double>(first, first + place.shape.elements()), tensor["data"]) <
          kTolerance);
  }
}

double norm_of(const layers::Parameters& parameters) {
  double sum = 0;
  for (int64_t i = 0; i < parameters.layout().parameter_floats; ++i) {
    sum += static_cast<double>(parameters.values()[i]) * static_cast<double>(parameters.values()[i]);
  }
  return std::sqrt(sum);
}

tests::PipelineRun make_run(const json& test) {
  const std::string net = test["net"];
  tests::PipelineRun run;
  run.schedule.method = test["method"];
  run.schedule.a = test["a"].get<std::vector<int64_t>>();
  run.schedule.e = test["e"].get<std::vector<int64_t>>();
  run.schedule.accumulate = test.value("accumulate", 1);
  run.stages = network(net);
  run.sgd.momentum = test["momentum"];
  run.sgd.weight_decay = test["weight_decay"];
  run.learning_rate = test["lr"];
  const json& inputs = golden()["inputs"][net];
  for (const json& batch : inputs["batches"]) run.batches.push_back({batch["x"]["data"], batch["y"]});
  run.initialise = [&inputs, net](int64_t stage, layers::Parameters& p) {
    load(inputs["init"][static_cast<size_t>(stage)], net, stage, p);
  };
  return run;
}

void check_case(const json& test) {
  const auto k = static_cast<int64_t>(tests::session().rank());
  tests::PipelineRun run = make_run(test);
  std::vector<double> norms;
  run.after_update = [&](layers::Parameters& parameters) { norms.push_back(norm_of(parameters)); };
  const tests::PipelineResult result = tests::run_pipeline(run);

  INFO(test["net"] << " " << test["method"] << " " << test["optimizer"]);
  if (k == run.schedule.stages() - 1) CHECK(relative_difference(result.losses, test["loss"]) < kTolerance);
  std::vector<double> expected;
  for (size_t b = 0; b < run.batches.size(); ++b) {
    const auto step = static_cast<size_t>(run.schedule.backward_step(k, static_cast<int64_t>(b)));
    expected.push_back(test["weight_norm"][step][static_cast<size_t>(k)]);
  }
  CHECK(relative_difference(norms, expected) < kTolerance);
  compare_state(test["final"][static_cast<size_t>(k)], test["net"], k, result);
}

}  // namespace

TEST_CASE("bp and dsp give the stored losses, norms, weights and statistics") {
  int64_t checked = 0;
  for (const json& test : golden()["cases"]) {
    const std::string method = test["method"];
    const bool ours = method == "bp" || method.rfind("dsp", 0) == 0;
    if (!ours || static_cast<int>(network(test["net"]).size()) != tests::session().size()) continue;
    check_case(test);
    ++checked;
  }
  // bp, dsp, dsp-deep, dsp-uneven with two optimizers each, and dsp-accumulate2: 9 cases a net
  CHECK(checked == (tests::session().size() == 3 ? 18 : 9));
}

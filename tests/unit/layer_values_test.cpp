// A small residual network, forwards, backwards and in evaluation, against what PyTorch stored.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/session.h"

namespace stagger::tests {
namespace {

using namespace layers;

nlohmann::json golden() {
  std::ifstream file(STAGGER_SOURCE_DIR "/tests/golden/layer_values.json");
  REQUIRE(file.good());
  return nlohmann::json::parse(file);
}

void add_conv_norm(Graph& g, const std::string& conv, const std::string& norm, const Conv2d& options,
                   ValueId input) {
  g.add(conv, options, {input});
  g.add(norm, BatchNorm{});
}

void add_block(Graph& g, const std::string& name, const std::string& shortcut, int64_t out, int64_t stride) {
  const ValueId x = g.output();
  add_conv_norm(g, name + ".conv1", name + ".bn1", {.out_channels = out, .stride = stride, .padding = 1}, x);
  const ValueId relu = g.add(name + ".relu1", Relu{});
  add_conv_norm(g, name + ".conv2", name + ".bn2", {.out_channels = out, .padding = 1}, relu);
  const ValueId y = g.output();
  ValueId other = x;
  if (shortcut == "padding")
    other = g.add(name + ".pad", PadShortcut{.out_channels = out, .stride = stride}, {x});
  if (shortcut == "projection") {
    const Conv2d projection{.out_channels = out, .kernel = 1, .stride = stride};
    add_conv_norm(g, name + ".downsample.0", name + ".downsample.1", projection, x);
    other = g.output();
  }
  g.add(name + ".add", Add{}, {other, y});
  g.add(name + ".relu2", Relu{});
}

Graph network() {
  Graph g({3, 8, 7});
  add_conv_norm(g, "conv1", "bn1", {.out_channels = 5, .padding = 1}, 0);
  g.add("relu1", Relu{});
  g.add("pool", Pool{.kernel = 3, .stride = 1, .padding = 1});
  add_block(g, "layer1", "identity", 5, 1);
  add_block(g, "layer2", "padding", 10, 2);
  add_block(g, "layer3", "projection", 10, 2);
  g.add("average", GlobalAveragePool{});
  g.add("flatten", Flatten{});
  g.add("fc", Linear{.out_features = 4});
  return g;
}

/// ||a - b|| <= 1e-5 ||b||: a few hundred roundings of 6e-8, added up and amplified by batch norm over 4
/// samples.
void check_close(const std::string& what, const std::vector<float>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    size += b[i] * b[i];
  }
  INFO(what << ": relative difference " << std::sqrt(difference / size));
  CHECK(difference <= 1e-10 * size);
}

TEST_CASE("a training step of a residual network is PyTorch's") {
  const auto stored = golden();
  const auto device = make_cpu_device(1);
  const Graph graph = network();
  Parameters parameters(*device, graph);
  REQUIRE(parameters.layout().parameters.size() == stored["parameters"].size());
  for (const Tensor& tensor : parameters.layout().parameters) {
    const std::vector<float> values = stored["parameters"].at(tensor.name);
    REQUIRE(static_cast<int64_t>(values.size()) == tensor.shape.elements());
    std::copy(values.begin(), values.end(), parameters.values() + tensor.offset);
  }
  parameters.mark_changed();

  const std::vector<int32_t> labels = stored["labels"];
  const auto samples = static_cast<int64_t>(labels.size());
  Session session(*device, graph, parameters, {.mode = Mode::kTrain, .samples = samples});
  const auto logits = session.forward(stored["input"]);
  check_close("logits", logits, stored["logits"]);

  std::vector<float> gradient(logits.size());
  const LossResult loss = device->cross_entropy(logits.data(), labels.data(), samples, 4, gradient.data());
  CHECK(loss.loss_sum / static_cast<double>(samples) == Approx(double{stored["loss"]}).epsilon(1e-6));

  check_close("input gradient", session.backward(gradient), stored["input_gradient"]);
  for (const Tensor& tensor : parameters.layout().parameters) {
    check_close(tensor.name, numbers(parameters.gradients(), tensor), stored["gradients"].at(tensor.name));
  }

  parameters.commit_statistics();
  REQUIRE(parameters.layout().statistics.size() == stored["running"].size());
  for (const Tensor& tensor : parameters.layout().statistics) {
    check_close(tensor.name, numbers(parameters.running(), tensor), stored["running"].at(tensor.name));
  }
  Session evaluation(*device, graph, parameters, {.mode = Mode::kEvaluate, .samples = samples});
  check_close("evaluation", evaluation.forward(stored["input"]), stored["evaluated_logits"]);
}

}  // namespace
}  // namespace stagger::tests

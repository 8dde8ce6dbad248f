#include "layers/graph.h"

#include <algorithm>
#include <utility>

#include "layers/error.h"

namespace stagger::layers {

std::string_view kind(const Layer& layer) {
  return std::visit([](const auto& l) { return l.kKind; }, layer);
}

std::string describe(const Layer& layer) {
  return std::visit([](const auto& l) { return l.describe(); }, layer);
}

Shape output_shape(const Layer& layer, std::span<const Shape> inputs) {
  return std::visit([&](const auto& l) { return l.output(inputs); }, layer);
}

std::vector<ParameterSpec> parameters(const Layer& layer, std::span<const Shape> inputs) {
  return std::visit(
      [&](const auto& l) -> std::vector<ParameterSpec> {
        if constexpr (requires { l.parameters(inputs); }) return l.parameters(inputs);
        return {};
      },
      layer);
}

std::vector<StatisticSpec> statistics(const Layer& layer, std::span<const Shape> inputs) {
  return std::visit(
      [&](const auto& l) -> std::vector<StatisticSpec> {
        if constexpr (requires { l.statistics(inputs); }) return l.statistics(inputs);
        return {};
      },
      layer);
}

double flops(const Layer& layer, std::span<const Shape> inputs) {
  return std::visit(
      [&](const auto& l) -> double {
        if constexpr (requires { l.flops(inputs); }) return l.flops(inputs);
        return 0;
      },
      layer);
}

Graph::Graph(Shape input) : shapes_{std::move(input)} {}

ValueId Graph::add(std::string name, Layer layer, std::vector<ValueId> inputs) {
  const bool taken =
      std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& node) { return node.name == name; });
  if (taken) throw ConfigError("layer '" + name + "': there is another layer of this name");
  Node node{std::move(name), std::move(layer), std::move(inputs)};
  try {
    shapes_.push_back(layers::output_shape(node.layer, input_shapes(node)));
  } catch (const ConfigError& error) {
    throw ConfigError("layer '" + node.name + "' (" + std::string(kind(node.layer)) + "): " + error.what());
  }
  nodes_.push_back(std::move(node));
  return output();
}

void Graph::append(const Graph& next) {
  if (!(next.input_shape() == output_shape())) {
    throw ConfigError("a block that takes " + next.input_shape().to_string() + " follows one that gives " +
                      output_shape().to_string());
  }
  const ValueId offset = output();
  for (const Node& node : next.nodes()) {
    std::vector<ValueId> inputs = node.inputs;
    for (ValueId& value : inputs) value += offset;
    add(node.name, node.layer, std::move(inputs));
  }
}

std::vector<Shape> Graph::input_shapes(const Node& node) const {
  std::vector<Shape> list;
  for (ValueId value : node.inputs) {
    require(value >= 0 && value <= output(), "a layer uses a value that does not exist yet");
    list.push_back(shape(value));
  }
  return list;
}

namespace {

/// `layer` with ReLU folded in, where it can be: then returns true.
bool fold_relu(Layer& layer) {
  if (auto* norm = std::get_if<BatchNorm>(&layer); norm != nullptr && !norm->relu) return norm->relu = true;
  if (auto* add = std::get_if<Add>(&layer); add != nullptr && !add->relu) return add->relu = true;
  return false;
}

std::vector<int64_t> count_uses(const Graph& graph) {
  std::vector<int64_t> uses(graph.nodes().size() + 1, 0);
  for (const Node& node : graph.nodes()) {
    for (ValueId value : node.inputs) ++uses[static_cast<size_t>(value)];
  }
  ++uses.back();
  return uses;
}

}  // namespace

Graph fuse_relu(const Graph& graph) {
  const std::vector<int64_t> uses = count_uses(graph);
  std::vector<ValueId> renamed{0};  // value of `graph` -> value of `fused`
  std::vector<Node> nodes;
  for (const Node& node : graph.nodes()) {
    const ValueId input = node.inputs[0];
    const bool is_relu = std::holds_alternative<Relu>(node.layer);
    if (is_relu && input > 0 && uses[static_cast<size_t>(input)] == 1 &&
        renamed[static_cast<size_t>(input)] == static_cast<ValueId>(nodes.size()) &&
        fold_relu(nodes.back().layer)) {
      renamed.push_back(renamed[static_cast<size_t>(input)]);
      continue;
    }
    Node copy = node;
    for (ValueId& value : copy.inputs) value = renamed[static_cast<size_t>(value)];
    nodes.push_back(std::move(copy));
    renamed.push_back(static_cast<ValueId>(nodes.size()));
  }
  Graph fused(graph.input_shape());
  for (Node& node : nodes) fused.add(std::move(node.name), std::move(node.layer), std::move(node.inputs));
  return fused;
}

}  // namespace stagger::layers

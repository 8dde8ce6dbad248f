#include "layers/parameters.h"

#include <algorithm>
#include <cmath>

#include "layers/checked.h"
#include "layers/device.h"
#include "layers/random.h"

namespace stagger::layers {
namespace {

constexpr int64_t kAlignment = 16;  // floats: a cache line

/// Calls visit(node, its input shapes) for every node.
template <class Visit>
void for_each_node(const Graph& graph, Visit visit) {
  for (const Node& node : graph.nodes()) visit(node, graph.input_shapes(node));
}

Tensor place(const Node& node, const std::string& name, const Shape& shape, Role role, int64_t& end) {
  Tensor tensor{.name = node.name + "." + name, .shape = shape, .offset = end, .role = role};
  end = round_up(end + shape.elements(), kAlignment);
  return tensor;
}

const Tensor& find(const std::vector<Tensor>& tensors, const std::string& name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == name; });
  if (found == tensors.end()) throw InternalError("no tensor is called " + name);
  return *found;
}

void fill(float* values, const Tensor& tensor, const ParameterSpec& spec, uint64_t seed) {
  const Stream stream(seed, Purpose::kInitialisation, layer_key(tensor.name));
  const auto deviation = static_cast<float>(std::sqrt(2.0 / static_cast<double>(spec.fan_in)));
  for (int64_t i = 0; i < tensor.shape.elements(); ++i) {
    switch (spec.initial) {
      case Initial::kHe:
        values[i] = deviation * stream.normal(0, i);
        break;
      case Initial::kOne:
        values[i] = 1;
        break;
      case Initial::kZero:
        values[i] = 0;
        break;
    }
  }
}

}  // namespace

ParameterLayout::ParameterLayout(const Graph& graph) {
  for_each_node(graph, [&](const Node& node, const std::vector<Shape>& inputs) {
    for (const auto& spec : layers::parameters(node.layer, inputs)) {
      parameters.push_back(place(node, spec.name, spec.shape, spec.role, parameter_floats));
    }
    for (const auto& spec : layers::statistics(node.layer, inputs)) {
      statistics.push_back(place(node, spec.name, spec.shape, Role::kNorm, statistic_floats));
    }
  });
}

const Tensor& ParameterLayout::parameter(const std::string& name) const { return find(parameters, name); }
const Tensor& ParameterLayout::statistic(const std::string& name) const { return find(statistics, name); }

Parameters::Parameters(Device& device, const Graph& graph)
    : layout_(graph),
      values_(device.allocate(layout_.parameter_floats * 4)),
      gradients_(device.allocate(layout_.parameter_floats * 4)),
      running_(device.allocate(layout_.statistic_floats * 4)),
      batch_(device.allocate(layout_.statistic_floats * 4)) {
  size_t next = 0;
  for_each_node(graph, [&](const Node& node, const std::vector<Shape>& inputs) {
    for (const auto& spec : layers::statistics(node.layer, inputs)) {
      const Tensor& tensor = layout_.statistics[next++];
      std::fill_n(running() + tensor.offset, tensor.shape.elements(), spec.initial);
      statistic_momentum_.push_back(static_cast<float>(std::get<BatchNorm>(node.layer).momentum));
    }
  });
}

void Parameters::initialise(const Graph& graph, uint64_t seed) {
  size_t next = 0;
  for_each_node(graph, [&](const Node& node, const std::vector<Shape>& inputs) {
    for (const auto& spec : layers::parameters(node.layer, inputs)) {
      const Tensor& tensor = layout_.parameters.at(next++);
      fill(values() + tensor.offset, tensor, spec, seed);
    }
  });
  mark_changed();
}

void Parameters::commit_statistics() {
  for (size_t t = 0; t < layout_.statistics.size(); ++t) {
    const Tensor& tensor = layout_.statistics[t];
    const float momentum = statistic_momentum_[t];
    float* running = this->running() + tensor.offset;
    const float* batch = batch_statistics() + tensor.offset;
    for (int64_t i = 0; i < tensor.shape.elements(); ++i) running[i] += momentum * (batch[i] - running[i]);
  }
}

}  // namespace stagger::layers

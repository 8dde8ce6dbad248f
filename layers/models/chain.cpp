#include <unordered_set>
#include <utility>

#include "layers/error.h"
#include "layers/model.h"

namespace stagger::layers {
namespace {

bool stays_with_layer_before(const NamedLayer& named) {
  if (!std::holds_alternative<Layer>(named.what)) return false;
  const Layer& layer = std::get<Layer>(named.what);
  return std::holds_alternative<Relu>(layer) || std::holds_alternative<BatchNorm>(layer) ||
         std::holds_alternative<Dropout>(layer);
}

// Graph::add checks names within a block only.
void check_names(std::span<const NamedLayer> layers) {
  std::unordered_set<std::string> names;
  for (const NamedLayer& layer : layers) {
    if (!names.insert(layer.name).second) {
      throw ConfigError("layer '" + layer.name + "': there is another layer of this name");
    }
  }
}

void add(Graph& graph, const NamedLayer& named) {
  if (const auto* block = std::get_if<ResidualBlock>(&named.what)) {
    graph.append(make_residual(graph.output_shape(), named.name, *block));
  } else {
    graph.add(named.name, std::get<Layer>(named.what));
  }
}

}  // namespace

Model make_chain(const Shape& input, int64_t classes, std::span<const NamedLayer> layers) {
  if (layers.empty()) throw ConfigError("the list of layers is empty; a model has 1 layer or more");
  check_names(layers);
  Model model{.name = "chain", .blocks = {}};
  for (const NamedLayer& layer : layers) {
    if (model.blocks.empty() || !stays_with_layer_before(layer)) {
      const Shape shape = model.blocks.empty() ? input : model.output_shape();
      model.blocks.push_back({.name = layer.name, .graph = Graph(shape)});
    }
    add(model.blocks.back().graph, layer);
  }
  if (!(model.output_shape() == Shape{classes})) {
    throw ConfigError("the last layer, '" + layers.back().name + "', gives " +
                      model.output_shape().to_string() + "; it must give " + std::to_string(classes) +
                      ", one number a class");
  }
  return model;
}

}  // namespace stagger::layers

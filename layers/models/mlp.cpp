#include <utility>

#include "layers/model.h"

namespace stagger::layers {

Model make_mlp(const Shape& input, int64_t classes, const MlpOptions& options) {
  Model model{.name = "mlp", .blocks = {}};
  Graph graph(input);
  graph.add("flatten", Flatten{});
  for (int64_t features : options.hidden) {
    const std::string number = std::to_string(model.blocks.size() + 1);
    graph.add("fc" + number, Linear{.out_features = features});
    graph.add("relu" + number, Relu{});
    if (options.dropout != 0) graph.add("dropout" + number, Dropout{.probability = options.dropout});
    Graph next(graph.output_shape());
    model.blocks.push_back({.name = "fc" + number, .graph = std::exchange(graph, std::move(next))});
  }
  const std::string last = "fc" + std::to_string(model.blocks.size() + 1);
  graph.add(last, Linear{.out_features = classes});
  model.blocks.push_back({.name = last, .graph = std::move(graph)});
  return model;
}

}  // namespace stagger::layers

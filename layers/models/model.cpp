#include "layers/model.h"

#include "layers/checked.h"

namespace stagger::layers {

Graph Model::slice(int64_t first, int64_t last) const {
  require(0 <= first && first < last && last <= narrow<int64_t>(blocks.size()),
          "a slice of a model is empty or out of range");
  Graph graph = blocks[static_cast<size_t>(first)].graph;
  for (int64_t b = first + 1; b < last; ++b) graph.append(blocks[static_cast<size_t>(b)].graph);
  return graph;
}

}  // namespace stagger::layers

// A network, or a piece of one, as a directed acyclic graph of layers: what to compute, not how.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "layers/add.h"
#include "layers/batch_norm.h"
#include "layers/conv2d.h"
#include "layers/dropout.h"
#include "layers/flatten.h"
#include "layers/linear.h"
#include "layers/pad_shortcut.h"
#include "layers/parameter.h"
#include "layers/pool.h"
#include "layers/relu.h"
#include "layers/shape.h"

namespace stagger::layers {

/// Every layer there is. A device that lacks one of them does not compile.
using Layer = std::variant<Conv2d, BatchNorm, Relu, Add, Pool, GlobalAveragePool, Linear, Flatten, Dropout,
                           PadShortcut>;

std::string_view kind(const Layer& layer);
std::string describe(const Layer& layer);
/// Shape of the result. Throws ConfigError where `inputs` do not fit the layer or a setting is out of range.
Shape output_shape(const Layer& layer, std::span<const Shape> inputs);
std::vector<ParameterSpec> parameters(const Layer& layer, std::span<const Shape> inputs);
std::vector<StatisticSpec> statistics(const Layer& layer, std::span<const Shape> inputs);
/// Floating-point operations of the forward pass of one sample, for balancing; exact for convolution and
/// linear.
double flops(const Layer& layer, std::span<const Shape> inputs);

/// Index of a value: the graph's input is 0, the result of node i is i + 1.
using ValueId = int64_t;

struct Node {
  std::string name;  ///< full name, as its parameters are called: "layer1.0.conv1"
  Layer layer;
  std::vector<ValueId> inputs;
};

/// One input, one output (the last node's result), nodes in an order in which each uses earlier values only.
///
/// Invariants: every shape fits; names are unique; each value but the output is used by at least one node
/// (checked by the compilers). A graph without nodes is the identity.
class Graph {
 public:
  explicit Graph(Shape input);

  /// Appends a layer and returns its result. Throws ConfigError, with `name` in front, where the layer does
  /// not fit or the name is taken.
  ValueId add(std::string name, Layer layer, std::vector<ValueId> inputs);
  /// Appends a layer on the current output.
  ValueId add(std::string name, Layer layer) { return add(std::move(name), std::move(layer), {output()}); }
  /// Appends all of `next`, its input being this graph's output. Throws ConfigError where the shapes differ.
  void append(const Graph& next);

  const std::vector<Node>& nodes() const { return nodes_; }
  const Shape& shape(ValueId value) const { return shapes_.at(static_cast<size_t>(value)); }
  std::vector<Shape> input_shapes(const Node& node) const;
  ValueId output() const { return static_cast<ValueId>(nodes_.size()); }
  const Shape& input_shape() const { return shapes_.front(); }
  const Shape& output_shape() const { return shapes_.back(); }

 private:
  std::vector<Node> nodes_;
  std::vector<Shape> shapes_;
};

/// The same network with each ReLU folded into the batch norm or addition before it, where nothing else uses
/// that layer's result. Parameters keep their names and order.
Graph fuse_relu(const Graph& graph);

}  // namespace stagger::layers

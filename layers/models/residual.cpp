#include "layers/error.h"
#include "layers/model.h"

namespace stagger::layers {
namespace {

constexpr int64_t kExpansion = 4;  // of a bottleneck block's result over its inner width

/// Adds convolution `number` of the block and its batch norm.
void add_conv_norm(Graph& graph, const std::string& prefix, const char* number, const Conv2d& conv) {
  graph.add(prefix + "conv" + number, conv);
  graph.add(prefix + "bn" + number, BatchNorm{});
}

void add_basic_path(Graph& graph, const std::string& prefix, const ResidualBlock& block) {
  add_conv_norm(graph, prefix, "1", {.out_channels = block.channels, .stride = block.stride, .padding = 1});
  graph.add(prefix + "relu1", Relu{});
  add_conv_norm(graph, prefix, "2", {.out_channels = block.channels, .padding = 1});
}

void add_bottleneck_path(Graph& graph, const std::string& prefix, const ResidualBlock& block) {
  const int64_t inner = block.channels / kExpansion;
  add_conv_norm(graph, prefix, "1", {.out_channels = inner, .kernel = 1});
  graph.add(prefix + "relu1", Relu{});
  add_conv_norm(graph, prefix, "2", {.out_channels = inner, .stride = block.stride, .padding = 1});
  graph.add(prefix + "relu2", Relu{});
  add_conv_norm(graph, prefix, "3", {.out_channels = block.channels, .kernel = 1});
}

ValueId add_shortcut(Graph& graph, const std::string& prefix, const ResidualBlock& block) {
  const bool same_size = block.stride == 1 && graph.input_shape()[0] == block.channels;
  if (same_size) return 0;
  const std::string name = prefix + "downsample";
  if (block.shortcut == ResidualBlock::Shortcut::kPadding) {
    return graph.add(name, PadShortcut{.out_channels = block.channels, .stride = block.stride}, {0});
  }
  graph.add(name + ".0", Conv2d{.out_channels = block.channels, .kernel = 1, .stride = block.stride}, {0});
  return graph.add(name + ".1", BatchNorm{});
}

}  // namespace

Graph make_residual(const Shape& input, const std::string& name, const ResidualBlock& block) {
  if (!input.is_image()) {
    throw ConfigError("residual block '" + name + "' takes channels x height x width, got " + input.to_string());
  }
  const std::string prefix = name + ".";
  Graph graph(input);
  if (block.kind == ResidualBlock::Kind::kBasic) {
    add_basic_path(graph, prefix, block);
  } else {
    if (block.channels % kExpansion != 0) {
      throw ConfigError("residual block '" + name + "' has " + std::to_string(block.channels) +
                        " channels; a bottleneck block has a multiple of " + std::to_string(kExpansion));
    }
    add_bottleneck_path(graph, prefix, block);
  }
  const ValueId path = graph.output();
  const ValueId shortcut = add_shortcut(graph, prefix, block);
  graph.add(prefix + "add", Add{}, {path, shortcut});
  graph.add(prefix + "relu", Relu{});
  return graph;
}

}  // namespace stagger::layers

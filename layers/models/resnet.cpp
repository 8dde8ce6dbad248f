#include <algorithm>
#include <utility>

#include "layers/error.h"
#include "layers/model.h"

namespace stagger::layers {
namespace {

constexpr int64_t kGroups = 3;
constexpr int64_t kExpansion = 4;    // of a bottleneck block's output over its inner width
constexpr int64_t kLeastPixels = 4;  // two groups halve the image
constexpr int64_t kMostDepth = 10000;
constexpr int64_t kMostWidth = 65536;

using BlockKind = ResidualBlock::Kind;

/// Residual blocks a group. Depth counts the convolutions on the main path and the linear layer.
int64_t blocks_per_group(const ResNetOptions& options) {
  const bool basic = options.block == BlockKind::kBasic;
  const int64_t unit = kGroups * (basic ? 2 : 3);
  const int64_t most = (kMostDepth - 2) / unit;
  const int64_t depth = options.depth;
  if (depth >= unit + 2 && depth <= kMostDepth && (depth - 2) % unit == 0) return (depth - 2) / unit;

  const int64_t below = std::clamp<int64_t>((std::clamp<int64_t>(depth, 2, kMostDepth) - 2) / unit, 1, most);
  std::string nearest = std::to_string(unit * below + 2);
  if (depth > unit * below + 2 && below < most) nearest += " and " + std::to_string(unit * (below + 1) + 2);
  throw ConfigError("a ResNet of " + std::string(basic ? "basic" : "bottleneck") + " blocks has a depth of " +
                    std::to_string(unit) + "n+2, got " + std::to_string(depth) + "; nearest: " + nearest);
}

void check(const Shape& input, const ResNetOptions& options) {
  if (!input.is_image()) {
    throw ConfigError("a ResNet takes channels x height x width, got " + input.to_string());
  }
  if (input[1] < kLeastPixels || input[2] < kLeastPixels) {
    throw ConfigError("a ResNet takes images of 4x4 pixels or more, got " + input.to_string());
  }
  if (options.width < 1 || options.width > kMostWidth) {
    throw ConfigError("width of a ResNet is " + std::to_string(options.width) + "; allowed are 1 to " +
                      std::to_string(kMostWidth));
  }
}

Graph stem(const Shape& input, int64_t width) {
  Graph graph(input);
  graph.add("conv1", Conv2d{.out_channels = width, .padding = 1});
  graph.add("bn1", BatchNorm{});
  graph.add("relu", Relu{});
  return graph;
}

Graph head(const Shape& input, int64_t classes) {
  Graph graph(input);
  graph.add("avgpool", GlobalAveragePool{});
  graph.add("flatten", Flatten{});
  graph.add("fc", Linear{.out_features = classes});
  return graph;
}

void add_group(Model& model, int64_t group, int64_t count, const ResNetOptions& options) {
  const int64_t channels = options.width << group;
  const int64_t out = options.block == BlockKind::kBasic ? channels : kExpansion * channels;
  for (int64_t n = 0; n < count; ++n) {
    const std::string name = "layer" + std::to_string(group + 1) + "." + std::to_string(n);
    const int64_t stride = group > 0 && n == 0 ? 2 : 1;
    const ResidualBlock block{
        .kind = options.block, .channels = out, .stride = stride, .shortcut = options.shortcut};
    model.blocks.push_back({.name = name, .graph = make_residual(model.output_shape(), name, block)});
  }
}

}  // namespace

Model make_resnet(const Shape& input, int64_t classes, const ResNetOptions& options) {
  const int64_t count = blocks_per_group(options);
  check(input, options);
  Model model{.name = "resnet" + std::to_string(options.depth), .blocks = {}};
  if (options.block == BlockKind::kBottleneck) model.name += "-bottleneck";
  model.blocks.push_back({.name = "stem", .graph = stem(input, options.width)});
  for (int64_t group = 0; group < kGroups; ++group) add_group(model, group, count, options);
  model.blocks.push_back({.name = "head", .graph = head(model.output_shape(), classes)});
  return model;
}

}  // namespace stagger::layers

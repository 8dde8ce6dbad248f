// A whole network as a chain of blocks, the units that a partition may not cut.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "layers/graph.h"

namespace stagger::layers {

/// A piece of a model that stays on one stage: one value goes in, one comes out.
struct Block {
  std::string name;  ///< "stem", "layer1.0", "head"
  Graph graph;
};

/// Blocks in order; each takes what the one before gives. The last one gives the logits, {classes}.
struct Model {
  std::string name;  ///< "resnet20"
  std::vector<Block> blocks;

  const Shape& input_shape() const { return blocks.front().graph.input_shape(); }
  const Shape& output_shape() const { return blocks.back().graph.output_shape(); }
  /// Blocks first .. last-1 as one graph. REQUIRES: 0 <= first < last <= blocks.size().
  Graph slice(int64_t first, int64_t last) const;
};

/// Multilayer perceptron: flatten, then `hidden.size()` times linear + ReLU (+ dropout, if > 0), then linear.
/// Names: "fc1", "relu1", ...; one block per linear layer.
struct MlpOptions {
  std::vector<int64_t> hidden;
  double dropout = 0;
};
Model make_mlp(const Shape& input, int64_t classes, const MlpOptions& options);

/// A residual block of He et al. (CVPR 2016): two 3x3 convolutions, or 1x1, 3x3, 1x1 with a quarter of the
/// channels inside, each with batch norm; the input, or a shortcut where the size changes, is added before
/// the last ReLU.
struct ResidualBlock {
  enum class Kind { kBasic, kBottleneck };
  /// Where the block changes size: zeros for the new channels, or a 1x1 convolution with batch norm. Blocks
  /// that keep their size always pass their input on.
  enum class Shortcut { kPadding, kProjection };

  Kind kind = Kind::kBasic;
  int64_t channels = 16;  ///< of its result
  int64_t stride = 1;     ///< of its 3x3 convolution, the first one of two
  Shortcut shortcut = Shortcut::kPadding;
};
/// Its layers are called name.conv1, name.bn1, ... Throws ConfigError where it does not fit `input`, or a
/// bottleneck's channels are not a multiple of 4.
Graph make_residual(const Shape& input, const std::string& name, const ResidualBlock& block);

/// The ResNets for small images of He et al. (CVPR 2016, section 4.2): a 3x3 stem, three groups of residual
/// blocks with width, 2 width and 4 width channels, a global average pool and a linear layer. Parameters are
/// called as in torchvision: conv1, bn1, layer1.0.conv1, ..., layer2.0.downsample.0, fc.
struct ResNetOptions {
  int64_t depth = 20;  ///< basic: 6n+2; bottleneck: 9n+2
  ResidualBlock::Kind block = ResidualBlock::Kind::kBasic;
  ResidualBlock::Shortcut shortcut = ResidualBlock::Shortcut::kPadding;
  int64_t width = 16;
};
/// Throws ConfigError for a depth that does not exist, saying which nearest ones do.
Model make_resnet(const Shape& input, int64_t classes, const ResNetOptions& options);

/// A chain of layers and residual blocks, each a block of its own unless it is a ReLU, batch norm or dropout,
/// which stay with what comes before. Throws ConfigError where the chain does not end in {classes}.
struct NamedLayer {
  std::string name;
  std::variant<Layer, ResidualBlock> what;
};
Model make_chain(const Shape& input, int64_t classes, std::span<const NamedLayer> layers);

}  // namespace stagger::layers

// Two-dimensional convolution (cross-correlation, as PyTorch's Conv2d).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layers/parameter.h"
#include "layers/shape.h"

namespace stagger::layers {

/// Square kernel, the same stride and zero padding in both directions.
/// C x H x W -> out_channels x H' x W' with H' = (H + 2 padding - kernel) / stride + 1, rounded down.
struct Conv2d {
  static constexpr std::string_view kKind = "conv";

  int64_t out_channels = 0;
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t padding = 0;
  bool bias = false;

  Shape output(std::span<const Shape> inputs) const;
  std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const;
  double flops(std::span<const Shape> inputs) const;
  std::string describe() const;
};

}  // namespace stagger::layers

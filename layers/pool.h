// Maximum and average pooling, windowed or over the whole image.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "layers/shape.h"

namespace stagger::layers {

/// Slides a square window. Padding counts as -infinity for kMax and as zeros that are averaged in for
/// kAverage (PyTorch's default). Backward of kMax gives the gradient to the first maximum of a window.
struct Pool {
  static constexpr std::string_view kKind = "pool";
  enum class Kind { kMax, kAverage };

  Kind kind = Kind::kMax;
  int64_t kernel = 2;
  int64_t stride = 2;
  int64_t padding = 0;

  Shape output(std::span<const Shape> inputs) const;
  double flops(std::span<const Shape> inputs) const;
  std::string describe() const;
};

/// C x H x W -> C x 1 x 1: the mean over all pixels.
struct GlobalAveragePool {
  static constexpr std::string_view kKind = "global_average_pool";

  Shape output(std::span<const Shape> inputs) const;
  double flops(std::span<const Shape> inputs) const;
  std::string describe() const { return "global average pool"; }
};

}  // namespace stagger::layers

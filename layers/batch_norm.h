// Batch normalisation (Ioffe, Szegedy, ICML 2015) with PyTorch's arithmetic.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layers/parameter.h"
#include "layers/shape.h"

namespace stagger::layers {

/// Normalises each channel of an image, or each feature of a vector, over the batch and all pixels with the
/// biased variance, then scales by `weight` and shifts by `bias`. Running statistics move by `momentum`
/// towards the batch mean and the unbiased batch variance, once a batch; evaluation uses them. With `relu`,
/// followed by max(0, .).
struct BatchNorm {
  static constexpr std::string_view kKind = "batch_norm";

  double eps = 1e-5;
  double momentum = 0.1;
  bool relu = false;

  Shape output(std::span<const Shape> inputs) const;
  std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const;
  std::vector<StatisticSpec> statistics(std::span<const Shape> inputs) const;
  double flops(std::span<const Shape> inputs) const;
  std::string describe() const;
};

}  // namespace stagger::layers

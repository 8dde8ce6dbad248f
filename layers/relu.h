// Rectified linear unit: max(0, x), with gradient 0 at x <= 0.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "layers/shape.h"

namespace stagger::layers {

struct Relu {
  static constexpr std::string_view kKind = "relu";

  Shape output(std::span<const Shape> inputs) const;
  double flops(std::span<const Shape> inputs) const;
  std::string describe() const { return "relu"; }
};

}  // namespace stagger::layers

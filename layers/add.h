// Element-wise sum of two inputs of one shape: where a residual block joins its shortcut.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "layers/shape.h"

namespace stagger::layers {

/// With `relu`, followed by max(0, .).
struct Add {
  static constexpr std::string_view kKind = "add";

  bool relu = false;

  Shape output(std::span<const Shape> inputs) const;
  double flops(std::span<const Shape> inputs) const;
  std::string describe() const { return relu ? "add + relu" : "add"; }
};

}  // namespace stagger::layers

// Any shape -> {features}, in row-major order (channels outermost).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "layers/shape.h"

namespace stagger::layers {

struct Flatten {
  static constexpr std::string_view kKind = "flatten";

  Shape output(std::span<const Shape> inputs) const;
  std::string describe() const { return "flatten"; }
};

}  // namespace stagger::layers

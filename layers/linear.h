// Fully connected layer: y = W x + b.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layers/parameter.h"
#include "layers/shape.h"

namespace stagger::layers {

/// {features} -> {out_features}. `weight` is out x in.
struct Linear {
  static constexpr std::string_view kKind = "linear";

  int64_t out_features = 0;
  bool bias = true;

  Shape output(std::span<const Shape> inputs) const;
  std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const;
  double flops(std::span<const Shape> inputs) const;
  std::string describe() const { return "linear " + std::to_string(out_features); }
};

}  // namespace stagger::layers

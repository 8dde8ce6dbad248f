#include "layers/linear.h"

#include "layers/layer_checks.h"

namespace stagger::layers {

Shape Linear::output(std::span<const Shape> inputs) const {
  const Shape& x = only_input(inputs);
  if (x.rank() != 1)
    throw ConfigError("takes a vector of features, got " + x.to_string() + "; put a flatten before it");
  at_least("out_features", out_features, 1);
  return {out_features};
}

std::vector<ParameterSpec> Linear::parameters(std::span<const Shape> inputs) const {
  const int64_t in_features = inputs[0][0];
  std::vector<ParameterSpec> list{{.name = "weight",
                                   .shape = {out_features, in_features},
                                   .role = Role::kWeight,
                                   .initial = Initial::kHe,
                                   .fan_in = in_features}};
  if (bias)
    list.push_back({.name = "bias", .shape = {out_features}, .role = Role::kBias, .initial = Initial::kZero});
  return list;
}

double Linear::flops(std::span<const Shape> inputs) const {
  return 2 * static_cast<double>(inputs[0][0]) * static_cast<double>(out_features);
}

}  // namespace stagger::layers

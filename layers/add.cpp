#include "layers/add.h"

#include "layers/layer_checks.h"

namespace stagger::layers {

Shape Add::output(std::span<const Shape> inputs) const {
  if (inputs.size() != 2) throw ConfigError("takes 2 inputs, got " + std::to_string(inputs.size()));
  if (inputs[0] == inputs[1]) return inputs[0];
  throw ConfigError("cannot add " + inputs[0].to_string() + " and " + inputs[1].to_string());
}

double Add::flops(std::span<const Shape> inputs) const { return static_cast<double>(inputs[0].elements()); }

}  // namespace stagger::layers

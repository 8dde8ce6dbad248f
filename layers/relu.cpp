#include "layers/relu.h"

#include "layers/layer_checks.h"

namespace stagger::layers {

Shape Relu::output(std::span<const Shape> inputs) const { return only_input(inputs); }

double Relu::flops(std::span<const Shape> inputs) const { return static_cast<double>(inputs[0].elements()); }

}  // namespace stagger::layers

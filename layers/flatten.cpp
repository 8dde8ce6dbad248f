#include "layers/flatten.h"

#include "layers/layer_checks.h"

namespace stagger::layers {

Shape Flatten::output(std::span<const Shape> inputs) const { return {only_input(inputs).elements()}; }

}  // namespace stagger::layers

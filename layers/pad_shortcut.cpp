#include "layers/pad_shortcut.h"

#include "layers/layer_checks.h"

namespace stagger::layers {

Shape PadShortcut::output(std::span<const Shape> inputs) const {
  const Shape& x = only_image(inputs);
  at_least("out_channels", out_channels, x[0]);
  at_least("stride", stride, 1);
  return {out_channels, (x[1] + stride - 1) / stride, (x[2] + stride - 1) / stride};
}

std::string PadShortcut::describe() const {
  return "identity padded to " + std::to_string(out_channels) + ", stride " + std::to_string(stride);
}

}  // namespace stagger::layers

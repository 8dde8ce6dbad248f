// The parameter-free shortcut of a residual block that changes size (He et al., CVPR 2016, option A).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "layers/shape.h"

namespace stagger::layers {

/// Takes every stride-th pixel in both directions and appends channels of zeros:
/// C x H x W -> out_channels x ceil(H / stride) x ceil(W / stride).
struct PadShortcut {
  static constexpr std::string_view kKind = "pad_shortcut";

  int64_t out_channels = 0;
  int64_t stride = 1;

  Shape output(std::span<const Shape> inputs) const;
  std::string describe() const;
};

}  // namespace stagger::layers

// Dropout (Srivastava et al., JMLR 2014), scaled at training time.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "layers/shape.h"

namespace stagger::layers {

/// In training, element i of sample s becomes 0 where Stream(seed, kDropout, layer_key(name), epoch,
/// batch).uniform(s, i) < probability, else it is multiplied by 1 / (1 - probability); i is row-major in the
/// sample's shape, s is the position in the batch. A recomputed forward of the same batch therefore drops the
/// same elements. In evaluation: the identity.
struct Dropout {
  static constexpr std::string_view kKind = "dropout";

  double probability = 0.5;

  Shape output(std::span<const Shape> inputs) const;
  double flops(std::span<const Shape> inputs) const;
  std::string describe() const;
};

}  // namespace stagger::layers

// Softmax cross-entropy on the CPU.
#pragma once

#include <cstdint>

#include "layers/device.h"

namespace stagger::layers::cpu {

/// As Device::cross_entropy. Sums in double, in the order of the samples. Logits that are not finite give a
/// loss of NaN. Throws InternalError for a label out of range.
LossResult cross_entropy(const float* logits, const int32_t* labels, int64_t samples, int64_t classes,
                         float* gradient);

}  // namespace stagger::layers::cpu

// Loops over the elements of tensors of one layout, padding included. Zeros stay zeros, so padding stays
// zero.
//
// `out` may be one of the inputs. NaN passes through. All of them use all threads of the device.
#pragma once

#include <cstdint>

namespace stagger::layers::cpu {

/// out = a + b.
void add(const float* a, const float* b, float* out, int64_t count);
/// out = max(0, a + b).
void add_relu(const float* a, const float* b, float* out, int64_t count);
/// out = max(0, a).
void relu(const float* a, float* out, int64_t count);
/// out = gradient where result > 0, else 0: backward of a ReLU that gave `result`.
void relu_backward(const float* gradient, const float* result, float* out, int64_t count);
/// out = a + b where result > 0, else 0.
void add_relu_backward(const float* a, const float* b, const float* result, float* out, int64_t count);

}  // namespace stagger::layers::cpu

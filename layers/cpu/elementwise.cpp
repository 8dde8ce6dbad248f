#include "layers/cpu/elementwise.h"

#include <bit>

#include "layers/cpu/simd.h"

namespace stagger::layers::cpu {
namespace {

constexpr int64_t kGrain = 4096;  // floats: enough to be worth a thread

// `x < 0 ? 0 : x` rather than max: a NaN must show in the loss, not disappear.
STAGGER_VECTORISED void add_range(const float* a, const float* b, float* out, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}

STAGGER_VECTORISED void add_relu_range(const float* a, const float* b, float* out, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const float x = a[i] + b[i];
    out[i] = x < 0 ? 0 : x;
  }
}

STAGGER_VECTORISED void relu_range(const float* a, float* out, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const float x = a[i];
    out[i] = x < 0 ? 0 : x;
  }
}

/// `gradient` where a ReLU that gave `result` let its input pass, else 0. A NaN lets the gradient through, as
/// it did the value. In integers: of a conditional on floats the compiler makes code of half the speed.
inline float passed(float gradient, float result) {
  const uint32_t mask = result <= 0 ? 0 : ~uint32_t{0};
  return std::bit_cast<float>(std::bit_cast<uint32_t>(gradient) & mask);
}

STAGGER_VECTORISED void relu_backward_range(const float* gradient, const float* result, float* out,
                                            int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) out[i] = passed(gradient[i], result[i]);
}

STAGGER_VECTORISED void add_relu_backward_range(const float* a, const float* b, const float* result,
                                                float* out, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) out[i] = passed(a[i] + b[i], result[i]);
}

}  // namespace

void add(const float* a, const float* b, float* out, int64_t count) {
  parallel_for(count, kGrain,
               [=](int64_t from, int64_t to) { add_range(a + from, b + from, out + from, to - from); });
}

void add_relu(const float* a, const float* b, float* out, int64_t count) {
  parallel_for(count, kGrain,
               [=](int64_t from, int64_t to) { add_relu_range(a + from, b + from, out + from, to - from); });
}

void relu(const float* a, float* out, int64_t count) {
  parallel_for(count, kGrain, [=](int64_t from, int64_t to) { relu_range(a + from, out + from, to - from); });
}

void relu_backward(const float* gradient, const float* result, float* out, int64_t count) {
  parallel_for(count, kGrain, [=](int64_t from, int64_t to) {
    relu_backward_range(gradient + from, result + from, out + from, to - from);
  });
}

void add_relu_backward(const float* a, const float* b, const float* result, float* out, int64_t count) {
  parallel_for(count, kGrain, [=](int64_t from, int64_t to) {
    add_relu_backward_range(a + from, b + from, result + from, out + from, to - from);
  });
}

}  // namespace stagger::layers::cpu

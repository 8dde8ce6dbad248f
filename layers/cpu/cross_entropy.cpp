#include "layers/cpu/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "layers/error.h"

namespace stagger::layers::cpu {
namespace {

/// -log softmax(x)[label], with d/dx times `weight` in `gradient` (unless null).
double one_sample(const float* x, int64_t classes, int64_t label, double weight, float* gradient) {
  if (!std::all_of(x, x + classes, [](float logit) { return std::isfinite(logit); })) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    if (gradient != nullptr) std::fill_n(gradient, classes, nan);
    return nan;
  }
  const double largest = *std::max_element(x, x + classes);
  double sum = 0;
  for (int64_t c = 0; c < classes; ++c) sum += std::exp(x[c] - largest);
  const double log_sum = largest + std::log(sum);
  for (int64_t c = 0; gradient != nullptr && c < classes; ++c) {
    const double softmax = std::exp(x[c] - log_sum);
    gradient[c] = static_cast<float>((softmax - (c == label ? 1 : 0)) * weight);
  }
  return log_sum - x[label];
}

}  // namespace

LossResult cross_entropy(const float* logits, const int32_t* labels, int64_t samples, int64_t classes,
                         float* gradient) {
  LossResult result{.samples = samples};
  for (int64_t s = 0; s < samples; ++s) {
    const float* x = logits + s * classes;
    const int64_t label = labels[s];
    require(label >= 0 && label < classes, "a label is out of range in the cross-entropy");
    float* g = gradient != nullptr ? gradient + s * classes : nullptr;
    result.loss_sum += one_sample(x, classes, label, 1.0 / static_cast<double>(samples), g);
    if (std::max_element(x, x + classes) - x == label) ++result.correct;
  }
  return result;
}

}  // namespace stagger::layers::cpu

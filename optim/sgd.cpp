#include <cmath>
#include <string>
#include <utility>

#include "layers/error.h"
#include "optim/optimizer.h"

namespace stagger::optim {
namespace {

// The loops below are the whole cost of an update: restrict lets them vectorise without a test for overlap.

void plain_step(float* __restrict w, const float* __restrict g, int64_t n, float rate, float decay) {
  for (int64_t i = 0; i < n; ++i) w[i] -= rate * (g[i] + decay * w[i]);
}

template <bool kNesterov>
void momentum_step(float* __restrict w, const float* __restrict g, float* __restrict v, int64_t n, float rate,
                   float momentum, float decay) {
  for (int64_t i = 0; i < n; ++i) {
    const float d = g[i] + decay * w[i];
    v[i] = momentum * v[i] + d;
    w[i] -= rate * (kNesterov ? d + momentum * v[i] : v[i]);
  }
}

std::string found(const char* what, double value, const char* allowed) {
  return std::string("optimizer: ") + what + " is " + std::to_string(value) + "; allowed is " + allowed;
}

void check(const SgdOptions& options) {
  if (!(options.momentum >= 0 && options.momentum < 1))
    throw layers::ConfigError(found("momentum", options.momentum, "0 or more and less than 1"));
  if (!(options.weight_decay >= 0 && std::isfinite(options.weight_decay)))
    throw layers::ConfigError(found("weight decay", options.weight_decay, "0 or more"));
  if (options.nesterov && options.momentum == 0)
    throw layers::ConfigError("optimizer: nesterov goes with a momentum above 0; momentum is 0");
}

void check(const std::vector<Segment>& segments, int64_t size) {
  int64_t end = 0;
  for (const Segment& s : segments) {
    layers::require(s.offset >= end && s.size >= 0 && s.size <= size - s.offset,
                    "segments of an optimizer overlap or leave the buffer");
    end = s.offset + s.size;
  }
}

class Sgd final : public Optimizer {
 public:
  Sgd(const SgdOptions& options, int64_t size, std::vector<Segment> segments)
      : momentum_(static_cast<float>(options.momentum)),
        decay_(static_cast<float>(options.weight_decay)),
        nesterov_(options.nesterov),
        size_(static_cast<size_t>(size)),
        segments_(std::move(segments)),
        // Zeros make v = d in the first step without a flag that a checkpoint would have to carry.
        velocity_(options.momentum > 0 ? size_ : 0) {}

  void update(std::span<float> values, std::span<const float> gradients, double learning_rate) override {
    layers::require(values.size() == size_ && gradients.size() == size_,
                    "an optimizer was given a buffer of another size than it was made for");
    const auto rate = static_cast<float>(learning_rate);
    for (const Segment& s : segments_) step(s, values.data() + s.offset, gradients.data() + s.offset, rate);
  }

  std::span<float> state() override { return velocity_; }

 private:
  void step(const Segment& s, float* w, const float* g, float rate) {
    const float decay = s.decay ? decay_ : 0;
    if (velocity_.empty()) return plain_step(w, g, s.size, rate, decay);
    float* v = velocity_.data() + s.offset;
    if (nesterov_) return momentum_step<true>(w, g, v, s.size, rate, momentum_, decay);
    momentum_step<false>(w, g, v, s.size, rate, momentum_, decay);
  }

  float momentum_;
  float decay_;
  bool nesterov_;
  size_t size_;
  std::vector<Segment> segments_;
  std::vector<float> velocity_;
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd(const SgdOptions& options, int64_t size, std::vector<Segment> segments) {
  check(options);
  layers::require(size >= 0, "an optimizer was asked for a buffer of negative size");
  check(segments, size);
  return std::make_unique<Sgd>(options, size, std::move(segments));
}

}  // namespace stagger::optim

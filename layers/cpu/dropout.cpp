// Dropout. The mask is a function of the batch's identity: backward computes it again instead of reading it.
#include "layers/dropout.h"

#include <cmath>

#include "layers/cpu/simd.h"
#include "layers/cpu/twin.h"
#include "layers/random.h"

namespace stagger::layers::cpu {
namespace {

/// What decides over an element, apart from the batch.
struct Mask {
  uint64_t seed;
  uint64_t layer;
  double probability;

  Stream stream(const BatchIdentity& id) const {
    return {seed, Purpose::kDropout, layer, id.epoch, id.batch};
  }
  /// A number of 24 bits drops its element if it is below this: uniform() < probability without floating
  /// point.
  uint32_t threshold() const { return static_cast<uint32_t>(std::ceil(probability * 0x1p24)); }
  float scale() const { return static_cast<float>(1 / (1 - probability)); }
};

/// One sample: out = in where kept, scaled; else 0. Four elements share a block of random numbers.
void apply_to_sample(const Mask& mask, const Stream& stream, int64_t sample, const float* in, float* out,
                     int64_t elements) {
  const uint32_t threshold = mask.threshold();
  const float scale = mask.scale();
  for (int64_t i = 0; i < elements; i += 4) {
    const auto random = stream.block(sample, i / 4);
    const int64_t end = std::min<int64_t>(4, elements - i);
    for (int64_t j = 0; j < end; ++j) {
      const bool dropped = random[static_cast<size_t>(j)] >> 8 < threshold;
      out[i + j] = dropped ? 0 : in[i + j] * scale;
    }
  }
}

class DropoutTwin final : public Twin {
 public:
  explicit DropoutTwin(const Dropout& layer) : layer_(layer) {}

  void forward(Builder& b) override {
    if (b.options().mode == Mode::kEvaluate) return b.set_output(b.input());
    const Tensor source = b.input_as(plain_layout(b.input_dims()));
    const Tensor result = b.output_over_input(source.layout);
    record(b, "dropout", source, result);
    b.set_output(result);
  }

  void backward(Builder& b) override {
    const Tensor gradient = b.recorder().as(b.output_gradient(), plain_layout(b.output_dims()));
    const Tensor source = b.gradient_over(gradient, gradient.layout);
    record(b, "backward dropout", gradient, source);
    b.give_gradient(source);
  }

 private:
  void record(Builder& b, const char* name, const Tensor& in, const Tensor& out) const {
    const Mask mask{b.options().seed, layer_key(b.name()), layer_.probability};
    const int64_t samples = b.options().samples;
    const int64_t elements = b.output_shape().elements();
    b.recorder().run(name, {in, out}, [=](const Step& step) {
      const Stream stream = mask.stream(step.identity);
      parallel_for(samples, 1, [&](int64_t from, int64_t to) {
        for (int64_t s = from; s < to; ++s) {
          apply_to_sample(mask, stream, s, in.data() + s * elements, out.data() + s * elements, elements);
        }
      });
    });
  }

  Dropout layer_;
};

}  // namespace

std::unique_ptr<Twin> make_twin(const Dropout& layer) { return std::make_unique<DropoutTwin>(layer); }

}  // namespace stagger::layers::cpu

// The shortcut that drops pixels and adds channels of zeros, in the layout of its input.
#include "layers/pad_shortcut.h"

#include <algorithm>

#include "layers/cpu/simd.h"
#include "layers/cpu/twin.h"
#include "layers/error.h"

namespace stagger::layers::cpu {
namespace {

/// An image tensor whose channels are at most blocked.
struct Image {
  Tensor tensor;
  ImageStrides strides;
  int64_t channels, height, width;

  explicit Image(const Tensor& t) : tensor(t) {
    const Dims dims = dims_of(t.layout);
    const auto found = image_strides(t.layout);
    require(found.has_value(), "an image layout was expected");
    strides = *found;
    channels = dims[1];
    height = dims[2];
    width = dims[3];
  }
  float* pixel(int64_t sample, int64_t block, int64_t row, int64_t column) const {
    return tensor.data() + sample * strides.sample + block * strides.channel + row * strides.row +
           column * strides.pixel;
  }
  void clear(int64_t sample) const {
    std::fill_n(tensor.data() + sample * strides.sample, floats_a_sample(), 0.0F);
  }
  int64_t floats_a_sample() const { return strides.padded_channels * height * width; }
};

/// Copies the pixels that the large and the small image share, in one of the directions. The channels of
/// `small` beyond those of `large` are left alone.
template <bool kShrink>
void copy_sample(const Image& large, const Image& small, int64_t stride, int64_t sample) {
  const int64_t block = large.strides.block;
  for (int64_t c = 0; c < large.channels; c += block) {
    const int64_t width = std::min(block, large.channels - c);
    for (int64_t row = 0; row < small.height; ++row) {
      for (int64_t column = 0; column < small.width; ++column) {
        float* const a = large.pixel(sample, c / block, row * stride, column * stride);
        float* const b = small.pixel(sample, c / block, row, column);
        kShrink ? std::copy_n(a, width, b) : std::copy_n(b, width, a);
      }
    }
  }
}

class PadShortcutTwin final : public Twin {
 public:
  explicit PadShortcutTwin(const PadShortcut& layer) : layer_(layer) {}

  void forward(Builder& b) override {
    const bool usable = image_strides(b.input().layout).has_value();
    const Image large(usable ? b.input() : b.input_as(plain_layout(b.input_dims())));
    const Image small(b.recorder().allocate(image_layout_like(large.tensor.layout, b.output_dims())));
    large_ = large.tensor.layout;
    small_ = small.tensor.layout;
    const auto shrink = [=, stride = layer_.stride](int64_t sample) {
      small.clear(sample);
      copy_sample<true>(large, small, stride, sample);
    };
    record(b, "pad shortcut", large, small, shrink);
    b.set_output(small.tensor);
  }

  void backward(Builder& b) override {
    const Image small(b.recorder().as(b.output_gradient(), small_));
    const Image large(b.recorder().allocate(large_));
    const auto grow = [=, stride = layer_.stride](int64_t sample) {
      large.clear(sample);
      copy_sample<false>(large, small, stride, sample);
    };
    record(b, "backward pad shortcut", large, small, grow);
    b.give_gradient(large.tensor);
  }

 private:
  template <class Work>
  void record(Builder& b, const char* name, const Image& large, const Image& small, const Work& work) {
    const int64_t samples = b.options().samples;
    b.recorder().run(name, {large.tensor, small.tensor}, [=](const Step&) {
      parallel_for(samples, 1, [&](int64_t from, int64_t to) {
        for (int64_t sample = from; sample < to; ++sample) work(sample);
      });
    });
  }

  PadShortcut layer_;
  Layout large_, small_;
};

}  // namespace

std::unique_ptr<Twin> make_twin(const PadShortcut& layer) { return std::make_unique<PadShortcutTwin>(layer); }

}  // namespace stagger::layers::cpu

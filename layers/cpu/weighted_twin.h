// What convolution and the fully connected layer have in common: a product with weights, and perhaps a bias,
// whose layouts oneDNN chooses. What comes in another layout is reordered.
#pragma once

#include <utility>

#include "layers/cpu/twin.h"

namespace stagger::layers::cpu {

/// `Sizes` is ConvolutionSizes or InnerProductSizes; see onednn.h.
template <class Sizes>
class WeightedTwin : public Twin {
 public:
  void forward(Builder& b) final {
    sizes_ = sizes(b);
    forward_ = describe_forward(b.engine(), sizes_);
    source_ = b.input_as(forward_.src_desc());
    if (b.training()) b.keep(source_);
    const Tensor result = b.recorder().allocate(forward_.dst_desc());
    const Tensor weights = b.recorder().renewed(b.parameter("weight"), forward_.weights_desc());
    Recorder::Arguments arguments{
        {DNNL_ARG_SRC, source_}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, result}};
    if (has_bias()) arguments.emplace_back(DNNL_ARG_BIAS, b.parameter("bias"));
    b.recorder().run(Sizes::kForward, forward_, arguments);
    b.set_output(result);
  }

  void backward(Builder& b) final {
    const Tensor gradient = b.output_gradient();
    backward_weights(b, gradient);
    if (b.wants_gradient()) backward_data(b, gradient);
  }

 protected:
  virtual Sizes sizes(const Builder& b) const = 0;

 private:
  bool has_bias() const { return !sizes_.bias.empty(); }

  void backward_weights(Builder& b, const Tensor& gradient) {
    Recorder& r = b.recorder();
    const auto description = describe_backward_weights(b.engine(), sizes_, forward_);
    const Tensor weights = b.parameter_gradient("weight");
    const bool direct = weights.layout == description.diff_weights_desc();
    const Tensor chosen = direct ? weights : r.allocate(description.diff_weights_desc());
    Recorder::Arguments arguments{{DNNL_ARG_SRC, r.as(source_, description.src_desc())},
                                  {DNNL_ARG_DIFF_DST, r.as(gradient, description.diff_dst_desc())},
                                  {DNNL_ARG_DIFF_WEIGHTS, chosen}};
    if (has_bias()) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, b.parameter_gradient("bias"));
    r.run(Sizes::kBackwardWeights, description, arguments);
    if (!direct) r.copy(chosen, weights);
  }

  void backward_data(Builder& b, const Tensor& gradient) {
    Recorder& r = b.recorder();
    const auto description = describe_backward_data(b.engine(), sizes_, forward_);
    const Tensor source = r.allocate(description.diff_src_desc());
    r.run(Sizes::kBackwardData, description,
          {{DNNL_ARG_DIFF_DST, r.as(gradient, description.diff_dst_desc())},
           {DNNL_ARG_WEIGHTS, r.renewed(b.parameter("weight"), description.weights_desc())},
           {DNNL_ARG_DIFF_SRC, source}});
    b.give_gradient(source);
  }

  using Forward = decltype(describe_forward(std::declval<dnnl::engine>(), std::declval<Sizes>()));

  Sizes sizes_;
  Forward forward_;
  Tensor source_;
};

}  // namespace stagger::layers::cpu

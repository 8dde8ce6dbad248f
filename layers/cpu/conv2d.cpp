// Convolution: oneDNN chooses all layouts; what comes in another one is reordered.
#include "layers/conv2d.h"

#include "layers/cpu/twin.h"

namespace stagger::layers::cpu {
namespace {

class Conv2dTwin final : public Twin {
 public:
  explicit Conv2dTwin(const Conv2d& layer) : layer_(layer) {}

  void forward(Builder& b) override {
    const int64_t k = layer_.kernel;
    sizes_ = {.source = b.input_dims(),
              .weights = {layer_.out_channels, b.input_shape()[0], k, k},
              .bias = layer_.bias ? Dims{layer_.out_channels} : Dims{},
              .destination = b.output_dims(),
              .strides = {layer_.stride, layer_.stride},
              .padding = {layer_.padding, layer_.padding}};
    forward_ = convolution_forward(b.engine(), sizes_);
    source_ = b.input_as(forward_.src_desc());
    if (b.training()) b.keep(source_);
    const Tensor result = b.recorder().allocate(forward_.dst_desc());
    Recorder::Arguments arguments{{DNNL_ARG_SRC, source_}, {DNNL_ARG_DST, result}};
    arguments.emplace_back(DNNL_ARG_WEIGHTS,
                           b.recorder().renewed(b.parameter("weight"), forward_.weights_desc()));
    if (layer_.bias) arguments.emplace_back(DNNL_ARG_BIAS, b.parameter("bias"));
    b.recorder().run("convolution", forward_, arguments);
    b.set_output(result);
  }

  void backward(Builder& b) override {
    const Tensor gradient = b.output_gradient();
    backward_weights(b, gradient);
    if (b.wants_gradient()) backward_data(b, gradient);
  }

 private:
  void backward_weights(Builder& b, const Tensor& gradient) {
    Recorder& r = b.recorder();
    const auto description = convolution_backward_weights(b.engine(), sizes_, forward_);
    const Tensor weights = b.parameter_gradient("weight");
    const bool direct = weights.layout == description.diff_weights_desc();
    const Tensor chosen = direct ? weights : r.allocate(description.diff_weights_desc());
    Recorder::Arguments arguments{{DNNL_ARG_SRC, r.as(source_, description.src_desc())},
                                  {DNNL_ARG_DIFF_DST, r.as(gradient, description.diff_dst_desc())},
                                  {DNNL_ARG_DIFF_WEIGHTS, chosen}};
    if (layer_.bias) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, b.parameter_gradient("bias"));
    r.run("backward-weights convolution", description, arguments);
    if (!direct) r.copy(chosen, weights);
  }

  void backward_data(Builder& b, const Tensor& gradient) {
    Recorder& r = b.recorder();
    const auto description = convolution_backward_data(b.engine(), sizes_, forward_);
    const Tensor source = r.allocate(description.diff_src_desc());
    r.run("backward-data convolution", description,
          {{DNNL_ARG_DIFF_DST, r.as(gradient, description.diff_dst_desc())},
           {DNNL_ARG_WEIGHTS, r.renewed(b.parameter("weight"), description.weights_desc())},
           {DNNL_ARG_DIFF_SRC, source}});
    b.give_gradient(source);
  }

  Conv2d layer_;
  ConvolutionSizes sizes_;
  ConvolutionForward forward_;
  Tensor source_;
};

}  // namespace

std::unique_ptr<Twin> make_twin(const Conv2d& layer) { return std::make_unique<Conv2dTwin>(layer); }

}  // namespace stagger::layers::cpu

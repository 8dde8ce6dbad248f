#include "layers/conv2d.h"

#include "layers/cpu/weighted_twin.h"

namespace stagger::layers::cpu {
namespace {

class Conv2dTwin final : public WeightedTwin<ConvolutionSizes> {
 public:
  explicit Conv2dTwin(const Conv2d& layer) : layer_(layer) {}

 private:
  ConvolutionSizes sizes(const Builder& b) const override {
    return {.source = b.input_dims(),
            .weights = {layer_.out_channels, b.input_shape()[0], layer_.kernel, layer_.kernel},
            .bias = layer_.bias ? Dims{layer_.out_channels} : Dims{},
            .destination = b.output_dims(),
            .strides = {layer_.stride, layer_.stride},
            .padding = {layer_.padding, layer_.padding}};
  }

  Conv2d layer_;
};

}  // namespace

std::unique_ptr<Twin> make_twin(const Conv2d& layer) { return std::make_unique<Conv2dTwin>(layer); }

}  // namespace stagger::layers::cpu

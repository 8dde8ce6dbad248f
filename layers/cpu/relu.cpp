// ReLU that stands alone; where it follows a batch norm or an addition it has been folded into that.
#include "layers/relu.h"

#include "layers/cpu/elementwise.h"
#include "layers/cpu/twin.h"

namespace stagger::layers::cpu {
namespace {

class ReluTwin final : public Twin {
 public:
  void forward(Builder& b) override {
    const Tensor source = b.input();
    result_ = b.output_over_input(source.layout);
    if (b.training()) b.keep(result_);
    b.recorder().run("relu", {source, result_}, [source, result = result_](const Step&) {
      relu(source.data(), result.data(), result.floats());
    });
    b.set_output(result_);
  }

  void backward(Builder& b) override {
    const Tensor gradient = b.recorder().as(b.output_gradient(), result_.layout);
    const Tensor source = b.gradient_over(gradient, gradient.layout);
    b.recorder().run("backward relu", {gradient, result_, source},
                     [gradient, result = result_, source](const Step&) {
                       relu_backward(gradient.data(), result.data(), source.data(), source.floats());
                     });
    b.give_gradient(source);
  }

 private:
  Tensor result_;  // tells where the gradient passes
};

}  // namespace

std::unique_ptr<Twin> make_twin(const Relu&) { return std::make_unique<ReluTwin>(); }

}  // namespace stagger::layers::cpu

// Addition of two branches. Both get the gradient of the sum, without a copy.
#include "layers/add.h"

#include "layers/cpu/elementwise.h"
#include "layers/cpu/twin.h"

namespace stagger::layers::cpu {
namespace {

class AddTwin final : public Twin {
 public:
  explicit AddTwin(const Add& layer) : layer_(layer) {}

  void forward(Builder& b) override {
    // A branch that came through convolutions has their layout; one that came straight from the border is
    // plain.
    const size_t leading = is_plain(b.input(0).layout) ? 1 : 0;
    const Layout layout = b.input(leading).layout;
    const Tensor x = b.input_as(layout, leading);
    const Tensor y = b.input_as(layout, 1 - leading);
    result_ = b.output_over_input(layout, leading);
    if (b.training() && layer_.relu) b.keep(result_);
    const auto kernel = layer_.relu ? add_relu : add;
    b.recorder().run("addition", {x, y, result_}, [x, y, result = result_, kernel](const Step&) {
      kernel(x.data(), y.data(), result.data(), result.floats());
    });
    b.set_output(result_);
  }

  void backward(Builder& b) override {
    const Tensor gradient = layer_.relu ? masked_gradient(b) : b.output_gradient();
    for (size_t i = 0; i < 2; ++i) {
      if (b.wants_gradient(i)) b.give_gradient(gradient, i);
    }
  }

 private:
  /// A residual value has two readers: their gradients are added in the pass that applies the ReLU's mask.
  Tensor masked_gradient(Builder& b) {
    std::vector<Tensor> parts = b.output_gradients();
    if (parts.size() != 2) parts = {b.recorder().as(b.sum(parts), result_.layout)};
    const Tensor x = parts.front();
    const Tensor y = parts.back();
    const Tensor masked = b.gradient_over(y, result_.layout);
    const Tensor result = result_;
    const bool two = parts.size() == 2;
    b.recorder().run("backward addition", {x, y, result, masked}, [=](const Step&) {
      if (two) {
        add_relu_backward(x.data(), y.data(), result.data(), masked.data(), masked.floats());
      } else {
        relu_backward(x.data(), result.data(), masked.data(), masked.floats());
      }
    });
    return masked;
  }

  Add layer_;
  Tensor result_;
};

}  // namespace

std::unique_ptr<Twin> make_twin(const Add& layer) { return std::make_unique<AddTwin>(layer); }

}  // namespace stagger::layers::cpu

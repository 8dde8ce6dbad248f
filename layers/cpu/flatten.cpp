// Flatten: another view of the plain layout.
#include "layers/flatten.h"

#include "layers/cpu/twin.h"

namespace stagger::layers::cpu {
namespace {

class FlattenTwin final : public Twin {
 public:
  void forward(Builder& b) override {
    image_ = plain_layout(b.input_dims());
    b.set_output(b.recorder().view(b.input_as(image_), plain_layout(b.output_dims())));
  }

  void backward(Builder& b) override {
    Recorder& r = b.recorder();
    b.give_gradient(r.view(r.as(b.output_gradient(), plain_layout(b.output_dims())), image_));
  }

 private:
  Layout image_;
};

}  // namespace

std::unique_ptr<Twin> make_twin(const Flatten&) { return std::make_unique<FlattenTwin>(); }

}  // namespace stagger::layers::cpu

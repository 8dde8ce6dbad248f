#include "layers/linear.h"

#include "layers/cpu/weighted_twin.h"

namespace stagger::layers::cpu {
namespace {

class LinearTwin final : public WeightedTwin<InnerProductSizes> {
 public:
  explicit LinearTwin(const Linear& layer) : layer_(layer) {}

 private:
  InnerProductSizes sizes(const Builder& b) const override {
    return {.source = b.input_dims(),
            .weights = {layer_.out_features, b.input_shape()[0]},
            .bias = layer_.bias ? Dims{layer_.out_features} : Dims{},
            .destination = b.output_dims()};
  }

  Linear layer_;
};

}  // namespace

std::unique_ptr<Twin> make_twin(const Linear& layer) { return std::make_unique<LinearTwin>(layer); }

}  // namespace stagger::layers::cpu

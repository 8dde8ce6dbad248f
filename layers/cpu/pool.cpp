// Pooling on oneDNN, in the layout of the input.
#include "layers/pool.h"

#include <optional>

#include "layers/cpu/twin.h"

namespace stagger::layers::cpu {
namespace {

class PoolTwin final : public Twin {
 public:
  /// Without a layer: the average over a window as large as the image.
  explicit PoolTwin(std::optional<Pool> layer) : layer_(layer) {}

  void forward(Builder& b) override {
    Recorder& r = b.recorder();
    source_ = b.input().layout;
    set_options(b);
    forward_ = pooling_forward(b.engine(), source_, options_);
    const Tensor result = r.allocate(forward_.dst_desc());
    Recorder::Arguments arguments{{DNNL_ARG_SRC, b.input()}, {DNNL_ARG_DST, result}};
    if (options_.maximum && options_.training) {
      workspace_ = r.allocate(forward_.workspace_desc());  // where each maximum was
      arguments.emplace_back(DNNL_ARG_WORKSPACE, workspace_);
    }
    r.run("pooling", forward_, arguments);
    b.set_output(result);
  }

  void backward(Builder& b) override {
    Recorder& r = b.recorder();
    const auto description = pooling_backward(b.engine(), source_, options_, forward_);
    const Tensor gradient = r.as(b.output_gradient(), description.diff_dst_desc());
    const Tensor source = r.allocate(description.diff_src_desc());
    Recorder::Arguments arguments{{DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_SRC, source}};
    if (options_.maximum) arguments.emplace_back(DNNL_ARG_WORKSPACE, workspace_);
    r.run("backward pooling", description, arguments);
    b.give_gradient(source);
  }

 private:
  void set_options(const Builder& b) {
    const Dims image{b.input_shape()[1], b.input_shape()[2]};
    options_ = {.maximum = layer_ && layer_->kind == Pool::Kind::kMax,
                .training = b.training(),
                .destination = b.output_dims(),
                .kernel = layer_ ? Dims{layer_->kernel, layer_->kernel} : image,
                .strides = layer_ ? Dims{layer_->stride, layer_->stride} : image,
                .padding = layer_ ? Dims{layer_->padding, layer_->padding} : Dims{0, 0}};
  }

  std::optional<Pool> layer_;
  PoolingOptions options_;
  Layout source_;
  PoolingForward forward_;
  Tensor workspace_;
};

}  // namespace

std::unique_ptr<Twin> make_twin(const Pool& layer) { return std::make_unique<PoolTwin>(layer); }
std::unique_ptr<Twin> make_twin(const GlobalAveragePool&) { return std::make_unique<PoolTwin>(std::nullopt); }

}  // namespace stagger::layers::cpu

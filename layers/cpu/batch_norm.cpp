// Batch norm on oneDNN; ReLU is part of the primitive.
#include "layers/batch_norm.h"

#include "layers/cpu/twin.h"

namespace stagger::layers::cpu {
namespace {

/// Leaves the statistics of a batch of `count` numbers a channel where Parameters keeps them.
void publish(const Tensor& mean, const Tensor& variance, int64_t count, float* batch_mean,
             float* batch_variance) {
  const int64_t channels = mean.floats();
  // One number has no unbiased variance; its biased one, 0, must do.
  const double correction = count > 1 ? static_cast<double>(count) / static_cast<double>(count - 1) : 1;
  for (int64_t c = 0; c < channels; ++c) {
    batch_mean[c] = mean.data()[c];
    batch_variance[c] = static_cast<float>(variance.data()[c] * correction);
  }
}

class BatchNormTwin final : public Twin {
 public:
  explicit BatchNormTwin(const BatchNorm& layer) : layer_(layer) {}

  void forward(Builder& b) override {
    source_ = b.input();
    options_ = {.eps = static_cast<float>(layer_.eps),
                .relu = layer_.relu,
                .training = b.training(),
                .running_statistics = b.options().mode == Mode::kEvaluate};
    forward_ = batch_norm_forward(b.engine(), source_.layout, options_);
    if (b.training()) b.keep(source_);
    const Tensor result = b.output_over_input(source_.layout);
    Recorder::Arguments arguments{{DNNL_ARG_SRC, source_},
                                  {DNNL_ARG_DST, result},
                                  {DNNL_ARG_SCALE, b.parameter("weight")},
                                  {DNNL_ARG_SHIFT, b.parameter("bias")}};
    add_statistics(b, arguments);
    b.recorder().run("batch norm", forward_, arguments);
    if (b.training()) record_statistics(b);
    b.set_output(result);
  }

  void backward(Builder& b) override {
    Recorder& r = b.recorder();
    const auto description = batch_norm_backward(b.engine(), source_.layout, options_, forward_);
    const Tensor gradient = r.as(b.output_gradient(), source_.layout);
    const Tensor source_gradient = b.gradient_over(gradient, source_.layout);
    Recorder::Arguments arguments{{DNNL_ARG_SRC, source_},
                                  {DNNL_ARG_MEAN, mean_},
                                  {DNNL_ARG_VARIANCE, variance_},
                                  {DNNL_ARG_SCALE, b.parameter("weight")},
                                  {DNNL_ARG_DIFF_DST, gradient},
                                  {DNNL_ARG_DIFF_SRC, source_gradient},
                                  {DNNL_ARG_DIFF_SCALE, b.parameter_gradient("weight")},
                                  {DNNL_ARG_DIFF_SHIFT, b.parameter_gradient("bias")}};
    if (kBatchNormBackwardTakesShift) arguments.emplace_back(DNNL_ARG_SHIFT, b.parameter("bias"));
    if (layer_.relu) arguments.emplace_back(DNNL_ARG_WORKSPACE, workspace_);
    r.run("backward batch norm", description, arguments);
    if (b.wants_gradient()) b.give_gradient(source_gradient);
  }

 private:
  void add_statistics(Builder& b, Recorder::Arguments& arguments) {
    Recorder& r = b.recorder();
    const Layout layout = plain_layout({b.input_shape()[0]});
    if (options_.running_statistics) {
      mean_ = r.fixed(layout, b.running_statistic("running_mean"));
      variance_ = r.fixed(layout, b.running_statistic("running_var"));
    } else if (options_.training) {
      mean_ = r.allocate(layout);
      variance_ = r.allocate(layout);
    } else {
      return;  // the primitive keeps them to itself
    }
    arguments.emplace_back(DNNL_ARG_MEAN, mean_);
    arguments.emplace_back(DNNL_ARG_VARIANCE, variance_);
    if (options_.training && layer_.relu) {
      workspace_ = r.allocate(forward_.workspace_desc());
      arguments.emplace_back(DNNL_ARG_WORKSPACE, workspace_);
    }
  }

  void record_statistics(Builder& b) {
    const int64_t count = b.options().samples * (b.input_shape().elements() / b.input_shape()[0]);
    float* const batch_mean = b.batch_statistic("running_mean");
    float* const batch_variance = b.batch_statistic("running_var");
    b.recorder().run("statistics", {mean_, variance_}, [=, mean = mean_, variance = variance_](const Step&) {
      publish(mean, variance, count, batch_mean, batch_variance);
    });
  }

  BatchNorm layer_;
  BatchNormOptions options_;
  BatchNormForward forward_;
  Tensor source_, mean_, variance_, workspace_;
};

}  // namespace

std::unique_ptr<Twin> make_twin(const BatchNorm& layer) { return std::make_unique<BatchNormTwin>(layer); }

}  // namespace stagger::layers::cpu

#include "runtime/layer_compute.h"

#include <algorithm>
#include <utility>

#include "layers/error.h"

namespace stagger::runtime {
namespace {

constexpr int64_t kFloatBytes = 4;

std::vector<optim::Segment> segments(const layers::ParameterLayout& layout, bool decay_norm_and_bias) {
  std::vector<optim::Segment> list;
  for (const layers::Tensor& tensor : layout.parameters) {
    const bool decay = decay_norm_and_bias || tensor.role == layers::Role::kWeight;
    list.push_back({.offset = tensor.offset, .size = tensor.shape.elements(), .decay = decay});
  }
  return list;
}

std::span<float> flat(float* data, int64_t size) { return {data, static_cast<size_t>(size)}; }

}  // namespace

LayerCompute::LayerCompute(layers::Device& device, LayerComputeOptions options,
                           const MakeOptimizer& make_optimizer, std::function<double(int64_t)> rate,
                           Poll poll)
    : device_(device),
      options_(std::move(options)),
      parameters_(device, options_.graph),
      rate_(std::move(rate)),
      poll_(std::move(poll)) {
  const layers::ParameterLayout& layout = parameters_.layout();
  parameters_.initialise(options_.graph, options_.seed);
  optimizer_ = make_optimizer(layout.parameter_floats, segments(layout, options_.decay_norm_and_bias));
  if (options_.accumulate > 1) group_gradient_ = device.allocate(layout.parameter_floats * kFloatBytes);

  if (options_.recomputes) compile(forward_, layers::Mode::kForward, options_.training_samples);
  compile(train_, layers::Mode::kTrain, options_.training_samples);
  compile(evaluate_, layers::Mode::kEvaluate, options_.evaluation_samples);
  bind({&forward_, &evaluate_}, forward_arena_);
  bind({&train_}, train_arena_);

  if (!options_.last) return;
  int64_t most = 0;
  for (const auto* samples : {&options_.training_samples, &options_.evaluation_samples}) {
    for (int64_t count : *samples) most = std::max(most, count);
  }
  const int64_t bytes = most * options_.graph.output_shape().elements() * kFloatBytes;
  logits_ = device.allocate(bytes);
  logit_gradient_ = device.allocate(bytes);
}

void LayerCompute::compile(Set& set, layers::Mode mode, const std::vector<int64_t>& samples) {
  for (int64_t count : samples) {
    const layers::CompileOptions options{
        .mode = mode, .samples = count, .input_gradient = !options_.first, .seed = options_.seed};
    set.push_back({count, device_.compile(options_.graph, options, parameters_)});
  }
}

void LayerCompute::bind(const std::vector<Set*>& sets, layers::Memory& arena) {
  int64_t bytes = 0;
  for (const Set* set : sets) {
    for (const Compiled& compiled : *set) bytes = std::max(bytes, compiled.executable->arena_bytes());
  }
  arena = device_.allocate(bytes);
  for (const Set* set : sets) {
    for (const Compiled& compiled : *set) compiled.executable->bind(arena.data());
  }
}

layers::Executable& LayerCompute::find(const Set& set, int64_t samples) {
  for (const Compiled& compiled : set) {
    if (compiled.samples == samples) return *compiled.executable;
  }
  throw layers::InternalError("a batch of " + std::to_string(samples) +
                              " samples, for which the stage was not compiled");
}

layers::Step LayerCompute::step(const TokenHeader& header) const {
  return {.identity = {.epoch = header.epoch, .batch = header.batch}, .poll = poll_ ? &poll_ : nullptr};
}

void LayerCompute::forward(const TokenHeader& header, const float* input, float* output, bool keep) {
  find(keep ? train_ : forward_, header.samples).forward(step(header), input, output);
}

void LayerCompute::forward_loss(const TokenHeader& header, const float* input,
                                std::span<const int32_t> labels) {
  find(train_, header.samples).forward(step(header), input, logits_.floats());
  loss_ = device_.cross_entropy(logits_.floats(), labels.data(), header.samples,
                                options_.graph.output_shape().elements(), logit_gradient_.floats());
}

void LayerCompute::evaluate(const TokenHeader& header, const float* input, float* output,
                            std::span<const int32_t> labels) {
  float* result = options_.last ? logits_.floats() : output;
  find(evaluate_, header.samples).forward(step(header), input, result);
  if (!options_.last) return;
  loss_ = device_.cross_entropy(result, labels.data(), header.samples,
                                options_.graph.output_shape().elements(), nullptr);
}

void LayerCompute::replay(const TokenHeader& header, const float* input) {
  find(train_, header.samples).forward(step(header), input, nullptr);
}

void LayerCompute::backward(const TokenHeader& header, const float* output_gradient, float* input_gradient) {
  const float* gradient = options_.last ? logit_gradient_.floats() : output_gradient;
  find(train_, header.samples).backward(step(header), gradient, input_gradient);
}

void LayerCompute::update(const TokenHeader& header, bool apply) {
  parameters_.commit_statistics();
  const int64_t size = parameters_.layout().parameter_floats;
  if (options_.accumulate > 1) accumulate(header);
  if (!apply) return;
  float* gradient = parameters_.gradients();
  if (options_.accumulate > 1) {
    gradient = group_gradient_.floats();
    const float scale = 1.0F / static_cast<float>(group_samples_);
    for (int64_t i = 0; i < size; ++i) gradient[i] *= scale;
    group_samples_ = 0;
  }
  optimizer_->update(flat(parameters_.values(), size), flat(gradient, size), rate_(header.batch));
  parameters_.mark_changed();
}

void LayerCompute::accumulate(const TokenHeader& header) {
  const float* gradient = parameters_.gradients();
  float* sum = group_gradient_.floats();
  const auto weight = static_cast<float>(header.samples);
  const bool fresh = group_samples_ == 0;
  for (int64_t i = 0; i < parameters_.layout().parameter_floats; ++i)
    sum[i] = (fresh ? 0 : sum[i]) + weight * gradient[i];
  group_samples_ += header.samples;
}

LayerCompute::Memory LayerCompute::memory() const {
  Memory memory{
      .weights = parameters_.value_bytes(),
      .gradients = parameters_.gradient_bytes() + group_gradient_.bytes(),
      .optimizer = static_cast<int64_t>(optimizer_->state().size()) * kFloatBytes,
      .statistics = parameters_.statistic_bytes(),
      .workspace = forward_arena_.bytes() + train_arena_.bytes() + logits_.bytes() + logit_gradient_.bytes()};
  for (const Set* set : {&forward_, &train_, &evaluate_}) {
    for (const Compiled& compiled : *set) memory.workspace += compiled.executable->own_bytes();
  }
  return memory;
}

}  // namespace stagger::runtime

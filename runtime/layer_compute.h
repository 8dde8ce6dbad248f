// A stage's model on a device: the layers, their parameters, the optimizer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "layers/device.h"
#include "layers/graph.h"
#include "layers/parameters.h"
#include "optim/learning_rate.h"
#include "optim/optimizer.h"
#include "runtime/compute.h"

namespace stagger::runtime {

struct LayerComputeOptions {
  layers::Graph graph{layers::Shape{1}};
  bool first = false;
  bool last = false;
  bool recomputes = false;  ///< F keeps nothing, R recomputes
  int64_t accumulate = 1;
  std::vector<int64_t> training_samples;  ///< every number of samples that training batches have
  std::vector<int64_t> evaluation_samples;
  uint64_t seed = 0;  ///< of initial weights and dropout
  bool decay_norm_and_bias = true;
};

/// Compiles the stage once for each number of samples that it will meet; afterwards only executes. Computes
/// in the calls themselves. All passes that never run at one time share one workspace.
class LayerCompute : public Compute {
 public:
  using Poll = std::function<void()>;
  using MakeOptimizer =
      std::function<std::unique_ptr<optim::Optimizer>(int64_t size, std::vector<optim::Segment>)>;

  /// `rate` gives the learning rate of a batch; `poll` is called between layers and may be empty. The device
  /// must outlive this. Throws ConfigError where the device cannot run the graph or lacks memory.
  LayerCompute(layers::Device& device, LayerComputeOptions options, const MakeOptimizer& make_optimizer,
               std::function<double(int64_t batch)> rate, Poll poll);

  void forward(const TokenHeader& header, const float* input, float* output, bool keep) override;
  void forward_loss(const TokenHeader& header, const float* input, std::span<const int32_t> labels) override;
  void evaluate(const TokenHeader& header, const float* input, float* output,
                std::span<const int32_t> labels) override;
  layers::LossResult loss() const override { return loss_; }
  void replay(const TokenHeader& header, const float* input) override;
  void backward(const TokenHeader& header, const float* output_gradient, float* input_gradient) override;
  void update(const TokenHeader& header, bool apply) override;
  bool finished(Lane) override { return true; }
  int64_t version() const override { return parameters_.version(); }

  layers::Parameters& parameters() { return parameters_; }

  /// Where the memory of the model goes, in bytes.
  struct Memory {
    int64_t weights = 0;
    int64_t gradients = 0;
    int64_t optimizer = 0;
    int64_t statistics = 0;
    int64_t workspace = 0;  ///< activations, scratch, weights in other layouts
    int64_t total() const { return weights + gradients + optimizer + statistics + workspace; }
  };
  Memory memory() const;

 private:
  struct Compiled {
    int64_t samples;
    std::unique_ptr<layers::Executable> executable;
  };
  using Set = std::vector<Compiled>;

  void compile(Set& set, layers::Mode mode, const std::vector<int64_t>& samples);
  void bind(const std::vector<Set*>& sets, layers::Memory& arena);
  static layers::Executable& find(const Set& set, int64_t samples);
  layers::Step step(const TokenHeader& header) const;
  void accumulate(const TokenHeader& header);

  layers::Device& device_;
  LayerComputeOptions options_;
  layers::Parameters parameters_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::function<double(int64_t)> rate_;
  Poll poll_;
  Set forward_, train_, evaluate_;
  layers::Memory forward_arena_, train_arena_;
  layers::Memory logits_, logit_gradient_;
  layers::Memory group_gradient_;  // sum over the group's samples; only with accumulate > 1
  int64_t group_samples_ = 0;
  layers::LossResult loss_;
};

}  // namespace stagger::runtime

// The numbers that a stage owns, in flat buffers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layers/graph.h"
#include "layers/memory.h"
#include "layers/parameter.h"

namespace stagger::layers {

class Device;

/// A parameter or statistic at its place: `elements` floats from `offset` on, dense and row-major in `shape`.
struct Tensor {
  std::string name;  ///< layer name + "." + tensor name: "layer1.0.conv1.weight"
  Shape shape;
  int64_t offset = 0;  ///< in floats, a multiple of 16
  Role role = Role::kWeight;
};

/// Where each tensor of a graph lies. Two graphs that differ only by fuse_relu have the same layout.
struct ParameterLayout {
  std::vector<Tensor> parameters;
  std::vector<Tensor> statistics;
  int64_t parameter_floats = 0;  ///< length of the flat buffers, gaps (always 0) included
  int64_t statistic_floats = 0;

  explicit ParameterLayout(const Graph& graph);
  /// The tensor of that full name. Throws InternalError where there is none.
  const Tensor& parameter(const std::string& name) const;
  const Tensor& statistic(const std::string& name) const;
};

/// The state of a stage's model on one device: values and gradients of its parameters, running statistics and
/// those of the latest batch.
///
/// version() counts the changes of `values`; whoever keeps a copy in another form compares it to know when to
/// renew. Not thread-safe.
class Parameters {
 public:
  /// All zero; statistics at their initial values. See initialise().
  Parameters(Device& device, const Graph& graph);

  /// Sets every parameter as its layer asks, from (seed, full name, element) only.
  void initialise(const Graph& graph, uint64_t seed);

  const ParameterLayout& layout() const { return layout_; }
  float* values() const { return values_.floats(); }
  float* gradients() const { return gradients_.floats(); }
  float* running() const { return running_.floats(); }
  /// Mean and unbiased variance of the latest batch that was kept for backward, at the places of the running
  /// ones.
  float* batch_statistics() const { return batch_.floats(); }
  int64_t version() const { return version_; }
  void mark_changed() { ++version_; }

  /// Moves the running statistics by each layer's momentum towards batch_statistics().
  void commit_statistics();

  int64_t value_bytes() const { return values_.bytes(); }
  int64_t gradient_bytes() const { return gradients_.bytes(); }
  int64_t statistic_bytes() const { return running_.bytes() + batch_.bytes(); }

 private:
  ParameterLayout layout_;
  std::vector<float> statistic_momentum_;  // one a tensor
  Memory values_, gradients_, running_, batch_;
  int64_t version_ = 0;
};

}  // namespace stagger::layers

// Walks a graph forwards and, for training, backwards, and lets the twin of each layer record its tasks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "layers/cpu/recorder.h"
#include "layers/device.h"

namespace stagger::layers::cpu {

class Twin;

/// What a twin sees of the graph while it records: the node at hand, its values and their gradients, its
/// parameters.
///
/// The gradient of a value may come in any layout; several contributions are added in the layout of the
/// value.
class Builder {
 public:
  Builder(const Graph& graph, const CompileOptions& options, Parameters& parameters, Recorder& recorder);

  /// Records everything. Throws InternalError with the layer's name in front.
  void build();

  Recorder& recorder() { return recorder_; }
  const dnnl::engine& engine() const { return recorder_.engine(); }
  const CompileOptions& options() const { return options_; }
  bool training() const { return options_.mode == Mode::kTrain; }

  const std::string& name() const { return graph_.nodes()[node_].name; }
  const Shape& input_shape(size_t i = 0) const { return graph_.shape(id(i)); }
  const Shape& output_shape() const { return graph_.shape(output_id()); }
  /// Sizes with the batch dimension.
  Dims input_dims(size_t i = 0) const { return batch_dims(options_.samples, input_shape(i)); }
  Dims output_dims() const { return batch_dims(options_.samples, output_shape()); }

  // Forward.
  Tensor input(size_t i = 0) const;
  /// The input in `layout`; copies are shared by all who ask for one.
  Tensor input_as(const Layout& layout, size_t i = 0);
  /// Whether the result may be written over input i: nothing else will read it, and the caller does not own
  /// it.
  bool may_overwrite(size_t i = 0) const;
  /// Announces that backward reads `tensor`, so that no layer overwrites it.
  void keep(const Tensor& tensor);
  /// Where a result of `layout` goes: over input i, where that may be done, or into new memory.
  Tensor output_over_input(const Layout& layout, size_t i = 0);
  void set_output(Tensor tensor);

  // Backward.
  bool wants_gradient(size_t i = 0) const { return values_[index(id(i))].wants_gradient; }
  /// The gradient of the result, added up.
  Tensor output_gradient();
  /// Its contributions, in the layout of the result, for who adds them up in passing. At least one.
  std::vector<Tensor> output_gradients();
  /// Adds up gradients of one layout that this node has taken.
  Tensor sum(const std::vector<Tensor>& parts);
  /// Whether a gradient taken by this node may be written over: no other value's gradient is the same memory.
  bool may_overwrite(const Tensor& gradient) const;
  /// `gradient`, where it has `layout` and may be written over, or new memory.
  Tensor gradient_over(const Tensor& gradient, const Layout& layout);
  void give_gradient(Tensor gradient, size_t i = 0);

  // Numbers of the layer. Plain layouts; they never move.
  Tensor parameter(const std::string& name) const;
  Tensor parameter_gradient(const std::string& name) const;
  float* running_statistic(const std::string& name) const;
  float* batch_statistic(const std::string& name) const;

 private:
  struct Value {
    Tensor tensor;
    std::vector<Tensor> copies;  // in other layouts
    std::vector<Tensor> gradients;
    bool wants_gradient = false;
    bool set = false;
  };

  static size_t index(ValueId value) { return static_cast<size_t>(value); }
  ValueId id(size_t i) const { return graph_.nodes()[node_].inputs.at(i); }
  ValueId output_id() const { return static_cast<ValueId>(node_) + 1; }
  const Tensor& tensor_of(ValueId value) const { return values_[index(value)].tensor; }

  void count_readers();
  void find_wanted_gradients();
  void build_forward();
  void build_backward();
  void finish_node();
  std::vector<Tensor> take_gradients(ValueId value);  // several come in the layout of the value
  Tensor parameter_at(const std::string& name, float* base) const;
  /// Readers of `tensor`'s memory that are yet to come.
  int64_t& readers(const Tensor& tensor);

  const Graph& graph_;
  const CompileOptions& options_;
  Parameters& parameters_;
  Recorder& recorder_;
  size_t node_ = 0;
  std::vector<Value> values_;
  std::vector<int64_t> uses_;             // of each value
  std::vector<int64_t> pending_readers_;  // of each buffer
  std::vector<bool> kept_;                // of each buffer
  std::vector<std::unique_ptr<Twin>> twins_;
};

}  // namespace stagger::layers::cpu

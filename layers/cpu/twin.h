// How the CPU does each layer: one twin a layer, in the file of the same name.
#pragma once

#include <memory>

#include "layers/cpu/builder.h"
#include "layers/graph.h"

namespace stagger::layers::cpu {

/// Lives while a graph is compiled; what it records stays.
class Twin {
 public:
  Twin() = default;
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;
  virtual ~Twin() = default;

  /// Records the forward pass; calls Builder::set_output().
  virtual void forward(Builder& builder) = 0;
  /// Records the backward pass: takes the gradient of the result, writes those of all parameters, and gives
  /// that of each input for which Builder::wants_gradient(). Called after forward(), in training, if any of
  /// these is wanted.
  virtual void backward(Builder& builder) = 0;
};

std::unique_ptr<Twin> make_twin(const Conv2d& layer);
std::unique_ptr<Twin> make_twin(const BatchNorm& layer);
std::unique_ptr<Twin> make_twin(const Relu& layer);
std::unique_ptr<Twin> make_twin(const Add& layer);
std::unique_ptr<Twin> make_twin(const Pool& layer);
std::unique_ptr<Twin> make_twin(const GlobalAveragePool& layer);
std::unique_ptr<Twin> make_twin(const Linear& layer);
std::unique_ptr<Twin> make_twin(const Flatten& layer);
std::unique_ptr<Twin> make_twin(const Dropout& layer);
std::unique_ptr<Twin> make_twin(const PadShortcut& layer);

}  // namespace stagger::layers::cpu

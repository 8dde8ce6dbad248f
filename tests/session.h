// Runs a graph on a device through the public interface, in an unfriendly surrounding: scratch memory,
// results and gradients are full of NaN before they are written, and results are destroyed before backward.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "layers/device.h"
#include "tests/catch.h"

namespace stagger::tests {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class Session {
 public:
  Session(layers::Device& device, const layers::Graph& graph, layers::Parameters& parameters,
          const layers::CompileOptions& options)
      : parameters_(parameters),
        options_(options),
        input_(device.allocate(options.samples * graph.input_shape().elements() * 4)),
        output_(device.allocate(options.samples * graph.output_shape().elements() * 4)),
        output_gradient_(device.allocate(output_.bytes())),
        input_gradient_(device.allocate(input_.bytes())),
        executable_(device.compile(graph, options, parameters)),
        arena_(device.allocate(executable_->arena_bytes())) {
    std::memset(arena_.data(), 0xFF, static_cast<size_t>(arena_.bytes()));
    executable_->bind(arena_.data());
  }

  std::vector<float> forward(const std::vector<float>& input, const layers::Step& step = {}) {
    std::copy(input.begin(), input.end(), input_.floats());
    std::fill_n(output_.floats(), count(output_), kNan);
    executable_->forward(step, input_.floats(), output_.floats());
    CHECK(std::equal(input.begin(), input.end(), input_.floats()));  // it is the caller's
    return {output_.floats(), output_.floats() + count(output_)};
  }

  /// Returns the gradient of the input: empty where it was not compiled for.
  std::vector<float> backward(const std::vector<float>& gradient, const layers::Step& step = {}) {
    std::fill_n(output_.floats(), count(output_), kNan);
    std::fill_n(input_gradient_.floats(), count(input_gradient_), kNan);
    for (const layers::Tensor& tensor : parameters_.layout().parameters) {
      std::fill_n(parameters_.gradients() + tensor.offset, tensor.shape.elements(), kNan);
    }
    std::copy(gradient.begin(), gradient.end(), output_gradient_.floats());
    float* const wanted = options_.input_gradient ? input_gradient_.floats() : nullptr;
    executable_->backward(step, output_gradient_.floats(), wanted);
    CHECK(std::equal(gradient.begin(), gradient.end(), output_gradient_.floats()));  // it is the caller's
    if (wanted == nullptr) return {};
    return {wanted, wanted + count(input_gradient_)};
  }

  const layers::Executable& executable() const { return *executable_; }

 private:
  static int64_t count(const layers::Memory& memory) { return memory.bytes() / 4; }

  layers::Parameters& parameters_;
  layers::CompileOptions options_;
  layers::Memory input_, output_, output_gradient_, input_gradient_;
  std::unique_ptr<layers::Executable> executable_;
  layers::Memory arena_;
};

/// `tensor`'s numbers in one of the flat buffers of Parameters.
inline std::vector<float> numbers(const float* buffer, const layers::Tensor& tensor) {
  return {buffer + tensor.offset, buffer + tensor.offset + tensor.shape.elements()};
}

}  // namespace stagger::tests

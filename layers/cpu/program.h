// What a pass executes: a list of tasks, fixed when the graph is compiled.
#pragma once

#include <cstdint>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>
#include <vector>

#include "layers/device.h"

namespace stagger::layers::cpu {

/// A primitive with its arguments bound. An execution allocates nothing: dnnl::primitive::execute would build
/// a list of arguments each time.
class BoundPrimitive {
 public:
  using Arguments = std::vector<std::pair<int, dnnl::memory>>;

  BoundPrimitive(dnnl::primitive primitive, Arguments arguments);
  /// Throws dnnl::error.
  void execute(const dnnl::stream& stream) const;

 private:
  dnnl::primitive primitive_;
  Arguments owners_;  // keep the handles in `arguments_` alive
  std::vector<dnnl_exec_arg_t> arguments_;
};

/// Tasks in order.
class Program {
 public:
  using Task = std::function<void(const Step&)>;

  /// `name` says whose work it is: "layer1.0.conv1: convolution".
  void add(std::string name, Task task) { tasks_.push_back({std::move(name), std::move(task)}); }
  /// Runs all tasks; calls step.poll before each. A failure is an InternalError that names the task.
  void run(const Step& step) const;

 private:
  struct Named {
    std::string name;
    Task task;
  };
  std::vector<Named> tasks_;
};

}  // namespace stagger::layers::cpu

#include "layers/cpu/executable.h"

#include "layers/error.h"

namespace stagger::layers::cpu {

CpuExecutable::CpuExecutable(Plan plan, const CompileOptions& options, const Parameters& parameters)
    : plan_(std::move(plan)), options_(options), parameters_(parameters) {
  bound_ = plan_.arena_bytes == 0;
}

int64_t CpuExecutable::own_bytes() const {
  int64_t bytes = 0;
  for (const Memory& memory : plan_.own) bytes += memory.bytes();
  return bytes;
}

void CpuExecutable::bind(std::byte* arena) {
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    if (plan_.buffers[i].in_arena) plan_.buffers[i].place(arena + plan_.offsets[i]);
  }
  bound_ = true;
}

void CpuExecutable::place(Border border, const float* data) {
  const int64_t buffer = plan_.borders[static_cast<size_t>(border)];
  if (buffer < 0) return;
  require(data != nullptr, "a pass was given a null pointer");
  // oneDNN's handles are not const; what is only read is bound to inputs of primitives only.
  plan_.buffers[static_cast<size_t>(buffer)].place(const_cast<float*>(data));
}

void CpuExecutable::forward(const Step& step, const float* input, float* output) {
  require(bound_, "forward() before bind()");
  place(Border::kInput, input);
  require(output != nullptr || options_.mode == Mode::kTrain,
          "a forward pass without a place for its result");
  if (renewed_version_ != parameters_.version()) {
    plan_.renew.run({});
    renewed_version_ = parameters_.version();
  }
  plan_.forward.run(step);
  if (output == nullptr) return;
  place(Border::kOutput, output);
  plan_.deliver.run(step);
}

void CpuExecutable::backward(const Step& step, const float* output_gradient, float* input_gradient) {
  require(bound_, "backward() before bind()");
  require(options_.mode == Mode::kTrain, "backward() of a graph that was not compiled for training");
  require((input_gradient != nullptr) == options_.input_gradient,
          "backward() with an input gradient that was not compiled for, or without one that was");
  place(Border::kOutputGradient, output_gradient);
  place(Border::kInputGradient, input_gradient);
  plan_.backward.run(step);
}

std::string CpuExecutable::describe() const {
  const auto count = [](const ReorderCount& c) {
    return std::to_string(c.reorders) + " reorders, " + std::to_string(c.bytes) + " bytes";
  };
  const std::string forward = "forward " + count(plan_.forward_reorders);
  if (options_.mode != Mode::kTrain) return forward;
  return forward + "; backward " + count(plan_.backward_reorders);
}

}  // namespace stagger::layers::cpu

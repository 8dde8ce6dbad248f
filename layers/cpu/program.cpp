#include "layers/cpu/program.h"

#include "layers/checked.h"

namespace stagger::layers::cpu {

BoundPrimitive::BoundPrimitive(dnnl::primitive primitive, Arguments arguments)
    : primitive_(std::move(primitive)), owners_(std::move(arguments)) {
  arguments_.reserve(owners_.size());
  for (const auto& [index, memory] : owners_) arguments_.push_back({index, memory.get()});
}

void BoundPrimitive::execute(const dnnl::stream& stream) const {
  const auto count = narrow<int>(arguments_.size());
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.get(), stream.get(), count, arguments_.data());
  dnnl::error::wrap_c_api(status, "a primitive failed");
}

void Program::run(const Step& step) const {
  const bool polls = step.poll != nullptr && *step.poll;
  for (const Named& named : tasks_) {
    if (polls) (*step.poll)();
    try {
      named.task(step);
    } catch (const dnnl::error& error) {
      throw InternalError(named.name + ": " + error.what() + " (oneDNN status " +
                          std::to_string(error.status) + ")");
    }
  }
}

}  // namespace stagger::layers::cpu

// A graph compiled for the CPU.
#pragma once

#include <cstdint>
#include <string>

#include "layers/cpu/recorder.h"
#include "layers/device.h"

namespace stagger::layers::cpu {

/// Runs a Plan; see the base class for the contract.
class CpuExecutable final : public Executable {
 public:
  CpuExecutable(Plan plan, const CompileOptions& options, const Parameters& parameters);

  int64_t arena_bytes() const override { return plan_.arena_bytes; }
  int64_t own_bytes() const override;
  void bind(std::byte* arena) override;
  void forward(const Step& step, const float* input, float* output) override;
  void backward(const Step& step, const float* output_gradient, float* input_gradient) override;
  std::string describe() const override;

 private:
  /// Points `border` at the caller's memory of this pass.
  void place(Border border, const float* data);

  Plan plan_;
  CompileOptions options_;
  const Parameters& parameters_;
  int64_t renewed_version_ = -1;
  bool bound_ = false;
};

}  // namespace stagger::layers::cpu

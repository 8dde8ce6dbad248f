// The CPU as a Device.
#include "layers/device.h"

#include <omp.h>

#include "layers/checked.h"
#include "layers/cpu/builder.h"
#include "layers/cpu/cross_entropy.h"
#include "layers/cpu/executable.h"
#include "layers/cpu/onednn.h"
#include "layers/cpu/twin.h"

namespace stagger::layers {
namespace cpu {
namespace {

class CpuDevice final : public Device {
 public:
  /// The number of threads holds for all OpenMP work that the calling thread starts, here and in oneDNN.
  explicit CpuDevice(int64_t threads)
      : threads_(threads), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    omp_set_num_threads(narrow<int>(threads));
  }

  std::string describe() const override {
    return "cpu, " + cpu_backend_version() + ", " + std::to_string(threads_) +
           (threads_ == 1 ? " thread" : " threads");
  }

  Memory allocate(int64_t bytes) override { return allocate_host(bytes); }

  std::unique_ptr<Executable> compile(const Graph& graph, const CompileOptions& options,
                                      Parameters& parameters) override {
    require(options.samples >= 1, "a graph is compiled for less than one sample");
    const Graph fused = fuse_relu(graph);
    Recorder recorder(engine_, stream_);
    Builder(fused, options, parameters, recorder).build();
    return std::make_unique<CpuExecutable>(recorder.finish(), options, parameters);
  }

  LossResult cross_entropy(const float* logits, const int32_t* labels, int64_t samples, int64_t classes,
                           float* gradient) override {
    return cpu::cross_entropy(logits, labels, samples, classes, gradient);
  }

 private:
  int64_t threads_;
  dnnl::engine engine_;
  dnnl::stream stream_;
};

}  // namespace
}  // namespace cpu

std::unique_ptr<Device> make_cpu_device(int64_t threads) {
  if (threads < 1) throw ConfigError("threads is " + std::to_string(threads) + "; it must be 1 or more");
  return std::make_unique<cpu::CpuDevice>(threads);
}

std::string cpu_backend_version() {
  return "oneDNN " + cpu::onednn_version() + ", " + cpu::instruction_set();
}

}  // namespace stagger::layers

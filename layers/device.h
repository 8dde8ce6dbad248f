// Where a stage computes: the seam between what to compute (graph.h) and how.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "layers/graph.h"
#include "layers/memory.h"
#include "layers/parameters.h"

namespace stagger::layers {

/// Which batch a pass works on: all that randomness may depend on, besides layer and sample.
struct BatchIdentity {
  int64_t epoch = 0;
  int64_t batch = 0;  ///< counted from the start of the run
};

/// What a pass needs to know of its surroundings.
struct Step {
  BatchIdentity identity;
  /// Called between layers, so that messages move while the stage computes. May be empty.
  const std::function<void()>* poll = nullptr;
};

/// What a graph is compiled for.
enum class Mode {
  kForward,   ///< batch statistics, nothing kept: F of a method that recomputes
  kTrain,     ///< batch statistics, keeps what backward needs: R, and F where nothing is recomputed
  kEvaluate,  ///< running statistics, no dropout
};

struct CompileOptions {
  Mode mode = Mode::kTrain;
  int64_t samples = 1;
  bool input_gradient = true;  ///< kTrain: whether backward also gives the gradient of the graph's input
  uint64_t seed = 0;           ///< of dropout
};

/// A graph compiled for one device, one mode and one number of samples. Everything that can be decided,
/// created or planned is, at compile time; a pass only executes, and allocates nothing.
///
/// Tensors at the borders are f32, dense and row-major (samples x shape), on the device, aligned to 64 bytes.
/// Not thread-safe. The Parameters it was compiled for must outlive it.
class Executable {
 public:
  virtual ~Executable() = default;
  Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  /// Scratch memory that it needs in bind(); executables that never hold live data at one time may share it.
  virtual int64_t arena_bytes() const = 0;
  /// Memory of its own: parameters in other layouts.
  virtual int64_t own_bytes() const = 0;
  /// Gives it its scratch memory. REQUIRES: arena_bytes() bytes at `arena`, aligned to 64, living as long as
  /// this.
  virtual void bind(std::byte* arena) = 0;

  /// output = graph(input) with the parameters of now. In kTrain, `input` must stay as it is until backward()
  /// is done, and the statistics of the batch are left in Parameters::batch_statistics(). In kTrain `output`
  /// may be null, where only what is kept is wanted. REQUIRES: bind() was called.
  virtual void forward(const Step& step, const float* input, float* output) = 0;

  /// Writes the gradients of all parameters (overwriting them) and of the input from that of the output.
  /// `input_gradient` is null exactly where it was not compiled for. Parameters are those of forward().
  /// REQUIRES: kTrain, and forward() was the last pass in this arena.
  virtual void backward(const Step& step, const float* output_gradient, float* input_gradient) = 0;

  /// Bytes that move per pass in reorders between layouts, for people who tune.
  virtual std::string describe() const = 0;
};

/// What the last stage learns of a batch.
struct LossResult {
  double loss_sum = 0;  ///< sum over samples of the cross-entropy, natural logarithm
  int64_t correct = 0;  ///< samples whose largest logit (the first, if several) is at the label
  int64_t samples = 0;
};

/// A kind of hardware. Thread-safe only where the implementation says so.
class Device {
 public:
  virtual ~Device() = default;
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// For people: "cpu, oneDNN 2.6.3, AVX-512, 1 thread".
  virtual std::string describe() const = 0;
  /// Zeroed memory. Throws ConfigError where there is not that much.
  virtual Memory allocate(int64_t bytes) = 0;
  /// Throws ConfigError where the device cannot run a layer of `graph`.
  virtual std::unique_ptr<Executable> compile(const Graph& graph, const CompileOptions& options,
                                              Parameters& parameters) = 0;

  /// Softmax cross-entropy of logits (samples x classes). With `gradient` (same shape, may not alias), also
  /// writes d(mean loss)/d(logits). REQUIRES: 0 <= labels[i] < classes.
  virtual LossResult cross_entropy(const float* logits, const int32_t* labels, int64_t samples,
                                   int64_t classes, float* gradient) = 0;
};

/// The CPU, computing with oneDNN on `threads` threads of this process. Throws ConfigError if threads < 1.
/// Sets the number of OpenMP threads of the calling thread, which must be the one that compiles and runs the
/// graphs; results depend on that number (sums are split among threads), but not on timing.
std::unique_ptr<Device> make_cpu_device(int64_t threads);

/// Version and instruction set of the CPU backend, for `stagger --version`.
std::string cpu_backend_version();

}  // namespace stagger::layers

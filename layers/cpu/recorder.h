// Records what a graph's layers do, task by task, and plans the memory that it takes.
//
// Tasks are numbered in the order of recording. A tensor lives from the task that first uses it to the last
// one, so whatever the backward pass reads stays alive just by being read there.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "layers/cpu/onednn.h"
#include "layers/cpu/program.h"
#include "layers/memory.h"

namespace stagger::layers::cpu {

/// A tensor of the plan: a layout and a place. The place is known only once the arena is bound, or, for what
/// the caller passes in, during a pass. Copies refer to the same data.
struct Tensor {
  Layout layout;
  dnnl::memory memory;
  int64_t buffer = -1;  ///< index of its Buffer; -1: memory that does not move

  float* data() const { return static_cast<float*>(memory.get_data_handle()); }
  int64_t floats() const { return floats_of(layout); }
};

/// What callers give to each pass.
enum class Border { kInput, kOutput, kOutputGradient, kInputGradient };
inline constexpr size_t kBorders = 4;

/// A piece of memory that moves, and everything that looks at it.
struct Buffer {
  int64_t bytes = 0;
  int64_t first = -1, last = -1;  ///< tasks; -1: no task uses it
  bool in_arena = true;
  std::vector<dnnl::memory> views = {};

  void place(void* data) const;
};

/// How much moves between layouts in one pass.
struct ReorderCount {
  int64_t reorders = 0;
  int64_t bytes = 0;
};

/// The result: programs and the memory they run in.
struct Plan {
  Program renew;  ///< parameters into the layouts that primitives want; to run whenever they have changed
  Program forward;
  Program deliver;  ///< the result to the caller; last part of a forward whose result is wanted
  Program backward;
  ReorderCount forward_reorders, backward_reorders;
  std::vector<Buffer> buffers;
  std::vector<int64_t> offsets;                ///< in the arena, for each buffer in_arena
  std::array<int64_t, kBorders> borders = {};  ///< buffer of each Border; -1 where there is none
  std::vector<Memory> own;
  int64_t arena_bytes = 0;
};

class Recorder {
 public:
  using Arguments = std::vector<std::pair<int, Tensor>>;

  Recorder(dnnl::engine engine, dnnl::stream stream);

  const dnnl::engine& engine() const { return engine_; }
  /// Whose tasks follow, for messages.
  void set_owner(std::string name) { owner_ = std::move(name); }
  /// The part of a pass that tasks belong to.
  enum class Part { kForward, kDeliver, kBackward };
  /// What follows belongs to `part`; parts come in order.
  void begin(Part part) { part_ = part; }

  /// Scratch memory.
  Tensor allocate(const Layout& layout);
  /// Memory of the caller, plain in `dims`, another one in each pass. REQUIRES: asked for once.
  Tensor border(Border border, const Dims& dims);
  /// Memory that never moves.
  Tensor fixed(const Layout& layout, float* data) const;
  /// The same bytes seen as another layout.
  Tensor view(const Tensor& tensor, const Layout& layout);
  /// A copy of a fixed tensor in `layout`, renewed by Plan::renew; the tensor itself where it has that layout
  /// already.
  Tensor renewed(const Tensor& fixed, const Layout& layout);

  /// Adds a task that executes `description`; scratch memory comes by itself.
  void run(const char* name, const dnnl::primitive_desc_base& description, const Arguments& arguments);
  /// Adds a task of our own that works on `tensors`.
  void run(const char* name, std::initializer_list<Tensor> tensors, Program::Task task);
  void copy(const Tensor& from, const Tensor& to);
  /// `tensor` in `layout`: itself, or a copy that a new task makes.
  Tensor as(const Tensor& tensor, const Layout& layout);

  const Buffer& buffer(const Tensor& tensor) const {
    return plan_.buffers.at(static_cast<size_t>(tensor.buffer));
  }
  /// Plans the arena. The recorder is used up.
  Plan finish();

 private:
  int64_t add_buffer(int64_t bytes, bool in_arena);
  Tensor at(int64_t buffer, const Layout& layout);
  void touch(const Tensor& tensor);
  Program& program();
  void add_task(const char* name, Program::Task task);
  Tensor own(const Layout& layout);
  Program::Task bind(const dnnl::primitive_desc_base& description, BoundPrimitive::Arguments arguments) const;

  struct Renewed {
    const float* source;
    Tensor copy;
  };

  dnnl::engine engine_;
  dnnl::stream stream_;
  Plan plan_;
  std::vector<Renewed> renewed_;
  std::string owner_;
  int64_t now_ = 0;  // number of the next task
  Part part_ = Part::kForward;
};

}  // namespace stagger::layers::cpu

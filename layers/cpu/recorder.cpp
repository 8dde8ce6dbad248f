#include "layers/cpu/recorder.h"

#include <algorithm>

#include "layers/checked.h"
#include "layers/cpu/arena_plan.h"

namespace stagger::layers::cpu {
namespace {

int64_t bytes_of(const Layout& layout) { return narrow<int64_t>(layout.get_size()); }

}  // namespace

void Buffer::place(void* data) const {
  for (const dnnl::memory& view : views) view.set_data_handle(data);
}

Recorder::Recorder(dnnl::engine engine, dnnl::stream stream)
    : engine_(std::move(engine)), stream_(std::move(stream)) {
  plan_.borders.fill(-1);
}

int64_t Recorder::add_buffer(int64_t bytes, bool in_arena) {
  plan_.buffers.push_back({.bytes = bytes, .in_arena = in_arena});
  return narrow<int64_t>(plan_.buffers.size()) - 1;
}

Tensor Recorder::at(int64_t buffer, const Layout& layout) {
  Tensor tensor{layout, dnnl::memory(layout, engine_, DNNL_MEMORY_NONE), buffer};
  plan_.buffers.at(static_cast<size_t>(buffer)).views.push_back(tensor.memory);
  return tensor;
}

Tensor Recorder::allocate(const Layout& layout) { return at(add_buffer(bytes_of(layout), true), layout); }

Tensor Recorder::border(Border border, const Dims& dims) {
  const Layout layout = plain_layout(dims);
  int64_t& index = plan_.borders.at(static_cast<size_t>(border));
  require(index < 0, "a border of a stage was asked for twice");
  index = add_buffer(bytes_of(layout), false);
  return at(index, layout);
}

Tensor Recorder::fixed(const Layout& layout, float* data) const {
  return {layout, dnnl::memory(layout, engine_, data), -1};
}

Tensor Recorder::view(const Tensor& tensor, const Layout& layout) {
  require(bytes_of(layout) == bytes_of(tensor.layout), "a view must have the size of what it looks at");
  if (tensor.buffer < 0) return fixed(layout, tensor.data());
  return at(tensor.buffer, layout);
}

Tensor Recorder::own(const Layout& layout) {
  plan_.own.push_back(allocate_host(bytes_of(layout)));
  return fixed(layout, plan_.own.back().floats());
}

Tensor Recorder::renewed(const Tensor& source, const Layout& layout) {
  require(source.buffer < 0, "only memory that does not move can be renewed");
  if (source.layout == layout) return source;
  for (const Renewed& known : renewed_) {
    if (known.source == source.data() && known.copy.layout == layout) return known.copy;
  }
  const Tensor copy = own(layout);
  const Reorder description = reorder(engine_, source.layout, layout);
  BoundPrimitive::Arguments arguments{{DNNL_ARG_FROM, source.memory}, {DNNL_ARG_TO, copy.memory}};
  const Layout scratchpad = description.scratchpad_desc();
  if (scratchpad.get_size() > 0) arguments.emplace_back(DNNL_ARG_SCRATCHPAD, own(scratchpad).memory);
  plan_.renew.add(owner_ + ": renewal of a parameter", bind(description, std::move(arguments)));
  renewed_.push_back({source.data(), copy});
  return copy;
}

void Recorder::touch(const Tensor& tensor) {
  if (tensor.buffer < 0) return;
  Buffer& buffer = plan_.buffers.at(static_cast<size_t>(tensor.buffer));
  if (buffer.first < 0) buffer.first = now_;
  buffer.last = now_;
}

Program& Recorder::program() {
  switch (part_) {
    case Part::kForward:
      return plan_.forward;
    case Part::kDeliver:
      return plan_.deliver;
    case Part::kBackward:
      break;
  }
  return plan_.backward;
}

void Recorder::add_task(const char* name, Program::Task task) {
  program().add(owner_ + ": " + name, std::move(task));
  ++now_;
}

Program::Task Recorder::bind(const dnnl::primitive_desc_base& description,
                             BoundPrimitive::Arguments arguments) const {
  const BoundPrimitive bound(dnnl::primitive(description.get()), std::move(arguments));
  return [bound, stream = stream_](const Step&) { bound.execute(stream); };
}

void Recorder::run(const char* name, const dnnl::primitive_desc_base& description,
                   const Arguments& arguments) {
  BoundPrimitive::Arguments bound;
  for (const auto& [index, tensor] : arguments) {
    touch(tensor);
    bound.emplace_back(index, tensor.memory);
  }
  const Layout scratchpad = description.scratchpad_desc();
  if (scratchpad.get_size() > 0) {
    const Tensor scratch = allocate(scratchpad);
    touch(scratch);
    bound.emplace_back(DNNL_ARG_SCRATCHPAD, scratch.memory);
  }
  add_task(name, bind(description, std::move(bound)));
}

void Recorder::run(const char* name, std::initializer_list<Tensor> tensors, Program::Task task) {
  for (const Tensor& tensor : tensors) touch(tensor);
  add_task(name, std::move(task));
}

void Recorder::copy(const Tensor& from, const Tensor& to) {
  run("reorder", reorder(engine_, from.layout, to.layout), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  ReorderCount& count = part_ == Part::kBackward ? plan_.backward_reorders : plan_.forward_reorders;
  ++count.reorders;
  count.bytes += bytes_of(to.layout);
}

Tensor Recorder::as(const Tensor& tensor, const Layout& layout) {
  if (tensor.layout == layout) return tensor;
  // oneDNN tells layouts apart that place every element alike, as where an image has one pixel only.
  if (bytes_of(tensor.layout) == bytes_of(layout) && is_plain(tensor.layout) && is_plain(layout)) {
    return view(tensor, layout);
  }
  Tensor result = allocate(layout);
  copy(tensor, result);
  return result;
}

Plan Recorder::finish() {
  std::vector<Lifetime> lifetimes;
  for (const Buffer& b : plan_.buffers) {
    const bool takes_room = b.in_arena && b.first >= 0;
    lifetimes.push_back({.bytes = takes_room ? b.bytes : 0, .first = b.first, .last = b.last});
  }
  ArenaPlan arena = plan_arena(lifetimes);
  plan_.offsets = std::move(arena.offsets);
  plan_.arena_bytes = arena.bytes;
  return std::move(plan_);
}

}  // namespace stagger::layers::cpu

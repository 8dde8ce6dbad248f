#include "layers/cpu/builder.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "layers/cpu/elementwise.h"
#include "layers/cpu/twin.h"
#include "layers/error.h"

namespace stagger::layers::cpu {

Builder::Builder(const Graph& graph, const CompileOptions& options, Parameters& parameters,
                 Recorder& recorder)
    : graph_(graph),
      options_(options),
      parameters_(parameters),
      recorder_(recorder),
      values_(graph.nodes().size() + 1) {
  count_readers();
  find_wanted_gradients();
}

void Builder::count_readers() {
  uses_.assign(values_.size(), 0);
  for (const Node& node : graph_.nodes()) {
    for (ValueId value : node.inputs) ++uses_[index(value)];
  }
  ++uses_.back();
  for (size_t value = 0; value < uses_.size(); ++value) {
    if (uses_[value] > 0) continue;
    const std::string whose =
        value == 0 ? "the input" : "the result of layer '" + graph_.nodes()[value - 1].name + "'";
    throw InternalError("nothing uses " + whose + " of a graph");
  }
}

void Builder::find_wanted_gradients() {
  values_[0].wants_gradient = training() && options_.input_gradient;
  for (node_ = 0; node_ < graph_.nodes().size(); ++node_) {
    const Node& node = graph_.nodes()[node_];
    bool wanted = training() && !layers::parameters(node.layer, graph_.input_shapes(node)).empty();
    for (size_t i = 0; i < node.inputs.size(); ++i) wanted = wanted || wants_gradient(i);
    values_[index(output_id())].wants_gradient = wanted;
  }
}

void Builder::build() {
  build_forward();
  if (training()) build_backward();
}

namespace {

/// Calls record(), and puts the layer's name before what goes wrong.
template <class Record>
void recording(const Node& node, Record record) {
  const std::string who = "layer '" + node.name + "' (" + std::string(kind(node.layer)) + "): ";
  try {
    record();
  } catch (const InternalError& error) {
    throw InternalError(who + error.what());
  } catch (const dnnl::error& error) {
    throw InternalError(who + "oneDNN: " + error.what());
  }
}

}  // namespace

void Builder::build_forward() {
  values_[0].tensor = recorder_.border(Border::kInput, batch_dims(options_.samples, graph_.input_shape()));
  values_[0].set = true;
  for (node_ = 0; node_ < graph_.nodes().size(); ++node_) {
    const Node& node = graph_.nodes()[node_];
    twins_.push_back(std::visit([](const auto& layer) { return make_twin(layer); }, node.layer));
    recorder_.set_owner(node.name);
    recording(node, [&] { twins_.back()->forward(*this); });
    finish_node();
  }
  recorder_.begin(Recorder::Part::kDeliver);
  recorder_.set_owner("output");
  const Dims dims = batch_dims(options_.samples, graph_.output_shape());
  recorder_.copy(values_.back().tensor, recorder_.border(Border::kOutput, dims));
}

void Builder::finish_node() {
  require(values_[index(output_id())].set, "a layer did not give its result");
  for (ValueId value : graph_.nodes()[node_].inputs) --readers(tensor_of(value));
}

void Builder::build_backward() {
  recorder_.begin(Recorder::Part::kBackward);
  if (values_.back().wants_gradient) {
    const Dims dims = batch_dims(options_.samples, graph_.output_shape());
    values_.back().gradients.push_back(recorder_.border(Border::kOutputGradient, dims));
  }
  for (node_ = graph_.nodes().size(); node_-- > 0;) {
    if (!values_[index(output_id())].wants_gradient) continue;
    const Node& node = graph_.nodes()[node_];
    recorder_.set_owner(node.name);
    recording(node, [&] { twins_[node_]->backward(*this); });
  }
  if (!options_.input_gradient) return;
  recorder_.set_owner("input gradient");
  const Dims dims = batch_dims(options_.samples, graph_.input_shape());
  recorder_.copy(sum(take_gradients(0)), recorder_.border(Border::kInputGradient, dims));
}

// ---- forward
// -------------------------------------------------------------------------------------------------------

int64_t& Builder::readers(const Tensor& tensor) {
  require(tensor.buffer >= 0, "a value lies in memory that does not move");
  const size_t buffer = index(tensor.buffer);
  if (pending_readers_.size() <= buffer) pending_readers_.resize(buffer + 1, 0);
  return pending_readers_[buffer];
}

Tensor Builder::input(size_t i) const { return tensor_of(id(i)); }

Tensor Builder::input_as(const Layout& layout, size_t i) {
  Value& value = values_[index(id(i))];
  if (value.tensor.layout == layout) return value.tensor;
  for (const Tensor& copy : value.copies) {
    if (copy.layout == layout) return copy;
  }
  Tensor copy = recorder_.as(value.tensor, layout);
  keep(copy);
  const bool from_caller = id(i) == 0 && value.copies.empty() && !is_plain(layout);
  value.copies.push_back(from_caller ? value.tensor : copy);
  // The first layer's choice becomes the layout of the graph's input: its gradients then add up without
  // reordering.
  if (from_caller) {
    readers(copy) += uses_[0];
    value.tensor = copy;
  }
  return copy;
}

void Builder::keep(const Tensor& tensor) {
  if (tensor.buffer < 0) return;
  if (kept_.size() <= index(tensor.buffer)) kept_.resize(index(tensor.buffer) + 1, false);
  kept_[index(tensor.buffer)] = true;
}

bool Builder::may_overwrite(size_t i) const {
  const size_t buffer = index(input(i).buffer);
  const bool kept = buffer < kept_.size() && kept_[buffer];
  return recorder_.buffer(input(i)).in_arena && !kept && pending_readers_.at(buffer) == 1;
}

Tensor Builder::output_over_input(const Layout& layout, size_t i) {
  if (input(i).layout == layout && may_overwrite(i)) return input(i);
  return recorder_.allocate(layout);
}

void Builder::set_output(Tensor tensor) {
  readers(tensor) += uses_[index(output_id())];
  Value& value = values_[index(output_id())];
  value.tensor = std::move(tensor);
  value.set = true;
}

// ---- backward
// ------------------------------------------------------------------------------------------------------

std::vector<Tensor> Builder::take_gradients(ValueId value) {
  std::vector<Tensor> gradients = std::exchange(values_[index(value)].gradients, {});
  require(!gradients.empty(), "a value that needs a gradient got none");
  if (gradients.size() == 1) return gradients;
  for (Tensor& gradient : gradients) gradient = recorder_.as(gradient, tensor_of(value).layout);
  return gradients;
}

Tensor Builder::sum(const std::vector<Tensor>& parts) {
  Tensor total = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    const Tensor a = total;
    const Tensor b = parts[i];
    // In place only where none of the parts that follow is the same memory.
    const bool alias = std::any_of(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, parts.end(),
                                   [&](const Tensor& part) { return part.buffer == a.buffer; });
    total = alias ? recorder_.allocate(a.layout) : gradient_over(a, a.layout);
    recorder_.run("sum of gradients", {a, b, total},
                  [a, b, total](const Step&) { add(a.data(), b.data(), total.data(), total.floats()); });
  }
  return total;
}

Tensor Builder::output_gradient() { return sum(output_gradients()); }

std::vector<Tensor> Builder::output_gradients() { return take_gradients(output_id()); }

bool Builder::may_overwrite(const Tensor& gradient) const {
  if (!recorder_.buffer(gradient).in_arena) return false;
  return std::none_of(values_.begin(), values_.end(), [&](const Value& value) {
    return std::any_of(value.gradients.begin(), value.gradients.end(),
                       [&](const Tensor& other) { return other.buffer == gradient.buffer; });
  });
}

Tensor Builder::gradient_over(const Tensor& gradient, const Layout& layout) {
  if (gradient.layout == layout && may_overwrite(gradient)) return gradient;
  return recorder_.allocate(layout);
}

void Builder::give_gradient(Tensor gradient, size_t i) {
  values_[index(id(i))].gradients.push_back(std::move(gradient));
}

// ---- parameters
// ----------------------------------------------------------------------------------------------------

Tensor Builder::parameter_at(const std::string& name, float* base) const {
  const layers::Tensor& place = parameters_.layout().parameter(this->name() + "." + name);
  return recorder_.fixed(plain_layout(place.shape.sizes()), base + place.offset);
}

Tensor Builder::parameter(const std::string& name) const { return parameter_at(name, parameters_.values()); }

Tensor Builder::parameter_gradient(const std::string& name) const {
  return parameter_at(name, parameters_.gradients());
}

float* Builder::running_statistic(const std::string& name) const {
  return parameters_.running() + parameters_.layout().statistic(this->name() + "." + name).offset;
}

float* Builder::batch_statistic(const std::string& name) const {
  return parameters_.batch_statistics() + parameters_.layout().statistic(this->name() + "." + name).offset;
}

}  // namespace stagger::layers::cpu

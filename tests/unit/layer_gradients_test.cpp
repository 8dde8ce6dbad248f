// Every layer on every device: results against double precision, gradients against central differences.
#include <functional>

#include "layers/random.h"
#include "tests/catch.h"
#include "tests/reference_layers.h"
#include "tests/session.h"

namespace stagger::tests {
namespace {

using namespace layers;

constexpr uint64_t kSeed = 11;
constexpr BatchIdentity kIdentity{.epoch = 3, .batch = 17};

// A sum of n products in float is off by about sqrt(n) * 6e-8 of its size, here n < 10,000 in forward and
// backward together. A wrong formula, a wrong index or a missing term shows at 1e-3 and more.
constexpr double kTolerance = 2e-5;

std::vector<float> random_floats(int64_t count, uint64_t seed) {
  const Stream stream(seed, Purpose::kSynthetic);
  std::vector<float> list;
  for (int64_t i = 0; i < count; ++i) list.push_back(stream.normal(0, i));
  return list;
}

double dot(const Doubles& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * static_cast<double>(b[i]);
  return sum;
}

double root_mean_square(const std::vector<float>& list) {
  double sum = 0;
  for (float x : list) sum += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(sum / static_cast<double>(list.size()));
}

/// Compares what `device` says of `graph` with what the definition of its layers says.
class Checker {
 public:
  Checker(Device& device, const Graph& graph, int64_t samples)
      : device_(device),
        graph_(graph),
        samples_(samples),
        parameters_(device, graph),
        input_(random_floats(samples * graph.input_shape().elements(), 1)),
        weights_(random_floats(samples * graph.output_shape().elements(), 2)) {
    // Anything but the values that training starts with: a forgotten bias of 0 would not show.
    for (const auto& tensor : parameters_.layout().parameters) {
      const auto random = random_floats(tensor.shape.elements(), layer_key(tensor.name));
      std::copy(random.begin(), random.end(), parameters_.values() + tensor.offset);
    }
    parameters_.mark_changed();
    input_double_.assign(input_.begin(), input_.end());
    parameters_double_.assign(parameters_.values(),
                              parameters_.values() + parameters_.layout().parameter_floats);
  }

  void check() {
    Session session(device_, graph_, parameters_, options(true));
    check_output(session.forward(input_, step_));
    const std::vector<float> input_gradient = session.backward(weights_, step_);
    check_gradient("the input", input_gradient, input_double_, 0);
    check_parameter_gradients();
    check_without_input_gradient();
  }

 private:
  CompileOptions options(bool input_gradient) const {
    return {.mode = Mode::kTrain, .samples = samples_, .input_gradient = input_gradient, .seed = kSeed};
  }

  Doubles reference() const {
    const ReferenceContext context{.layout = parameters_.layout(),
                                   .parameters = parameters_double_,
                                   .samples = samples_,
                                   .seed = kSeed,
                                   .identity = kIdentity};
    return reference_forward(graph_, context, input_double_);
  }

  void check_output(const std::vector<float>& output) const {
    const Doubles expected = reference();
    const double scale = root_mean_square(output);
    for (size_t i = 0; i < output.size(); ++i) {
      INFO("output " << i);
      REQUIRE(static_cast<double>(output[i]) ==
              Approx(expected[i]).epsilon(kTolerance).margin(kTolerance * scale));
    }
  }

  /// d(weights . output) / d(variable[i]).
  double difference(Doubles& variable, size_t i) const {
    constexpr double kStep = 1e-6;  // its square, and 1e-16 / kStep, are far below the tolerance
    const double here = variable[i];
    variable[i] = here + kStep;
    const double above = dot(reference(), weights_);
    variable[i] = here - kStep;
    const double below = dot(reference(), weights_);
    variable[i] = here;
    return (above - below) / (2 * kStep);
  }

  /// Elements spread over all of `gradient`, which belongs to variable[offset ...].
  void check_gradient(const std::string& whose, const std::vector<float>& gradient, Doubles& variable,
                      size_t offset) {
    constexpr size_t kElements = 16;
    const double scale = root_mean_square(gradient);
    const size_t count = gradient.size();
    for (size_t k = 0; k < std::min(kElements, count); ++k) {
      const size_t i = count <= kElements ? k : (k * count) / kElements + k % (count / kElements);
      INFO("gradient of " << whose << ", element " << i << " of " << count);
      REQUIRE(static_cast<double>(gradient[i]) ==
              Approx(difference(variable, offset + i)).epsilon(kTolerance).margin(kTolerance * scale + 1e-8));
    }
  }

  void check_parameter_gradients() {
    float covered = 0;
    for (const auto& tensor : parameters_.layout().parameters) {
      const auto gradient = numbers(parameters_.gradients(), tensor);
      check_gradient(tensor.name, gradient, parameters_double_, static_cast<size_t>(tensor.offset));
      for (float x : gradient) covered += std::abs(x);
    }
    float all = 0;  // the gaps between tensors are 0 and stay 0
    for (int64_t i = 0; i < parameters_.layout().parameter_floats; ++i)
      all += std::abs(parameters_.gradients()[i]);
    CHECK(all == covered);
  }

  void check_without_input_gradient() {
    const std::vector<float> expected(parameters_.gradients(),
                                      parameters_.gradients() + parameters_.layout().parameter_floats);
    Session session(device_, graph_, parameters_, options(false));
    session.forward(input_, step_);
    session.backward(weights_, step_);
    for (size_t i = 0; i < expected.size(); ++i) {
      INFO("parameter gradient " << i << " with and without the input's");
      REQUIRE(parameters_.gradients()[i] == expected[i]);
    }
  }

  Device& device_;
  const Graph& graph_;
  int64_t samples_;
  Parameters parameters_;
  std::vector<float> input_, weights_;
  Doubles input_double_, parameters_double_;
  Step step_{.identity = kIdentity};
};

/// Checks the graph for one sample and several, more than four of them on two threads.
void check(const Graph& graph, std::initializer_list<int64_t> batches = {1, 5}) {
  for (const int64_t samples : batches) {
    const auto device = make_cpu_device(samples > 4 ? 2 : 1);
    INFO(device->describe() << ", samples " << samples << ", input " << graph.input_shape().to_string());
    Checker(*device, graph, samples).check();
  }
}

void check_layer(const Shape& input, const Layer& layer, std::initializer_list<int64_t> batches = {1, 5}) {
  Graph graph(input);
  graph.add("layer", layer);
  INFO(describe(layer));
  check(graph, batches);
}

TEST_CASE("convolution") {
  check_layer({3, 7, 5}, Conv2d{.out_channels = 4, .padding = 1, .bias = true});
  check_layer({1, 6, 6}, Conv2d{.out_channels = 16, .padding = 1});
  check_layer({16, 5, 5}, Conv2d{.out_channels = 16, .padding = 1, .bias = true});
  check_layer({16, 6, 7}, Conv2d{.out_channels = 20, .stride = 2, .padding = 1});
  check_layer({20, 5, 5}, Conv2d{.out_channels = 3, .bias = true});
  check_layer({4, 5, 5}, Conv2d{.out_channels = 1, .kernel = 5, .padding = 2});
  check_layer({2, 8, 9}, Conv2d{.out_channels = 5, .kernel = 4, .stride = 3, .padding = 2, .bias = true});
}

TEST_CASE("1x1 convolution") {
  check_layer({16, 4, 4}, Conv2d{.out_channels = 32, .kernel = 1});
  check_layer({32, 5, 5}, Conv2d{.out_channels = 16, .kernel = 1, .stride = 2, .bias = true});
  check_layer({5, 3, 3}, Conv2d{.out_channels = 3, .kernel = 1});
  check_layer({3, 1, 1}, Conv2d{.out_channels = 4, .kernel = 1, .bias = true});
}

TEST_CASE("linear") {
  check_layer({1}, Linear{.out_features = 1});
  check_layer({7}, Linear{.out_features = 5});
  check_layer({64}, Linear{.out_features = 10, .bias = false});
  check_layer({33}, Linear{.out_features = 48});
}

TEST_CASE("batch norm") {
  for (const bool relu : {false, true}) {
    check_layer({1, 4, 4}, BatchNorm{.relu = relu});
    check_layer({5, 3, 4}, BatchNorm{.eps = 1e-2, .relu = relu});
    check_layer({16, 5, 5}, BatchNorm{.relu = relu});
    check_layer({20, 2, 3}, BatchNorm{.relu = relu});
    check_layer({6}, BatchNorm{.relu = relu}, {3, 8});
    check_layer({16}, BatchNorm{.relu = relu}, {3, 8});
  }
}

TEST_CASE("relu") {
  check_layer({3, 4, 5}, Relu{});
  check_layer({19}, Relu{});
}

TEST_CASE("pooling") {
  for (const auto kind : {Pool::Kind::kMax, Pool::Kind::kAverage}) {
    check_layer({3, 6, 6}, Pool{.kind = kind});
    check_layer({16, 7, 5},
                Pool{.kind = kind, .kernel = 3, .stride = 2, .padding = 1});  // overlapping windows
    check_layer({4, 5, 5}, Pool{.kind = kind, .kernel = 3, .stride = 1});
    check_layer({2, 7, 8}, Pool{.kind = kind, .kernel = 2, .stride = 3});  // pixels that no window meets
  }
  check_layer({3, 5, 4}, GlobalAveragePool{});
  check_layer({16, 7, 7}, GlobalAveragePool{});
}

TEST_CASE("pad shortcut") {
  check_layer({3, 5, 6}, PadShortcut{.out_channels = 7, .stride = 2});
  check_layer({16, 4, 4}, PadShortcut{.out_channels = 32, .stride = 2});
  check_layer({4, 3, 3}, PadShortcut{.out_channels = 4, .stride = 1});
}

TEST_CASE("flatten") { check_layer({3, 2, 5}, Flatten{}); }

TEST_CASE("dropout") {
  check_layer({3, 5, 5}, Dropout{.probability = 0.3});
  check_layer({18}, Dropout{.probability = 0.75});
  check_layer({6}, Dropout{.probability = 0});
}

/// A layer between two convolutions, where values have the convolutions' layout.
void check_inside(int64_t channels, const std::function<void(Graph&)>& add_layers) {
  Graph graph({channels, 5, 6});
  graph.add("before", Conv2d{.out_channels = channels, .padding = 1});
  add_layers(graph);
  graph.add("after", Conv2d{.out_channels = channels, .kernel = 1});
  INFO(channels << " channels");
  check(graph, {3});
}

TEST_CASE("layers between convolutions") {
  for (const int64_t channels : {1, 2, 3, 4, 5, 16, 20}) {
    check_inside(channels, [](Graph& g) { g.add("layer", BatchNorm{.relu = true}); });
    check_inside(channels, [](Graph& g) { g.add("layer", Relu{}); });
    check_inside(channels, [](Graph& g) { g.add("layer", Dropout{.probability = 0.5}); });
    check_inside(channels, [](Graph& g) { g.add("layer", Pool{.kernel = 3, .stride = 2, .padding = 1}); });
    check_inside(channels, [](Graph& g) { g.add("layer", Pool{.kind = Pool::Kind::kAverage}); });
    check_inside(channels, [](Graph& g) { g.add("layer", GlobalAveragePool{}); });
    check_inside(channels,
                 [=](Graph& g) { g.add("layer", PadShortcut{.out_channels = 2 * channels, .stride = 2}); });
    check_inside(channels,
                 [=](Graph& g) { g.add("layer", PadShortcut{.out_channels = channels + 1, .stride = 1}); });
  }
}

/// relu(x + bn(conv(relu(bn(conv(x)))))), with any shortcut.
void add_block(Graph& g, const std::string& name, int64_t channels, int64_t stride, bool projection) {
  const ValueId x = g.output();
  const int64_t before = g.output_shape()[0];
  g.add(name + ".conv1", Conv2d{.out_channels = channels, .stride = stride, .padding = 1});
  g.add(name + ".bn1", BatchNorm{});
  g.add(name + ".relu1", Relu{});
  g.add(name + ".conv2", Conv2d{.out_channels = channels, .padding = 1});
  const ValueId y = g.add(name + ".bn2", BatchNorm{});
  ValueId shortcut = x;
  if (projection) {
    shortcut = g.add(name + ".down", Conv2d{.out_channels = channels, .kernel = 1, .stride = stride}, {x});
  } else if (stride != 1 || before != channels) {
    shortcut = g.add(name + ".pad", PadShortcut{.out_channels = channels, .stride = stride}, {x});
  }
  g.add(name + ".add", Add{}, {y, shortcut});
  g.add(name + ".relu2", Relu{});
}

TEST_CASE("residual blocks") {
  for (const int64_t channels : {3, 16, 20}) {
    // From the border on, so that plain and blocked layouts meet in the first addition.
    Graph graph({channels, 4, 5});
    add_block(graph, "a", channels, 1, false);
    add_block(graph, "b", channels, 1, false);
    add_block(graph, "c", 2 * channels, 2, false);
    add_block(graph, "d", channels, 1, true);
    check(graph, {3});
  }
}

TEST_CASE("fan-out") {
  Graph graph({4, 5, 5});
  const ValueId x = graph.add("conv", Conv2d{.out_channels = 4, .padding = 1});
  const ValueId twice = graph.add("twice", Add{}, {x, x});
  const ValueId a = graph.add("a", Conv2d{.out_channels = 4, .padding = 1}, {twice});
  const ValueId b = graph.add("b", Relu{}, {twice});
  const ValueId c = graph.add("c", Add{}, {a, twice});
  const ValueId d = graph.add("d", Add{.relu = true}, {c, b});
  graph.add("e", Add{.relu = true}, {d, x});
  check(graph, {3});
}

TEST_CASE("one gradient reaches a value on two ways, with another one in between") {
  Graph graph({4, 5, 5});
  const ValueId x = graph.add("x", Conv2d{.out_channels = 4, .padding = 1});
  const ValueId a = graph.add("a", Conv2d{.out_channels = 4, .padding = 1}, {x});
  const ValueId b = graph.add("b", Add{}, {x, a});
  const ValueId c = graph.add("c", Relu{}, {x});
  const ValueId d = graph.add("d", Add{}, {x, b});
  const ValueId e = graph.add("e", Conv2d{.out_channels = 4, .padding = 1}, {d});
  graph.add("f", Add{}, {e, c});
  check(graph, {3});
}

TEST_CASE("the input of a graph used many times") {
  Graph graph({16, 4, 4});
  const ValueId a = graph.add("a", Add{}, {0, 0});
  const ValueId b = graph.add("b", Conv2d{.out_channels = 16, .padding = 1}, {0});
  const ValueId c = graph.add("c", Add{.relu = true}, {a, b});
  graph.add("d", Add{}, {0, c});
  check(graph, {3});
}

TEST_CASE("perceptron with dropout") {
  Graph graph({2, 3, 3});
  graph.add("flatten", Flatten{});
  graph.add("fc1", Linear{.out_features = 20});
  graph.add("relu1", Relu{});
  graph.add("dropout1", Dropout{.probability = 0.4});
  graph.add("fc2", Linear{.out_features = 7});
  graph.add("bn", BatchNorm{});
  graph.add("relu2", Relu{});
  graph.add("fc3", Linear{.out_features = 3});
  check(graph, {5});
}

TEST_CASE("from images to classes") {
  for (const int64_t channels : {5, 16}) {
    Graph graph({3, 8, 8});
    graph.add("conv", Conv2d{.out_channels = channels, .padding = 1});
    graph.add("bn", BatchNorm{});
    graph.add("relu", Relu{});
    graph.add("pool", Pool{});
    graph.add("conv2", Conv2d{.out_channels = channels, .padding = 1, .bias = true});
    graph.add("relu2", Relu{});
    graph.add("average", GlobalAveragePool{});
    graph.add("flatten", Flatten{});
    graph.add("fc", Linear{.out_features = 4});
    check(graph, {4});
  }
}

TEST_CASE("identity") {
  check(Graph({3, 2, 2}));
  Graph nothing_to_learn({4, 4, 4});
  nothing_to_learn.add("pool", Pool{});
  nothing_to_learn.add("flatten", Flatten{});
  check(nothing_to_learn);
}

}  // namespace
}  // namespace stagger::tests

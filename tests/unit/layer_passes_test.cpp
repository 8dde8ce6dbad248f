// What the modes of a compiled graph promise: statistics, dropout, polling, same bits, weights that change.
#include "layers/error.h"
#include "layers/random.h"
#include "tests/catch.h"
#include "tests/reference_layers.h"
#include "tests/session.h"

namespace stagger::tests {
namespace {

using namespace layers;

std::vector<float> random_floats(int64_t count, uint64_t seed) {
  const Stream stream(seed, Purpose::kSynthetic);
  std::vector<float> list;
  for (int64_t i = 0; i < count; ++i) list.push_back(stream.normal(0, i));
  return list;
}

/// A small network with everything whose modes differ.
Graph small_network() {
  Graph g({3, 8, 8});
  const ValueId conv = g.add("conv", Conv2d{.out_channels = 16, .padding = 1});
  g.add("bn", BatchNorm{}, {conv});
  const ValueId relu = g.add("relu", Relu{});
  g.add("conv2", Conv2d{.out_channels = 16, .padding = 1});
  const ValueId bn2 = g.add("bn2", BatchNorm{.momentum = 0.3});
  g.add("add", Add{}, {bn2, relu});
  g.add("relu2", Relu{});
  g.add("pool", Pool{});
  g.add("flatten", Flatten{});
  g.add("dropout", Dropout{.probability = 0.4});
  g.add("fc", Linear{.out_features = 5});
  return g;
}

/// A device, a network, its numbers and a batch.
struct Fixture {
  std::unique_ptr<Device> device = make_cpu_device(1);
  Graph graph = small_network();
  Parameters parameters{*device, graph};
  int64_t samples = 6;
  std::vector<float> input = random_floats(6 * 3 * 8 * 8, 1);
  std::vector<float> gradient = random_floats(6 * 5, 2);
  Step step{.identity = {.epoch = 1, .batch = 2}};

  Fixture() { parameters.initialise(graph, 7); }
  CompileOptions options(Mode mode) const { return {.mode = mode, .samples = samples, .seed = 5}; }
  Session session(Mode mode) { return {*device, graph, parameters, options(mode)}; }
  std::vector<float> all_gradients() const {
    return {parameters.gradients(), parameters.gradients() + parameters.layout().parameter_floats};
  }
};

void check_close(const std::vector<float>& a, const Doubles& b, double tolerance = 2e-5) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO("element " << i);
    REQUIRE(static_cast<double>(a[i]) == Approx(b[i]).epsilon(tolerance).margin(tolerance));
  }
}

TEST_CASE("F and R of one batch give the same bits") {
  Fixture f;
  CHECK(f.session(Mode::kForward).forward(f.input, f.step) ==
        f.session(Mode::kTrain).forward(f.input, f.step));
}

TEST_CASE("a pass that is repeated gives the same bits") {
  Fixture f;
  Session session = f.session(Mode::kTrain);
  const auto output = session.forward(f.input, f.step);
  const auto input_gradient = session.backward(f.gradient, f.step);
  const auto gradients = f.all_gradients();
  for (int i = 0; i < 3; ++i) {
    session.forward(random_floats(6 * 3 * 8 * 8, 100), {.identity = {.epoch = 9, .batch = 9}});
    CHECK(session.forward(f.input, f.step) == output);
    CHECK(session.backward(f.gradient, f.step) == input_gradient);
    CHECK(f.all_gradients() == gradients);
  }
  Session another = f.session(Mode::kTrain);
  CHECK(another.forward(f.input, f.step) == output);
  CHECK(another.backward(f.gradient, f.step) == input_gradient);
  CHECK(f.all_gradients() == gradients);
}

TEST_CASE("statistics of a training pass are the batch's mean and unbiased variance") {
  Fixture f;
  f.session(Mode::kTrain).forward(f.input, f.step);
  Graph first({3, 8, 8});
  first.add("conv", f.graph.nodes()[0].layer);
  const Doubles parameters(f.parameters.values(),
                           f.parameters.values() + f.parameters.layout().parameter_floats);
  const ReferenceContext context{
      .layout = f.parameters.layout(), .parameters = parameters, .samples = f.samples};
  const Doubles x = reference_forward(first, context, Doubles(f.input.begin(), f.input.end()));
  const double count = static_cast<double>(f.samples) * 64;
  Doubles means, variances;
  for (size_t c = 0; c < 16; ++c) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += i / 64 % 16 == c ? x[i] : 0;
    for (size_t i = 0; i < x.size(); ++i) squares += i / 64 % 16 == c ? std::pow(x[i] - sum / count, 2) : 0;
    means.push_back(sum / count);
    variances.push_back(squares / (count - 1));
  }
  const auto& layout = f.parameters.layout();
  check_close(numbers(f.parameters.batch_statistics(), layout.statistic("bn.running_mean")), means);
  check_close(numbers(f.parameters.batch_statistics(), layout.statistic("bn.running_var")), variances);
}

TEST_CASE("running statistics move by each layer's momentum, and only when committed") {
  Fixture f;
  f.session(Mode::kTrain).forward(f.input, f.step);
  const Tensor& mean = f.parameters.layout().statistic("bn2.running_mean");
  const Tensor& variance = f.parameters.layout().statistic("bn2.running_var");
  const float batch_mean = f.parameters.batch_statistics()[mean.offset + 3];
  const float batch_variance = f.parameters.batch_statistics()[variance.offset + 3];
  CHECK(f.parameters.running()[mean.offset + 3] == 0);
  CHECK(f.parameters.running()[variance.offset + 3] == 1);
  f.parameters.commit_statistics();
  CHECK(f.parameters.running()[mean.offset + 3] == Approx(0.3F * batch_mean));
  CHECK(f.parameters.running()[variance.offset + 3] == Approx(0.7F + 0.3F * batch_variance));
}

TEST_CASE("F and evaluation leave the statistics alone") {
  Fixture f;
  const int64_t count = f.parameters.layout().statistic_floats;
  std::fill_n(f.parameters.batch_statistics(), count, 42.0F);
  f.session(Mode::kForward).forward(f.input, f.step);
  f.session(Mode::kEvaluate).forward(f.input, f.step);
  CHECK(std::all_of(f.parameters.batch_statistics(), f.parameters.batch_statistics() + count,
                    [](float x) { return x == 42; }));
  CHECK(f.parameters.running()[f.parameters.layout().statistic("bn.running_var").offset] == 1);
}

TEST_CASE("the batch statistics of one number are itself and 0") {
  const auto device = make_cpu_device(1);
  Graph graph({2});
  graph.add("bn", BatchNorm{});
  Parameters parameters(*device, graph);
  parameters.initialise(graph, 1);
  Session session(*device, graph, parameters, {.mode = Mode::kTrain, .samples = 1});
  CHECK(session.forward({3, -4}) == std::vector<float>{0, 0});
  const auto& layout = parameters.layout();
  CHECK(numbers(parameters.batch_statistics(), layout.statistic("bn.running_mean")) ==
        std::vector<float>{3, -4});
  CHECK(numbers(parameters.batch_statistics(), layout.statistic("bn.running_var")) ==
        std::vector<float>{0, 0});
}

TEST_CASE("evaluation uses running statistics as they are now, and drops nothing") {
  Fixture f;
  Session session = f.session(Mode::kEvaluate);
  const Doubles parameters(f.parameters.values(),
                           f.parameters.values() + f.parameters.layout().parameter_floats);
  for (const uint64_t seed : {1, 2}) {
    const auto random = random_floats(f.parameters.layout().statistic_floats, seed);
    for (size_t i = 0; i < random.size(); ++i) f.parameters.running()[i] = 0.5F + std::abs(random[i]);
    const ReferenceContext context{.layout = f.parameters.layout(),
                                   .parameters = parameters,
                                   .running = f.parameters.running(),
                                   .mode = Mode::kEvaluate,
                                   .samples = f.samples};
    check_close(session.forward(f.input),
                reference_forward(f.graph, context, {f.input.begin(), f.input.end()}));
  }
}

TEST_CASE("dropout follows the identity of the batch, the seed and the name of the layer") {
  const auto device = make_cpu_device(1);
  const auto drop = [&](const char* name, uint64_t seed, BatchIdentity identity) {
    Graph graph({1000});
    graph.add(name, Dropout{.probability = 0.25});
    Parameters parameters(*device, graph);
    Session session(*device, graph, parameters, {.mode = Mode::kTrain, .samples = 2, .seed = seed});
    return session.forward(std::vector<float>(2000, 3), {.identity = identity});
  };
  const auto mask = drop("a", 1, {0, 0});
  CHECK(drop("a", 1, {0, 0}) == mask);
  CHECK(drop("b", 1, {0, 0}) != mask);
  CHECK(drop("a", 2, {0, 0}) != mask);
  CHECK(drop("a", 1, {1, 0}) != mask);
  CHECK(drop("a", 1, {0, 1}) != mask);
  CHECK(std::vector<float>(mask.begin(), mask.begin() + 1000) !=
        std::vector<float>(mask.begin() + 1000, mask.end()));
  const auto dropped = std::count(mask.begin(), mask.end(), 0.0F);
  CHECK(dropped == Approx(500).margin(5 * 19));  // five times sqrt(n p (1 - p))
  CHECK(std::count(mask.begin(), mask.end(), 4.0F) == 2000 - dropped);
}

TEST_CASE("a maximum pool gives the gradient of a tie to the first maximum") {
  const auto device = make_cpu_device(1);
  for (const int64_t channels : {1, 16}) {
    Graph graph({channels, 2, 2});
    graph.add("pool", Pool{});
    Parameters parameters(*device, graph);
    Session session(*device, graph, parameters, {.mode = Mode::kTrain, .samples = 1});
    session.forward(std::vector<float>(static_cast<size_t>(4 * channels), 0.5F));
    const auto gradient = session.backward(std::vector<float>(static_cast<size_t>(channels), 2));
    for (size_t i = 0; i < gradient.size(); ++i) CHECK(gradient[i] == (i % 4 == 0 ? 2 : 0));
  }
}

TEST_CASE("changed parameters are used once they are marked as changed") {
  Fixture f;
  Session session = f.session(Mode::kTrain);
  session.forward(f.input, f.step);
  session.backward(f.gradient, f.step);
  for (int64_t i = 0; i < f.parameters.layout().parameter_floats; ++i) f.parameters.values()[i] *= 0.5F;
  f.parameters.mark_changed();
  Session fresh = f.session(Mode::kTrain);
  CHECK(session.forward(f.input, f.step) == fresh.forward(f.input, f.step));
  CHECK(session.backward(f.gradient, f.step) == fresh.backward(f.gradient, f.step));
}

TEST_CASE("a network gives the same with its relus folded beforehand") {
  Fixture f;
  Session original = f.session(Mode::kTrain);
  const Graph fused = fuse_relu(f.graph);
  Session folded(*f.device, fused, f.parameters, f.options(Mode::kTrain));
  CHECK(original.forward(f.input, f.step) == folded.forward(f.input, f.step));
  CHECK(original.backward(f.gradient, f.step) == folded.backward(f.gradient, f.step));
}

TEST_CASE("samples of a batch do not depend on their number in evaluation") {
  Fixture f;
  const auto all = f.session(Mode::kEvaluate).forward(f.input);
  for (const int64_t samples : {1, 2, 5}) {
    f.samples = samples;
    const std::vector<float> some(f.input.begin(), f.input.begin() + samples * 3 * 8 * 8);
    const auto output = f.session(Mode::kEvaluate).forward(some);
    check_close(output, Doubles(all.begin(), all.begin() + samples * 5), 1e-5);
  }
}

TEST_CASE("poll is called between layers") {
  Fixture f;
  int calls = 0;
  const std::function<void()> poll = [&] { ++calls; };
  f.step.poll = &poll;
  Session session = f.session(Mode::kTrain);
  session.forward(f.input, f.step);
  CHECK(calls >= 8);
  calls = 0;
  session.backward(f.gradient, f.step);
  CHECK(calls >= 8);
  const std::function<void()> empty;
  session.forward(f.input, {.identity = f.step.identity, .poll = &empty});
}

TEST_CASE("executables may share an arena between passes") {
  Fixture f;
  auto train = f.device->compile(f.graph, f.options(Mode::kTrain), f.parameters);
  auto forward = f.device->compile(f.graph, f.options(Mode::kForward), f.parameters);
  CHECK(forward->arena_bytes() < train->arena_bytes());
  const Memory arena = f.device->allocate(train->arena_bytes());
  const Memory input = f.device->allocate(static_cast<int64_t>(f.input.size()) * 4);
  const Memory a = f.device->allocate(6 * 5 * 4), b = f.device->allocate(6 * 5 * 4);
  std::copy(f.input.begin(), f.input.end(), input.floats());
  train->bind(arena.data());
  forward->bind(arena.data());
  forward->forward(f.step, input.floats(), a.floats());
  train->forward(f.step, input.floats(), b.floats());
  train->backward(f.step, a.floats(), f.device->allocate(input.bytes()).floats());
  forward->forward(f.step, input.floats(), b.floats());
  CHECK(std::equal(a.floats(), a.floats() + 30, b.floats()));
}

TEST_CASE("training keeps what backward reads and no more") {
  // conv + bn + relu, n times: backward reads the convolution's result and input of each, and nothing else of
  // size.
  const auto device = make_cpu_device(1);
  const auto arena_bytes = [&](int64_t layers) {
    Graph graph({16, 16, 16});
    for (int64_t i = 0; i < layers; ++i) {
      graph.add("conv" + std::to_string(i), Conv2d{.out_channels = 16, .padding = 1});
      graph.add("bn" + std::to_string(i), BatchNorm{});
      graph.add("relu" + std::to_string(i), Relu{});
    }
    Parameters parameters(*device, graph);
    return device->compile(graph, {.mode = Mode::kTrain, .samples = 8}, parameters)->arena_bytes();
  };
  const double value_bytes = 8.0 * 16 * 16 * 16 * 4;
  const auto a_layer = static_cast<double>(arena_bytes(14) - arena_bytes(4)) / 10;
  CHECK(a_layer >= 2 * value_bytes);
  CHECK(a_layer < 2.1 * value_bytes);  // the mask of the ReLU is a bit an element: 1/32
}

TEST_CASE("a training pass of a chain reorders at its borders only") {
  Fixture f;
  Graph graph({16, 8, 8});
  for (const char* name : {"a", "b", "c"}) {
    graph.add(name, Conv2d{.out_channels = 16, .padding = 1});
    graph.add(std::string("bn") + name, BatchNorm{});
    graph.add(std::string("relu") + name, Relu{});
  }
  Parameters parameters(*f.device, graph);
  const auto executable = f.device->compile(graph, {.mode = Mode::kForward, .samples = 4}, parameters);
  CHECK(executable->describe() == "forward 2 reorders, 32768 bytes");
}

TEST_CASE("misuse is an internal error, not a crash") {
  Fixture f;
  auto executable = f.device->compile(f.graph, f.options(Mode::kEvaluate), f.parameters);
  CHECK_THROWS_AS(executable->forward({}, f.input.data(), f.input.data()), InternalError);
  const Memory arena = f.device->allocate(executable->arena_bytes());
  executable->bind(arena.data());
  CHECK_THROWS_AS(executable->forward({}, nullptr, f.input.data()), InternalError);
  CHECK_THROWS_AS(executable->backward({}, f.gradient.data(), nullptr), InternalError);
  Graph unused({3});
  unused.add("fc", Linear{.out_features = 2});
  unused.add("fc2", Linear{.out_features = 2}, {0});
  Parameters parameters(*f.device, unused);
  CHECK_THROWS_WITH(f.device->compile(unused, {}, parameters),
                    "nothing uses the result of layer 'fc' of a graph");
  CHECK_THROWS_AS(make_cpu_device(0), ConfigError);
}

TEST_CASE("the device describes itself") {
  CHECK(make_cpu_device(1)->describe() == "cpu, " + cpu_backend_version() + ", 1 thread");
  CHECK(cpu_backend_version().substr(0, 7) == "oneDNN ");
}

}  // namespace
}  // namespace stagger::tests

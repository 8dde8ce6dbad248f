#include "layers/graph.h"

#include "layers/device.h"
#include "layers/error.h"
#include "tests/catch.h"

namespace stagger::layers {
namespace {

Shape shape_after(const Shape& input, const Layer& layer) {
  Graph graph(input);
  graph.add("layer", layer);
  return graph.output_shape();
}

std::string error_of(const Shape& input, const Layer& layer) {
  try {
    shape_after(input, layer);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("shapes of results") {
  CHECK(shape_after({3, 32, 32}, Conv2d{.out_channels = 16, .padding = 1}) == Shape{16, 32, 32});
  CHECK(shape_after({3, 32, 31}, Conv2d{.out_channels = 16, .stride = 2, .padding = 1}) == Shape{16, 16, 16});
  CHECK(shape_after({3, 7, 9}, Conv2d{.out_channels = 2, .kernel = 1, .stride = 3}) == Shape{2, 3, 3});
  CHECK(shape_after({8, 5, 5}, Pool{}) == Shape{8, 2, 2});
  CHECK(shape_after({8, 5, 5}, Pool{.kernel = 3, .stride = 2, .padding = 1}) == Shape{8, 3, 3});
  CHECK(shape_after({8, 5, 4}, GlobalAveragePool{}) == Shape{8, 1, 1});
  CHECK(shape_after({8, 5, 4}, Flatten{}) == Shape{160});
  CHECK(shape_after({8, 5, 4}, PadShortcut{.out_channels = 16, .stride = 2}) == Shape{16, 3, 2});
  CHECK(shape_after({12}, Linear{.out_features = 10}) == Shape{10});
  CHECK(shape_after({12}, Dropout{}) == Shape{12});
  CHECK(shape_after({12, 2, 3}, BatchNorm{}) == Shape{12, 2, 3});
  CHECK(Shape({2, 3, 4}).to_string() == "2x3x4");
}

TEST_CASE("errors name the layer and say what was found") {
  CHECK(error_of({8}, Conv2d{.out_channels = 1}) ==
        "layer 'layer' (conv): takes channels x height x width, got 8");
  CHECK(error_of({8, 2, 2}, Conv2d{.out_channels = 1, .kernel = 3}) ==
        "layer 'layer' (conv): kernel 3 is larger than the padded input 2");
  CHECK(error_of({8, 4, 4}, Conv2d{.out_channels = 0}) ==
        "layer 'layer' (conv): out_channels is 0; it must be 1 or more");
  CHECK(error_of({8, 4, 4}, Conv2d{.out_channels = 4, .stride = 0}) ==
        "layer 'layer' (conv): stride is 0; it must be 1 or more");
  CHECK(error_of({8, 4, 4}, Pool{.kernel = 3, .stride = 1, .padding = 2}) ==
        "layer 'layer' (pool): padding 2 is more than half the kernel");
  CHECK(error_of({8, 4, 4}, Linear{.out_features = 4}) ==
        "layer 'layer' (linear): takes a vector of features, got 8x4x4; put a flatten before it");
  CHECK(error_of({8}, Dropout{.probability = 1}) ==
        "layer 'layer' (dropout): probability is 1.000000; allowed are 0 to below 1");
  CHECK(error_of({8, 4, 4}, PadShortcut{.out_channels = 4, .stride = 1}) ==
        "layer 'layer' (pad_shortcut): out_channels is 4; it must be 8 or more");
  CHECK(error_of({8}, BatchNorm{.eps = 0}) ==
        "layer 'layer' (batch_norm): eps is 0.000000; it must be above 0");
  CHECK(error_of({8}, Add{}) == "layer 'layer' (add): takes 2 inputs, got 1");
}

TEST_CASE("branches must fit") {
  Graph graph({3, 4, 4});
  const ValueId x = graph.add("conv", Conv2d{.out_channels = 5, .padding = 1});
  CHECK_THROWS_WITH(graph.add("add", Add{}, {0, x}), "layer 'add' (add): cannot add 3x4x4 and 5x4x4");
  CHECK_THROWS_WITH(graph.add("conv", Relu{}), "layer 'conv': there is another layer of this name");
  CHECK_THROWS_AS(graph.add("relu", Relu{}, {7}), InternalError);
  CHECK(graph.output() == x);  // a refused layer leaves no trace
  Graph next({6, 4, 4});
  CHECK_THROWS_WITH(graph.append(next), "a block that takes 6x4x4 follows one that gives 5x4x4");
}

TEST_CASE("append continues at the output") {
  Graph graph({3, 4, 4});
  graph.add("a", Relu{});
  Graph next({3, 4, 4});
  const ValueId b = next.add("b", Relu{});
  next.add("c", Add{}, {0, b});
  graph.append(next);
  REQUIRE(graph.nodes().size() == 3);
  CHECK(graph.nodes()[1].inputs == std::vector<ValueId>{1});
  CHECK(graph.nodes()[2].inputs == std::vector<ValueId>{1, 2});
}

TEST_CASE("floating-point operations") {
  const std::vector<Shape> image{{3, 8, 8}}, vector{{20}};
  CHECK(flops(Conv2d{.out_channels = 4, .stride = 2, .padding = 1}, image) == 2.0 * 3 * 9 * 4 * 4 * 4);
  CHECK(flops(Linear{.out_features = 7}, vector) == 2.0 * 20 * 7);
  CHECK(flops(Flatten{}, image) == 0);
}

TEST_CASE("a relu is folded into the batch norm or addition before it") {
  Graph graph({4, 4, 4});
  const ValueId conv = graph.add("conv", Conv2d{.out_channels = 4, .padding = 1});
  graph.add("bn", BatchNorm{});
  const ValueId relu = graph.add("relu", Relu{});
  graph.add("add", Add{}, {relu, conv});
  graph.add("relu2", Relu{});
  graph.add("after", Conv2d{.out_channels = 4});
  const Graph fused = fuse_relu(graph);
  REQUIRE(fused.nodes().size() == 4);
  CHECK(std::get<BatchNorm>(fused.nodes()[1].layer).relu);
  CHECK(std::get<Add>(fused.nodes()[2].layer).relu);
  CHECK(fused.nodes()[2].inputs == std::vector<ValueId>{2, 1});
  CHECK(fused.nodes()[3].inputs == std::vector<ValueId>{3});
  CHECK(fused.output_shape() == graph.output_shape());
}

TEST_CASE("a relu stays where it cannot be folded") {
  SECTION("something else reads the sum") {
    Graph graph({4});
    const ValueId bn = graph.add("bn", BatchNorm{});
    const ValueId relu = graph.add("relu", Relu{});
    graph.add("add", Add{}, {bn, relu});
    CHECK(fuse_relu(graph).nodes().size() == 3);
  }
  SECTION("after a linear layer, after the input, after another relu") {
    Graph graph({4});
    graph.add("relu0", Relu{});
    graph.add("fc", Linear{.out_features = 4});
    graph.add("relu1", Relu{});
    graph.add("bn", BatchNorm{});
    graph.add("relu2", Relu{});
    graph.add("relu3", Relu{});
    CHECK(fuse_relu(graph).nodes().size() == 5);
  }
  SECTION("its batch norm is not the layer right before") {
    Graph graph({4});
    const ValueId a = graph.add("bn", BatchNorm{});
    const ValueId b = graph.add("bn2", BatchNorm{}, {0});
    const ValueId c = graph.add("relu", Relu{}, {a});
    graph.add("add", Add{}, {b, c});
    const Graph fused = fuse_relu(graph);
    CHECK(fused.nodes().size() == 4);
    CHECK_FALSE(std::get<BatchNorm>(fused.nodes()[1].layer).relu);
  }
}

TEST_CASE("a folded graph has the parameters of the original at the same places") {
  Graph graph({3, 4, 4});
  graph.add("conv", Conv2d{.out_channels = 5, .padding = 1, .bias = true});
  graph.add("bn", BatchNorm{});
  graph.add("relu", Relu{});
  graph.add("conv2", Conv2d{.out_channels = 2});
  const ParameterLayout a(graph), b(fuse_relu(graph));
  REQUIRE(a.parameters.size() == 5);
  REQUIRE(b.parameters.size() == 5);
  for (size_t i = 0; i < 5; ++i) {
    CHECK(a.parameters[i].name == b.parameters[i].name);
    CHECK(a.parameters[i].offset == b.parameters[i].offset);
    CHECK(a.parameters[i].offset % 16 == 0);
  }
  CHECK(a.parameter("conv2.weight").shape == Shape{2, 5, 3, 3});
  CHECK_THROWS_AS(a.parameter("conv3.weight"), InternalError);
}

TEST_CASE("exit codes") {
  CHECK(exit_code(ConfigError("")) == 2);
  CHECK(exit_code(DataError("")) == 3);
  CHECK(exit_code(InternalError("")) == 1);
  CHECK(exit_code(std::bad_alloc()) == 1);
}

}  // namespace
}  // namespace stagger::layers

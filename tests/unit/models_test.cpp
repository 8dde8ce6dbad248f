// Models: shapes, names and parameter counts, against PyTorch's modules (tests/golden/resnet_parameters.py).
#include <fstream>
#include <sstream>

#include "layers/error.h"
#include "layers/model.h"
#include "layers/parameters.h"
#include "tests/catch.h"

using namespace stagger::layers;

namespace {

using BlockKind = ResidualBlock::Kind;
using Shortcut = ResidualBlock::Shortcut;

int64_t count_parameters(const Model& model) {
  int64_t count = 0;
  const ParameterLayout layout(model.slice(0, static_cast<int64_t>(model.blocks.size())));
  for (const Tensor& tensor : layout.parameters) count += tensor.shape.elements();
  return count;
}

std::vector<std::string> block_names(const Model& model) {
  std::vector<std::string> names;
  for (const Block& block : model.blocks) names.push_back(block.name);
  return names;
}

std::vector<std::string> node_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) names.push_back(node.name);
  return names;
}

struct Golden {
  std::string kind, block, shortcut, rest;
  int64_t depth = 0, channels = 0;

  ResNetOptions options() const {
    return {.depth = depth,
            .block = block == "basic" ? BlockKind::kBasic : BlockKind::kBottleneck,
            .shortcut = shortcut == "padding" ? Shortcut::kPadding : Shortcut::kProjection};
  }
};

std::vector<Golden> read_golden(const std::string& kind) {
  std::ifstream file(STAGGER_SOURCE_DIR "/tests/golden/resnet_parameters.txt");
  std::vector<Golden> list;
  for (std::string line; std::getline(file, line);) {
    Golden golden;
    std::istringstream words(line);
    words >> golden.kind >> golden.depth >> golden.block >> golden.shortcut >> golden.channels >> std::ws;
    std::getline(words, golden.rest);
    if (golden.kind == kind) list.push_back(golden);
  }
  return list;
}

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no ConfigError";
}

const Shape kCifar{3, 32, 32};

}  // namespace

TEST_CASE("ResNets have as many parameters as PyTorch's") {
  const auto golden = read_golden("count");
  REQUIRE(golden.size() == 20);
  for (const Golden& g : golden) {
    INFO(g.depth << " " << g.block << " " << g.shortcut);
    CHECK(count_parameters(make_resnet({g.channels, 32, 32}, 10, g.options())) == std::stoll(g.rest));
  }
  // The counts that are published for the padding shortcut.
  CHECK(count_parameters(make_resnet(kCifar, 10, {.depth = 20})) == 269722);
  CHECK(count_parameters(make_resnet(kCifar, 10, {.depth = 110})) == 1727962);
}

TEST_CASE("ResNet parameters are called, shaped and ordered as PyTorch's") {
  for (const char* block : {"basic", "bottleneck"}) {
    std::vector<std::string> expected, found;
    ResNetOptions options;
    for (const Golden& g : read_golden("tensor")) {
      if (g.block != block) continue;
      expected.push_back(g.rest);
      options = g.options();
    }
    REQUIRE(expected.size() > 50);
    const Model model = make_resnet({1, 28, 28}, 10, options);
    const ParameterLayout layout(model.slice(0, static_cast<int64_t>(model.blocks.size())));
    for (const Tensor& t : layout.parameters) found.push_back(t.name + " " + t.shape.to_string());
    CHECK(found == expected);
  }
}

TEST_CASE("ResNet blocks and shapes") {
  const Model model = make_resnet(kCifar, 10, {.depth = 20});
  CHECK(model.name == "resnet20");
  CHECK(block_names(model) == std::vector<std::string>{"stem", "layer1.0", "layer1.1", "layer1.2", "layer2.0",
                                                       "layer2.1", "layer2.2", "layer3.0", "layer3.1",
                                                       "layer3.2", "head"});
  CHECK(model.input_shape() == kCifar);
  CHECK(model.output_shape() == Shape{10});
  CHECK(model.blocks[3].graph.output_shape() == Shape{16, 32, 32});
  CHECK(model.blocks[4].graph.output_shape() == Shape{32, 16, 16});
  CHECK(model.blocks[9].graph.output_shape() == Shape{64, 8, 8});
  // Odd sizes: the padded shortcut and the strided convolution must agree.
  CHECK(make_resnet({1, 7, 9}, 10, {.depth = 8}).blocks[3].graph.output_shape() == Shape{64, 2, 3});
}

TEST_CASE("ResNet blocks are wired as in the paper") {
  const Model padded = make_resnet(kCifar, 10, {.depth = 20});
  const Graph& keeps = padded.blocks[1].graph;
  CHECK(node_names(keeps) == std::vector<std::string>{"layer1.0.conv1", "layer1.0.bn1", "layer1.0.relu1",
                                                      "layer1.0.conv2", "layer1.0.bn2", "layer1.0.add",
                                                      "layer1.0.relu"});
  CHECK(keeps.nodes()[5].inputs == std::vector<ValueId>{5, 0});
  const Graph& changes = padded.blocks[4].graph;
  CHECK(kind(changes.nodes()[5].layer) == "pad_shortcut");
  CHECK(changes.nodes()[5].inputs == std::vector<ValueId>{0});
  CHECK(changes.nodes()[6].inputs == std::vector<ValueId>{5, 6});

  const Model bottleneck = make_resnet(
      kCifar, 10, {.depth = 29, .block = BlockKind::kBottleneck, .shortcut = Shortcut::kProjection});
  CHECK(bottleneck.blocks[0].graph.output_shape() == Shape{16, 32, 32});
  CHECK(bottleneck.blocks[1].graph.output_shape() == Shape{64, 32, 32});
  const Graph& first = bottleneck.blocks[1].graph;  // group 1 widens too, at stride 1
  CHECK(node_names(first) == std::vector<std::string>{"layer1.0.conv1", "layer1.0.bn1", "layer1.0.relu1",
                                                      "layer1.0.conv2", "layer1.0.bn2", "layer1.0.relu2",
                                                      "layer1.0.conv3", "layer1.0.bn3",
                                                      "layer1.0.downsample.0", "layer1.0.downsample.1",
                                                      "layer1.0.add", "layer1.0.relu"});
  CHECK(std::get<Conv2d>(first.nodes()[8].layer).stride == 1);
  const Graph& strided = bottleneck.blocks[4].graph;
  CHECK(std::get<Conv2d>(strided.nodes()[0].layer).stride == 1);
  CHECK(std::get<Conv2d>(strided.nodes()[3].layer).stride == 2);
  CHECK(std::get<Conv2d>(strided.nodes()[8].layer).stride == 2);
  CHECK(strided.nodes()[8].inputs == std::vector<ValueId>{0});
  CHECK(strided.nodes()[10].inputs == std::vector<ValueId>{8, 10});
}

TEST_CASE("illegal ResNets are refused with the nearest legal ones") {
  const auto message = [](int64_t depth, BlockKind block) {
    return message_of([&] { make_resnet(kCifar, 10, {.depth = depth, .block = block}); });
  };
  CHECK(message(21, BlockKind::kBasic) ==
        "a ResNet of basic blocks has a depth of 6n+2, got 21; nearest: 20 and 26");
  CHECK(message(25, BlockKind::kBasic) ==
        "a ResNet of basic blocks has a depth of 6n+2, got 25; nearest: 20 and 26");
  CHECK(message(20, BlockKind::kBasic) == "no ConfigError");
  CHECK(message(50, BlockKind::kBottleneck) ==
        "a ResNet of bottleneck blocks has a depth of 9n+2, got 50; nearest: 47 and 56");
  CHECK(message(2, BlockKind::kBasic) == "a ResNet of basic blocks has a depth of 6n+2, got 2; nearest: 8");
  CHECK(message(-9000000000000000000, BlockKind::kBasic) ==
        "a ResNet of basic blocks has a depth of 6n+2, got -9000000000000000000; nearest: 8");
  CHECK(message(9000000000000000000, BlockKind::kBasic) ==
        "a ResNet of basic blocks has a depth of 6n+2, got 9000000000000000000; nearest: 9998");
  CHECK(message(10004, BlockKind::kBasic) ==
        "a ResNet of basic blocks has a depth of 6n+2, got 10004; nearest: 9998");

  CHECK(message_of([] { make_resnet({784}, 10, {}); }) ==
        "a ResNet takes channels x height x width, got 784");
  CHECK(message_of([] {
          make_resnet({3, 32, 3}, 10, {});
        }) == "a ResNet takes images of 4x4 pixels or more, got 3x32x3");
  CHECK(message_of([] { make_resnet(kCifar, 10, {.width = 0}); }) ==
        "width of a ResNet is 0; allowed are 1 to 65536");
}

TEST_CASE("the slices of a model have the tensors of the whole") {
  const Model model = make_resnet(kCifar, 10, {.depth = 20, .shortcut = Shortcut::kProjection});
  const auto n = static_cast<int64_t>(model.blocks.size());
  const ParameterLayout whole(model.slice(0, n));
  for (int64_t cut = 1; cut < n; ++cut) {
    const Graph left = model.slice(0, cut), right = model.slice(cut, n);
    CHECK(left.output_shape() == right.input_shape());
    ParameterLayout both(left);
    const ParameterLayout tail(right);
    for (Tensor tensor : tail.parameters) {
      tensor.offset += both.parameter_floats;
      both.parameters.push_back(tensor);
    }
    REQUIRE(both.parameters.size() == whole.parameters.size());
    for (size_t t = 0; t < whole.parameters.size(); ++t) {
      REQUIRE(both.parameters[t].name == whole.parameters[t].name);
      REQUIRE(both.parameters[t].shape == whole.parameters[t].shape);
      REQUIRE(both.parameters[t].offset == whole.parameters[t].offset);
    }
    CHECK(both.parameter_floats + tail.parameter_floats == whole.parameter_floats);
    CHECK(both.statistics.size() + tail.statistics.size() == whole.statistics.size());
  }
  CHECK(model.slice(4, 5).nodes().size() == model.blocks[4].graph.nodes().size());
  CHECK_THROWS_AS(model.slice(3, 3), InternalError);
  CHECK_THROWS_AS(model.slice(-1, 3), InternalError);
  CHECK_THROWS_AS(model.slice(3, n + 1), InternalError);
}

TEST_CASE("mlp") {
  const Model model = make_mlp({1, 28, 28}, 10, {.hidden = {30, 20}, .dropout = 0.25});
  CHECK(block_names(model) == std::vector<std::string>{"fc1", "fc2", "fc3"});
  CHECK(node_names(model.slice(0, 3)) ==
        std::vector<std::string>{"flatten", "fc1", "relu1", "dropout1", "fc2", "relu2", "dropout2", "fc3"});
  CHECK(model.blocks[0].graph.output_shape() == Shape{30});
  CHECK(model.output_shape() == Shape{10});
  CHECK(count_parameters(model) == 784 * 30 + 30 + 30 * 20 + 20 + 20 * 10 + 10);
  CHECK(node_names(make_mlp({5}, 2, {.hidden = {3}}).slice(0, 2)) ==
        std::vector<std::string>{"flatten", "fc1", "relu1", "fc2"});
  CHECK(block_names(make_mlp({5}, 2, {})) == std::vector<std::string>{"fc1"});
  CHECK(message_of([] { make_mlp({5}, 2, {.hidden = {0}}); }) ==
        "layer 'fc1' (linear): out_features is 0; it must be 1 or more");
  CHECK_THROWS_AS(make_mlp({5}, 2, {.hidden = {4}, .dropout = -0.5}), ConfigError);
}

TEST_CASE("a chain keeps ReLU, batch norm and dropout with the layer before") {
  const std::vector<NamedLayer> layers{{"conv", Conv2d{.out_channels = 4, .padding = 1}},
                                       {"norm", BatchNorm{}},
                                       {"relu", Relu{}},
                                       {"pool", Pool{}},
                                       {"flatten", Flatten{}},
                                       {"drop", Dropout{}},
                                       {"fc", Linear{.out_features = 10}}};
  const Model model = make_chain({1, 8, 8}, 10, layers);
  CHECK(block_names(model) == std::vector<std::string>{"conv", "pool", "flatten", "fc"});
  CHECK(node_names(model.blocks[0].graph) == std::vector<std::string>{"conv", "norm", "relu"});
  CHECK(node_names(model.blocks[2].graph) == std::vector<std::string>{"flatten", "drop"});
  CHECK(model.blocks[1].graph.output_shape() == Shape{4, 4, 4});

  const std::vector<NamedLayer> starts_with_norm{{"norm", BatchNorm{}}, {"fc", Linear{.out_features = 2}}};
  CHECK(block_names(make_chain({6}, 2, starts_with_norm)) == std::vector<std::string>{"norm", "fc"});
}

TEST_CASE("chains that make no model are refused") {
  const auto message = [](const std::vector<NamedLayer>& layers) {
    return message_of([&] { make_chain({4}, 10, layers); });
  };
  CHECK(message({}) == "the list of layers is empty; a model has 1 layer or more");
  CHECK(message({{"fc", Linear{.out_features = 9}}}) ==
        "the last layer, 'fc', gives 9; it must give 10, one number a class");
  CHECK(message({{"a", Linear{.out_features = 9}}, {"a", Linear{.out_features = 10}}}) ==
        "layer 'a': there is another layer of this name");
  CHECK(message({{"conv", Conv2d{.out_channels = 9}}}) ==
        "layer 'conv' (conv): takes channels x height x width, got 4");
}

TEST_CASE("a residual block changes size where its stride or its channels ask for it, and only there") {
  const Shape input{16, 8, 8};
  const auto kinds = [&](const ResidualBlock& block) {
    std::string text;
    const Graph graph = make_residual(input, "b", block);
    for (const Node& node : graph.nodes()) text += std::string(kind(node.layer)) + " ";
    return text;
  };
  const std::string plain = "conv batch_norm relu conv batch_norm ";
  CHECK(kinds({.channels = 16}) == plain + "add relu ");
  CHECK(kinds({.channels = 16, .stride = 2}) == plain + "pad_shortcut add relu ");
  CHECK(kinds({.channels = 32}) == plain + "pad_shortcut add relu ");
  CHECK(kinds({.channels = 16, .stride = 2, .shortcut = Shortcut::kProjection}) ==
        plain + "conv batch_norm add relu ");
  CHECK(make_residual(input, "b", {.channels = 16, .stride = 2}).output_shape() == Shape{16, 4, 4});
  CHECK(make_residual(input, "b", {.channels = 32}).output_shape() == Shape{32, 8, 8});
  CHECK_THROWS_WITH(make_residual(input, "b", {.kind = BlockKind::kBottleneck, .channels = 18}),
                    "residual block 'b' has 18 channels; a bottleneck block has a multiple of 4");
}

TEST_CASE("a chain may hold residual blocks") {
  const std::vector<NamedLayer> list{{"conv1", Layer(Conv2d{.out_channels = 8, .padding = 1})},
                                     {"relu1", Layer(Relu{})},
                                     {"block1", ResidualBlock{.channels = 16, .stride = 2}},
                                     {"pool", Layer(GlobalAveragePool{})},
                                     {"flatten", Layer(Flatten{})},
                                     {"fc", Layer(Linear{.out_features = 3})}};
  const Model model = make_chain({3, 8, 8}, 3, list);
  REQUIRE(model.blocks.size() == 5);
  CHECK(model.blocks[1].name == "block1");
  CHECK(model.blocks[1].graph.output_shape() == Shape{16, 4, 4});
  CHECK(model.blocks[1].graph.nodes()[0].name == "block1.conv1");
}

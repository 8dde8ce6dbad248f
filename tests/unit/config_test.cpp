#include "launch/config.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include "launch/dsp_notation.h"
#include "tests/catch.h"
#include "tests/unit/config_error.h"

namespace stagger::launch {
namespace {

using testing::error_of;
using Lists = std::vector<int64_t>;
using Settings = std::vector<std::string>;

const std::string kSmall =
    "data: {kind: synthetic}\n"
    "model: {kind: mlp, hidden: [8]}\n";

Config parse(const std::string& text, const Settings& settings = {}) {
  return parse_config(text, "f.yaml", "f", settings);
}

std::string error(const std::string& text, const Settings& settings = {}) {
  std::string message = error_of([&] { parse(text, settings); });
  CHECK(testing::is_one_line(message));
  return message;
}

/// The error of the small configuration with one more setting, without "--set ...: ".
std::string set_error(const std::string& setting) {
  const std::string message = error(kSmall, {setting});
  const std::string where = "--set " + setting + ": ";
  CHECK(message.starts_with(where));
  return message.substr(std::min(message.size(), where.size()));
}

std::string shipped(const std::string& name) { return std::string(STAGGER_SOURCE_DIR) + "/configs/" + name; }

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("defaults") {
  const Config config = parse(kSmall);
  CHECK(config.name == "f");
  CHECK(config.seed == 1);
  const auto& data = std::get<SyntheticData>(config.data.source);
  CHECK(data.train.shape == layers::Shape{1, 28, 28});
  CHECK(data.train.size == 1000);
  CHECK(data.test.size == 200);
  CHECK(data.test.first_index == 1000);
  CHECK(data.test.seed == data.train.seed);
  CHECK(config.data.classes() == 10);
  CHECK(config.data.prefetch == 4);
  CHECK(config.data.shuffle);
  CHECK_FALSE(config.data.drop_last);
  CHECK(config.pipeline.stages == 1);
  CHECK(config.pipeline.schedule == "bp");
  CHECK_FALSE(config.pipeline.cuts);
  CHECK(config.train.epochs == 1);
  CHECK(config.train.batch == 128);
  CHECK(config.train.sgd.momentum == 0.9);
  CHECK(config.train.sgd.weight_decay == 5e-4);
  CHECK(config.train.decay_norm_and_bias);
  CHECK(config.train.learning_rate.base == 0.1);
  CHECK(config.evaluate.every == 1);
  CHECK(config.evaluate.batch == 128);
  CHECK_FALSE(config.run.threads);
  CHECK(config.run.watchdog == 60);
}

TEST_CASE("the configurations that come with Stagger") {
  const Config quickstart = load_config(shipped("quickstart.yaml"));
  CHECK(quickstart.name == "quickstart");
  CHECK(quickstart.pipeline.activation_queue == Lists{1, 1});
  CHECK(quickstart.pipeline.error_queue == Lists{1, 1});
  CHECK(std::get<layers::ResNetOptions>(quickstart.model).depth == 20);
  CHECK(quickstart.data.preprocessing.mean == std::vector<float>{0.2860F});
  Config bp = load_config(shipped("quickstart-bp.yaml"));
  CHECK(bp.pipeline.activation_queue == Lists{0, 0});
  CHECK(bp.pipeline.schedule == "bp");
  const Config mlp = load_config(shipped("mlp.yaml"));
  CHECK(mlp.pipeline.stages == 2);
  CHECK(std::get<layers::MlpOptions>(mlp.model).hidden == Lists{64, 64});
}

TEST_CASE("a resolved configuration reads as the same one") {
  for (const std::string name : {"quickstart.yaml", "quickstart-bp.yaml", "mlp.yaml"}) {
    const Config config = load_config(shipped(name));
    const Config again = parse_config(config.resolved, "resolved.yaml", "other", {});
    CHECK(again.resolved == config.resolved);
    CHECK(again.name == config.name);
  }
  const std::string layers =
      "data: {kind: synthetic}\n"
      "model:\n  kind: layers\n  layers:\n    - {conv: {out_channels: 4}, name: first}\n    - relu\n    - "
      "conv: {out_channels: 8}\n"
      "    - {pool: {kind: max}}\n    - flatten\n    - {linear: {out_features: 10}}\n    - residual: "
      "{channels: 4}\n";
  const Config config =
      parse(layers, {"pipeline.stages=3", "pipeline.schedule=dsp", "pipeline.error_queue=[0, 3]",
                     "pipeline.partition=[1, 3]", "run.threads=2", "train.learning_rate.kind=step",
                     "train.learning_rate.milestones=[0.5, 0.75]"});
  CHECK(parse(config.resolved).resolved == config.resolved);
  CHECK(config.resolved.find("name: conv2") != std::string::npos);
  CHECK(config.resolved.find("error_queue: [0, 3]") != std::string::npos);
}

TEST_CASE("layers") {
  const Config config = parse(
      "data: {kind: synthetic}\n"
      "model:\n  kind: layers\n  layers:\n"
      "    - {conv: {out_channels: 16, kernel: 5, stride: 2, padding: 1, bias: true}, name: stem.conv}\n"
      "    - batch_norm\n    - relu\n    - {pool: {kind: average, kernel: 3}}\n    - {dropout: {probability: "
      "0.25}}\n"
      "    - {residual: {kind: bottleneck, channels: 32, stride: 2, shortcut: projection}}\n    - relu\n"
      "    - global_average_pool\n    - flatten\n    - {linear: {out_features: 10, bias: false}, name: "
      "fc}\n");
  const auto& entries = std::get<std::vector<layers::NamedLayer>>(config.model);
  REQUIRE(entries.size() == 10);
  std::string names;
  for (const layers::NamedLayer& entry : entries) names += entry.name + " ";
  CHECK(names ==
        "stem.conv batch_norm1 relu1 pool1 dropout1 residual1 relu2 global_average_pool1 flatten1 fc ");
  const auto& conv = std::get<layers::Conv2d>(std::get<layers::Layer>(entries[0].what));
  CHECK((conv.out_channels == 16 && conv.kernel == 5 && conv.stride == 2 && conv.padding == 1 && conv.bias));
  const auto& pool = std::get<layers::Pool>(std::get<layers::Layer>(entries[3].what));
  CHECK((pool.kind == layers::Pool::Kind::kAverage && pool.kernel == 3 && pool.stride == 3));
  CHECK(std::get<layers::Dropout>(std::get<layers::Layer>(entries[4].what)).probability == 0.25);
  const auto& block = std::get<layers::ResidualBlock>(entries[5].what);
  CHECK((block.kind == layers::ResidualBlock::Kind::kBottleneck && block.channels == 32 &&
         block.stride == 2 && block.shortcut == layers::ResidualBlock::Shortcut::kProjection));
  CHECK_FALSE(std::get<layers::Linear>(std::get<layers::Layer>(entries[9].what)).bias);
}

TEST_CASE("lists of layers that are wrong") {
  const auto layers_error = [](const std::string& list) {
    return error("data: {kind: synthetic}\nmodel:\n  kind: layers\n  layers:\n" + list);
  };
  CHECK(layers_error("    - rleu\n").starts_with("f.yaml:5: model.layers.0: found rleu, allowed are conv, "));
  CHECK(layers_error("    - relu\n    - {cnov: {}}\n").ends_with("; did you mean conv?"));
  CHECK(layers_error("    - {name: x}\n")
            .starts_with("f.yaml:5: model.layers.0: found no layer, allowed are conv"));
  CHECK(layers_error("    - {relu: {}, flatten: {}}\n") ==
        "f.yaml:5: model.layers.0: found relu and flatten, allowed is one layer");
  CHECK(layers_error("    - {relu: {x: 1}}\n") == "f.yaml:5: model.layers.0.relu.x: unknown key; known are ");
  CHECK(layers_error("    - {relu: {}, nmae: a}\n") ==
        "f.yaml:5: model.layers.0.nmae: unknown key; did you mean model.layers.0.name?");
  CHECK(layers_error("    - {conv: {}}\n") ==
        "f.yaml:5: model.layers.0.conv.out_channels: missing, and has no default");
  CHECK(layers_error("    - conv\n") ==
        "f.yaml:5: model.layers.0.conv.out_channels: missing, and has no default");
  CHECK(layers_error("    - {relu: {}, name: a}\n    - {relu: {}, name: a}\n") ==
        "f.yaml:6: model.layers.1.name: found a a second time, allowed are names of their own");
  CHECK(layers_error("    - {relu: {}, name: 'a b'}\n")
            .starts_with("f.yaml:5: model.layers.0.name: found a b, allowed"));
  CHECK(layers_error("    - [relu]\n").starts_with("f.yaml:5: model.layers.0: found a list, allowed are "));
  CHECK(layers_error("    []\n") == "f.yaml:4: model.layers: found an empty list, allowed is a list");
}

TEST_CASE("the paper's notation") {
  const QueueLengths lengths = parse_dsp("1,1,0;4,2,0", 3);
  CHECK(lengths.activation == Lists{1, 1});
  CHECK(lengths.error == Lists{1, 1});
  CHECK(parse_dsp("2,2,0;6,3,0", 3).error == Lists{1, 1});
  CHECK(parse_dsp(" 1, 3, 0 ; 9, 4, 0 ", 3).error == Lists{4, 1});
  CHECK(parse_dsp("0;0", 1).activation.empty());
  const auto dsp_error = [](const std::string& text, int64_t stages) {
    return error_of([&] { parse_dsp(text, stages); });
  };
  CHECK(dsp_error("1,1,0;4,2,0", 4) ==
        "found 1,1,0;4,2,0: the first list (activation queues) has 3 numbers, allowed is one for each of the "
        "4 stages "
        "(pipeline.stages)");
  CHECK(dsp_error("1,1,0;4,2", 3).find("the second list (staleness) has 2 numbers") != std::string::npos);
  CHECK(dsp_error("1,1,1;4,2,0", 3).find("the first list (activation queues) ends in 1, allowed is 0") !=
        std::string::npos);
  CHECK(dsp_error("1,1,0;4,2,1", 3).find("the second list (staleness) ends in 1, allowed is 0") !=
        std::string::npos);
  CHECK(dsp_error("1,1,0;2,2,0", 3).find("which leaves an error queue of -1; allowed are 0 to 1000") !=
        std::string::npos);
  CHECK(dsp_error("1,0;5000,0", 2).find("an error queue of 4999") != std::string::npos);
  CHECK(dsp_error("5000,0;5001,0", 2).find("5000 long") != std::string::npos);
  for (const std::string text : {"", ";", "1,1,0", "1,1,0;4,2,0;0", "1,x,0;4,2,0", "1,,0;4,2,0",
                                 "-1,1,0;4,2,0", "1.5,0;2,0", "99999999999999999999,0;1,0", "1,1,0;4,2,0,"}) {
    INFO(text);
    CHECK(dsp_error(text, 3).starts_with("found "));
  }
}

TEST_CASE("pipelines") {
  const auto pipeline = [](const std::string& map) {
    return parse(kSmall + "pipeline: " + map + "\n").pipeline;
  };
  const PipelineConfig dsp = pipeline("{stages: 4, schedule: dsp}");
  CHECK(dsp.activation_queue == Lists{1, 1, 1});
  CHECK(dsp.error_queue == Lists{1, 1, 1});
  CHECK(pipeline("{stages: 3, schedule: dsp, activation_queue: [0, 2], error_queue: 3}").activation_queue ==
        Lists{0, 2});
  CHECK(pipeline("{stages: 3, schedule: dsp, activation_queue: [0, 2], error_queue: 3}").error_queue ==
        Lists{3, 3});
  CHECK(pipeline("{stages: 3, partition: [2, 5]}").cuts == Lists{2, 5});
  CHECK(pipeline("{stages: 1, partition: []}").cuts == Lists{});

  const auto bad = [](const std::string& map) { return error(kSmall + "pipeline: " + map + "\n"); };
  CHECK(bad("{stages: 0}") == "f.yaml:3: pipeline.stages: found 0, allowed are 1 to 10000");
  CHECK(bad("{schedule: gpipe}") == "f.yaml:3: pipeline.schedule: found gpipe, allowed are bp, dsp");
  CHECK(bad("{stages: 3, schedule: bp, dsp: '1,1,0;4,2,0'}") ==
        "f.yaml:3: pipeline.dsp: unknown key here; it belongs to pipeline.schedule: dsp");
  CHECK(bad("{stages: 3, schedule: dsp, dsp: '1,1,0;2,2,0'}")
            .starts_with(
                "f.yaml:3: pipeline.dsp: found 1,1,0;2,2,0: between stages 0 to 1 the staleness falls by 0"));
  CHECK(bad("{stages: 3, schedule: dsp, dsp: '1,1,0;4,2,0', error_queue: 1}") ==
        "f.yaml:3: pipeline.error_queue: stands beside pipeline.dsp, allowed is one of the two");
  CHECK(bad("{stages: 3, schedule: dsp, dsp: [1]}") ==
        "f.yaml:3: pipeline.dsp: found a list, allowed are words");
  CHECK(bad("{stages: 3, schedule: dsp, error_queue: [1]}") ==
        "f.yaml:3: pipeline.error_queue: found a list of 1, allowed are lists of 2 numbers");
  CHECK(bad("{stages: 3, schedule: dsp, error_queue: 1001}") ==
        "f.yaml:3: pipeline.error_queue: found 1001, allowed are 0 to 1000");
  CHECK(bad("{stages: 3, partition: [5, 5]}").starts_with("f.yaml:3: pipeline.partition: found 5 after 5"));
  CHECK(bad("{stages: 3, partition: [5]}") ==
        "f.yaml:3: pipeline.partition: found a list of 1, allowed are lists of 2 numbers");
  CHECK(bad("{stages: 3, partition: even}") ==
        "f.yaml:3: pipeline.partition: found even, allowed are balanced and lists of whole numbers");
}

TEST_CASE("values out of range and keys of other kinds") {
  CHECK(set_error("train.batch=-3") == "train.batch: found -3, allowed are 1 to 1000000");
  CHECK(set_error("train.batch=x") == "train.batch: found x, allowed are whole numbers, 1 to 1000000");
  CHECK(set_error("train.epochs=0") == "train.epochs: found 0, allowed are 1 to 1000000");
  CHECK(set_error("train.optimizer.momentum=1") ==
        "train.optimizer.momentum: found 1, allowed are numbers from 0 to below 1");
  CHECK(set_error("train.learning_rate.base=-1").starts_with("train.learning_rate.base: found -1"));
  CHECK(set_error("train.learning_rate.warmup_epochs=2")
            .starts_with("train.learning_rate.warmup_epochs: found 2"));
  CHECK(set_error("train.learning_rate.final=0.1") ==
        "train.learning_rate.final: unknown key here; it belongs to train.learning_rate.kind: cosine");
  CHECK(set_error("model.depth=20") == "model.depth: unknown key here; it belongs to model.kind: resnet");
  CHECK(set_error("data.train_images=x") ==
        "data.train_images: unknown key here; it belongs to data.kind: idx");
  CHECK(set_error("data.normalize={mean: [1, 2], deviation: [1]}") ==
        "data.normalize.deviation: found 1 numbers, allowed are as many as in mean, 2");
  CHECK(set_error("data.normalize={deviation: [0]}").starts_with("data.normalize.deviation.0: found 0"));
  CHECK(set_error("data.shape=[1, 28]") == "data.shape: found a list of 2, allowed are lists of 3 numbers");
  CHECK(set_error("model.dropout=1") == "model.dropout: found 1, allowed are numbers from 0 to below 1");
  CHECK(set_error("run.threads=0") == "run.threads: found 0, allowed are 1 to 1024");
  CHECK(set_error("run.watchdog=0").starts_with("run.watchdog: found 0, allowed are numbers above 0"));
  CHECK(set_error("seed=-1") == "seed: found -1, allowed are 0 and above");
  CHECK(set_error("tarin.batch=3") == "tarin: unknown key; did you mean train?");
  CHECK(set_error("train.optimizer.weigth_decay=3") ==
        "train.optimizer.weigth_decay: unknown key; did you mean train.optimizer.weight_decay?");
  CHECK(set_error("model={kind: resnet, depth: 21}") ==
        "model.depth: found 21, allowed are 6n+2; nearest: 20 and 26");
  CHECK(set_error("model={kind: resnet, depth: 21, block: bottleneck}") ==
        "model.depth: found 21, allowed are 9n+2; nearest: 20 and 29");
  CHECK(set_error("train.optimizer={nesterov: true, momentum: 0}")
            .starts_with("train.optimizer.nesterov: found true"));
  CHECK(set_error("train.learning_rate={kind: step, milestones: [2, 1]}")
            .starts_with("train.learning_rate.milestones: found 1 after 2"));
}

TEST_CASE("names are folders") {
  CHECK(parse(kSmall, {"name=a-b_c.1"}).name == "a-b_c.1");
  CHECK(parse(kSmall, {"name=2024"}).name == "2024");
  for (const std::string name : {"a/b", "..", ".hidden", "-x", "'a b'", "\"\""}) {
    INFO(name);
    CHECK(set_error("name=" + name).starts_with("name: found "));
  }
}

TEST_CASE("kinds must be chosen") {
  CHECK(error("model: {kind: mlp, hidden: [8]}\n") == "f.yaml:1: data.kind: missing, and has no default");
  CHECK(error("data: {knid: idx}\n") ==
        "f.yaml:1: data.kind: missing, and has no default (the key knid stands at f.yaml:1)");
  CHECK(error("data: {kind: idx}\n") == "f.yaml:1: data.train_images: missing, and has no default");
  CHECK(error("data: {kind: synthetic}\nmodel:\n  kind: mlp\n") ==
        "f.yaml:2: model.hidden: missing, and has no default");
}

namespace {

/// One random change of a text: what slips of the hand and broken files do.
std::string mutate(std::string text, std::mt19937& random) {
  const auto below = [&](size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
  };
  const std::vector<std::string> pieces = {
      ":",    "- ",  "\n",  " ",   "[",    "]",  "{",    "}",    "'",  "\"",   "&a ",
      "*a",   "!!x", "# ",  "---", "null", "-1", "1e9",  ".nan", "\t", "\xff", "\x01",
      "<<: ", "? ",  "|\n", ">\n", "%",    "@",  "true", "0",    ",",  ";",    "99999999999999999999"};
  const size_t at = below(text.size());
  const size_t length = std::min(text.size() - at, below(20) + 1);
  switch (below(5)) {
    case 0:
      return text.erase(at, length);
    case 1:
      return text.insert(at, pieces[below(pieces.size())]);
    case 2:
      return text.replace(at, length, pieces[below(pieces.size())]);
    case 3:
      return text.insert(below(text.size()), text.substr(at, length));
    default:
      text[at] = static_cast<char>(below(256));
      return text;
  }
}

}  // namespace

TEST_CASE("whatever a file holds, it parses or is refused in one line") {
  std::mt19937 random(20240531);
  const std::vector<std::string> originals = {text_of(shipped("quickstart.yaml")),
                                              text_of(shipped("mlp.yaml")),
                                              load_config(shipped("quickstart.yaml")).resolved};
  int parsed = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = originals[static_cast<size_t>(i) % originals.size()];
    for (int changes = 0; changes <= i % 4; ++changes) text = mutate(text, random);
    try {
      const Config config = parse(text);
      ++parsed;
      // What was accepted is also written so that it is accepted, and means the same.
      CHECK(parse(config.resolved).resolved == config.resolved);
    } catch (const layers::ConfigError& failure) {
      INFO(text);
      CHECK(testing::is_one_line(failure.what()));
      CHECK(std::string(failure.what()).starts_with("f.yaml"));
    }
  }
  CHECK(parsed > 100);
  CHECK(parsed < 2900);
}

}  // namespace stagger::launch

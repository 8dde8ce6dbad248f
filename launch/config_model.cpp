#include "launch/config_sections.h"

namespace stagger::launch {
namespace {

using layers::MlpOptions;
using layers::ResNetOptions;
using BlockKind = layers::ResidualBlock::Kind;
using Shortcut = layers::ResidualBlock::Shortcut;

ResNetOptions read_resnet(Section& section) {
  ResNetOptions options;
  options.depth = section.integer("depth", {.least = 8, .most = 10'000});
  options.block = section.option<BlockKind>(
      "block", {{"basic", BlockKind::kBasic}, {"bottleneck", BlockKind::kBottleneck}}, "basic");
  options.shortcut = section.option<Shortcut>(
      "shortcut", {{"padding", Shortcut::kPadding}, {"projection", Shortcut::kProjection}}, "padding");
  options.width = section.integer("width", {.fallback = 16, .least = 1, .most = kMostChannels / 16});
  const int64_t unit = options.block == BlockKind::kBasic ? 6 : 9;
  const int64_t excess = (options.depth - 2) % unit;
  if (excess != 0) {
    const int64_t below = options.depth - excess;
    const std::string nearest =
        (below > 2 ? std::to_string(below) + " and " : "") + std::to_string(below + unit);
    section.fail("depth", "found " + std::to_string(options.depth) + ", allowed are " + std::to_string(unit) +
                              "n+2; nearest: " + nearest);
  }
  return options;
}

MlpOptions read_mlp(Section& section) {
  MlpOptions options;
  options.hidden = section.integers("hidden", {.each = {.least = 1, .most = kMillion}, .largest = 10'000});
  options.dropout = section.number("dropout", {.fallback = 0, .least = 0, .most = 1, .below = true});
  return options;
}

ModelConfig read_kind(const std::string& kind, Section& section) {
  if (kind == "resnet") return read_resnet(section);
  if (kind == "mlp") return read_mlp(section);
  return read_layers(section);
}

}  // namespace

ModelConfig read_model(Section section) {
  const std::string kind = section.choice("kind", {"resnet", "mlp", "layers"});
  ModelConfig model = read_kind(kind, section);
  if (kind != "resnet") section.belongs_to("model.kind: resnet", {"depth", "block", "shortcut", "width"});
  if (kind != "mlp") section.belongs_to("model.kind: mlp", {"hidden", "dropout"});
  if (kind != "layers") section.belongs_to("model.kind: layers", {"layers"});
  section.finish();
  return model;
}

}  // namespace stagger::launch

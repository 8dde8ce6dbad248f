// model.layers: a network written down layer by layer.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "launch/config_sections.h"
#include "launch/text.h"

namespace stagger::launch {
namespace {

using What = std::variant<layers::Layer, layers::ResidualBlock>;

What read_conv(Section& section) {
  layers::Conv2d conv;
  conv.out_channels = section.integer("out_channels", {.least = 1, .most = kMostChannels});
  conv.kernel = section.integer("kernel", {.fallback = conv.kernel, .least = 1, .most = 1024});
  conv.stride = section.integer("stride", {.fallback = conv.stride, .least = 1, .most = 1024});
  conv.padding = section.integer("padding", {.fallback = conv.padding, .least = 0, .most = 1023});
  conv.bias = section.boolean("bias", conv.bias);
  return conv;
}

What read_batch_norm(Section& section) {
  layers::BatchNorm norm;
  norm.eps = section.number("eps", {.fallback = norm.eps, .least = 0, .most = 1, .above = true});
  norm.momentum = section.number("momentum", {.fallback = norm.momentum, .least = 0, .most = 1});
  return norm;
}

What read_pool(Section& section) {
  using Kind = layers::Pool::Kind;
  layers::Pool pool;
  pool.kind = section.option<Kind>("kind", {{"max", Kind::kMax}, {"average", Kind::kAverage}});
  pool.kernel = section.integer("kernel", {.fallback = pool.kernel, .least = 1, .most = 1024});
  pool.stride = section.integer("stride", {.fallback = pool.kernel, .least = 1, .most = 1024});
  pool.padding = section.integer("padding", {.fallback = pool.padding, .least = 0, .most = 1023});
  return pool;
}

What read_linear(Section& section) {
  layers::Linear linear;
  linear.out_features = section.integer("out_features", {.least = 1, .most = kMillion});
  linear.bias = section.boolean("bias", linear.bias);
  return linear;
}

What read_dropout(Section& section) {
  layers::Dropout dropout;
  dropout.probability =
      section.number("probability", {.fallback = dropout.probability, .least = 0, .most = 1, .below = true});
  return dropout;
}

What read_residual(Section& section) {
  using BlockKind = layers::ResidualBlock::Kind;
  using Shortcut = layers::ResidualBlock::Shortcut;
  layers::ResidualBlock block;
  block.kind = section.option<BlockKind>(
      "kind", {{"basic", BlockKind::kBasic}, {"bottleneck", BlockKind::kBottleneck}}, "basic");
  block.channels = section.integer("channels", {.least = 1, .most = kMostChannels});
  block.stride = section.integer("stride", {.fallback = 1, .least = 1, .most = 1024});
  block.shortcut = section.option<Shortcut>(
      "shortcut", {{"padding", Shortcut::kPadding}, {"projection", Shortcut::kProjection}}, "padding");
  return block;
}

template <class Layer>
What read_plain(Section&) {
  return layers::Layer(Layer{});
}

struct Reader {
  std::string kind;
  std::function<What(Section&)> read;
};

std::vector<Reader> readers() {
  return {{"conv", read_conv},
          {"batch_norm", read_batch_norm},
          {"relu", read_plain<layers::Relu>},
          {"pool", read_pool},
          {"global_average_pool", read_plain<layers::GlobalAveragePool>},
          {"linear", read_linear},
          {"flatten", read_plain<layers::Flatten>},
          {"dropout", read_dropout},
          {"residual", read_residual}};
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const Reader& reader : readers()) names.push_back(reader.kind);
  return names;
}

/// `- relu` is short for `- {relu: {}}`.
Value as_map(const Value& value, const std::string& path) {
  if (value.kind == Value::Kind::kMap) return value;
  if (value.kind != Value::Kind::kScalar)
    fail_with_allowed(value, path, "a layer's kind, or a map from it to its settings");
  const std::string kind = to_choice(value, path, kinds());
  Value map = Value::map();
  map.where = value.where;
  map.entries.push_back({kind, value.where, Value::map()});
  map.entries.back().value.where = value.where;
  return map;
}

/// The one kind of layer that an element has as a key.
const Reader& reader_of(const Section& section, const Value& map, const std::string& path,
                        const std::vector<Reader>& all) {
  const Reader* found = nullptr;
  for (const Reader& reader : all) {
    if (!section.has(reader.kind)) continue;
    if (found != nullptr)
      fail_at(map.where, path, "found " + found->kind + " and " + reader.kind + ", allowed is one layer");
    found = &reader;
  }
  if (found != nullptr) return *found;
  for (const Entry& entry : map.entries) {
    if (entry.key == "name") continue;
    const std::string meant = nearest(entry.key, kinds());
    fail_at(entry.where, path,
            "found the layer " + printable(entry.key) + ", allowed are " + join(kinds()) +
                (meant.empty() ? "" : "; did you mean " + meant + "?"));
  }
  fail_at(map.where, path, "found no layer, allowed are " + join(kinds()));
}

/// Names become parts of the names of parameters.
std::string read_layer_name(Section& section, const std::string& fallback) {
  std::string name = section.text("name", fallback);
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  if (name.size() > 200 || !std::all_of(name.begin(), name.end(), is_good)) {
    section.fail("name", "found " + Value::scalar(name).found() +
                             ", allowed are up to 200 letters, digits, '_' and '.'");
  }
  return name;
}

}  // namespace

std::vector<layers::NamedLayer> read_layers(Section& model) {
  const std::vector<Reader> all = readers();
  std::vector<layers::NamedLayer> entries;
  std::map<std::string, int64_t> count;
  std::set<std::string> names;
  for (const Item& item : model.items("layers")) {
    const Value map = as_map(item.value, item.path);
    Section section(map, item.path, item.record);
    const Reader& reader = reader_of(section, map, item.path, all);
    Section settings = section.section(reader.kind);
    const What what = reader.read(settings);
    settings.finish();
    const std::string name = read_layer_name(section, reader.kind + std::to_string(++count[reader.kind]));
    section.finish();
    if (!names.insert(name).second)
      section.fail("name", "found " + name + " a second time, allowed are names of their own");
    entries.push_back({name, what});
  }
  return entries;
}

}  // namespace stagger::launch

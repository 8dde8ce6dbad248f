#include "launch/config.h"

#include <algorithm>
#include <filesystem>

#include "launch/config_sections.h"
#include "launch/set_option.h"
#include "layers/checked.h"

namespace stagger::launch {
namespace {

constexpr size_t kLongestName = 100;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.';
}

/// The run's name is that of its folder: nothing that leads elsewhere or hides it.
std::string read_name(Section& root, const std::string& fallback) {
  std::string name = root.text("name", fallback);
  const bool is_good = name.size() <= kLongestName && name.front() != '.' && name.front() != '-' &&
                       std::all_of(name.begin(), name.end(), is_name_character);
  if (!is_good) {
    root.fail("name", "found " + Value::scalar(name).found() + ", allowed are up to " +
                          std::to_string(kLongestName) +
                          " letters, digits, '_', '-' and '.', the first one a letter, digit or '_'");
  }
  return name;
}

/// A file's name without folder and ending, as a run's name.
std::string name_of(const std::string& file) {
  std::string name = std::filesystem::path(file).stem().string().substr(0, kLongestName);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_name_character(c); }, '_');
  if (name.empty() || name.front() == '.' || name.front() == '-') name = "run";
  return name;
}

Config read(Value root_value, const std::string& default_name, std::span<const std::string> settings) {
  if (root_value.kind == Value::Kind::kMap) apply_settings(settings, root_value);
  Value record;
  Section root(root_value, "", record);
  Config config;
  config.name = read_name(root, default_name);
  config.seed = layers::narrow<uint64_t>(root.integer("seed", {.fallback = 1, .least = 0}));
  config.data = read_data(root.section("data"));
  config.model = read_model(root.section("model"));
  config.pipeline = read_pipeline(root.section("pipeline"));
  config.train = read_train(root.section("train"));
  config.evaluate = read_evaluate(root.section("evaluate"), config.train.batch);
  config.run = read_run(root.section("run"));
  root.finish();
  config.resolved = to_yaml(record);
  return config;
}

}  // namespace

Config load_config(const std::string& file, std::span<const std::string> settings) {
  return read(load_yaml(file), name_of(file), settings);
}

Config parse_config(const std::string& text, const std::string& source, const std::string& default_name,
                    std::span<const std::string> settings) {
  return read(parse_yaml(text, source), default_name, settings);
}

}  // namespace stagger::launch

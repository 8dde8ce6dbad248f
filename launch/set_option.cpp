#include "launch/set_option.h"

#include <charconv>
#include <iterator>
#include <vector>

#include "launch/text.h"
#include "launch/yaml_value.h"
#include "layers/error.h"

namespace stagger::launch {
namespace {

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> keys;
  size_t from = 0;
  for (size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', from)) {
    keys.push_back(path.substr(from, dot - from));
    from = dot + 1;
  }
  keys.push_back(path.substr(from));
  return keys;
}

Value& element(Value& list, const std::string& key, const std::string& where, const std::string& path) {
  size_t index = 0;
  const auto [stop, failure] = std::from_chars(key.data(), key.data() + key.size(), index);
  const bool is_index = failure == std::errc() && stop == key.data() + key.size();
  if (!is_index || index >= list.entries.size()) {
    const std::string allowed =
        list.entries.empty() ? "none, the list is empty" : "0 to " + std::to_string(list.entries.size() - 1);
    fail_at(where, path, "found the element " + printable(key) + " of a list, allowed are " + allowed);
  }
  return std::next(list.entries.begin(), static_cast<std::ptrdiff_t>(index))->value;
}

/// The place of `key` in `parent`, made where it is missing.
Value& child(Value& parent, const std::string& key, const std::string& where, const std::string& path) {
  if (parent.kind == Value::Kind::kList) return element(parent, key, where, path);
  if (parent.kind == Value::Kind::kNull) {
    parent = Value::map();
    parent.where = where;
  }
  if (parent.kind != Value::Kind::kMap) {
    fail_at(
        where, path,
        "found " + parent.found() + " at " + parent.where + " on the way to it, allowed are maps and lists");
  }
  if (Value* known = parent.find(key)) return *known;
  parent.entries.push_back({key, where, Value{}});
  return parent.entries.back().value;
}

}  // namespace

void apply_setting(const std::string& setting, Value& root) {
  const std::string where = "--set " + printable(setting);
  const size_t equals = setting.find('=');
  if (equals == std::string::npos)
    throw layers::ConfigError(where + ": found no '=', allowed is key.path=value");
  const std::string path = setting.substr(0, equals);
  const std::vector<std::string> keys = split(path);
  for (const std::string& key : keys) {
    if (key.empty()) throw layers::ConfigError(where + ": found an empty key, allowed is key.path=value");
  }
  if (setting.find_first_not_of(" \t", equals + 1) == std::string::npos) {
    throw layers::ConfigError(where + ": found no value after '=', allowed is key.path=value");
  }
  Value value = parse_yaml(setting.substr(equals + 1), where, false);
  Value* place = &root;
  for (const std::string& key : keys) place = &child(*place, key, where, path);
  *place = std::move(value);
}

void apply_settings(std::span<const std::string> settings, Value& root) {
  for (const std::string& setting : settings) apply_setting(setting, root);
}

}  // namespace stagger::launch

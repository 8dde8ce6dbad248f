#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "launch/yaml_tree.h"

namespace stagger::launch {
namespace {

bool is_simple(const Value& value) {
  return value.kind == Value::Kind::kScalar || value.kind == Value::Kind::kNull || value.entries.empty();
}

bool is_simple_list(const Value& value) {
  return value.kind == Value::Kind::kList &&
         std::all_of(value.entries.begin(), value.entries.end(),
                     [](const Entry& entry) { return is_simple(entry.value); });
}

void emit(YAML::Emitter& out, const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      out << YAML::Null;
      return;
    case Value::Kind::kScalar:
      if (value.quoted) out << YAML::DoubleQuoted;  // other text gets quotes where it needs them
      out << value.text;
      return;
    case Value::Kind::kList:
      if (is_simple_list(value)) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (const Entry& entry : value.entries) emit(out, entry.value);
      out << YAML::EndSeq;
      return;
    case Value::Kind::kMap:
      if (value.entries.empty()) out << YAML::Flow;
      out << YAML::BeginMap;
      for (const Entry& entry : value.entries) {
        out << YAML::Key << entry.key << YAML::Value;
        emit(out, entry.value);
      }
      out << YAML::EndMap;
      return;
  }
}

}  // namespace

std::string to_yaml(const Value& value) {
  YAML::Emitter out;
  emit(out, value);
  return std::string(out.c_str()) + "\n";
}

}  // namespace stagger::launch

#include "launch/yaml_tree.h"

#include <algorithm>

#include "launch/text.h"

namespace stagger::launch {

Value Value::scalar(std::string text, bool quoted) {
  Value value;
  value.kind = Kind::kScalar;
  value.text = std::move(text);
  value.quoted = quoted;
  return value;
}

Value Value::list() {
  Value value;
  value.kind = Kind::kList;
  return value;
}

Value Value::map() {
  Value value;
  value.kind = Kind::kMap;
  return value;
}

const Value* Value::find(std::string_view key) const {
  const auto at =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return at == entries.end() ? nullptr : &at->value;
}

Value* Value::find(std::string_view key) {
  const auto at =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return at == entries.end() ? nullptr : &at->value;
}

std::string Value::found() const {
  switch (kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
    case Kind::kScalar:
      break;
  }
  return quoted ? '"' + printable(text) + '"' : printable(text);
}

}  // namespace stagger::launch

#include "launch/yaml_reader.h"

#include <algorithm>

#include "launch/text.h"
#include "layers/checked.h"

namespace stagger::launch {
namespace {

Value to_value(int64_t number) { return Value::scalar(std::to_string(number)); }
Value to_value(double number) { return Value::scalar(number_text(number)); }
Value to_value(bool truth) { return Value::scalar(truth ? "true" : "false"); }
Value to_value(const std::string& text) { return Value::scalar(text); }

template <class T>
Value to_value(const std::vector<T>& elements) {
  Value list = Value::list();
  for (const T& element : elements) list.entries.push_back({"", "", to_value(element)});
  return list;
}

}  // namespace

Section::Section(const Value& value, std::string path, Value& record)
    : map_(&value), where_(value.where), path_(std::move(path)), record_(&record) {
  if (value.kind != Value::Kind::kMap) {
    fail_at(where_, path_, "found " + value.found() + ", allowed is a map (key: value)");
  }
  record = Value::map();
}

Section::Section(std::string where, std::string path, Value& record)
    : where_(std::move(where)), path_(std::move(path)), record_(&record) {
  record = Value::map();
}

bool Section::has(const std::string& key) const { return map_ != nullptr && map_->find(key) != nullptr; }

std::string Section::path_of(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }

const Value* Section::take(const std::string& key, bool is_required) {
  known_.push_back(key);
  const Value* value = map_ == nullptr ? nullptr : map_->find(key);
  if (value != nullptr || !is_required) return value;
  std::string hint;
  if (map_ != nullptr) {
    // The likeliest reason is a slip in the key.
    std::vector<std::string> unread;
    for (const Entry& entry : map_->entries) {
      if (std::find(known_.begin(), known_.end(), entry.key) == known_.end()) unread.push_back(entry.key);
    }
    const std::string slip = nearest(key, unread, 2);
    if (!slip.empty()) hint = " (the key " + printable(slip) + " stands at " + map_->find(slip)->where + ")";
  }
  fail_at(where_, path_of(key), "missing, and has no default" + hint);
}

void Section::keep(const std::string& key, Value value) {
  record_->entries.push_back({key, "", std::move(value)});
}

template <class T, class Read>
T Section::read(const std::string& key, const std::optional<T>& fallback, const Read& read) {
  const Value* value = take(key, !fallback.has_value());
  T result = value == nullptr ? *fallback : read(*value, path_of(key));
  keep(key, to_value(result));
  return result;
}

int64_t Section::integer(const std::string& key, const Integers& rule) {
  return read(key, rule.fallback,
              [&](const Value& value, const std::string& path) { return to_integer(value, path, rule); });
}

double Section::number(const std::string& key, const Numbers& rule) {
  return read(key, rule.fallback,
              [&](const Value& value, const std::string& path) { return to_number(value, path, rule); });
}

bool Section::boolean(const std::string& key, std::optional<bool> fallback) {
  return read(key, fallback, to_boolean);
}

std::string Section::text(const std::string& key, const std::optional<std::string>& fallback) {
  return read(key, fallback, to_text);
}

std::string Section::choice(const std::string& key, const std::vector<std::string>& names,
                            const std::optional<std::string>& fallback) {
  return read(key, fallback,
              [&](const Value& value, const std::string& path) { return to_choice(value, path, names); });
}

std::vector<int64_t> Section::integers(const std::string& key, const IntegerLists& rule) {
  return read(key, rule.fallback,
              [&](const Value& value, const std::string& path) { return to_integers(value, path, rule); });
}

std::vector<double> Section::numbers(const std::string& key, const NumberLists& rule) {
  return read(key, rule.fallback,
              [&](const Value& value, const std::string& path) { return to_numbers(value, path, rule); });
}

std::optional<int64_t> Section::integer_or(const std::string& key, const std::string& word,
                                           const Integers& rule) {
  const Value* value = take(key, false);
  if (value == nullptr || (value->kind == Value::Kind::kScalar && value->text == word)) {
    keep(key, to_value(word));
    return std::nullopt;
  }
  if (value->kind != Value::Kind::kScalar)
    fail_with_allowed(*value, path_of(key), word + " and whole numbers");
  const int64_t number = to_integer(*value, path_of(key), rule);
  keep(key, to_value(number));
  return number;
}

std::optional<std::vector<int64_t>> Section::integers_or(const std::string& key, const std::string& word,
                                                         const IntegerLists& rule) {
  const Value* value = take(key, false);
  if (value == nullptr || (value->kind == Value::Kind::kScalar && value->text == word)) {
    keep(key, to_value(word));
    return std::nullopt;
  }
  if (value->kind != Value::Kind::kList)
    fail_with_allowed(*value, path_of(key), word + " and lists of whole numbers");
  std::vector<int64_t> list = to_integers(*value, path_of(key), rule);
  keep(key, to_value(list));
  return list;
}

std::vector<int64_t> Section::integer_or_integers(const std::string& key, const Integers& rule,
                                                  int64_t count) {
  const Value* value = take(key, false);
  if (value != nullptr && value->kind == Value::Kind::kList) {
    std::vector<int64_t> list =
        to_integers(*value, path_of(key), {.each = rule, .fewest = count, .largest = count});
    keep(key, to_value(list));
    return list;
  }
  const int64_t number = value == nullptr ? rule.fallback.value() : to_integer(*value, path_of(key), rule);
  keep(key, to_value(number));
  return std::vector<int64_t>(layers::narrow<size_t>(count), number);
}

Section Section::section(const std::string& key) {
  const Value* value = take(key, false);
  keep(key, Value::map());
  Value& record = record_->entries.back().value;
  return value == nullptr ? Section(where_, path_of(key), record) : Section(*value, path_of(key), record);
}

std::vector<Item> Section::items(const std::string& key) {
  const Value* value = take(key, true);
  const std::string path = path_of(key);
  if (value->kind != Value::Kind::kList || value->entries.empty()) {
    const std::string found = value->kind == Value::Kind::kList ? "an empty list" : value->found();
    fail_at(value->where, path, "found " + found + ", allowed is a list");
  }
  keep(key, Value::list());
  Value& record = record_->entries.back().value;
  std::vector<Item> items;
  for (const Entry& entry : value->entries) {
    record.entries.push_back({"", "", Value{}});
    items.push_back({entry.value, path + "." + std::to_string(items.size()), record.entries.back().value});
  }
  return items;
}

void Section::belongs_to(const std::string& owner, std::initializer_list<const char*> keys) {
  for (const char* key : keys) foreign_.emplace_back(key, owner);
}

void Section::fail(const std::string& key, const std::string& problem) const {
  const Value* value = map_ == nullptr ? nullptr : map_->find(key);
  fail_at(value == nullptr ? where_ : value->where, path_of(key), problem);
}

void Section::finish() const {
  if (map_ == nullptr) return;
  for (const Entry& entry : map_->entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    const auto foreign = std::find_if(foreign_.begin(), foreign_.end(),
                                      [&](const auto& pair) { return pair.first == entry.key; });
    const std::string path = path_of(entry.key);
    if (foreign != foreign_.end())
      fail_at(entry.where, path, "unknown key here; it belongs to " + foreign->second);
    const std::string meant = nearest(entry.key, known_);
    if (!meant.empty()) fail_at(entry.where, path, "unknown key; did you mean " + path_of(meant) + "?");
    fail_at(entry.where, path, "unknown key; known are " + join(known_));
  }
}

}  // namespace stagger::launch

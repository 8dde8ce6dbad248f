// Typed, checked reading of a configuration, section by section.
//
// Whoever reads a key declares it: a key that stands in the file and was not read when finish() is called is
// an error that names the nearest key that is known. Whatever is read, defaults included, is also written
// into a record, in the order of reading: the complete, resolved configuration, which reads as the same
// configuration again.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launch/yaml_tree.h"
#include "launch/yaml_value.h"

namespace stagger::launch {

/// An element of a list, for readers that take it apart themselves.
struct Item {
  const Value& value;
  std::string path;
  Value& record;
};

/// One map of the configuration, or nothing at its place, which reads as an empty map.
///
/// Getters take the key and what is allowed; without a fallback the key is required. They throw ConfigError,
/// one line that says file and line (or --set), full key, what was found and what is allowed. Not
/// thread-safe. The values and the record must outlive it.
class Section {
 public:
  /// The map `value`. Throws where it is none. `path` is its full key, "" for the whole file.
  Section(const Value& value, std::string path, Value& record);

  /// Whether the key stands here. Does not declare it.
  bool has(const std::string& key) const;
  /// The full key, "train.optimizer.momentum".
  std::string path_of(const std::string& key) const;

  int64_t integer(const std::string& key, const Integers& rule);
  double number(const std::string& key, const Numbers& rule);
  bool boolean(const std::string& key, std::optional<bool> fallback = {});
  std::string text(const std::string& key, const std::optional<std::string>& fallback = {});
  std::string choice(const std::string& key, const std::vector<std::string>& names,
                     const std::optional<std::string>& fallback = {});
  std::vector<int64_t> integers(const std::string& key, const IntegerLists& rule);
  std::vector<double> numbers(const std::string& key, const NumberLists& rule);
  /// An integer, or `word`, which is also the default and gives nothing.
  std::optional<int64_t> integer_or(const std::string& key, const std::string& word, const Integers& rule);
  /// A list, or `word`, which is also the default and gives nothing.
  std::optional<std::vector<int64_t>> integers_or(const std::string& key, const std::string& word,
                                                  const IntegerLists& rule);
  /// A list of `count` integers, or one integer that stands for as many equal ones. REQUIRES: a fallback in
  /// `rule`.
  std::vector<int64_t> integer_or_integers(const std::string& key, const Integers& rule, int64_t count);
  /// One of several names, each standing for a value.
  template <class T>
  T option(const std::string& key, std::initializer_list<std::pair<std::string, T>> options,
           const std::optional<std::string>& fallback = {}) {
    std::vector<std::string> names;
    for (const auto& [name, value] : options) names.push_back(name);
    const std::string found = choice(key, names, fallback);
    for (const auto& [name, value] : options) {
      if (name == found) return value;
    }
    fail(key, "is none of its options");
  }

  /// The map under `key`; where the key is missing, an empty one.
  Section section(const std::string& key);
  /// The elements of a list that is not empty.
  std::vector<Item> items(const std::string& key);

  /// Declares keys that would be known if `owner` ("model.kind: resnet") held, to say so where one of them
  /// stands here.
  void belongs_to(const std::string& owner, std::initializer_list<const char*> keys);
  /// Throws with the place of `key`, or that of the section where the key is missing.
  [[noreturn]] void fail(const std::string& key, const std::string& problem) const;
  /// Throws where a key stands here that nobody read.
  void finish() const;

 private:
  Section(std::string where, std::string path, Value& record);

  /// Declares `key`. Null where it is missing; throws if it then `is_required`.
  const Value* take(const std::string& key, bool is_required);
  template <class T, class Read>
  T read(const std::string& key, const std::optional<T>& fallback, const Read& read);
  void keep(const std::string& key, Value value);

  const Value* map_ = nullptr;
  std::string where_;
  std::string path_;
  Value* record_;
  std::vector<std::string> known_;
  std::vector<std::pair<std::string, std::string>> foreign_;  // key, owner
};

}  // namespace stagger::launch

// A YAML document as a plain tree in which every value knows where it was written.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>

namespace stagger::launch {

struct Entry;

/// A scalar, list or map. Copies are deep; references to entries stay valid while others are added.
struct Value {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  std::string text;          ///< kScalar
  bool quoted = false;       ///< kScalar: written in quotes or as a block: text, never a number or a boolean
  std::string where;         ///< "configs/a.yaml:12" or "--set train.batch=64"
  std::list<Entry> entries;  ///< kList, kMap: in the order of writing

  static Value scalar(std::string text, bool quoted = false);
  static Value list();
  static Value map();
  /// The value of `key`, or null. REQUIRES: kMap.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  /// For messages: the scalar itself, "a list", "a map" or "nothing".
  std::string found() const;
};

/// A child. `key` is empty in lists.
struct Entry {
  std::string key;
  std::string where;
  Value value;
};

/// Parses one document. `source` is its name in messages: a file name, to which line numbers are added, or
/// with `numbered` false the whole of each value's place.
///
/// Throws ConfigError with one line (file:line:column for syntax) on a syntax error, no document or several,
/// a key that is not a plain word or stands twice in a map, a tag, an alias of something that is not
/// complete, control characters, more than 32 levels or 20,000 values (aliases written out), or more than 1
/// MiB.
Value parse_yaml(std::string_view text, const std::string& source, bool numbered = true);

/// Reads and parses a file. Throws ConfigError, also where it is missing, unreadable or not a regular file.
Value load_yaml(const std::string& file);

/// The tree as YAML text that reads as the same tree; text that needs quotes gets them.
std::string to_yaml(const Value& value);

}  // namespace stagger::launch

// One YAML value as a number, a word or a list of them, checked against what is allowed.
//
// Every function throws ConfigError in one form: "<where>: <path>: found <what>, allowed are <what>".
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launch/yaml_tree.h"

namespace stagger::launch {

/// Whole numbers from `least` to `most`. Written as digits with an optional minus: neither 1e3 nor 10.0 nor
/// 010.
struct Integers {
  std::optional<int64_t> fallback =
      std::nullopt;  ///< where the key is missing; without it the key is required
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
};

/// Finite numbers from `least` to `most`, decimal.
struct Numbers {
  std::optional<double> fallback = std::nullopt;
  double least = std::numeric_limits<double>::lowest();
  double most = std::numeric_limits<double>::max();
  bool above = false;  ///< `least` itself is not allowed
  bool below = false;  ///< `most` itself is not allowed
};

/// Lists of `fewest` .. `largest` elements, each as `each` says (its fallback is not used).
template <class Rule, class Element>
struct ListOf {
  std::optional<std::vector<Element>> fallback = std::nullopt;
  Rule each = {};
  int64_t fewest = 0;
  int64_t largest = 1000;
};
using IntegerLists = ListOf<Integers, int64_t>;
using NumberLists = ListOf<Numbers, double>;

[[noreturn]] void fail_at(const std::string& where, const std::string& path, const std::string& problem);
/// Found `value`, allowed are `allowed`.
[[noreturn]] void fail_with_allowed(const Value& value, const std::string& path, const std::string& allowed);

int64_t to_integer(const Value& value, const std::string& path, const Integers& rule);
double to_number(const Value& value, const std::string& path, const Numbers& rule);
/// true or false; nothing else.
bool to_boolean(const Value& value, const std::string& path);
/// Any scalar, as it is written; not empty.
std::string to_text(const Value& value, const std::string& path);
/// One of `names`.
std::string to_choice(const Value& value, const std::string& path, std::span<const std::string> names);
std::vector<int64_t> to_integers(const Value& value, const std::string& path, const IntegerLists& rule);
std::vector<double> to_numbers(const Value& value, const std::string& path, const NumberLists& rule);

/// The shortest text that reads as exactly this number.
std::string number_text(double number);

}  // namespace stagger::launch

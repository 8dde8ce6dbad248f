#include "launch/yaml_value.h"

#include <charconv>
#include <cmath>

#include "launch/text.h"
#include "layers/error.h"

namespace stagger::launch {
namespace {

std::string allowed_range(const std::string& what, const Integers& rule) {
  const bool bounded_below = rule.least != std::numeric_limits<int64_t>::min();
  const bool bounded_above = rule.most != std::numeric_limits<int64_t>::max();
  const std::string least = std::to_string(rule.least);
  const std::string most = std::to_string(rule.most);
  if (bounded_below && bounded_above) return what + least + " to " + most;
  if (bounded_below) return what + least + " and above";
  if (bounded_above) return what + most + " and below";
  return what.empty() ? "whole numbers of 64 bits" : what + "of 64 bits";
}

std::string allowed_range(const Numbers& rule) {
  const bool bounded_below = rule.least != std::numeric_limits<double>::lowest();
  const bool bounded_above = rule.most != std::numeric_limits<double>::max();
  const std::string least =
      rule.above ? "above " + number_text(rule.least) : "from " + number_text(rule.least);
  const std::string most =
      rule.below ? "to below " + number_text(rule.most) : "up to " + number_text(rule.most);
  if (bounded_below && bounded_above) return "numbers " + least + " " + most;
  if (bounded_below) return "numbers " + least + (rule.above ? "" : " on");
  if (bounded_above) return "numbers " + most;
  return "finite numbers";
}

bool is_plain(const Value& value) { return value.kind == Value::Kind::kScalar && !value.quoted; }

/// Digits with an optional minus, no leading zeros: what every YAML version takes for the same number.
bool is_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return false;
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

template <class Rule, class Element, class Convert>
std::vector<Element> to_list(const Value& value, const std::string& path, const ListOf<Rule, Element>& rule,
                             const Convert& convert) {
  const auto count = static_cast<int64_t>(value.entries.size());
  const std::string sizes = rule.fewest == rule.largest
                                ? std::to_string(rule.fewest)
                                : std::to_string(rule.fewest) + " to " + std::to_string(rule.largest);
  const std::string allowed = "lists of " + sizes + (sizes == "1" ? " number" : " numbers");
  if (value.kind != Value::Kind::kList) fail_with_allowed(value, path, allowed);
  if (count < rule.fewest || count > rule.largest) {
    fail_at(value.where, path, "found a list of " + std::to_string(count) + ", allowed are " + allowed);
  }
  std::vector<Element> list;
  for (const Entry& entry : value.entries) {
    list.push_back(convert(entry.value, path + "." + std::to_string(list.size()), rule.each));
  }
  return list;
}

}  // namespace

void fail_at(const std::string& where, const std::string& path, const std::string& problem) {
  throw layers::ConfigError(where + ": " + (path.empty() ? "" : printable(path, 200) + ": ") + problem);
}

void fail_with_allowed(const Value& value, const std::string& path, const std::string& allowed) {
  fail_at(value.where, path, "found " + value.found() + ", allowed are " + allowed);
}

int64_t to_integer(const Value& value, const std::string& path, const Integers& rule) {
  if (!is_plain(value) || !is_whole(value.text))
    fail_with_allowed(value, path, allowed_range("whole numbers, ", rule));
  int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, failure] = std::from_chars(value.text.data(), end, number);
  if (failure != std::errc() || stop != end || number < rule.least || number > rule.most) {
    fail_with_allowed(value, path, allowed_range("", rule));
  }
  return number;
}

double to_number(const Value& value, const std::string& path, const Numbers& rule) {
  double number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, failure] = std::from_chars(value.text.data(), end, number);
  const bool is_number = is_plain(value) && failure == std::errc() && stop == end && std::isfinite(number);
  if (!is_number || number < rule.least || number > rule.most || (rule.above && number == rule.least) ||
      (rule.below && number == rule.most)) {
    fail_with_allowed(value, path, allowed_range(rule));
  }
  return number;
}

bool to_boolean(const Value& value, const std::string& path) {
  const bool is_boolean = is_plain(value) && (value.text == "true" || value.text == "false");
  if (!is_boolean) fail_with_allowed(value, path, "true and false");
  return value.text == "true";
}

std::string to_text(const Value& value, const std::string& path) {
  if (value.kind != Value::Kind::kScalar || value.text.empty()) fail_with_allowed(value, path, "words");
  return value.text;
}

std::string to_choice(const Value& value, const std::string& path, std::span<const std::string> names) {
  const bool is_scalar = value.kind == Value::Kind::kScalar;
  for (const std::string& name : names) {
    if (is_scalar && value.text == name) return name;
  }
  fail_with_allowed(value, path, join(names));
}

std::vector<int64_t> to_integers(const Value& value, const std::string& path, const IntegerLists& rule) {
  return to_list(value, path, rule, to_integer);
}

std::vector<double> to_numbers(const Value& value, const std::string& path, const NumberLists& rule) {
  return to_list(value, path, rule, to_number);
}

std::string number_text(double number) {
  char text[32];
  const auto [end, failure] = std::to_chars(text, text + sizeof text, number);
  layers::require(failure == std::errc(), "a double needs at most 24 characters");
  return {text, end};
}

}  // namespace stagger::launch

#include "launch/dsp_notation.h"

#include <charconv>
#include <string_view>

#include "launch/text.h"
#include "layers/checked.h"
#include "layers/error.h"

namespace stagger::launch {
namespace {

using layers::ConfigError;

constexpr int64_t kLongestQueue = 1000;
constexpr int64_t kMostNumber = 1'000'000'000;

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

[[noreturn]] void fail(const std::string& text, const std::string& problem) {
  throw ConfigError("found " + printable(text) + ": " + problem);
}

std::vector<int64_t> parse_numbers(std::string_view part, const std::string& text) {
  std::vector<int64_t> numbers;
  while (true) {
    const size_t comma = part.find(',');
    const std::string_view word = trim(part.substr(0, comma));
    int64_t number = 0;
    const auto [stop, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool is_number = failure == std::errc() && stop == word.data() + word.size() && !word.empty();
    if (!is_number || number < 0 || number > kMostNumber) {
      fail(text,
           "'" + printable(word) + "' is not a whole number from 0 on; allowed are texts like 1,1,0;4,2,0");
    }
    numbers.push_back(number);
    if (comma == std::string_view::npos) return numbers;
    part.remove_prefix(comma + 1);
  }
}

void check_tuple(const std::vector<int64_t>& numbers, const std::string& what, int64_t stages,
                 const std::string& text) {
  const auto count = static_cast<int64_t>(numbers.size());
  if (count != stages) {
    fail(text, what + " has " + std::to_string(count) + " numbers, allowed is one for each of the " +
                   std::to_string(stages) + " stages (pipeline.stages)");
  }
  if (numbers.back() != 0) {
    fail(text, what + " ends in " + std::to_string(numbers.back()) +
                   ", allowed is 0: the last stage never waits for an error");
  }
}

}  // namespace

QueueLengths parse_dsp(const std::string& text, int64_t stages) {
  const size_t semicolon = text.find(';');
  if (semicolon == std::string::npos || text.find(';', semicolon + 1) != std::string::npos) {
    fail(text, "allowed are two lists with one ';' between them, like 1,1,0;4,2,0");
  }
  const auto whole = std::string_view(text);
  const std::vector<int64_t> queues = parse_numbers(whole.substr(0, semicolon), text);
  const std::vector<int64_t> staleness = parse_numbers(whole.substr(semicolon + 1), text);
  check_tuple(queues, "the first list (activation queues)", stages, text);
  check_tuple(staleness, "the second list (staleness)", stages, text);
  QueueLengths lengths;
  for (size_t k = 0; k + 1 < queues.size(); ++k) {
    const int64_t error = staleness[k] - staleness[k + 1] - queues[k];
    const std::string hop = std::to_string(k) + " to " + std::to_string(k + 1);
    if (queues[k] > kLongestQueue) {
      fail(text, "the activation queue from stage " + hop + " is " + std::to_string(queues[k]) +
                     " long, allowed are 0 to 1000");
    }
    if (error < 0 || error > kLongestQueue) {
      fail(text, "between stages " + hop + " the staleness falls by " +
                     std::to_string(staleness[k] - staleness[k + 1]) + " over an activation queue of " +
                     std::to_string(queues[k]) + ", which leaves an error queue of " + std::to_string(error) +
                     "; allowed are 0 to 1000");
    }
    lengths.activation.push_back(queues[k]);
    lengths.error.push_back(error);
  }
  return lengths;
}

}  // namespace stagger::launch

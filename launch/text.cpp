#include "launch/text.h"

#include <algorithm>
#include <vector>

namespace stagger::launch {

std::string printable(std::string_view text, size_t most) {
  const bool cut = text.size() > most;
  if (cut) {
    // Not in the middle of a UTF-8 character.
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
    text = text.substr(0, most);
  }
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    } else {
      out += c;
    }
  }
  return cut ? out + "..." : out;
}

int64_t edit_distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int64_t> cost((a.size() + 1) * width);
  const auto at = [&](size_t i, size_t j) -> int64_t& { return cost[i * width + j]; };
  for (size_t i = 0; i <= a.size(); ++i) at(i, 0) = static_cast<int64_t>(i);
  for (size_t j = 0; j <= b.size(); ++j) at(0, j) = static_cast<int64_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({replaced, at(i - 1, j) + 1, at(i, j - 1) + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(a.size(), b.size());
}

std::string nearest(std::string_view word, std::span<const std::string> candidates, int64_t most) {
  constexpr size_t kLongest = 64;  // a longer word is not a slip of the finger, and would cost time
  if (word.size() > kLongest) return "";
  std::string best;
  int64_t least = std::min(most, std::max<int64_t>(1, static_cast<int64_t>(word.size()) / 3)) + 1;
  for (const std::string& candidate : candidates) {
    const int64_t distance = edit_distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

std::string join(std::span<const std::string> words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += between;
    out += word;
  }
  return out;
}

}  // namespace stagger::launch

// Words for messages: what a user typed, made safe to print, and what they probably meant.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stagger::launch {

/// `text` on one line: control characters as escapes, cut with "..." after `most` bytes.
std::string printable(std::string_view text, size_t most = 80);

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (each pair swapped at
/// most once).
int64_t edit_distance(std::string_view a, std::string_view b);

/// The candidate with the fewest edits from `word` (the first, if several), or "" where none is close enough
/// to be what was meant: at most 1 edit for every 3 characters (1 for shorter words), and never more than
/// `most`.
std::string nearest(std::string_view word, std::span<const std::string> candidates, int64_t most = 4);

/// "a, b, c"
std::string join(std::span<const std::string> words, std::string_view between = ", ");

}  // namespace stagger::launch

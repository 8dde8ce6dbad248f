// Small tables and numbers for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stagger::runtime::output {

/// Columns that a terminal gives to `text`: one a code point of UTF-8, and one a byte that is no UTF-8.
int64_t display_width(std::string_view text);

/// Bytes in the unit that leaves one to four digits before the point: "0 B", "512 B", "12.3 MiB".
/// REQUIRES: bytes >= 0.
std::string human_bytes(int64_t bytes);

/// `value` with `digits` after the point: "12.34".
std::string fixed(double value, int digits);

/// A table that is printed when it is complete:
///
///     stage  layers           staleness
///     -----  ---------------  ---------
///     0      stem .. layer1.2         4
class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string header;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns);
  /// REQUIRES: one cell a column.
  void add_row(std::vector<std::string> cells);
  /// All lines, each with its end, none with spaces before it.
  std::string to_string() const;

 private:
  std::string line(const std::vector<std::string>& cells) const;

  std::vector<Column> columns_;
  std::vector<int64_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace stagger::runtime::output

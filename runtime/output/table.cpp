#include "runtime/output/table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "layers/error.h"

namespace stagger::runtime::output {
namespace {

constexpr int kSpacesBetween = 2;

bool continues_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

std::string spaces(int64_t count) {
  return std::string(static_cast<size_t>(std::max<int64_t>(count, 0)), ' ');
}

}  // namespace

int64_t display_width(std::string_view text) {
  int64_t width = 0;
  int64_t open = 0;  // bytes that the code point before still wants
  for (char c : text) {
    if (open > 0 && continues_code_point(c)) {
      --open;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    open = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : 0;
    ++width;
  }
  return width;
}

std::string fixed(double value, int digits) {
  std::array<char, 512> text{};  // the largest double has 309 digits before the point
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string human_bytes(int64_t bytes) {
  layers::require(bytes >= 0, "a number of bytes is negative");
  constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr double kStep = 1024;
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / kStep;
  size_t unit = 0;
  // 1023.95 would be printed as 1024.0.
  while (value >= kStep - 0.05 && unit + 1 < kUnits.size()) {
    value /= kStep;
    ++unit;
  }
  return fixed(value, 1) + " " + kUnits.at(unit);
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (const Column& column : columns_) widths_.push_back(display_width(column.header));
}

void Table::add_row(std::vector<std::string> cells) {
  layers::require(cells.size() == columns_.size(),
                  "a row of a table has another number of cells than the table");
  for (size_t c = 0; c < cells.size(); ++c) widths_[c] = std::max(widths_[c], display_width(cells[c]));
  rows_.push_back(std::move(cells));
}

std::string Table::line(const std::vector<std::string>& cells) const {
  std::string text;
  for (size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) text += spaces(kSpacesBetween);
    const std::string gap = spaces(widths_[c] - display_width(cells[c]));
    text += columns_[c].align == Align::kLeft ? cells[c] + gap : gap + cells[c];
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string Table::to_string() const {
  std::vector<std::string> headers, rules;
  for (size_t c = 0; c < columns_.size(); ++c) {
    headers.push_back(columns_[c].header);
    rules.emplace_back(static_cast<size_t>(widths_[c]), '-');
  }
  std::string text = line(headers) + line(rules);
  for (const auto& row : rows_) text += line(row);
  return text;
}

}  // namespace stagger::runtime::output

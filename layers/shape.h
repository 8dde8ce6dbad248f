// The shape of one sample, without the batch dimension.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stagger::layers {

/// Sizes of one sample, outermost first: {channels, height, width} for an image, {features} for a vector.
/// All sizes are >= 1. A batch of N samples is stored dense and row-major as N x sizes.
class Shape {
 public:
  Shape() = default;
  /// Throws ConfigError if a size is < 1 or the number of elements overflows.
  Shape(std::vector<int64_t> sizes);
  Shape(std::initializer_list<int64_t> sizes) : Shape(std::vector<int64_t>(sizes)) {}

  int64_t rank() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t operator[](int64_t axis) const { return sizes_.at(static_cast<size_t>(axis)); }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  /// Elements of one sample; 1 for the empty shape.
  int64_t elements() const { return elements_; }
  bool is_image() const { return rank() == 3; }
  /// For people: "16x28x28".
  std::string to_string() const;

  friend bool operator==(const Shape& a, const Shape& b) { return a.sizes_ == b.sizes_; }

 private:
  std::vector<int64_t> sizes_;
  int64_t elements_ = 1;
};

}  // namespace stagger::layers

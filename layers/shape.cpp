#include "layers/shape.h"

#include <utility>

#include "layers/checked.h"
#include "layers/error.h"

namespace stagger::layers {

Shape::Shape(std::vector<int64_t> sizes) : sizes_(std::move(sizes)) {
  for (int64_t size : sizes_) {
    if (size < 1)
      throw ConfigError("a shape has a size of " + std::to_string(size) + "; sizes are 1 or more");
    if (__builtin_mul_overflow(elements_, size, &elements_))
      throw ConfigError("shape " + to_string() + " is too large");
  }
}

std::string Shape::to_string() const {
  if (sizes_.empty()) return "scalar";
  std::string text;
  for (int64_t size : sizes_) {
    if (!text.empty()) text += 'x';
    text += std::to_string(size);
  }
  return text;
}

}  // namespace stagger::layers

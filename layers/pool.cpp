#include "layers/pool.h"

#include "layers/layer_checks.h"

namespace stagger::layers {

Shape Pool::output(std::span<const Shape> inputs) const {
  const Shape& x = only_image(inputs);
  const Window window{kernel, stride, padding};
  const Shape y{x[0], window_output(x[1], window), window_output(x[2], window)};
  if (2 * padding > kernel)
    throw ConfigError("padding " + std::to_string(padding) + " is more than half the kernel");
  return y;
}

double Pool::flops(std::span<const Shape> inputs) const {
  return static_cast<double>(kernel * kernel) * static_cast<double>(output(inputs).elements());
}

std::string Pool::describe() const {
  return std::string(kind == Kind::kMax ? "max" : "average") + " pool " + std::to_string(kernel) + "x" +
         std::to_string(kernel) + ", stride " + std::to_string(stride);
}

Shape GlobalAveragePool::output(std::span<const Shape> inputs) const { return {only_image(inputs)[0], 1, 1}; }

double GlobalAveragePool::flops(std::span<const Shape> inputs) const {
  return static_cast<double>(inputs[0].elements());
}

}  // namespace stagger::layers

// The checks that layers share. Each throws ConfigError with the offending numbers; Graph::add puts the
// layer's name in front.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "layers/error.h"
#include "layers/shape.h"

namespace stagger::layers {

inline const Shape& only_input(std::span<const Shape> inputs) {
  if (inputs.size() != 1) throw ConfigError("takes 1 input, got " + std::to_string(inputs.size()));
  return inputs[0];
}

inline const Shape& only_image(std::span<const Shape> inputs) {
  const Shape& x = only_input(inputs);
  if (!x.is_image()) throw ConfigError("takes channels x height x width, got " + x.to_string());
  return x;
}

inline void at_least(std::string_view what, int64_t value, int64_t least) {
  if (value >= least) return;
  throw ConfigError(std::string(what) + " is " + std::to_string(value) + "; it must be " +
                    std::to_string(least) + " or more");
}

/// A window that slides over one direction of an image.
struct Window {
  int64_t kernel;
  int64_t stride;
  int64_t padding;
};

/// Places of `window` along `size` pixels.
inline int64_t window_output(int64_t size, const Window& window) {
  at_least("kernel", window.kernel, 1);
  at_least("stride", window.stride, 1);
  at_least("padding", window.padding, 0);
  if (window.padding >= window.kernel) {
    throw ConfigError("padding " + std::to_string(window.padding) + " is not smaller than the kernel " +
                      std::to_string(window.kernel));
  }
  if (size + 2 * window.padding < window.kernel) {
    throw ConfigError("kernel " + std::to_string(window.kernel) + " is larger than the padded input " +
                      std::to_string(size + 2 * window.padding));
  }
  return (size + 2 * window.padding - window.kernel) / window.stride + 1;
}

}  // namespace stagger::layers

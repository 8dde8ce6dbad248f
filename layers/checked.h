// Integer conversions and products that refuse to change a value.
#pragma once

#include <cstdint>
#include <utility>

#include "layers/error.h"

namespace stagger::layers {

/// `value` as a `To`. Throws InternalError where `To` cannot hold it.
template <class To, class From>
To narrow(From value) {
  if (!std::in_range<To>(value)) throw InternalError("integer value out of range in a conversion");
  return static_cast<To>(value);
}

/// a * b. REQUIRES: both are >= 0. Throws InternalError on overflow.
inline int64_t checked_product(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw InternalError("size overflows 64 bits");
  return product;
}

/// The smallest multiple of `unit` that is >= value. REQUIRES: value >= 0, unit > 0.
inline int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace stagger::layers

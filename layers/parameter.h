// What a layer says of the numbers that it owns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layers/shape.h"

namespace stagger::layers {

/// What a parameter is to its layer; weight decay may spare kBias and kNorm.
enum class Role { kWeight, kBias, kNorm };

/// How a parameter starts. kHe is normal with mean 0 and deviation sqrt(2 / fan_in) (He et al., ICCV 2015).
enum class Initial { kHe, kZero, kOne };

/// One learned tensor of a layer, stored dense and row-major in `shape`.
struct ParameterSpec {
  std::string name;  ///< within the layer, as PyTorch calls it: "weight", "bias"
  Shape shape;       ///< convolution: out x in x kernel x kernel; linear: out x in; others: channels
  Role role = Role::kWeight;
  Initial initial = Initial::kZero;
  int64_t fan_in = 1;  ///< inputs that one output sums over; used by kHe
};

/// One tensor that a layer tracks but does not learn: a running statistic of batch norm.
struct StatisticSpec {
  std::string name;  ///< "running_mean", "running_var"
  Shape shape;
  float initial = 0;
};

}  // namespace stagger::layers

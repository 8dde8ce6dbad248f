#include "layers/batch_norm.h"

#include "layers/layer_checks.h"

namespace stagger::layers {

Shape BatchNorm::output(std::span<const Shape> inputs) const {
  const Shape& x = only_input(inputs);
  if (x.rank() != 1 && x.rank() != 3)
    throw ConfigError("takes features or channels x height x width, got " + x.to_string());
  if (!(eps > 0)) throw ConfigError("eps is " + std::to_string(eps) + "; it must be above 0");
  if (!(momentum >= 0 && momentum <= 1))
    throw ConfigError("momentum is " + std::to_string(momentum) + "; allowed are 0 to 1");
  return x;
}

std::vector<ParameterSpec> BatchNorm::parameters(std::span<const Shape> inputs) const {
  const Shape channels{inputs[0][0]};
  return {{.name = "weight", .shape = channels, .role = Role::kNorm, .initial = Initial::kOne},
          {.name = "bias", .shape = channels, .role = Role::kNorm, .initial = Initial::kZero}};
}

std::vector<StatisticSpec> BatchNorm::statistics(std::span<const Shape> inputs) const {
  const Shape channels{inputs[0][0]};
  return {{.name = "running_mean", .shape = channels, .initial = 0},
          {.name = "running_var", .shape = channels, .initial = 1}};
}

double BatchNorm::flops(std::span<const Shape> inputs) const {
  return 6 * static_cast<double>(inputs[0].elements());
}

std::string BatchNorm::describe() const { return relu ? "batch norm + relu" : "batch norm"; }

}  // namespace stagger::layers

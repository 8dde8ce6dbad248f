#include "layers/conv2d.h"

#include "layers/layer_checks.h"

namespace stagger::layers {

Shape Conv2d::output(std::span<const Shape> inputs) const {
  const Shape& x = only_image(inputs);
  at_least("out_channels", out_channels, 1);
  return {out_channels, window_output(x[1], {kernel, stride, padding}),
          window_output(x[2], {kernel, stride, padding})};
}

std::vector<ParameterSpec> Conv2d::parameters(std::span<const Shape> inputs) const {
  const int64_t in_channels = inputs[0][0];
  const int64_t fan_in = in_channels * kernel * kernel;
  std::vector<ParameterSpec> list{{.name = "weight",
                                   .shape = {out_channels, in_channels, kernel, kernel},
                                   .role = Role::kWeight,
                                   .initial = Initial::kHe,
                                   .fan_in = fan_in}};
  if (bias)
    list.push_back({.name = "bias", .shape = {out_channels}, .role = Role::kBias, .initial = Initial::kZero});
  return list;
}

double Conv2d::flops(std::span<const Shape> inputs) const {
  const auto macs_per_output = static_cast<double>(inputs[0][0] * kernel * kernel);
  return 2 * macs_per_output * static_cast<double>(output(inputs).elements());
}

std::string Conv2d::describe() const {
  std::string text =
      "conv " + std::to_string(kernel) + "x" + std::to_string(kernel) + ", " + std::to_string(out_channels);
  if (stride != 1) text += ", stride " + std::to_string(stride);
  return text + (bias ? ", bias" : "");
}

}  // namespace stagger::layers

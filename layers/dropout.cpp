#include "layers/dropout.h"

#include "layers/layer_checks.h"

namespace stagger::layers {

Shape Dropout::output(std::span<const Shape> inputs) const {
  if (!(probability >= 0 && probability < 1)) {
    throw ConfigError("probability is " + std::to_string(probability) + "; allowed are 0 to below 1");
  }
  return only_input(inputs);
}

double Dropout::flops(std::span<const Shape> inputs) const {
  return 10 * static_cast<double>(inputs[0].elements());
}

std::string Dropout::describe() const {
  std::string number = std::to_string(probability);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return "dropout " + number;
}

}  // namespace stagger::layers

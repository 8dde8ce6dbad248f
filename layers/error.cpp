#include "layers/error.h"

namespace stagger::layers {

int exit_code(const std::exception& error) {
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) return 2;
  if (dynamic_cast<const DataError*>(&error) != nullptr) return 3;
  return 1;
}

}  // namespace stagger::layers

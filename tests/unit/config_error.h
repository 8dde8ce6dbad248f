// What a ConfigError says, for comparison.
#pragma once

#include <string>

#include "layers/error.h"
#include "tests/catch.h"

namespace stagger::testing {

/// The message of the ConfigError that `call` throws; fails the test where it throws none. Other exceptions
/// pass.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const layers::ConfigError& error) {
    return error.what();
  }
  FAIL_CHECK("no ConfigError was thrown");
  return "";
}

/// A message is one line that is not empty.
inline bool is_one_line(const std::string& message) {
  return !message.empty() && message.find_first_of("\n\r") == std::string::npos;
}

}  // namespace stagger::testing

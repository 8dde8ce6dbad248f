// The kinds of failure that a user can meet, and the exit code of each.
//
// A message is one line: what was wrong where (file, key or line), what was found, what is allowed.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace stagger::layers {

/// What the user asked for cannot be done: a bad key, value, option or combination. Exit code 2.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the user brought cannot be used: a missing, truncated or inconsistent data file. Exit code 3.
class DataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A promise between parts of Stagger, or of a library to Stagger, was broken. Exit code 1.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The process exit code that stands for `error`: 2 for ConfigError, 3 for DataError, 1 for all others.
int exit_code(const std::exception& error);

/// Throws InternalError with `what` unless `condition` holds. For invariants that must hold in release
/// builds.
inline void require(bool condition, const char* what) {
  if (!condition) throw InternalError(what);
}

}  // namespace stagger::layers

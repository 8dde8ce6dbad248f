// Which Stagger this is and what it is built on.
#pragma once

#include <string>

namespace stagger::launch {

/// The text of `stagger --version`, several lines. May be called without MPI being initialised.
std::string version_text();

/// "0.1.0"
std::string version();

}  // namespace stagger::launch

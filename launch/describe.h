// `stagger describe`: what a run would be, without training.
#pragma once

#include <string>

#include "launch/command_line.h"

namespace stagger::launch {

/// The text: schedule in words, stages with their layers, staleness and memory. Compiles every stage, so that
/// its memory is what a run would take. Throws ConfigError or DataError.
std::string describe(const CommandLine& line);

}  // namespace stagger::launch

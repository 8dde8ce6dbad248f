// `stagger train`.
#pragma once

#include "launch/command_line.h"

namespace stagger::launch {

/// Trains as asked: here, if this process is a rank or the run has one stage, else under mpirun. Returns the
/// exit code. Throws ConfigError where the configuration is wrong and no rank has been started.
int train(const CommandLine& line);

}  // namespace stagger::launch

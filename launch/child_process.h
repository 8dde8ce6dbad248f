// One program run to its end while this one waits.
#pragma once

#include <string>
#include <vector>

namespace stagger::launch {

/// How a child ended, and what this process was told meanwhile.
struct ChildEnd {
  int code = 0;    ///< its exit code; 0 where a signal killed it
  int signal = 0;  ///< the signal that killed it, or 0
  int received =
      0;  ///< the last signal out of SIGINT, SIGTERM, SIGHUP that this process got while it waited, or 0
};

/// Runs argv[0], found in PATH, and waits for it. SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 that reach
/// this process meanwhile are passed on; a Ctrl-C at the terminal is not, since the terminal itself sends it
/// to both. The child gets SIGTERM should this process die first. Throws ConfigError where the program cannot
/// be started, with errno's words. REQUIRES: no other threads. Not reentrant.
ChildEnd run_child(const std::vector<std::string>& argv);

}  // namespace stagger::launch

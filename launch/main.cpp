#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "launch/command_line.h"
#include "launch/describe.h"
#include "launch/train.h"
#include "launch/version.h"
#include "layers/error.h"

namespace {

int run(const stagger::launch::CommandLine& line) {
  using Command = stagger::launch::CommandLine::Command;
  switch (line.command) {
    case Command::kHelp:
      std::cout << line.help;
      break;
    case Command::kVersion:
      std::cout << stagger::launch::version_text();
      break;
    case Command::kDescribe:
      std::cout << stagger::launch::describe(line);
      break;
    case Command::kTrain:
      return stagger::launch::train(line);
  }
  std::cout.flush();
  if (std::cout.good()) return 0;
  throw stagger::layers::ConfigError("standard output cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(stagger::launch::parse_command_line(std::vector<std::string>(argv + 1, argv + argc)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stagger: error: %s\n", error.what());
    return stagger::layers::exit_code(error);
  }
}

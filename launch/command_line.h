// What was asked for on the command line.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace stagger::launch {

/// How a run shows how far it is: one line that is rewritten, lines that are appended, or nothing. kAuto:
/// kLive on a terminal, kPlain elsewhere.
enum class Progress { kAuto, kLive, kPlain, kOff };

struct CommandLine {
  enum class Command { kHelp, kVersion, kTrain, kDescribe };

  Command command = Command::kHelp;
  std::string help;                   ///< kHelp: the text to print
  std::string config;                 ///< kTrain, kDescribe: the configuration file
  std::vector<std::string> settings;  ///< of --set, in order: "key.path=value"
  std::string output;                 ///< kTrain: the run's folder; empty: runs/<name>
  bool overwrite = false;
  Progress progress = Progress::kAuto;
};

/// Parses what comes after the program's name. Throws ConfigError, one line with a hint, on what it does not
/// know.
CommandLine parse_command_line(std::span<const std::string> arguments);

/// Arguments that parse as `line` again. REQUIRES: kTrain or kDescribe.
std::vector<std::string> arguments_of(const CommandLine& line);

}  // namespace stagger::launch

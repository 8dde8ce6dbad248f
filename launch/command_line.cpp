#include "launch/command_line.h"

#include <boost/program_options.hpp>

#include "launch/help.h"
#include "launch/text.h"
#include "layers/error.h"

namespace stagger::launch {
namespace {

namespace po = boost::program_options;
using layers::ConfigError;
using Command = CommandLine::Command;

constexpr const char* kProgressNames[] = {"auto", "live", "plain", "off"};

po::options_description options_of(Command command) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("set", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
      "set a key of the configuration, as train.batch=64; may be given several times, a later one wins");
  if (command == Command::kTrain) {
    add("output", po::value<std::string>()->value_name("DIR"),
        "folder of the run's results (default: runs/<name>)");
    add("overwrite", "replace the results of an earlier run in that folder");
    add("progress", po::value<std::string>()->default_value("auto")->value_name("HOW"),
        "auto: live on a terminal, plain elsewhere; live: one line that is rewritten; plain: lines; off");
  }
  add("help,h", "print this text");
  return options;
}

std::string name_of(Command command) { return command == Command::kTrain ? "train" : "describe"; }

std::string hint(Command command) { return "; see 'stagger " + name_of(command) + " --help'"; }

[[noreturn]] void fail_on_unknown(Command command, const po::unknown_option& error) {
  const po::options_description options = options_of(command);
  std::vector<std::string> known;
  for (const auto& option : options.options()) known.push_back("--" + option->long_name());
  const std::string name = error.get_option_name();
  const std::string meant = nearest(name, known);
  throw ConfigError("unknown option '" + printable(name) + "' of stagger " + name_of(command) +
                    (meant.empty() ? "" : "; did you mean " + meant + "?") + hint(command));
}

po::variables_map parse(Command command, const std::vector<std::string>& arguments) {
  namespace style = po::command_line_style;
  po::options_description all = options_of(command);
  all.add_options()("config", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("config", -1);
  po::variables_map values;
  try {
    po::store(po::command_line_parser(arguments)
                  .options(all)
                  .positional(positional)
                  .style(style::unix_style & ~style::allow_guessing)
                  .run(),
              values);
  } catch (const po::unknown_option& error) {
    fail_on_unknown(command, error);
  } catch (const po::error& error) {
    throw ConfigError("stagger " + name_of(command) + ": " + printable(error.what(), 300) + hint(command));
  }
  return values;
}

std::string only_config(Command command, const po::variables_map& values) {
  const auto configs = values.count("config") != 0 ? values["config"].as<std::vector<std::string>>()
                                                   : std::vector<std::string>{};
  const std::string name = "stagger " + name_of(command);
  if (configs.empty()) throw ConfigError(name + ": no configuration file given" + hint(command));
  if (configs.size() > 1) {
    const bool is_setting = configs[1].find('=') != std::string::npos;
    throw ConfigError(name + ": found '" + printable(configs[1]) +
                      "' after the configuration file, allowed are options" +
                      (is_setting ? " (each setting needs its own --set)" : "") + hint(command));
  }
  if (configs[0].empty())
    throw ConfigError(name + ": the name of the configuration file is empty" + hint(command));
  return configs[0];
}

Progress to_progress(Command command, const std::string& name) {
  for (const Progress progress : {Progress::kAuto, Progress::kLive, Progress::kPlain, Progress::kOff}) {
    if (name == kProgressNames[static_cast<size_t>(progress)]) return progress;
  }
  throw ConfigError("--progress: found '" + printable(name) + "', allowed are auto, live, plain, off" +
                    hint(command));
}

CommandLine help(std::string text) {
  CommandLine line;
  line.help = std::move(text);
  return line;
}

std::string help_text(Command command) {
  std::ostringstream options;
  options << options_of(command);
  return command == Command::kTrain ? train_help(options.str()) : describe_help(options.str());
}

CommandLine parse_command(Command command, const std::vector<std::string>& arguments) {
  const po::variables_map values = parse(command, arguments);
  if (values.count("help") != 0) return help(help_text(command));
  CommandLine line;
  line.command = command;
  line.config = only_config(command, values);
  if (values.count("set") != 0) line.settings = values["set"].as<std::vector<std::string>>();
  if (command != Command::kTrain) return line;
  if (values.count("output") != 0) {
    line.output = values["output"].as<std::string>();
    if (line.output.empty()) throw ConfigError("--output: the name of the folder is empty" + hint(command));
  }
  line.overwrite = values.count("overwrite") != 0;
  line.progress = to_progress(command, values["progress"].as<std::string>());
  return line;
}

}  // namespace

CommandLine parse_command_line(std::span<const std::string> arguments) {
  const std::string see = "; see 'stagger --help'";
  if (arguments.empty()) throw ConfigError("no command given, allowed are train and describe" + see);
  const std::string& first = arguments.front();
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (first == "train") return parse_command(Command::kTrain, rest);
  if (first == "describe") return parse_command(Command::kDescribe, rest);
  const bool is_help = first == "--help" || first == "-h" || first == "help";
  if ((is_help || first == "--version") && !rest.empty()) {
    throw ConfigError("found '" + printable(rest.front()) + "' after " + first + ", allowed is nothing" +
                      see);
  }
  if (is_help) return help(general_help());
  if (first == "--version") {
    CommandLine line;
    line.command = Command::kVersion;
    return line;
  }
  const std::vector<std::string> known = {"train", "describe", "--help", "--version"};
  const std::string meant = nearest(first, known);
  throw ConfigError(std::string("unknown ") + (first.starts_with('-') ? "option '" : "command '") +
                    printable(first) + "', allowed are " + join(known) +
                    (meant.empty() ? "" : "; did you mean " + meant + "?") + see);
}

std::vector<std::string> arguments_of(const CommandLine& line) {
  layers::require(line.command == Command::kTrain || line.command == Command::kDescribe,
                  "only commands have arguments");
  std::vector<std::string> arguments = {name_of(line.command)};
  // A name that looks like an option is still a file.
  arguments.push_back(line.config.starts_with('-') ? "./" + line.config : line.config);
  for (const std::string& setting : line.settings) arguments.push_back("--set=" + setting);
  if (!line.output.empty()) arguments.push_back("--output=" + line.output);
  if (line.overwrite) arguments.emplace_back("--overwrite");
  if (line.progress != Progress::kAuto) {
    arguments.push_back(std::string("--progress=") + kProgressNames[static_cast<size_t>(line.progress)]);
  }
  return arguments;
}

}  // namespace stagger::launch

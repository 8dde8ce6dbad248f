#include "launch/command_line.h"

#include "tests/catch.h"
#include "tests/unit/config_error.h"

namespace stagger::launch {
namespace {

using Command = CommandLine::Command;
using Words = std::vector<std::string>;

CommandLine parse(const Words& words) { return parse_command_line(words); }

std::string parse_error(const Words& words) {
  std::string message = testing::error_of([&] { parse_command_line(words); });
  CHECK(testing::is_one_line(message));
  return message;
}

}  // namespace

TEST_CASE("train with everything") {
  const CommandLine line = parse({"train", "a.yaml", "--set", "train.batch=-1", "--output", "out dir",
                                  "--overwrite", "--set", "b=[1, 2]", "--progress", "plain"});
  CHECK(line.command == Command::kTrain);
  CHECK(line.config == "a.yaml");
  CHECK(line.settings == Words{"train.batch=-1", "b=[1, 2]"});
  CHECK(line.output == "out dir");
  CHECK(line.overwrite);
  CHECK(line.progress == Progress::kPlain);
}

TEST_CASE("defaults, and options before the file") {
  const CommandLine line = parse({"train", "--set=a=1", "a.yaml"});
  CHECK(line.config == "a.yaml");
  CHECK(line.settings == Words{"a=1"});
  CHECK(line.output.empty());
  CHECK_FALSE(line.overwrite);
  CHECK(line.progress == Progress::kAuto);
  CHECK(parse({"describe", "a.yaml"}).command == Command::kDescribe);
  CHECK(parse({"--version"}).command == Command::kVersion);
}

TEST_CASE("help everywhere") {
  CHECK(parse({"--help"}).help.find("stagger train CONFIG") != std::string::npos);
  CHECK(parse({"train", "--help"}).help.find("--overwrite") != std::string::npos);
  CHECK(parse({"train", "a.yaml", "--help"}).command == Command::kHelp);
  const std::string describe = parse({"describe", "-h"}).help;
  CHECK(describe.find("--set") != std::string::npos);
  CHECK(describe.find("--overwrite") == std::string::npos);
}

TEST_CASE("what is not known gets one line with a hint") {
  CHECK(parse_error({}) == "no command given, allowed are train and describe; see 'stagger --help'");
  CHECK(parse_error({"trian", "a.yaml"}) ==
        "unknown command 'trian', allowed are train, describe, --help, --version; did you mean train?; see "
        "'stagger --help'");
  CHECK(parse_error({"--verison"}).find("unknown option '--verison'") == 0);
  CHECK(parse_error({"--version", "x"}) ==
        "found 'x' after --version, allowed is nothing; see 'stagger --help'");
  CHECK(parse_error({"train", "a.yaml", "--ouput", "x"}) ==
        "unknown option '--ouput' of stagger train; did you mean --output?; see 'stagger train --help'");
  CHECK(parse_error({"describe", "a.yaml", "--overwrite"}) ==
        "unknown option '--overwrite' of stagger describe; see 'stagger describe --help'");
  // No abbreviations: what they stand for could change.
  CHECK(parse_error({"train", "a.yaml", "--over"}).find("unknown option '--over'") == 0);
}

TEST_CASE("what is missing or too much") {
  CHECK(parse_error({"train"}) == "stagger train: no configuration file given; see 'stagger train --help'");
  CHECK(parse_error({"train", "a.yaml", "b=1"}) ==
        "stagger train: found 'b=1' after the configuration file, allowed are options (each setting needs "
        "its own --set); see "
        "'stagger train --help'");
  CHECK(parse_error({"train", "a.yaml", "--set"}).find("--set") != std::string::npos);
  CHECK(parse_error({"train", "a.yaml", "--output", "x", "--output", "y"}).find("--output") !=
        std::string::npos);
  CHECK(parse_error({"train", "a.yaml", "--output="}).find("--output") != std::string::npos);
  CHECK(parse_error({"train", "a.yaml", "--progress", "fast"}) ==
        "--progress: found 'fast', allowed are auto, live, plain, off; see 'stagger train --help'");
  CHECK(parse_error({"train", ""}).find("stagger train: ") == 0);
  CHECK(parse_error({"train", "a\nb", "c\nd"}).find("c\\nd") != std::string::npos);
}

TEST_CASE("arguments parse as the same command line") {
  CommandLine line;
  line.command = Command::kTrain;
  line.config = "-odd.yaml";
  line.settings = {"a=-1", "b={c: 'd e'}", "--x=3", "e="};
  line.output = "-out";
  line.overwrite = true;
  line.progress = Progress::kLive;
  const CommandLine again = parse(arguments_of(line));
  CHECK(again.config == "./-odd.yaml");
  CHECK(again.settings == line.settings);
  CHECK(again.output == line.output);
  CHECK(again.overwrite);
  CHECK(again.progress == Progress::kLive);
}

}  // namespace stagger::launch

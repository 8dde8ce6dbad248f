// Run folders: made, refused, overwritten with care.
#include "runtime/output/run_folder.h"

#include <filesystem>

#include "layers/error.h"
#include "tests/catch.h"
#include "tests/temp_folder.h"
#include "tests/text_file.h"

using namespace stagger::runtime::output;
using stagger::layers::ConfigError;
using stagger::tests::read_text;
using stagger::tests::TempFolder;
using stagger::tests::write_text;
using Existing = RunFolder::Existing;
namespace fs = std::filesystem;

namespace {

std::string message_of(const std::string& path, Existing existing = Existing::kRefuse) {
  try {
    RunFolder::create(path, existing);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no ConfigError";
}

}  // namespace

TEST_CASE("a run folder is made with the folders above it") {
  const TempFolder folder;
  const RunFolder run = RunFolder::create(folder / "runs/first/", Existing::kRefuse);
  CHECK(fs::is_directory(folder / "runs/first"));
  CHECK(run.path() == folder / "runs/first");
  CHECK(run.config() == folder / "runs/first/config.yaml");
  CHECK(run.metrics() == folder / "runs/first/metrics.jsonl");
  CHECK(run.model() == folder / "runs/first/model.safetensors");
  CHECK(run.log() == folder / "runs/first/log.txt");
  CHECK(message_of(folder / "runs/first") == "no ConfigError");  // it is empty
}

TEST_CASE("a folder that holds something is refused") {
  const TempFolder folder;
  const RunFolder run = RunFolder::create(folder / "run", Existing::kRefuse);
  write_text(run.config(), "old");
  CHECK(message_of(run.path()) ==
        "output folder " + run.path() + " exists; give another name, --output DIR, or --overwrite");
  CHECK(read_text(run.config()) == "old");
}

TEST_CASE("overwriting removes Stagger's files and no others") {
  const TempFolder folder;
  const RunFolder run = RunFolder::create(folder / "run", Existing::kRefuse);
  for (const std::string& path :
       {run.config(), run.metrics(), run.model(), run.log(), run.model() + ".tmp"}) {
    write_text(path, "old");
  }
  write_text(run.path() + "/notes.txt", "mine");
  write_text(run.path() + "/config.yaml.bak", "mine");
  fs::create_directory(run.path() + "/plots");
  RunFolder::create(run.path(), Existing::kOverwrite);
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(run.path()))
    left.push_back(entry.path().filename().string());
  std::sort(left.begin(), left.end());
  CHECK(left == std::vector<std::string>{"config.yaml.bak", "notes.txt", "plots"});

  fs::create_directory(run.model());
  CHECK(message_of(run.path(), Existing::kOverwrite) ==
        "cannot overwrite " + run.model() + ": Is a directory");
  CHECK(fs::is_directory(run.model()));
}

TEST_CASE("folders that cannot be made or written into") {
  const TempFolder folder;
  CHECK(message_of("/dev/null/runs/x") == "cannot create folder /dev/null/runs/x: Not a directory");
  CHECK(message_of("/proc/stagger") == "cannot create folder /proc/stagger: No such file or directory");
  CHECK(message_of("") == "the name of the output folder is empty");
  write_text(folder / "file", "mine");
  for (Existing existing : {Existing::kRefuse, Existing::kOverwrite}) {
    CHECK(message_of(folder / "file", existing) ==
          "output folder " + (folder / "file") + " exists and is not a folder");
  }
  CHECK(read_text(folder / "file") == "mine");
}

// metrics.jsonl: its lines by hand, numbers that JSON lacks, and disks that fill up.
#include "runtime/output/metrics.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <nlohmann/json.hpp>

#include "layers/error.h"
#include "tests/catch.h"
#include "tests/temp_folder.h"
#include "tests/text_file.h"

using namespace stagger::runtime::output;
using nlohmann::ordered_json;
using stagger::layers::ConfigError;
using stagger::tests::read_text;
using stagger::tests::TempFolder;

namespace {

const Metrics kStep{
    .batch = 7, .epoch = 1, .loss = 0.5, .learning_rate = 0.1, .images_per_s = 812.25, .seconds = 3.0};

/// Counts writes; from write number `first_failure` on, the disk is full after `room` more bytes.
class FillingDisk : public SystemCalls {
 public:
  ssize_t write(int file, const void* bytes, size_t count) const override {
    ++writes;
    if (writes < first_failure) return SystemCalls::write(file, bytes, count);
    if (room == 0) {
      errno = ENOSPC;
      return -1;
    }
    return SystemCalls::write(file, bytes, std::exchange(room, 0));
  }
  mutable int writes = 0;
  int first_failure = 1000;
  mutable size_t room = 0;
};

}  // namespace

TEST_CASE("lines of metrics.jsonl, by hand") {
  CHECK(to_json(kStep, nullptr) ==
        R"({"kind":"step","batch":7,"epoch":1,"loss":0.5,"lr":0.1,"images_per_s":812.25,"seconds":3.0})");
  CHECK(to_json({.kind = Metrics::Kind::kEval, .batch = 10, .accuracy = 0.875, .samples = 10000}, nullptr) ==
        R"({"kind":"eval","batch":10,"epoch":0,"accuracy":0.875,"samples":10000})");
  CHECK(to_json({.kind = Metrics::Kind::kSummary}, ordered_json{{"stages", {1, 2}}}) ==
        R"({"kind":"summary","batch":0,"epoch":0,"stages":[1,2]})");
}

TEST_CASE("numbers that JSON lacks are null, and named") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Metrics metrics{.loss = std::nan(""), .learning_rate = infinity, .accuracy = -infinity};
  CHECK(to_json(metrics, nullptr) ==
        R"({"kind":"step","batch":0,"epoch":0,"loss":null,"loss_text":"nan","lr":null,"lr_text":"inf",)"
        R"("accuracy":null,"accuracy_text":"-inf"})");
}

TEST_CASE("numbers keep all of their bits") {
  const double value = 0.1 + 0.2;
  const auto line = ordered_json::parse(to_json({.loss = value}, nullptr));
  CHECK(line["loss"].get<double>() == value);
}

TEST_CASE("one line, one write, at the end of the file") {
  const TempFolder folder;
  const FillingDisk calls;
  {
    MetricsWriter writer(folder / "m", calls);
    writer.write(kStep);
    writer.write(kStep, ordered_json{{"text", "two\nlines \xff"}});
    CHECK(calls.writes == 2);
    const std::string text = read_text(folder / "m");  // nothing waits in a buffer
    CHECK(std::count(text.begin(), text.end(), '\n') == 2);
    CHECK(text.starts_with(to_json(kStep, nullptr) + "\n"));
  }
  MetricsWriter(folder / "m").write(kStep);
  const std::string text = read_text(folder / "m");
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("a full disk is reported, and leaves whole lines") {
  const TempFolder folder;
  FillingDisk calls;
  calls.first_failure = 2;
  calls.room = 5;
  MetricsWriter writer(folder / "m", calls);
  writer.write(kStep);
  CHECK_THROWS_AS(writer.write(kStep), ConfigError);
  CHECK(read_text(folder / "m") == to_json(kStep, nullptr) + "\n");
  CHECK_THROWS_WITH(MetricsWriter("/dev/full").write(kStep),
                    "cannot write /dev/full: No space left on device");
  CHECK_THROWS_WITH(MetricsWriter("/dev/null/m"), "cannot write /dev/null/m: Not a directory");
}

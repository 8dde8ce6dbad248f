// A rank that waits leaves its core to others.
#include <sys/resource.h>

#include <chrono>

#include "tests/catch.h"
#include "tests/ranks/networks.h"

using namespace stagger;

namespace {

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

}  // namespace

TEST_CASE("all ranks use under 5 % of a core while one of them pauses for 10 s") {
  constexpr double kPause = 10;
  tests::PipelineRun run = tests::small_run(tests::queues(tests::session().size(), {1, 1}, {1, 1}));
  tests::run_pipeline(run);  // code, pages and connections are made
  const double plain = cpu_seconds();
  tests::run_pipeline(run);
  const double work = cpu_seconds() - plain;

  run.pause = [](int64_t step, runtime::Action action) {
    return tests::session().rank() == 0 && step == 12 && action == runtime::Action::kForward ? kPause : 0.0;
  };
  std::vector<std::string> warnings;
  run.watchdog_seconds = 4;
  run.warn = [&](const std::string& text) { warnings.push_back(text); };
  const double before = cpu_seconds();
  const tests::PipelineResult result = tests::run_pipeline(run);
  const double idle = cpu_seconds() - before - work;
  WARN("rank " << tests::session().rank() << ": " << 100 * idle / kPause << " % of a core while idle");
  CHECK(result.report.total > kPause);
  CHECK(idle < 0.05 * kPause);
  const runtime::StageReport& report = result.report;
  const double waited = report.wait_activation + report.wait_error + report.wait_room + report.put_off;
  CHECK(waited > 0.95 * kPause);
  if (tests::session().rank() == 0) CHECK(report.put_off > 0.95 * kPause);
  if (tests::session().rank() == 1) CHECK(report.wait_activation > 0.95 * kPause);

  // Told after 4 s and after 8 s: who waits for whom. Rank 1 still forwards the batch that stood in its
  // queue.
  REQUIRE(warnings.size() == 2);
  if (tests::session().rank() == 1) {
    INFO(warnings[0]);
    CHECK(warnings[0].rfind("stage 1, step 13, batch 12 has waited for the activation from rank 0", 0) == 0);
    CHECK(warnings[0].find(" for 4 s") != std::string::npos);
    CHECK(warnings[1].find(" for 8 s") != std::string::npos);
  }
}

#include "launch/mpirun.h"

#include <csignal>
#include <map>

#include "tests/catch.h"
#include "tests/unit/config_error.h"

namespace stagger::launch {
namespace {

using Words = std::vector<std::string>;

MpirunRequest request_of(int64_t ranks, int64_t cores, bool is_whole_machine = true) {
  MpirunRequest request;
  request.ranks = ranks;
  request.cores = cores;
  request.is_whole_machine = is_whole_machine;
  request.program = "/bin/stagger";
  request.line.command = CommandLine::Command::kTrain;
  request.line.config = "a.yaml";
  request.line.progress = Progress::kPlain;
  return request;
}

bool is_rank(const std::map<std::string, std::string>& variables) {
  return is_started_as_rank([&](const char* name) {
    const auto known = variables.find(name);
    return known == variables.end() ? nullptr : known->second.c_str();
  });
}

ChildEnd shell(const std::string& script) { return run_child({"sh", "-c", script}); }

}  // namespace

TEST_CASE("ranks with cores of their own are bound") {
  CHECK(mpirun_command(request_of(3, 8)) ==
        Words{"mpirun", "-q", "-n", "3", "--use-hwthread-cpus", "--map-by", "slot:PE=2", "--bind-to",
              "hwthread", "/bin/stagger", "train", "a.yaml", "--set=run.threads=2", "--progress=plain"});
}

TEST_CASE("more ranks than cores share them") {
  CHECK(mpirun_command(request_of(3, 2)) == Words{"mpirun", "-q", "-n", "3", "--oversubscribe", "--bind-to",
                                                  "none", "/bin/stagger", "train", "a.yaml",
                                                  "--set=run.threads=1", "--progress=plain"});
}

TEST_CASE("a part of the machine is left to the system to place") {
  const Words command = mpirun_command(request_of(2, 4, false));
  CHECK(command[4] == "--oversubscribe");
  CHECK(command[command.size() - 2] == "--set=run.threads=2");
}

TEST_CASE("root and threads that were asked for") {
  MpirunRequest request = request_of(2, 4);
  request.is_root = true;
  request.threads = 1;
  CHECK(mpirun_command(request) == Words{"mpirun", "-q", "-n", "2", "--allow-run-as-root",
                                         "--use-hwthread-cpus", "--map-by", "slot:PE=1", "--bind-to",
                                         "hwthread", "/bin/stagger", "train", "a.yaml", "--progress=plain"});
  request.threads = 3;
  CHECK(mpirun_command(request)[5] == "--oversubscribe");
  CHECK(threads_per_rank(request_of(5, 4)) == 1);
  CHECK(threads_per_rank(request_of(2, 5)) == 2);
}

TEST_CASE("the printed line can be copied into a shell") {
  CHECK(shell_quoted({"a", "b=[1, 2]", "it's", "", "--x=1"}) == "a 'b=[1, 2]' 'it'\\''s' '' --x=1");
}

TEST_CASE("ranks are told from scripts by their environment") {
  CHECK_FALSE(is_rank({}));
  CHECK(is_rank({{"OMPI_COMM_WORLD_SIZE", "3"}}));
  CHECK(is_rank({{"PMIX_RANK", "0"}}));
  CHECK(is_rank({{"PMI_RANK", "0"}}));
  CHECK(is_rank({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}}));
  CHECK_FALSE(is_rank({{"SLURM_PROCID", "0"}}));
  CHECK_FALSE(is_rank({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "4294967291"}}));  // batch script
  CHECK_FALSE(is_rank({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "4294967290"}}));  // interactive shell
}

TEST_CASE("a child's end comes through") {
  CHECK(shell("exit 7").code == 7);
  CHECK(shell("exit 0").code == 0);
  const ChildEnd killed = shell("kill -KILL $$");
  CHECK(killed.signal == SIGKILL);
  CHECK(exit_code_of(killed) == 137);
  const std::string message = testing::error_of([] { run_child({"stagger-no-such-program"}); });
  CHECK(message == "stagger-no-such-program cannot be started: No such file or directory");
}

TEST_CASE("signals go on to the child, and are not lost on us") {
  const ChildEnd end = shell(
      "trap 'exit 42' TERM; kill -TERM $PPID; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.5; done; exit 3");
  CHECK(end.code == 42);
  CHECK(end.received == SIGTERM);
  CHECK(exit_code_of(end) == 128 + SIGTERM);
  CHECK(end_of_job_message(end) == "the job was ended by signal 15, SIGTERM");
  // Those of later children are their own.
  CHECK(shell("exit 0").received == 0);
  sigset_t mask;
  REQUIRE(sigprocmask(SIG_SETMASK, nullptr, &mask) == 0);
  CHECK(sigismember(&mask, SIGTERM) == 0);
}

TEST_CASE("the child does not inherit blocked signals") {
  CHECK(run_child({"grep", "-q", "^SigBlk:[[:space:]]*0*$", "/proc/self/status"}).code == 0);
}

TEST_CASE("only ends that nobody explained get a message") {
  CHECK_FALSE(end_of_job_message({.code = 0}));
  CHECK_FALSE(end_of_job_message({.code = 3}));
  CHECK(end_of_job_message({.code = 137}) ==
        "the job ended with code 137 (a rank was killed by signal 9, SIGKILL; often for lack of memory)");
  CHECK(end_of_job_message({.code = 139}) ==
        "the job ended with code 139 (a rank was killed by signal 11, SIGSEGV)");
  CHECK(end_of_job_message({.code = 255}) == "the job ended with code 255");
  CHECK(end_of_job_message({.signal = SIGABRT}) == "mpirun was killed by signal 6, SIGABRT");
  CHECK(exit_code_of({.code = 3}) == 3);
  // A signal that came too late to matter.
  CHECK(exit_code_of({.code = 0, .received = SIGINT}) == 0);
}

}  // namespace stagger::launch

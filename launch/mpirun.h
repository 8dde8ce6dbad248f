// A job of several ranks started by the program itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launch/child_process.h"
#include "launch/command_line.h"
#include "launch/config.h"

namespace stagger::launch {

/// The value of an environment variable, or null.
using Environment = std::function<const char*(const char*)>;

/// Whether mpirun or srun started this process as a rank of a job. The script of a Slurm batch job, and the
/// shell of an interactive one, are not ranks.
bool is_started_as_rank(const Environment& environment);

/// What the command depends on.
struct MpirunRequest {
  int64_t ranks = 1;
  bool is_root = false;            ///< mpirun refuses to work for root unless told
  int64_t cores = 1;               ///< that this process may use
  bool is_whole_machine = true;    ///< they are all there are: ranks can be bound to them by number
  std::optional<int64_t> threads;  ///< of each rank, where the user chose them
  std::string program;
  CommandLine line;
};

/// Threads of each rank: as asked, else the cores shared out, at least 1.
int64_t threads_per_rank(const MpirunRequest& request);

/// The command that runs `line` on all ranks, with the threads and the kind of progress decided. Each rank is
/// bound to cores of its own where there are enough and which ones is known; else ranks may share cores and
/// the system places them.
std::vector<std::string> mpirun_command(const MpirunRequest& request);

/// The command as a line that a POSIX shell takes apart into the same words.
std::string shell_quoted(const std::vector<std::string>& command);

/// What to say, without "stagger: ", of the end of a job; nothing where its ranks have said it themselves.
std::optional<std::string> end_of_job_message(const ChildEnd& end);
/// The exit code that stands for it: the job's own, or 128 + n where signal n ended it.
int exit_code_of(const ChildEnd& end);

/// Runs `line` under mpirun on config.pipeline.stages ranks of this machine and waits. Prints the command to
/// standard error before. Returns the exit code for this process. Throws ConfigError where mpirun cannot be
/// started.
int run_under_mpirun(const CommandLine& line, const Config& config);

}  // namespace stagger::launch

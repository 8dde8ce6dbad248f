#include "launch/mpirun.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "layers/error.h"

namespace stagger::launch {
namespace {

/// Slurm numbers the steps of a job from 0; the largest 32-bit numbers stand for scripts and shells.
bool is_slurm_step(const char* id) {
  if (id == nullptr) return false;
  constexpr uint64_t kFirstSpecial = 0xFFFFFFF0;
  uint64_t number = 0;
  const std::string_view text(id);
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && stop == text.data() + text.size() && number < kFirstSpecial;
}

/// Sets the cores of `request` from the mask of this process.
void count_cores(MpirunRequest& request) {
  const int64_t online = std::max<int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN));
  request.cores = online;
  // A mask larger than the largest machine that the kernel is built for.
  constexpr int kMostCores = 8192;
  cpu_set_t* mask = CPU_ALLOC(kMostCores);
  layers::require(mask != nullptr, "no memory for a set of cores");
  const size_t bytes = CPU_ALLOC_SIZE(kMostCores);
  CPU_ZERO_S(bytes, mask);
  if (sched_getaffinity(0, bytes, mask) == 0) request.cores = std::max<int64_t>(1, CPU_COUNT_S(bytes, mask));
  CPU_FREE(mask);
  request.is_whole_machine = request.cores == online;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return "signal " + std::to_string(signal) + (name == nullptr ? "" : std::string(", SIG") + name);
}

/// Ranks cannot tell: mpirun gives them a terminal of its own.
Progress decided(Progress progress) {
  if (progress != Progress::kAuto) return progress;
  return isatty(STDOUT_FILENO) == 1 ? Progress::kLive : Progress::kPlain;
}

}  // namespace

bool is_started_as_rank(const Environment& environment) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"}) {
    if (environment(name) != nullptr) return true;
  }
  return environment("SLURM_PROCID") != nullptr && is_slurm_step(environment("SLURM_STEP_ID"));
}

int64_t threads_per_rank(const MpirunRequest& request) {
  return request.threads.value_or(std::max<int64_t>(1, request.cores / request.ranks));
}

std::vector<std::string> mpirun_command(const MpirunRequest& request) {
  const int64_t threads = threads_per_rank(request);
  std::vector<std::string> command = {"mpirun", "-q", "-n", std::to_string(request.ranks)};
  if (request.is_root) command.emplace_back("--allow-run-as-root");
  const bool have_own_cores = request.ranks <= request.cores && threads <= request.cores / request.ranks;
  if (have_own_cores && request.is_whole_machine) {
    for (const char* word : {"--use-hwthread-cpus", "--map-by"}) command.emplace_back(word);
    command.push_back("slot:PE=" + std::to_string(threads));
    for (const char* word : {"--bind-to", "hwthread"}) command.emplace_back(word);
  } else {
    for (const char* word : {"--oversubscribe", "--bind-to", "none"}) command.emplace_back(word);
  }
  command.push_back(request.program);
  CommandLine line = request.line;
  if (!request.threads) line.settings.push_back("run.threads=" + std::to_string(threads));
  const std::vector<std::string> arguments = arguments_of(line);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

std::string shell_quoted(const std::vector<std::string>& command) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  std::string text;
  for (const std::string& word : command) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

std::optional<std::string> end_of_job_message(const ChildEnd& end) {
  if (end.received != 0 && (end.code != 0 || end.signal != 0))
    return "the job was ended by " + signal_name(end.received);
  if (end.signal != 0) return "mpirun was killed by " + signal_name(end.signal);
  // Ranks that end themselves, or are ended by mpirun, have said why; a rank that the system killed could
  // not.
  if (end.code < 128) return std::nullopt;
  const std::string start = "the job ended with code " + std::to_string(end.code);
  const int signal = end.code - 128;
  if (sigabbrev_np(signal) == nullptr) return start;
  const std::string why = signal == SIGKILL ? "; often for lack of memory" : "";
  return start + " (a rank was killed by " + signal_name(signal) + why + ")";
}

int exit_code_of(const ChildEnd& end) {
  if (end.received != 0 && (end.code != 0 || end.signal != 0)) return 128 + end.received;
  return end.signal != 0 ? 128 + end.signal : end.code;
}

int run_under_mpirun(const CommandLine& line, const Config& config) {
  MpirunRequest request;
  request.ranks = config.pipeline.stages;
  request.is_root = geteuid() == 0;
  request.threads = config.run.threads;
  request.program = std::filesystem::read_symlink("/proc/self/exe").string();
  request.line = line;
  request.line.progress = decided(line.progress);
  count_cores(request);
  const std::vector<std::string> command = mpirun_command(request);
  std::cerr << "stagger: running: " + shell_quoted(command) + "\n" << std::flush;
  ChildEnd end;
  try {
    end = run_child(command);
  } catch (const layers::ConfigError& error) {
    throw layers::ConfigError(std::string(error.what()) + "; Debian's package openmpi-bin has it");
  }
  if (const auto message = end_of_job_message(end)) {
    // The ranks may have left a line of progress without an end.
    const std::string start = request.line.progress == Progress::kLive ? "\n" : "";
    std::cerr << start + "stagger: " + *message + "\n" << std::flush;
  }
  return exit_code_of(end);
}

}  // namespace stagger::launch

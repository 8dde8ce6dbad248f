#include "launch/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "launch/text.h"
#include "layers/error.h"

namespace stagger::launch {
namespace {

constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

/// While it lives, signals are waited for instead of handled, so that nothing runs in between.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&set_);
    for (const int signal : kForwarded) sigaddset(&set_, signal);
    sigaddset(&set_, SIGCHLD);
    layers::require(sigprocmask(SIG_BLOCK, &set_, &before_) == 0, "sigprocmask failed");
    // Where our own parent ignored SIGCHLD, a child's end would be lost.
    layers::require(std::signal(SIGCHLD, SIG_DFL) != SIG_ERR, "signal failed");
  }
  ~BlockedSignals() { restore(); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  void restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  /// The next signal, or si_signo 0 after a second without one.
  siginfo_t wait() const {
    siginfo_t info{};
    const timespec second = {.tv_sec = 1, .tv_nsec = 0};
    if (sigtimedwait(&set_, &info, &second) < 0) info.si_signo = 0;
    return info;
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

/// Closes itself.
class Pipe {
 public:
  Pipe() { layers::require(pipe2(ends_.data(), O_CLOEXEC) == 0, "no pipe to a child process"); }
  ~Pipe() {
    close(ends_[0]);
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void close_write() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// The child's side of fork(): becomes the program or reports why not.
[[noreturn]] void become(const std::vector<char*>& argv, pid_t parent, const BlockedSignals& signals,
                         int report) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  signals.restore();
  execvp(argv[0], argv.data());
  const int error = errno;
  const ssize_t written = write(report, &error, sizeof error);
  _exit(written == sizeof error ? 127 : 126);
}

pid_t start(const std::vector<std::string>& argv, const BlockedSignals& signals) {
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  Pipe report;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) become(pointers, parent, signals, report.write_end());
  if (child < 0)
    throw layers::ConfigError(printable(argv[0]) + " cannot be started: " + std::strerror(errno));
  report.close_write();
  int error = 0;
  ssize_t bytes = 0;
  do bytes = read(report.read_end(), &error, sizeof error);
  while (bytes < 0 && errno == EINTR);
  if (bytes != sizeof error) return child;  // the pipe closed itself: it runs
  waitpid(child, nullptr, 0);
  throw layers::ConfigError(printable(argv[0]) + " cannot be started: " + std::strerror(error));
}

bool is_end(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

}  // namespace

ChildEnd run_child(const std::vector<std::string>& argv) {
  const BlockedSignals signals;
  const pid_t child = start(argv, signals);
  ChildEnd end;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) != child) {
    const siginfo_t info = signals.wait();
    if (info.si_signo == 0 || info.si_signo == SIGCHLD) continue;
    if (is_end(info.si_signo)) end.received = info.si_signo;
    const bool is_of_terminal = info.si_code == SI_KERNEL;
    if (!is_of_terminal) kill(child, info.si_signo);
  }
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  return end;
}

}  // namespace stagger::launch

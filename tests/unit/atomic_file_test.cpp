// Files that appear whole or not at all, under each failure that a disk has to offer.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <memory>

#include "layers/error.h"
#include "runtime/output/atomic_file.h"
#include "tests/catch.h"
#include "tests/temp_folder.h"
#include "tests/text_file.h"

using namespace stagger::runtime::output;
using stagger::layers::ConfigError;
using stagger::layers::InternalError;
using stagger::tests::read_text;
using stagger::tests::TempFolder;
using stagger::tests::write_text;
namespace fs = std::filesystem;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no ConfigError";
}

/// Writes at most a few bytes a call, as a system may; `written` counts the calls.
class ShortWrites : public SystemCalls {
 public:
  ssize_t write(int file, const void* bytes, size_t count) const override {
    if (++calls % 2 == 1) {
      errno = EINTR;
      return -1;
    }
    return SystemCalls::write(file, bytes, std::min<size_t>(count, 3));
  }
  mutable int calls = 0;
};

/// Fails the call that `call` names.
class Failing : public SystemCalls {
 public:
  Failing(std::string call, int reason) : call_(std::move(call)), reason_(reason) {}

  ssize_t write(int file, const void* bytes, size_t count) const override {
    return call_ == "write" ? fail() : SystemCalls::write(file, bytes, count);
  }
  int sync(int file) const override { return call_ == "sync" ? fail() : SystemCalls::sync(file); }
  int rename(const std::string& from, const std::string& to) const override {
    order += " rename";
    return call_ == "rename" ? fail() : SystemCalls::rename(from, to);
  }
  mutable std::string order;

 private:
  int fail() const {
    errno = reason_;
    return -1;
  }
  std::string call_;
  int reason_;
};

/// Writes down what is called, in order.
class Recording : public SystemCalls {
 public:
  int open(const std::string& path, int flags) const override {
    log += "open " + fs::path(path).filename().string() + "; ";
    return SystemCalls::open(path, flags);
  }
  ssize_t write(int file, const void* bytes, size_t count) const override {
    log += "write; ";
    return SystemCalls::write(file, bytes, count);
  }
  int sync(int file) const override {
    log += "sync; ";
    return SystemCalls::sync(file);
  }
  int rename(const std::string& from, const std::string& to) const override {
    log += "rename " + fs::path(from).filename().string() + " " + fs::path(to).filename().string() + "; ";
    return SystemCalls::rename(from, to);
  }
  mutable std::string log;
};

/// Writes to a device that is always full.
class FullDisk : public SystemCalls {
 public:
  int open(const std::string& path, int flags) const override {
    const int file = SystemCalls::open(path, flags);  // the temporary file is really there
    if (file < 0 || (flags & O_DIRECTORY) != 0) return file;
    ::close(file);
    return SystemCalls::open("/dev/full", O_WRONLY);
  }
};

}  // namespace

TEST_CASE("nothing shows under the final name before the commit") {
  const TempFolder folder;
  const std::string path = folder / "model";
  {
    AtomicFile file(path);
    file.append(bytes_of("one "));
    file.append(bytes_of("two"));
    CHECK_FALSE(fs::exists(path));
    CHECK(fs::exists(path + ".tmp"));
    file.commit();
    CHECK(read_text(path) == "one two");
    CHECK_FALSE(fs::exists(path + ".tmp"));
    CHECK_THROWS_AS(file.append(bytes_of("more")), InternalError);
    CHECK_THROWS_AS(file.commit(), InternalError);
  }
  CHECK(read_text(path) == "one two");
}

TEST_CASE("what is not committed leaves nothing behind") {
  const TempFolder folder;
  const std::string path = folder / "model";
  write_text(path, "old");
  write_text(path + ".tmp", "left by a crash, and longer");
  { AtomicFile(path).append(bytes_of("new")); }
  CHECK(read_text(path) == "old");
  CHECK_FALSE(fs::exists(path + ".tmp"));
  write_text(path + ".tmp", "left by a crash, and longer");
  write_atomically(path, "new");
  CHECK(read_text(path) == "new");
}

TEST_CASE("data reach the disk before the name does, and the name before we go on") {
  const TempFolder folder;
  const Recording calls;
  write_atomically(folder / "model", "text", calls);
  const std::string parent = fs::path(folder / "model").parent_path().filename().string();
  CHECK(calls.log == "open model.tmp; write; sync; rename model.tmp model; open " + parent + "; sync; ");
}

TEST_CASE("short and interrupted writes are continued") {
  const TempFolder folder;
  const ShortWrites calls;
  write_atomically(folder / "model", "0123456789", calls);
  CHECK(read_text(folder / "model") == "0123456789");
  CHECK(calls.calls == 8);
}

TEST_CASE("a full disk: one line, the old file intact, no temporary file") {
  const TempFolder folder;
  const std::string path = folder / "model";
  write_text(path, "old");
  const FullDisk calls;
  AtomicFile file(path, calls);
  CHECK(message_of([&] { file.append(bytes_of("new")); }) ==
        "cannot write " + path + ".tmp: No space left on device");
  CHECK_FALSE(fs::exists(path + ".tmp"));
  CHECK_THROWS_AS(file.append(bytes_of("more")), InternalError);
  CHECK_THROWS_AS(file.commit(), InternalError);
  CHECK(read_text(path) == "old");
}

TEST_CASE("a failure of any call leaves the old file intact") {
  for (const char* call : {"write", "sync", "rename"}) {
    INFO(call);
    const TempFolder folder;
    const std::string path = folder / "model";
    write_text(path, "old");
    const Failing calls(call, EIO);
    CHECK(message_of([&] { write_atomically(path, "new", calls); }).find(": Input/output error") !=
          std::string::npos);
    CHECK(read_text(path) == "old");
    CHECK_FALSE(fs::exists(path + ".tmp"));
  }
}

TEST_CASE("a file that cannot be there") {
  const TempFolder folder;
  CHECK(message_of([] { write_atomically("/dev/null/model", "x"); }) ==
        "cannot write /dev/null/model.tmp: Not a directory");
  CHECK(message_of([&] { write_atomically(folder / "missing/model", "x"); }) ==
        "cannot write " + (folder / "missing/model.tmp") + ": No such file or directory");
  fs::create_directory(folder / "model");
  CHECK(message_of([&] { write_atomically(folder / "model", "x"); }) ==
        "cannot write " + (folder / "model") + ": Is a directory");
  CHECK_FALSE(fs::exists(folder / "model.tmp"));
}

TEST_CASE("a failed append cuts the file back to whole appends") {
  const TempFolder folder;
  const std::string path = folder / "log";
  const pid_t child = ::fork();
  if (child == 0) {  // the limit cannot be taken back, hence a process of its own
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{10, 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    OutputFile file(path, OutputFile::Start::kAppend);
    file.append(bytes_of("line 1\n"));
    const bool refused =
        message_of([&] { file.append(bytes_of("line 2\n")); }) == "cannot write " + path + ": File too large";
    ::_exit(refused ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(read_text(path) == "line 1\n");
}

TEST_CASE("appending keeps what is there") {
  const TempFolder folder;
  write_text(folder / "log", "old\n");
  auto file = std::make_unique<OutputFile>(folder / "log", OutputFile::Start::kAppend);
  OutputFile moved(std::move(*file));
  file.reset();
  moved.append(bytes_of("new\n"));
  CHECK(read_text(folder / "log") == "old\nnew\n");
  OutputFile(folder / "log", OutputFile::Start::kEmpty).sync();
  CHECK(read_text(folder / "log").empty());
}

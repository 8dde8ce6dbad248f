#include "runtime/output/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "layers/error.h"

namespace stagger::runtime::output {
namespace {

/// Syncs, or finds that the file (a pipe, a device, some network folders) has nothing to sync.
bool synced(const SystemCalls& calls, int descriptor) {
  return calls.sync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

}  // namespace

void throw_cannot_write(const std::string& path) {
  throw layers::ConfigError("cannot write " + path + ": " + std::generic_category().message(errno));
}

OutputFile::OutputFile(std::string path, Start start, const SystemCalls& calls)
    : path_(std::move(path)), calls_(&calls) {
  const int where = start == Start::kEmpty ? O_TRUNC : O_APPEND;
  descriptor_ = calls_->open(path_, O_WRONLY | O_CREAT | O_CLOEXEC | where);
  if (descriptor_ < 0) throw_cannot_write(path_);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      calls_(other.calls_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

void OutputFile::append(std::span<const std::byte> bytes) {
  layers::require(descriptor_ >= 0, "a closed file is written to");
  const off_t size_before = ::lseek(descriptor_, 0, SEEK_END);
  while (!bytes.empty()) {
    const ssize_t written = calls_->write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int reason = errno;
      if (size_before >= 0) (void)calls_->truncate(descriptor_, size_before);
      errno = reason;
      throw_cannot_write(path_);
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void OutputFile::sync() {
  layers::require(descriptor_ >= 0, "a closed file is synced");
  if (!synced(*calls_, descriptor_)) throw_cannot_write(path_);
}

void OutputFile::close() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void sync_folder_of(const std::string& path, const SystemCalls& calls) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? std::string(".") : parent.string();
  const int descriptor = calls.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw_cannot_write(folder);
  const bool done = synced(calls, descriptor);
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  if (!done) throw_cannot_write(folder);
}

}  // namespace stagger::runtime::output

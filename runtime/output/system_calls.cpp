#include "runtime/output/system_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace stagger::runtime::output {

constexpr mode_t kReadWriteForAll = 0666;  // less what the user's umask forbids

int SystemCalls::open(const std::string& path, int flags) const {
  return ::open(path.c_str(), flags, kReadWriteForAll);
}

ssize_t SystemCalls::write(int file, const void* bytes, size_t count) const {
  return ::write(file, bytes, count);
}

int SystemCalls::sync(int file) const { return ::fsync(file); }

int SystemCalls::truncate(int file, off_t size) const { return ::ftruncate(file, size); }

int SystemCalls::rename(const std::string& from, const std::string& to) const {
  return std::rename(from.c_str(), to.c_str());
}

const SystemCalls& system_calls() {
  static const SystemCalls calls;
  return calls;
}

}  // namespace stagger::runtime::output

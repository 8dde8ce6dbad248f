// The system calls that files are written with: the seam at which a test makes one fail.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace stagger::runtime::output {

/// Each call is the one of its name in POSIX: -1 and errno on failure.
class SystemCalls {
 public:
  virtual ~SystemCalls() = default;
  SystemCalls() = default;
  SystemCalls(const SystemCalls&) = delete;
  SystemCalls& operator=(const SystemCalls&) = delete;

  virtual int open(const std::string& path, int flags) const;
  virtual ssize_t write(int file, const void* bytes, size_t count) const;
  virtual int sync(int file) const;
  virtual int truncate(int file, off_t size) const;
  virtual int rename(const std::string& from, const std::string& to) const;
};

/// The operating system's own. Holds no state.
const SystemCalls& system_calls();

}  // namespace stagger::runtime::output

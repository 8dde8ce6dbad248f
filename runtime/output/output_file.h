// A file that grows at its end, and whose every failure is seen.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "runtime/output/system_calls.h"

namespace stagger::runtime::output {

/// Owns a file descriptor. Every failure throws ConfigError: "cannot write FILE: No space left on device".
/// Not thread-safe. `calls` must outlive it.
class OutputFile {
 public:
  enum class Start {
    kEmpty,   ///< what the file held before is lost
    kAppend,  ///< what is written goes after it
  };

  OutputFile(std::string path, Start start, const SystemCalls& calls = system_calls());
  ~OutputFile() { close(); }
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Writes all of `bytes`, in one system call where the system takes them at once. On failure the file is
  /// cut back to what it held before, where the system lets it.
  void append(std::span<const std::byte> bytes);
  /// Returns once the disk has it.
  void sync();
  void close() noexcept;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const SystemCalls* calls_;
  int descriptor_ = -1;
};

/// Returns once the disk knows which files the folder of `path` holds.
void sync_folder_of(const std::string& path, const SystemCalls& calls = system_calls());

/// The ConfigError for `path` with the reason in errno.
[[noreturn]] void throw_cannot_write(const std::string& path);

}  // namespace stagger::runtime::output

// A file that appears whole or not at all.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/output/output_file.h"

namespace stagger::runtime::output {

/// Writes beside `path`, in `path`.tmp, and takes its name only when everything is on the disk: whoever opens
/// `path`, also after a crash, finds the old file or the whole new one.
///
/// A failure of any call throws ConfigError ("cannot write FILE: No space left on device") and removes the
/// temporary file; so does the destructor where commit() was not called. Not thread-safe; one writer a path
/// at a time.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path, const SystemCalls& calls = system_calls());
  ~AtomicFile() { discard(); }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// REQUIRES: neither committed nor failed.
  void append(std::span<const std::byte> bytes);
  /// Puts the file in its place. If only the last step fails, syncing the folder, the new file is there all
  /// the same. REQUIRES: as append().
  void commit();
  /// Gives up: removes the temporary file. Does nothing after commit().
  void discard() noexcept;

  const std::string& path() const { return path_; }

 private:
  /// Runs `action` on the open file; discards where it throws.
  template <class Action>
  void guarded(Action action);

  std::string path_;
  const SystemCalls& calls_;
  std::optional<OutputFile> file_;  // empty once committed or discarded
};

/// A whole file at once.
void write_atomically(const std::string& path, std::string_view text,
                      const SystemCalls& calls = system_calls());

}  // namespace stagger::runtime::output

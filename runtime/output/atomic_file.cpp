#include "runtime/output/atomic_file.h"

#include <unistd.h>

#include <utility>

#include "layers/error.h"

namespace stagger::runtime::output {

AtomicFile::AtomicFile(std::string path, const SystemCalls& calls) : path_(std::move(path)), calls_(calls) {
  file_.emplace(path_ + ".tmp", OutputFile::Start::kEmpty, calls_);
}

template <class Action>
void AtomicFile::guarded(Action action) {
  layers::require(file_.has_value(), "a file that was committed or has failed is written to");
  try {
    action(*file_);
  } catch (...) {
    discard();
    throw;
  }
}

void AtomicFile::append(std::span<const std::byte> bytes) {
  guarded([&](OutputFile& file) { file.append(bytes); });
}

void AtomicFile::commit() {
  guarded([&](OutputFile& file) {
    file.sync();
    file.close();
    if (calls_.rename(file.path(), path_) != 0) throw_cannot_write(path_);
  });
  file_.reset();
  sync_folder_of(path_, calls_);
}

void AtomicFile::discard() noexcept {
  if (!file_) return;
  (void)::unlink(file_->path().c_str());
  file_.reset();
}

void write_atomically(const std::string& path, std::string_view text, const SystemCalls& calls) {
  AtomicFile file(path, calls);
  file.append(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace stagger::runtime::output

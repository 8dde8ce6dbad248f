// A file that is read from front to back, unpacked on the way if it is gzipped.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace stagger::runtime::data {

/// Plain and gzipped files alike; which one is told by the first two bytes, not by the name. Not thread-safe.
///
/// Every failure is a DataError that starts with the file's name. Unlike zlib's own gzread, it refuses bytes
/// behind the last gzip member, and tells a file that ends too early from one that ends.
class InputFile {
 public:
  /// Throws DataError where `path` cannot be opened or is not a regular file.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  /// Reads the next `size` bytes into `out`; fewer only at the end of the file. Returns how many. The read
  /// that meets the end has also checked gzip's checksum. Throws DataError where reading fails or gzip data
  /// is corrupt or cut short.
  int64_t read(uint8_t* out, int64_t size);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  [[noreturn]] void fail(const std::string& what) const;
  /// Makes packed bytes available unless some are. False at the end of the file.
  bool refill();
  void copy_plain();
  void inflate_some();
  /// After the end of a gzip member: at the next one, or at the end of the file.
  void next_member();

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<uint8_t> buffer_;
  z_stream stream_{};
  bool gzipped_ = false;
  bool ended_ = false;
};

}  // namespace stagger::runtime::data

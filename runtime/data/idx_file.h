// One file in the IDX format of MNIST (LeCun, Cortes, Burges: "The MNIST database of handwritten digits").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/data/input_file.h"

namespace stagger::runtime::data {

/// A file of unsigned bytes: big-endian magic number, one 32-bit size a dimension, then the bytes.
///
/// Nothing that a header says is believed before the file has shown it: memory grows with what was read.
/// Every failure is a DataError that starts with the file's name.
class IdxFile {
 public:
  static constexpr uint32_t kImages = 0x00000803;
  static constexpr uint32_t kLabels = 0x00000801;

  /// Reads the header. `magic` is kImages or kLabels; its last byte is the number of dimensions. Throws
  /// DataError where the file cannot be read, ends inside its header, has another magic number, a size of 0,
  /// or more bytes than 63 bits count.
  IdxFile(const std::string& path, uint32_t magic);

  const std::string& path() const { return file_.path(); }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  /// The bytes behind the header; once. Throws DataError where they are fewer or more than the sizes say, or
  /// do not fit into memory.
  std::vector<uint8_t> read_body();

 private:
  [[noreturn]] void fail(const std::string& what) const;
  uint32_t read_word(int64_t position, int64_t header_bytes);
  std::string sizes_in_words() const;
  std::vector<uint8_t> read_at_most(int64_t bytes);

  InputFile file_;
  std::vector<int64_t> sizes_;
  int64_t bytes_ = 1;
};

}  // namespace stagger::runtime::data

// Reads a model in the safetensors format, trusting nothing in it.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/output/safetensors_writer.h"

namespace stagger::runtime::output {

/// A file of f32 tensors whose header has been read and checked against the file's size.
///
/// Throws DataError, naming the file, where it cannot be read, is truncated or longer than its header says,
/// its header is no such JSON (or larger than 100 MB, or nested deeper than the format is), tensors overlap,
/// leave gaps, or have a size other than their shape's, or are not F32. Not thread-safe.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(std::string path);

  /// In the order of their data.
  const std::vector<TensorEntry>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  bool contains(const std::string& name) const { return offsets_.contains(name); }
  /// Writes tensor `name` to `out`. Throws DataError where there is none, or it has another number of
  /// elements.
  void read(const std::string& name, std::span<float> out);

 private:
  void parse(const std::string& header, int64_t data_bytes);

  std::string path_;
  std::ifstream file_;
  int64_t data_start_ = 0;  // in bytes from the start of the file
  std::vector<TensorEntry> tensors_;
  std::map<std::string, int64_t> offsets_;  // in bytes from data_start_
  std::map<std::string, std::string> metadata_;
};

}  // namespace stagger::runtime::output

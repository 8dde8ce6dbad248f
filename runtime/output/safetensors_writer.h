// Writes a model in the safetensors format (https://github.com/huggingface/safetensors, "Format").
//
// A file is an unsigned 64-bit little-endian length, that many bytes of JSON that say where each tensor lies,
// and the tensors' bytes without gaps. Any tool that knows the format can read it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "layers/shape.h"
#include "runtime/output/atomic_file.h"

namespace stagger::runtime::output {

/// A tensor of f32 numbers, dense and row-major.
struct TensorEntry {
  std::string name;
  layers::Shape shape;
};

/// Streams a file of f32 tensors; it appears whole at finish(), or not at all (atomic_file.h, whose errors it
/// throws).
///
/// Numbers come in the order of `tensors`, in pieces of any size: a piece may end within a tensor or span
/// several.
class SafetensorsWriter {
 public:
  /// Throws InternalError where two tensors have one name, or one is called "__metadata__".
  SafetensorsWriter(std::string path, std::span<const TensorEntry> tensors,
                    const std::map<std::string, std::string>& metadata,
                    const SystemCalls& calls = system_calls());

  /// Throws InternalError where there are more numbers than the tensors hold.
  void append(std::span<const float> values);
  /// Puts the file in its place. Throws InternalError where numbers are missing: then there is no file.
  void finish();

  /// Numbers still to come.
  int64_t missing() const { return missing_; }

 private:
  AtomicFile file_;
  int64_t missing_ = 0;
};

}  // namespace stagger::runtime::output

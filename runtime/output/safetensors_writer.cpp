#include "runtime/output/safetensors_writer.h"

#include <bit>
#include <nlohmann/json.hpp>
#include <utility>

#include "layers/checked.h"
#include "layers/error.h"
#include "runtime/output/safetensors_format.h"

namespace stagger::runtime::output {
namespace {

using nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

/// The header of `tensors`, padded with spaces so that the data begin at a multiple of 8 bytes.
std::string make_header(std::span<const TensorEntry> tensors,
                        const std::map<std::string, std::string>& metadata) {
  ordered_json header = ordered_json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  int64_t offset = 0;
  for (const TensorEntry& tensor : tensors) {
    layers::require(tensor.name != kMetadataKey && !header.contains(tensor.name),
                    "two tensors of a model have one name");
    const int64_t end = offset + layers::checked_product(tensor.shape.elements(), kBytesPerNumber);
    header[tensor.name] = {{"dtype", kF32}, {"shape", tensor.shape.sizes()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  // Metadata may hold what a user typed: bytes that are no UTF-8 must not cost the model.
  std::string text = header.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  text.resize(static_cast<size_t>(layers::round_up(layers::narrow<int64_t>(text.size()), kAlignment)), ' ');
  return text;
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(std::string path, std::span<const TensorEntry> tensors,
                                     const std::map<std::string, std::string>& metadata,
                                     const SystemCalls& calls)
    : file_(std::move(path), calls) {
  const std::string header = make_header(tensors, metadata);
  const auto length = static_cast<uint64_t>(header.size());
  file_.append(std::as_bytes(std::span(&length, 1)));
  file_.append(std::as_bytes(std::span(header)));
  for (const TensorEntry& tensor : tensors) missing_ += tensor.shape.elements();
}

void SafetensorsWriter::append(std::span<const float> values) {
  layers::require(layers::narrow<int64_t>(values.size()) <= missing_,
                  "more numbers than the tensors of the model hold");
  file_.append(std::as_bytes(values));
  missing_ -= layers::narrow<int64_t>(values.size());
}

void SafetensorsWriter::finish() {
  if (missing_ != 0) {
    file_.discard();
    throw layers::InternalError("model file " + file_.path() + " lacks " + std::to_string(missing_) +
                                " numbers");
  }
  file_.commit();
}

}  // namespace stagger::runtime::output

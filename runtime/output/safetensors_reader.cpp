#include "runtime/output/safetensors_reader.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "layers/checked.h"
#include "layers/error.h"
#include "runtime/output/safetensors_format.h"

namespace stagger::runtime::output {
namespace {

using layers::DataError;
using nlohmann::json;

constexpr int kMostDepth = 3;  // header, tensor, list of sizes

struct StoredTensor {
  TensorEntry entry;
  int64_t begin = 0;
  int64_t end = 0;
};

/// Parses while watching depth and repeated keys, which the library would accept.
json parse_json(const std::string& text) {
  std::set<std::string> names;
  const auto watch = [&names](int depth, json::parse_event_t event, json& parsed) {
    const bool opens =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth >= kMostDepth) throw DataError("its header is nested too deeply");
    if (event == json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second) {
      throw DataError("its header names " + parsed.dump() + " twice");
    }
    return true;
  };
  try {
    json header = json::parse(text, watch);
    if (!header.is_object()) throw DataError("its header is not a JSON object");
    return header;
  } catch (const json::exception&) {
    throw DataError("its header is not JSON");
  }
}

/// The list of whole numbers >= 0 under `key` of `tensor`.
std::vector<int64_t> numbers_of(const json& tensor, const char* key) {
  std::vector<int64_t> list;
  const auto found = tensor.find(key);
  bool good = found != tensor.end() && found->is_array();
  for (size_t i = 0; good && i < found->size(); ++i) {
    const json& number = (*found)[i];
    good = number.is_number_unsigned() && std::in_range<int64_t>(number.get<uint64_t>());
    if (good) list.push_back(number.get<int64_t>());
  }
  if (!good) throw DataError(std::string("its ") + key + " is not a list of whole numbers");
  return list;
}

StoredTensor parse_tensor(const std::string& name, const json& value) try {
  if (!value.is_object()) throw DataError("it is not a JSON object");
  const auto type = value.find("dtype");
  if (type == value.end() || *type != kF32) {
    throw DataError("its dtype is " + (type == value.end() ? "missing" : type->dump()) +
                    "; only \"F32\" is read");
  }
  const std::vector<int64_t> offsets = numbers_of(value, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    throw DataError("its data_offsets are not a begin and an end");
  StoredTensor tensor{
      .entry = {name, layers::Shape(numbers_of(value, "shape"))}, .begin = offsets[0], .end = offsets[1]};
  const int64_t bytes = tensor.end - tensor.begin;
  if (bytes % kBytesPerNumber != 0 || bytes / kBytesPerNumber != tensor.entry.shape.elements()) {
    throw DataError("it has " + std::to_string(bytes) + " bytes, which is not 4 for each element of " +
                    tensor.entry.shape.to_string());
  }
  return tensor;
} catch (const std::runtime_error& error) {  // also what Shape throws
  throw DataError("tensor '" + name + "': " + error.what());
}

/// Sorts by place; throws unless the tensors cover all of the data, each byte once.
void check_cover(std::vector<StoredTensor>& tensors, int64_t data_bytes) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  int64_t covered = 0;
  for (const StoredTensor& tensor : tensors) {
    if (tensor.begin != covered) {
      throw DataError("tensor '" + tensor.entry.name + "' begins at byte " + std::to_string(tensor.begin) +
                      " of the data; " + std::to_string(covered) + " expected");
    }
    covered = tensor.end;
  }
  if (covered != data_bytes) {
    throw DataError("it holds " + std::to_string(data_bytes) + " bytes of data; its header says " +
                    std::to_string(covered));
  }
}

std::map<std::string, std::string> parse_metadata(const json& value) {
  const auto is_text = [](const json& entry) { return entry.is_string(); };
  if (!value.is_object() || !std::all_of(value.begin(), value.end(), is_text)) {
    throw DataError("its __metadata__ is not a JSON object of strings");
  }
  return value.get<std::map<std::string, std::string>>();
}

/// The JSON text at the start of `file`, which has `size` bytes.
std::string read_header(std::istream& file, int64_t size) {
  uint64_t length = 0;
  if (size < kLengthBytes || !file.read(reinterpret_cast<char*>(&length), kLengthBytes)) {
    throw DataError("it is too short for a header");
  }
  if (length > static_cast<uint64_t>(kMostHeaderBytes) ||
      length > static_cast<uint64_t>(size - kLengthBytes)) {
    throw DataError("its header would have " + std::to_string(length) + " bytes; the file has " +
                    std::to_string(size));
  }
  std::string header(static_cast<size_t>(length), ' ');
  if (!file.read(header.data(), static_cast<std::streamsize>(length)))
    throw DataError("its header cannot be read");
  return header;
}

}  // namespace

SafetensorsReader::SafetensorsReader(std::string path) : path_(std::move(path)) {
  std::error_code failure;
  const auto size = std::filesystem::file_size(path_, failure);
  if (failure) throw DataError("cannot read " + path_ + ": " + failure.message());
  file_.open(path_, std::ios::binary);
  if (!file_) throw DataError("cannot read " + path_);
  try {
    const auto bytes = layers::narrow<int64_t>(size);
    const std::string header = read_header(file_, bytes);
    data_start_ = kLengthBytes + layers::narrow<int64_t>(header.size());
    parse(header, bytes - data_start_);
  } catch (const DataError& error) {
    throw DataError("cannot read model file " + path_ + ": " + error.what());
  }
}

void SafetensorsReader::parse(const std::string& header, int64_t data_bytes) {
  const json parsed = parse_json(header);
  std::vector<StoredTensor> stored;
  for (const auto& [name, value] : parsed.items()) {
    if (name == kMetadataKey) {
      metadata_ = parse_metadata(value);
    } else {
      stored.push_back(parse_tensor(name, value));
    }
  }
  check_cover(stored, data_bytes);
  for (StoredTensor& tensor : stored) {
    offsets_[tensor.entry.name] = tensor.begin;
    tensors_.push_back(std::move(tensor.entry));
  }
}

void SafetensorsReader::read(const std::string& name, std::span<float> out) {
  const auto found =
      std::find_if(tensors_.begin(), tensors_.end(), [&](const TensorEntry& t) { return t.name == name; });
  if (found == tensors_.end()) throw DataError("model file " + path_ + " has no tensor '" + name + "'");
  if (found->shape.elements() != layers::narrow<int64_t>(out.size())) {
    throw DataError("model file " + path_ + ": tensor '" + name + "' is " + found->shape.to_string() + "; " +
                    std::to_string(out.size()) + " numbers expected");
  }
  file_.clear();
  file_.seekg(data_start_ + offsets_.at(name));
  const auto bytes = layers::narrow<std::streamsize>(out.size_bytes());
  if (!file_.read(reinterpret_cast<char*>(out.data()), bytes)) {
    throw DataError("cannot read model file " + path_ + ": it became shorter");
  }
}

}  // namespace stagger::runtime::output

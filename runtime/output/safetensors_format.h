// The constants of the safetensors format that its writer and its reader share.
#pragma once

#include <cstdint>

namespace stagger::runtime::output {

constexpr const char* kMetadataKey = "__metadata__";  // the one key of the header that is no tensor
constexpr const char* kF32 = "F32";
constexpr int64_t kBytesPerNumber = 4;
constexpr int64_t kAlignment = 8;
constexpr int64_t kLengthBytes = 8;
constexpr int64_t kMostHeaderBytes = 100'000'000;  // the limit of the reference implementation

}  // namespace stagger::runtime::output

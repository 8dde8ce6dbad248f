// Model files: their bytes by hand and by an independent reader, and every way in which one can be broken.
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

#include "layers/error.h"
#include "runtime/output/safetensors_reader.h"
#include "runtime/output/safetensors_writer.h"
#include "tests/catch.h"
#include "tests/temp_folder.h"
#include "tests/text_file.h"

using namespace stagger::runtime::output;
using stagger::layers::ConfigError;
using stagger::layers::DataError;
using stagger::layers::InternalError;
using stagger::tests::read_text;
using stagger::tests::TempFolder;
using stagger::tests::write_text;

namespace {

const std::vector<TensorEntry> kTensors{{"fc.weight", {2, 3}}, {"fc.bias", {2}}, {"scalar", {}}};

std::vector<float> ramp(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.5F);
  return values;
}

std::string file_with_header(const std::string& header, size_t data_bytes) {
  const auto length = static_cast<uint64_t>(header.size());
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\0');
}

/// What the reader says of a file of these bytes, after its name.
std::string complaint(const std::string& bytes) {
  const TempFolder folder;
  write_text(folder / "m", bytes);
  try {
    SafetensorsReader(folder / "m");
  } catch (const DataError& error) {
    const std::string start = "cannot read model file " + (folder / "m") + ": ";
    const std::string message = error.what();
    return message.starts_with(start) ? message.substr(start.size()) : "unexpected: " + message;
  }
  return "no DataError";
}

std::string complaint_of_header(const std::string& header, size_t data_bytes = 0) {
  return complaint(file_with_header(header, data_bytes));
}

std::string output_of(const std::string& command) {
  const auto close = [](FILE* pipe) { CHECK(::pclose(pipe) == 0); };
  const std::unique_ptr<FILE, decltype(close)> pipe(::popen(command.c_str(), "r"), close);
  REQUIRE(pipe);
  std::string text;
  std::array<char, 4096> part{};
  while (const size_t count = std::fread(part.data(), 1, part.size(), pipe.get()))
    text.append(part.data(), count);
  return text;
}

}  // namespace

TEST_CASE("the bytes of a model file, by hand") {
  const TempFolder folder;
  SafetensorsWriter writer(folder / "m", std::vector<TensorEntry>{{"a", {2}}}, {});
  writer.append(std::vector<float>{1.0F, -2.0F});
  writer.finish();
  const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";  // 54 bytes
  const std::string expected =
      std::string("\x38\0\0\0\0\0\0\0", 8) + header + "  " + std::string("\0\0\x80\x3f\0\0\0\xc0", 8);
  CHECK(read_text(folder / "m") == expected);
}

TEST_CASE("an independent reader finds what was written") {
  const TempFolder folder;
  SafetensorsWriter writer(folder / "m", kTensors,
                           {{"model", "resnet20"}, {"note", "a \"quoted\" \xc3\xa9\n"}});
  for (float value : ramp(9)) writer.append({&value, 1});
  writer.finish();
  const std::string text =
      output_of("python3 " STAGGER_SOURCE_DIR "/tests/golden/read_safetensors.py " + (folder / "m"));
  CHECK(
      text ==
      "meta model=resnet20\nmeta note=a \"quoted\" \xc3\xa9\n\n"
      "tensor fc.weight [2, 3] 0.5 1.5 2.5 3.5 4.5 5.5\ntensor fc.bias [2] 6.5 7.5\ntensor scalar [] 8.5\n");
}

TEST_CASE("our reader finds what was written, in pieces of any size") {
  const TempFolder folder;
  const std::vector<float> values = ramp(9);
  for (size_t piece : {1U, 4U, 7U, 9U}) {
    SafetensorsWriter writer(folder / "m", kTensors, {{"k", "v"}});
    CHECK(writer.missing() == 9);
    for (size_t at = 0; at < 9; at += piece)
      writer.append(std::span(values).subspan(at, std::min(piece, 9 - at)));
    writer.finish();
    SafetensorsReader reader(folder / "m");
    CHECK(reader.metadata() == std::map<std::string, std::string>{{"k", "v"}});
    REQUIRE(reader.tensors().size() == 3);
    for (size_t t = 0; t < 3; ++t) {
      CHECK(reader.tensors()[t].name == kTensors[t].name);
      CHECK(reader.tensors()[t].shape == kTensors[t].shape);
    }
    std::vector<float> bias(2), weight(6);
    reader.read("fc.bias", bias);
    reader.read("fc.weight", weight);
    CHECK(bias == std::vector<float>{6.5F, 7.5F});
    CHECK(weight == std::vector<float>(values.begin(), values.begin() + 6));
    CHECK(reader.contains("scalar"));
    CHECK_FALSE(reader.contains("k"));
    CHECK_THROWS_WITH(reader.read("fc.weight", bias),
                      "model file " + (folder / "m") + ": tensor 'fc.weight' is 2x3; 2 numbers expected");
    CHECK_THROWS_AS(reader.read("missing", bias), DataError);
  }
}

TEST_CASE("too few or too many numbers make no file") {
  const TempFolder folder;
  SafetensorsWriter writer(folder / "m", kTensors, {});
  writer.append(ramp(8));
  CHECK_THROWS_AS(writer.append(ramp(2)), InternalError);
  CHECK_THROWS_AS(writer.finish(), InternalError);
  CHECK_FALSE(std::filesystem::exists(folder / "m"));
  CHECK_FALSE(std::filesystem::exists(folder / "m.tmp"));
  CHECK_THROWS_AS(SafetensorsWriter(folder / "m", std::vector<TensorEntry>{{"a", {1}}, {"a", {2}}}, {}),
                  InternalError);
  CHECK_THROWS_AS(SafetensorsWriter(folder / "m", std::vector<TensorEntry>{{"__metadata__", {1}}}, {}),
                  InternalError);
  CHECK_FALSE(std::filesystem::exists(folder / "m.tmp"));
}

TEST_CASE("metadata that are no UTF-8 do not cost the model") {
  const TempFolder folder;
  SafetensorsWriter writer(folder / "m", {}, {{"path", "caf\xe9"}});
  writer.finish();
  CHECK(SafetensorsReader(folder / "m").metadata().at("path") == "caf\xef\xbf\xbd");
}

TEST_CASE("a disk that fills up while a model is written keeps the old one") {
  class Full : public SystemCalls {
   public:
    ssize_t write(int file, const void* bytes, size_t count) const override {
      room -= static_cast<int64_t>(count);
      if (room >= 0) return SystemCalls::write(file, bytes, count);
      errno = ENOSPC;
      return -1;
    }
    mutable int64_t room = 400;
  };
  const TempFolder folder;
  write_text(folder / "m", "old");
  const Full calls;
  SafetensorsWriter writer(folder / "m", std::vector<TensorEntry>{{"a", {100}}}, {}, calls);
  CHECK_THROWS_AS(writer.append(ramp(100)), ConfigError);
  CHECK(read_text(folder / "m") == "old");
  CHECK_FALSE(std::filesystem::exists(folder / "m.tmp"));
}

TEST_CASE("broken files are refused with the reason") {
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  CHECK(complaint_of_header(good, 8) == "no DataError");
  CHECK(complaint_of_header("{}") == "no DataError");
  CHECK(complaint("") == "it is too short for a header");
  CHECK(complaint("\x01") == "it is too short for a header");
  CHECK(complaint(std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8) + good) ==
        "its header would have 18446744073709551615 bytes; the file has 62");
  CHECK(complaint(file_with_header(good, 0).substr(0, 40)) ==
        "its header would have 54 bytes; the file has 40");
  CHECK(complaint_of_header(good, 7) == "it holds 7 bytes of data; its header says 8");
  CHECK(complaint_of_header(good, 9) == "it holds 9 bytes of data; its header says 8");
  CHECK(complaint_of_header("{") == "its header is not JSON");
  CHECK(complaint_of_header("[]") == "its header is not a JSON object");
  CHECK(complaint_of_header(R"({"a":)" + std::string(100000, '[')) == "its header is nested too deeply");
  CHECK(complaint_of_header(R"({"a":[[[]]]})") == "its header is nested too deeply");
  CHECK(complaint_of_header(R"({"a":1})") == "tensor 'a': it is not a JSON object");
  CHECK(complaint_of_header(R"({"__metadata__":{"a":1}})") ==
        "its __metadata__ is not a JSON object of strings");
  CHECK(complaint_of_header(R"({"__metadata__":"a"})") == "its __metadata__ is not a JSON object of strings");
}

TEST_CASE("a header of more than 100 MB is not read") {
  const TempFolder folder;
  write_text(folder / "m", file_with_header(std::string(8, ' '), 0).replace(3, 1, "\x10"));  // 2^28 + 8 bytes
  std::filesystem::resize_file(folder / "m", 1 << 29);                                       // takes no room
  CHECK_THROWS_WITH(SafetensorsReader(folder / "m"),
                    "cannot read model file " + (folder / "m") +
                        ": its header would have 268435464 bytes; the file has 536870912");
}

TEST_CASE("broken tensors are refused with the reason") {
  const auto complain = [](const std::string& tensor, size_t data_bytes = 8) {
    return complaint_of_header(R"({"a":{)" + tensor + "}}", data_bytes);
  };
  const std::string f32 = R"("dtype":"F32",)";
  CHECK(complain(R"("shape":[2],"data_offsets":[0,8])") ==
        "tensor 'a': its dtype is missing; only \"F32\" is read");
  CHECK(complain(R"("dtype":"BF16","shape":[4],"data_offsets":[0,8])") ==
        "tensor 'a': its dtype is \"BF16\"; only \"F32\" is read");
  CHECK(complain(f32 + R"("shape":[-2],"data_offsets":[0,8])") ==
        "tensor 'a': its shape is not a list of whole numbers");
  CHECK(complain(f32 + R"("shape":2,"data_offsets":[0,8])") ==
        "tensor 'a': its shape is not a list of whole numbers");
  CHECK(complain(f32 + R"("shape":[2])") == "tensor 'a': its data_offsets is not a list of whole numbers");
  CHECK(complain(f32 + R"("shape":[2],"data_offsets":[0,8.0])") ==
        "tensor 'a': its data_offsets is not a list of whole numbers");
  CHECK(complain(f32 + R"("shape":[2],"data_offsets":[0,18446744073709551615])") ==
        "tensor 'a': its data_offsets is not a list of whole numbers");
  CHECK(complain(f32 + R"("shape":[2],"data_offsets":[8,0])") ==
        "tensor 'a': its data_offsets are not a begin and an end");
  CHECK(complain(f32 + R"("shape":[3],"data_offsets":[0,8])") ==
        "tensor 'a': it has 8 bytes, which is not 4 for each element of 3");
  CHECK(complain(f32 + R"("shape":[2],"data_offsets":[0,9])", 9) ==
        "tensor 'a': it has 9 bytes, which is not 4 for each element of 2");
  CHECK(complain(f32 + R"("shape":[4294967296,4294967296],"data_offsets":[0,0])", 0).find("too large") !=
        std::string::npos);
  CHECK(complain(f32 + R"("shape":[0],"data_offsets":[0,0])", 0) ==
        "tensor 'a': a shape has a size of 0; sizes are 1 or more");
  const std::string two = R"("b":{"dtype":"F32","shape":[1],"data_offsets":)";
  CHECK(complain(f32 + R"("shape":[2],"data_offsets":[0,8]},)" + two + "[4,8]") ==
        "tensor 'b' begins at byte 4 of the data; 8 expected");
  CHECK(complain(f32 + R"("shape":[2],"data_offsets":[0,8]},)" + two + "[12,16]", 16) ==
        "tensor 'b' begins at byte 12 of the data; 8 expected");
  CHECK(complain(
            f32 + R"("shape":[2],"data_offsets":[0,8]},"a":{)" + f32 + R"("shape":[2],"data_offsets":[8,16])",
            16) == "its header names \"a\" twice");
}

TEST_CASE("files that are not there") {
  CHECK_THROWS_WITH(SafetensorsReader("/missing/m"), "cannot read /missing/m: No such file or directory");
  CHECK_THROWS_AS(SafetensorsReader("/tmp"), DataError);
}

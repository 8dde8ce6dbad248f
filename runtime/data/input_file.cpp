#include "runtime/data/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "layers/error.h"

namespace stagger::runtime::data {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 17;
// zlib counts in unsigned int.
constexpr int64_t kMaxRead = int64_t{1} << 30;
constexpr int kGzipWindow = 15 + 16;

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)), buffer_(kBufferBytes) {
  std::error_code error;
  const auto status = std::filesystem::status(path_, error);
  if (status.type() == std::filesystem::file_type::not_found) fail("no such file");
  if (error) fail("cannot be opened: " + error.message());
  // Checked before it is opened: opening a named pipe would wait for a writer.
  if (std::filesystem::is_directory(status)) fail("is a directory; a file is expected");
  if (!std::filesystem::is_regular_file(status)) fail("is not a regular file");
  file_.reset(std::fopen(path_.c_str(), "rbe"));
  if (!file_) fail(std::string("cannot be opened: ") + std::strerror(errno));

  if (!refill()) ended_ = true;
  gzipped_ = stream_.avail_in >= 2 && buffer_[0] == 0x1f && buffer_[1] == 0x8b;
  if (gzipped_ && inflateInit2(&stream_, kGzipWindow) != Z_OK) fail("cannot be unpacked: zlib cannot start");
}

InputFile::~InputFile() {
  if (gzipped_) inflateEnd(&stream_);
}

void InputFile::fail(const std::string& what) const { throw layers::DataError(path_ + ": " + what); }

bool InputFile::refill() {
  if (stream_.avail_in > 0) return true;
  const size_t count = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());
  if (count == 0 && std::ferror(file_.get()) != 0)
    fail(std::string("cannot be read: ") + std::strerror(errno));
  stream_.next_in = buffer_.data();
  stream_.avail_in = static_cast<uInt>(count);
  return count > 0;
}

int64_t InputFile::read(uint8_t* out, int64_t size) {
  int64_t done = 0;
  while (done < size && !ended_) {
    const int64_t wanted = std::min(size - done, kMaxRead);
    stream_.next_out = out + done;
    stream_.avail_out = static_cast<uInt>(wanted);
    if (gzipped_) {
      inflate_some();
    } else {
      copy_plain();
    }
    done += wanted - static_cast<int64_t>(stream_.avail_out);
  }
  return done;
}

void InputFile::copy_plain() {
  if (!refill()) {
    ended_ = true;
    return;
  }
  const uInt count = std::min(stream_.avail_in, stream_.avail_out);
  std::memcpy(stream_.next_out, stream_.next_in, count);
  stream_.next_in += count;
  stream_.avail_in -= count;
  stream_.avail_out -= count;
}

void InputFile::inflate_some() {
  if (!refill()) fail("truncated: the file ends inside its gzip data");
  const int code = inflate(&stream_, Z_NO_FLUSH);
  if (code == Z_STREAM_END) return next_member();
  if (code != Z_OK && code != Z_BUF_ERROR)
    fail(std::string("corrupt gzip data: ") +
         (stream_.msg != nullptr ? stream_.msg : "zlib gives no reason"));
}

void InputFile::next_member() {
  if (!refill()) {
    ended_ = true;
    return;
  }
  const int first = stream_.next_in[0];
  if (first != 0x1f) fail("trailing bytes that are not gzip behind the end of its gzip data");
  inflateReset(&stream_);
}

}  // namespace stagger::runtime::data

// IDX files: good ones, every kind of bad one, mutations at random, and the real Fashion-MNIST.
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "layers/error.h"
#include "runtime/data/dataset.h"
#include "tests/catch.h"
#include "tests/temp_folder.h"

namespace stagger::runtime::data {
namespace {

using Bytes = std::vector<uint8_t>;

void append_word(Bytes& bytes, uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<uint8_t>(word >> shift));
}

Bytes idx(uint32_t magic, const std::vector<uint32_t>& sizes, const Bytes& body) {
  Bytes bytes;
  append_word(bytes, magic);
  for (uint32_t size : sizes) append_word(bytes, size);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

// Three images of 2 x 2: bytes 0, 20, 40, ... 220; labels 2, 0, 1.
Bytes good_images() {
  Bytes body;
  for (int i = 0; i < 12; ++i) body.push_back(static_cast<uint8_t>(20 * i));
  return idx(0x803, {3, 2, 2}, body);
}
Bytes good_labels() { return idx(0x801, {3}, {2, 0, 1}); }

Bytes gzip(Bytes plain) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  Bytes packed(deflateBound(&stream, plain.size()) + 32);
  stream.next_in = plain.data();
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  const int code = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) throw std::bad_alloc();
  return packed;
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes first(const Bytes& bytes, size_t count) {
  return {bytes.begin(), bytes.begin() + static_cast<int64_t>(count)};
}

class Pair {
 public:
  Pair(const Bytes& images, const Bytes& labels, int64_t classes = 3)
      : options_{folder_.write("images.idx", images), folder_.write("labels.idx", labels), classes} {}

  std::unique_ptr<Dataset> open(Parts parts = {}) const { return open_idx(options_, parts); }
  // What DataError says; fails the test where there is none, or where the message is not one line.
  std::string error(Parts parts = {}) const {
    try {
      open(parts);
    } catch (const layers::DataError& e) {
      std::string message = e.what();
      REQUIRE(message.find('\n') == std::string::npos);
      return message;
    }
    FAIL("no DataError");
    return {};
  }

 private:
  tests::TempFolder folder_;
  IdxOptions options_;
};

void require_says(const std::string& message, const std::vector<std::string>& parts) {
  INFO(message);
  for (const std::string& part : parts) {
    INFO(part);
    REQUIRE(message.find(part) != std::string::npos);
  }
}

void require_good(const Dataset& data) {
  REQUIRE(data.size() == 3);
  REQUIRE(data.classes() == 3);
  REQUIRE(data.shape() == layers::Shape{1, 2, 2});
  for (int64_t i = 0; i < 3; ++i) {
    std::vector<float> image(4);
    data.image(i, image.data());
    for (int64_t j = 0; j < 4; ++j)
      REQUIRE(image[static_cast<size_t>(j)] == static_cast<float>(20 * (4 * i + j)) / 255.0F);
    REQUIRE(data.label(i) == std::vector<int32_t>{2, 0, 1}[static_cast<size_t>(i)]);
  }
}

TEST_CASE("IDX files are read plain, gzipped and in several gzip members") {
  require_good(*Pair(good_images(), good_labels()).open());
  require_good(*Pair(gzip(good_images()), good_labels()).open());
  require_good(*Pair(good_images(), gzip(good_labels())).open());
  const Bytes images = good_images();
  const Bytes tail(images.begin() + 9, images.end());
  require_good(*Pair(gzip(first(images, 9)) + gzip(tail), gzip(good_labels())).open());
}

TEST_CASE("only the parts asked for are held") {
  const Pair pair(good_images(), good_labels());
  std::vector<float> image(4);
  const auto labels = pair.open({.images = false, .labels = true});
  REQUIRE(labels->label(0) == 2);
  REQUIRE(labels->shape() == layers::Shape{1, 2, 2});
  REQUIRE_THROWS_AS(labels->image(0, image.data()), layers::InternalError);
  const auto images = pair.open({.images = true, .labels = false});
  images->image(2, image.data());
  REQUIRE_THROWS_AS(images->label(0), layers::InternalError);
  REQUIRE_THROWS_AS(images->image(3, image.data()), layers::InternalError);
  REQUIRE(pair.open({.images = false, .labels = false})->size() == 3);
}

TEST_CASE("missing files, folders and pipes are refused with their names") {
  const tests::TempFolder folder;
  const std::string labels = folder.write("labels.idx", good_labels());
  const auto error = [&](const std::string& images) {
    try {
      open_idx({.images = images, .labels = labels, .classes = 3}, {});
    } catch (const layers::DataError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  REQUIRE(error(folder / "none.gz") == (folder / "none.gz") + ": no such file");
  REQUIRE(error(folder / "") == (folder / "") + ": is a directory; a file is expected");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  REQUIRE(error(folder / "pipe") == (folder / "pipe") + ": is not a regular file");
  REQUIRE(error(labels + "/below") == labels + "/below: no such file");
}

TEST_CASE("a file cut short anywhere is refused, plain or gzipped, images or labels") {
  for (const bool packed : {false, true}) {
    const Bytes images = packed ? gzip(good_images()) : good_images();
    const Bytes labels = packed ? gzip(good_labels()) : good_labels();
    for (size_t count = 0; count < images.size(); ++count) {
      INFO("images cut to " << count << " bytes, packed " << packed);
      require_says(Pair(first(images, count), labels).error(),
                   {"images.idx: ", count == 0 ? "is empty" : "truncated"});
    }
    for (size_t count = 0; count < labels.size(); ++count) {
      INFO("labels cut to " << count << " bytes, packed " << packed);
      require_says(Pair(images, first(labels, count)).error(),
                   {"labels.idx: ", count == 0 ? "is empty" : "truncated"});
    }
  }
}

TEST_CASE("what was found is in the message") {
  const Bytes images = good_images();
  const Bytes labels = good_labels();
  require_says(Pair(first(images, 7), labels).error(), {"inside its header after 7 of 16 bytes"});
  require_says(Pair(first(images, 26), labels).error(), {"3 x 2 x 2 = 12 bytes, 10 found"});
  require_says(Pair(gzip(first(images, 26)), labels).error(), {"3 x 2 x 2 = 12 bytes, 10 found"});
  require_says(Pair(gzip({}), labels).error(), {"images.idx: is empty"});
  require_says(Pair(labels, images).error(),
               {"images.idx: ", "0x00000801 found, 0x00000803 (IDX images) expected"});
  require_says(Pair(images, images).error(),
               {"labels.idx: ", "0x00000803 found, 0x00000801 (IDX labels) expected"});
  require_says(Pair(images, idx(0x801, {4}, {0, 1, 2, 0})).error(),
               {"images.idx holds 3 images", "labels.idx 4 labels"});
  require_says(Pair(images, labels, 2).error(), {"labels.idx: label 2 at index 0; allowed are 0 .. 1"});
  require_says(Pair(images, idx(0x801, {3}, {0, 1, 200})).error(),
               {"label 200 at index 2; allowed are 0 .. 2"});
  require_says(Pair(images + Bytes{0}, labels).error(),
               {"images.idx: trailing bytes", "3 x 2 x 2 = 12 bytes"});
  require_says(Pair(gzip(images + Bytes{0}), labels).error(), {"images.idx: trailing bytes"});
  require_says(Pair(images, labels + Bytes{9}).error(), {"labels.idx: trailing bytes"});
  require_says(Pair(gzip(images) + Bytes{0}, labels).error(),
               {"images.idx: trailing bytes that are not gzip"});
  require_says(Pair(idx(0x803, {0, 2, 2}, {}), idx(0x801, {0}, {})).error(),
               {"images.idx: holds no samples"});
  require_says(Pair(idx(0x803, {3, 0, 2}, {}), labels).error(), {"images.idx: header says 3 x 0 x 2"});
}

TEST_CASE("counts are compared by those who hold nothing") {
  const Pair pair(good_images(), idx(0x801, {4}, {0, 1, 2, 0}));
  require_says(pair.error({.images = false, .labels = false}), {"3 images", "4 labels"});
}

TEST_CASE("corrupt gzip data is refused wherever the damage is") {
  const Bytes good = gzip(good_images());
  // Behind the magic number: bytes 4-9 are time, flags and system, which carry no data.
  for (size_t i = 10; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= 0x55;
    INFO("byte " << i);
    require_says(Pair(bad, good_labels()).error(), {"images.idx"});
  }
  Bytes checksum = good;
  checksum[good.size() - 8] ^= 1;
  require_says(Pair(checksum, good_labels()).error(),
               {"images.idx: corrupt gzip data: incorrect data check"});
}

TEST_CASE("a header that promises too much costs no memory") {
  constexpr uint32_t kHuge = 0xffffffff;
  const Bytes some(100);
  require_says(Pair(idx(0x803, {kHuge, kHuge, kHuge}, some), good_labels()).error(),
               {"images.idx: header says 4294967295 x 4294967295 x 4294967295, which no file can hold"});
  require_says(Pair(idx(0x803, {1, kHuge, 0x7fffffff}, some), idx(0x801, {1}, {0})).error(),
               {"truncated: header says 1 x 4294967295 x 2147483647 = 9223372030412324865 bytes, 100 found"});
  require_says(Pair(idx(0x803, {kHuge, 28, 28}, some), idx(0x801, {kHuge}, some)).error(),
               {"images.idx: truncated", "100 found"});
  require_says(Pair(good_images(), idx(0x801, {kHuge}, some)).error(), {"labels.idx 4294967295 labels"});
}

TEST_CASE("a body larger than the first chunk arrives whole") {
  // 3 MB in steps of the reader's growing chunks; packed, so that zlib's own chunks do not line up with them.
  constexpr size_t kCount = 3000;
  std::mt19937 random(4);
  Bytes body(kCount * 1024);
  for (auto& byte : body) byte = static_cast<uint8_t>(random() % 7);
  const Pair pair(gzip(idx(0x803, {uint32_t{kCount}, 32, 32}, body)),
                  idx(0x801, {uint32_t{kCount}}, Bytes(kCount)));
  const auto data = pair.open();
  std::vector<float> image(1024);
  for (size_t i = 0; i < kCount; ++i) {
    data->image(static_cast<int64_t>(i), image.data());
    const auto* expected = body.data() + 1024 * i;
    REQUIRE(std::equal(image.begin(), image.end(), expected,
                       [](float a, uint8_t b) { return a == static_cast<float>(b) / 255.0F; }));
  }
}

TEST_CASE("mutated files end in success or DataError") {
  std::mt19937 random(2026);
  const std::vector<Bytes> images{good_images(), gzip(good_images())};
  const std::vector<Bytes> labels{good_labels(), gzip(good_labels())};
  const auto mutate = [&](Bytes bytes) {
    for (auto left = 1 + random() % 3; left > 0; --left) {
      if (bytes.empty()) return bytes;
      const size_t at = random() % bytes.size();
      const auto place = bytes.begin() + static_cast<int64_t>(at);
      const auto value = static_cast<uint8_t>(random() % 4 == 0 ? 0xff : random());
      switch (random() % 4) {
        case 0:
          bytes[at] = value;
          break;
        case 1:
          bytes.insert(place, value);
          break;
        case 2:
          bytes.erase(place);
          break;
        default:
          bytes[at] ^= static_cast<uint8_t>(1U << random() % 8);
      }
    }
    return bytes;
  };
  int good = 0;
  int bad = 0;
  for (int i = 0; i < 2000; ++i) {
    const Bytes& image = images[random() % 2];
    const Bytes& label = labels[random() % 2];
    const bool which = random() % 2 == 0;
    const Pair pair(which ? mutate(image) : image, which ? label : mutate(label));
    try {
      const auto data = pair.open();
      std::vector<float> out(static_cast<size_t>(data->shape().elements()));
      for (int64_t s = 0; s < data->size(); ++s) {
        data->image(s, out.data());
        if (data->label(s) < 0 || data->label(s) >= data->classes()) FAIL("a label out of range");
      }
      ++good;
    } catch (const layers::DataError& e) {
      if (std::string(e.what()).find(".idx") == std::string::npos) FAIL("no file in: " << e.what());
      ++bad;
    }
  }
  // Both happen: changed pixels and gzip times are no errors.
  REQUIRE(good > 50);
  REQUIRE(bad > 1000);
}

TEST_CASE("Fashion-MNIST is what its authors describe") {
  const std::string folder = "/usr/share/datasets/fashion-mnist/";
  const auto test = open_idx(
      {.images = folder + "t10k-images-idx3-ubyte.gz", .labels = folder + "t10k-labels-idx1-ubyte.gz"}, {});
  REQUIRE(test->size() == 10000);
  const auto train = open_idx(
      {.images = folder + "train-images-idx3-ubyte.gz", .labels = folder + "train-labels-idx1-ubyte.gz"}, {});
  REQUIRE(train->size() == 60000);
  REQUIRE(train->classes() == 10);
  REQUIRE(train->shape() == layers::Shape{1, 28, 28});

  const std::vector<int32_t> first_labels{9, 0, 0, 3, 0, 2, 7, 2, 5, 5};
  for (size_t i = 0; i < first_labels.size(); ++i)
    REQUIRE(train->label(static_cast<int64_t>(i)) == first_labels[i]);
  std::vector<int64_t> of_class(10);
  double sum = 0;
  double squares = 0;
  std::vector<float> image(784);
  for (int64_t i = 0; i < train->size(); ++i) {
    ++of_class[static_cast<size_t>(train->label(i))];
    train->image(i, image.data());
    for (float value : image) {
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
  }
  REQUIRE(of_class == std::vector<int64_t>(10, 6000));
  const double mean = sum / (60000 * 784);
  REQUIRE(mean == Approx(0.2860).margin(5e-5));
  REQUIRE(std::sqrt(squares / (60000 * 784) - mean * mean) == Approx(0.3530).margin(5e-5));
}

}  // namespace
}  // namespace stagger::runtime::data

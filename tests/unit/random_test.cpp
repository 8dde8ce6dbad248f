#include "layers/random.h"

#include <cmath>
#include <set>

#include "tests/catch.h"

namespace stagger::layers {
namespace {

using Four = std::array<uint32_t, 4>;
using Two = std::array<uint32_t, 2>;

// The known answers for philox4x32 with 10 rounds that come with Random123 (tests/kat_vectors).
TEST_CASE("Philox gives the known answers") {
  CHECK(philox(Four{0, 0, 0, 0}, Two{0, 0}) == Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const uint32_t ff = 0xffffffff;
  CHECK(philox(Four{ff, ff, ff, ff}, Two{ff, ff}) == Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox(Four{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, Two{0xa4093822, 0x299f31d0}) ==
        Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

// FNV-1a, 64 bits: the published values of "", "a" and "foobar".
TEST_CASE("layer keys are FNV-1a") {
  CHECK(layer_key("") == 0xcbf29ce484222325);
  CHECK(layer_key("a") == 0xaf63dc4c8601ec8c);
  CHECK(layer_key("foobar") == 0x85944171f73967e8);
}

TEST_CASE("a stream is named by every one of its fields") {
  std::set<Four> seen;
  const int64_t large = int64_t{1} << 40;
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32}) {
    for (const Purpose purpose : {Purpose::kInitialisation, Purpose::kShuffle, Purpose::kDropout}) {
      for (const uint64_t layer : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 63}) {
        for (const int64_t epoch : {int64_t{0}, int64_t{1}, large}) {
          for (const int64_t batch : {int64_t{0}, int64_t{1}, large}) {
            seen.insert(Stream(seed, purpose, layer, epoch, batch).block(0, 0));
          }
        }
      }
    }
  }
  CHECK(seen.size() == 3 * 3 * 3 * 3 * 3);
}

TEST_CASE("numbers are addressed by sample and index, in any order") {
  const Stream stream(5, Purpose::kDropout, layer_key("layer"), 2, 9);
  const Four third = stream.block(7, 3);
  CHECK(stream.bits(7, 12) == third[0]);
  CHECK(stream.bits(7, 15) == third[3]);
  CHECK(stream.block(6, 3) != third);
  CHECK(stream.block(7, 4) != third);
  CHECK(stream.block(7 + (int64_t{1} << 32), 3) != third);
  CHECK(stream.block(7, 3) == third);
  CHECK(Stream(5, Purpose::kDropout, layer_key("layer"), 2, 9).block(7, 3) == third);
}

TEST_CASE("uniform numbers fill [0, 1) evenly") {
  const Stream stream(1, Purpose::kSynthetic);
  constexpr int64_t kCount = 100000;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const float u = stream.uniform(i % 3, i);
    REQUIRE((u >= 0 && u < 1));
    REQUIRE(std::ldexp(u, 24) == std::floor(std::ldexp(u, 24)));
    sum += static_cast<double>(u);
    squares += static_cast<double>(u) * static_cast<double>(u);
  }
  // Five standard errors: sqrt(1/12/n) and sqrt(4/45/n).
  CHECK(sum / kCount == Approx(0.5).margin(5 * 0.289 / std::sqrt(kCount)));
  CHECK(squares / kCount == Approx(1.0 / 3).margin(5 * 0.298 / std::sqrt(kCount)));
}

TEST_CASE("whole numbers below a bound are all met, equally often") {
  const Stream stream(2, Purpose::kShuffle);
  std::array<int, 10> met = {};
  for (int64_t i = 0; i < 10000; ++i) ++met.at(static_cast<size_t>(stream.below(0, i, 10)));
  for (int count : met) CHECK(count == Approx(1000).margin(5 * 30));  // five times sqrt(n p (1 - p))
  CHECK(stream.below(0, 0, 1) == 0);
  const int64_t all = int64_t{1} << 32;
  CHECK(stream.below(0, 4, all) == int64_t{stream.bits(0, 4)});
}

TEST_CASE("normal numbers have mean 0, variance 1 and the tails of a Gaussian") {
  const Stream stream(3, Purpose::kInitialisation);
  constexpr int64_t kCount = 100000;
  double sum = 0, squares = 0;
  int64_t beyond_two = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const auto x = static_cast<double>(stream.normal(0, i));
    sum += x;
    squares += x * x;
    beyond_two += std::abs(x) > 2 ? 1 : 0;
  }
  const double root = std::sqrt(kCount);
  CHECK(sum / kCount == Approx(0).margin(5 / root));
  CHECK(squares / kCount == Approx(1).margin(5 * std::sqrt(2.0) / root));
  CHECK(static_cast<double>(beyond_two) / kCount == Approx(0.0455).margin(5 * 0.21 / root));
}

}  // namespace
}  // namespace stagger::layers

#include "layers/random.h"

#include <cmath>
#include <numbers>

namespace stagger::layers {
namespace {

uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
uint32_t low(int64_t value) { return low(static_cast<uint64_t>(value)); }
uint32_t high(int64_t value) { return high(static_cast<uint64_t>(value)); }

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * c[2];
    c = {high(b) ^ c[1] ^ k[0], low(b), high(a) ^ c[3] ^ k[1], low(a)};
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c;
}

uint64_t layer_key(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Three hops of Philox fold the name of the stream into a key; each hop is a bijection of its counter for a
// given key, so that streams differing in one field only cannot coincide.
Stream::Stream(uint64_t seed, Purpose purpose, uint64_t layer, int64_t epoch, int64_t batch) {
  auto k = philox({low(layer), high(layer), static_cast<uint32_t>(purpose), 0}, {low(seed), high(seed)});
  k = philox({low(epoch), high(epoch), k[2], k[3]}, {k[0], k[1]});
  k = philox({low(batch), high(batch), k[2], k[3]}, {k[0], k[1]});
  key_ = {k[0], k[1]};
}

std::array<uint32_t, 4> Stream::block(int64_t sample, int64_t i) const {
  return philox({low(i), high(i), low(sample), high(sample)}, key_);
}

uint32_t Stream::bits(int64_t sample, int64_t i) const {
  return block(sample, i / 4)[static_cast<size_t>(i % 4)];
}

float Stream::uniform(int64_t sample, int64_t i) const {
  return static_cast<float>(bits(sample, i) >> 8) * 0x1p-24F;
}

int64_t Stream::below(int64_t sample, int64_t i, int64_t bound) const {
  return static_cast<int64_t>((uint64_t{bits(sample, i)} * static_cast<uint64_t>(bound)) >> 32);
}

float Stream::normal(int64_t sample, int64_t i) const {
  const double u = (static_cast<double>(bits(sample, 2 * i)) + 0.5) * 0x1p-32;
  const double v = (static_cast<double>(bits(sample, 2 * i + 1)) + 0.5) * 0x1p-32;
  return static_cast<float>(std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v));
}

}  // namespace stagger::layers

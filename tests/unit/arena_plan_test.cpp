#include "layers/cpu/arena_plan.h"

#include "layers/random.h"
#include "tests/catch.h"

namespace stagger::layers::cpu {
namespace {

bool live_together(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

void check(const std::vector<Lifetime>& buffers, const ArenaPlan& plan) {
  REQUIRE(plan.offsets.size() == buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    REQUIRE(plan.offsets[i] >= 0);
    REQUIRE(plan.offsets[i] % kArenaAlignment == 0);
    REQUIRE(plan.offsets[i] + buffers[i].bytes <= plan.bytes);
    for (size_t j = 0; j < i; ++j) {
      if (!live_together(buffers[i], buffers[j])) continue;
      const bool apart = plan.offsets[i] + buffers[i].bytes <= plan.offsets[j] ||
                         plan.offsets[j] + buffers[j].bytes <= plan.offsets[i];
      INFO("buffers " << i << " and " << j);
      REQUIRE(apart);
    }
  }
}

TEST_CASE("an arena for nothing is empty") {
  CHECK(plan_arena({}).bytes == 0);
  CHECK(peak_live_bytes({}) == 0);
}

TEST_CASE("buffers that follow one another share a place") {
  const std::vector<Lifetime> chain{{640, 0, 1}, {640, 2, 3}, {640, 4, 9}};
  CHECK(plan_arena(chain).bytes == 640);
  check(chain, plan_arena(chain));
}

TEST_CASE("a buffer that is read by the task that writes the next one does not share its place") {
  const std::vector<Lifetime> chain{{640, 0, 1}, {640, 1, 2}};
  CHECK(plan_arena(chain).bytes == 1280);
  check(chain, plan_arena(chain));
}

TEST_CASE("places are aligned") {
  const std::vector<Lifetime> odd{{1, 0, 3}, {65, 1, 2}, {3, 0, 2}};
  const ArenaPlan plan = plan_arena(odd);
  check(odd, plan);
  CHECK(plan.bytes == 64 + 128 + 64);
  CHECK(peak_live_bytes(odd) == plan.bytes);
}

TEST_CASE("a small buffer goes into the gap that two large ones leave") {
  const std::vector<Lifetime> buffers{{6400, 0, 9}, {640, 0, 2}, {640, 4, 6}, {1280, 3, 3}};
  check(buffers, plan_arena(buffers));
  CHECK(plan_arena(buffers).bytes == peak_live_bytes(buffers));
}

TEST_CASE("peak of live bytes") {
  CHECK(peak_live_bytes(std::vector<Lifetime>{{64, 0, 4}, {64, 2, 2}, {128, 3, 5}}) == 192);
  CHECK(peak_live_bytes(std::vector<Lifetime>{{64, 0, 0}, {64, 1, 1}}) == 64);
}

/// A chain of layers: each result lives until the next layer, or, in training, until the backward pass of
/// that.
std::vector<Lifetime> training_chain(uint64_t seed) {
  const Stream stream(seed, Purpose::kSynthetic);
  const int64_t layers = 5 + stream.below(0, 0, 60);
  std::vector<Lifetime> buffers;
  for (int64_t i = 0; i < layers; ++i) {
    const int64_t bytes = 64 * (1 + stream.below(1, i, 500));
    const bool kept = stream.below(2, i, 3) > 0;
    buffers.push_back({bytes, i, kept ? 2 * layers - i : i + 1 + stream.below(3, i, 3)});
    buffers.push_back({bytes, 2 * layers - i - 1, 2 * layers - i});
    buffers.push_back({64 * stream.below(4, i, 50), i, i});
  }
  return buffers;
}

TEST_CASE("plans of networks never overlap and come close to the peak") {
  double worst = 1;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto buffers = training_chain(seed);
    const ArenaPlan plan = plan_arena(buffers);
    INFO("seed " << seed);
    check(buffers, plan);
    REQUIRE(plan.bytes >= peak_live_bytes(buffers));
    worst = std::max(worst, static_cast<double>(plan.bytes) / static_cast<double>(peak_live_bytes(buffers)));
  }
  CHECK(worst < 1.15);
}

}  // namespace
}  // namespace stagger::layers::cpu

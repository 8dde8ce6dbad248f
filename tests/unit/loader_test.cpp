// The loader: the same batches whatever the timing, errors in their place, no waste, a prompt end.
#include "runtime/data/loader.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "layers/error.h"
#include "tests/catch.h"

namespace {
std::atomic<int64_t> allocations = 0;
}

// Counts what is allocated anywhere in this test program. Not inlined, or g++ takes malloc and delete for a
// mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace stagger::runtime::data {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Batches = std::vector<std::vector<float>>;

constexpr auto kBound = 20s;

// Waits with a bound, so that a loader that hangs fails the test instead.
void take(Loader& loader, float* out) {
  const auto end = Clock::now() + kBound;
  while (!loader.try_take(out)) {
    if (Clock::now() > end) throw std::runtime_error("no batch came in time");
    std::this_thread::sleep_for(100us);
  }
}

void wait_until_ready(const Loader& loader) {
  const auto end = Clock::now() + kBound;
  while (!loader.ready()) {
    if (Clock::now() > end) throw std::runtime_error("no batch came in time");
    std::this_thread::sleep_for(100us);
  }
}

// Twelve vectors (index, index + 0.5) that may be slow, or fail at one index.
class Fake final : public Dataset {
 public:
  int64_t size() const override { return 12; }
  int64_t classes() const override { return 1; }
  const layers::Shape& shape() const override { return shape_; }
  void image(int64_t index, float* out) const override {
    if (index == failing) throw layers::DataError("sample " + std::to_string(index) + " is bad");
    ++read;
    if (delay > 0us) std::this_thread::sleep_for(delay);
    out[0] = static_cast<float>(index);
    out[1] = static_cast<float>(index) + 0.5F;
  }
  int32_t label(int64_t) const override { return 0; }

  std::chrono::microseconds delay = 0us;
  int64_t failing = -1;
  mutable std::atomic<int64_t> read = 0;

 private:
  layers::Shape shape_{2};
};

// What the loader should give, made without it.
Batches expected(const Dataset& data, const ImagePipeline& pipeline, const TrainingOrder& order) {
  Batches batches;
  const int64_t elements = data.shape().elements();
  for (int64_t b = 0; b < order.total_batches(); ++b) {
    const int64_t epoch = b / order.plan.batches();
    const auto samples = epoch_order(order.plan.samples, order.seed, epoch, order.shuffle);
    const int64_t begin = b % order.plan.batches() * order.plan.batch;
    const int64_t count = std::min(order.plan.batch, order.plan.samples - begin);
    std::vector<float> batch(static_cast<size_t>(count * elements));
    for (int64_t i = 0; i < count; ++i)
      pipeline.training(samples[static_cast<size_t>(begin + i)], epoch, b, i, batch.data() + i * elements);
    batches.push_back(batch);
  }
  return batches;
}

TEST_CASE("batches are the same for every depth and under delays on either side") {
  const auto data = make_synthetic({.shape = {1, 5, 5}, .classes = 4, .size = 23, .seed = 2}, {});
  const ImagePipeline pipeline(*data, {.mean = {0.5F}, .deviation = {0.3F}, .pad_crop = 1, .flip = true}, 2);
  const TrainingOrder order{.plan = {.samples = 23, .batch = 5}, .epochs = 3, .seed = 2};
  const Batches right = expected(*data, pipeline, order);
  REQUIRE(right.size() == 15);
  REQUIRE(right[4].size() == 75);
  for (const int64_t depth : {1, 2, 4, 100}) {
    for (const auto pause : {0us, 1000us}) {
      Loader loader(*data, pipeline, order, depth);
      for (size_t b = 0; b < right.size(); ++b) {
        std::this_thread::sleep_for(pause);
        std::vector<float> batch(right[b].size() + 1, -77.0F);
        take(loader, batch.data());
        REQUIRE(batch.back() == -77.0F);
        batch.pop_back();
        INFO("batch " << b << ", depth " << depth);
        REQUIRE(batch == right[b]);
      }
      std::vector<float> none(200);
      REQUIRE_FALSE(loader.ready());
      REQUIRE_FALSE(loader.try_take(none.data()));
    }
  }
}

TEST_CASE("a slow data set gives the same batches") {
  Fake data;
  const ImagePipeline pipeline(data, {}, 2);
  const TrainingOrder order{.plan = {.samples = 12, .batch = 5, .drop_last = true}, .epochs = 2, .seed = 4};
  const Batches right = expected(data, pipeline, order);
  REQUIRE(right.size() == 4);
  data.delay = 2000us;
  Loader loader(data, pipeline, order, 2);
  std::vector<float> batch(10);
  REQUIRE_FALSE(loader.try_take(batch.data()));  // asking does not wait: 10 ms have not passed
  for (const auto& one : right) {
    take(loader, batch.data());
    REQUIRE(batch == one);
  }
}

TEST_CASE("at most depth batches are read ahead") {
  Fake data;
  const ImagePipeline pipeline(data, {}, 0);
  Loader loader(data, pipeline, {.plan = {.samples = 12, .batch = 2}, .epochs = 100}, 3);
  std::vector<float> batch(4);
  for (int64_t taken = 0; taken < 4; ++taken) {
    const auto end = Clock::now() + kBound;
    while (data.read < 2 * (3 + taken) && Clock::now() < end) std::this_thread::sleep_for(100us);
    std::this_thread::sleep_for(20ms);
    REQUIRE(data.read == 2 * (3 + taken));
    take(loader, batch.data());
  }
}

TEST_CASE("an error comes in place of its batch, and stays") {
  Fake data;
  data.failing = 7;  // in batch 1 of 5 samples each
  const ImagePipeline pipeline(data, {}, 0);
  for (const int64_t depth : {1, 4}) {
    Loader loader(data, pipeline, {.plan = {.samples = 12, .batch = 5}, .epochs = 2, .shuffle = false},
                  depth);
    std::this_thread::sleep_for(depth == 4 ? 20ms : 0ms);  // met before or after batch 0 was taken: the same
    std::vector<float> batch(10);
    take(loader, batch.data());
    REQUIRE(batch[8] == 4);
    wait_until_ready(loader);
    for (int again = 0; again < 2; ++again) {
      REQUIRE(loader.ready());
      REQUIRE_THROWS_AS(loader.try_take(batch.data()), layers::DataError);
      REQUIRE_THROWS_WITH(loader.try_take(batch.data()), "sample 7 is bad");
    }
  }
}

TEST_CASE("a loader ends at once when it is full, in the middle of a batch, or fresh") {
  Fake data;
  const ImagePipeline pipeline(data, {}, 0);
  const TrainingOrder order{.plan = {.samples = 12, .batch = 12}, .epochs = 1000};
  Clock::time_point begin;
  SECTION("full") {
    Loader loader(data, pipeline, order, 1);
    wait_until_ready(loader);
    std::this_thread::sleep_for(20ms);
    begin = Clock::now();
  }
  SECTION("in the middle of a batch") {
    data.delay = 100ms;  // a batch takes 1.2 s
    Loader loader(data, pipeline, order, 4);
    std::this_thread::sleep_for(20ms);
    begin = Clock::now();
  }
  SECTION("fresh") {
    begin = Clock::now();
    for (int i = 0; i < 50; ++i) Loader(data, pipeline, order, 4);
  }
  REQUIRE(Clock::now() - begin < 800ms);
}

TEST_CASE("a full loader does not burn its core") {
  Fake data;
  const ImagePipeline pipeline(data, {}, 0);
  const Loader loader(data, pipeline, {.plan = {.samples = 12, .batch = 12}, .epochs = 1000}, 2);
  wait_until_ready(loader);
  std::this_thread::sleep_for(50ms);
  const std::clock_t begin = std::clock();  // of all threads
  std::this_thread::sleep_for(400ms);
  REQUIRE(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 0.1);
}

TEST_CASE("nothing is allocated per batch") {
  Fake data;
  const ImagePipeline pipeline(data, {}, 0);
  constexpr int64_t kEpochs = 200;
  Loader loader(data, pipeline, {.plan = {.samples = 12, .batch = 2}, .epochs = kEpochs}, 2);
  std::vector<float> batch(4);
  take(loader, batch.data());
  const int64_t before = allocations;
  for (int64_t b = 1; b < 6 * kEpochs; ++b) take(loader, batch.data());
  // One permutation an epoch.
  REQUIRE(allocations - before <= kEpochs);
}

TEST_CASE("a loader without batches gives none, and one without room is refused") {
  Fake data;
  const ImagePipeline pipeline(data, {}, 0);
  float out = 0;
  Loader none(data, pipeline, {.plan = {.samples = 12, .batch = 13, .drop_last = true}}, 2);
  REQUIRE_FALSE(none.try_take(&out));
  REQUIRE_THROWS_AS(Loader(data, pipeline, {.plan = {.samples = 12, .batch = 2}}, 0), layers::ConfigError);
}

}  // namespace
}  // namespace stagger::runtime::data

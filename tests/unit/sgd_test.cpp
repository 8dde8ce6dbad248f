// SGD against torch.optim.SGD (golden/make_optimizer_values.py) and against numbers derived by hand.
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "layers/error.h"
#include "optim/optimizer.h"
#include "tests/catch.h"

namespace stagger::optim {
namespace {

using nlohmann::json;

json golden() {
  std::ifstream file(STAGGER_SOURCE_DIR "/tests/golden/optimizer_values.json");
  return json::parse(file);
}

Segment segment(const json& range, bool decay) {
  return {.offset = range[0].get<int64_t>(), .size = range[1].get<int64_t>(), .decay = decay};
}

// Each step rounds a handful of times, PyTorch elsewhere (it fuses): 8 units in the last place.
void require_close(const float* values, const std::vector<float>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const float scale = std::max(1.0F, std::abs(expected[i]));
    REQUIRE(std::abs(values[i] - expected[i]) <= 8 * std::numeric_limits<float>::epsilon() * scale);
  }
}

TEST_CASE("SGD equals PyTorch for three steps") {
  const json all = golden();
  const Segment decayed = segment(all["segments"]["decayed"], true);
  const Segment spared = segment(all["segments"]["spared"], false);
  REQUIRE(all["sgd"].size() == 6);
  for (const json& c : all["sgd"]) {
    INFO(c["name"]);
    auto values = c["values"].get<std::vector<float>>();
    const std::vector<float> initial = values;
    const SgdOptions options{
        .momentum = c["momentum"], .weight_decay = c["weight_decay"], .nesterov = c["nesterov"]};
    const auto size = static_cast<int64_t>(values.size());
    const auto sgd = make_sgd(options, size, {decayed, spared});
    for (size_t step = 0; step < 3; ++step) {
      const auto gradients = c["gradients"][step].get<std::vector<float>>();
      sgd->update(values, gradients, all["rates"][step]);
      require_close(values.data() + decayed.offset, c["steps"][step]["decayed"]);
      require_close(values.data() + spared.offset, c["steps"][step]["spared"]);
      REQUIRE(gradients == c["gradients"][step].get<std::vector<float>>());
    }
    for (int64_t i = decayed.offset + decayed.size; i < spared.offset; ++i)
      REQUIRE(values[static_cast<size_t>(i)] == initial[static_cast<size_t>(i)]);
  }
}

TEST_CASE("SGD equals three steps worked out by hand") {
  // Powers of two, so that nothing rounds. w = 1, g = 1 in every step, lr = 1/2, momentum = 1/2, decay = 1/4.
  std::vector<float> w{1};
  const std::vector<float> g{1};
  const Segment all{.offset = 0, .size = 1};

  SECTION("momentum") {
    const auto sgd = make_sgd({.momentum = 0.5, .weight_decay = 0.25}, 1, {all});
    sgd->update(w, g, 0.5);  // d = 1 + 1/4 = 5/4; v = 5/4; w = 1 - 5/8
    REQUIRE(w[0] == 3.0F / 8);
    REQUIRE(sgd->state()[0] == 5.0F / 4);
    sgd->update(w, g, 0.5);  // d = 1 + 3/32 = 35/32; v = 5/8 + 35/32 = 55/32; w = 24/64 - 55/64
    REQUIRE(w[0] == -31.0F / 64);
    sgd->update(w, g,
                0.5);  // d = 1 - 31/256 = 225/256; v = 220/256 + 225/256 = 445/256; w = -248/512 - 445/512
    REQUIRE(w[0] == -693.0F / 512);
  }
  SECTION("nesterov") {
    const auto sgd = make_sgd({.momentum = 0.5, .nesterov = true}, 1, {all});
    sgd->update(w, g, 0.5);  // v = 1; step = 1 + 1/2; w = 1 - 3/4
    REQUIRE(w[0] == 0.25F);
    sgd->update(w, g, 0.5);  // v = 3/2; step = 1 + 3/4; w = 1/4 - 7/8
    REQUIRE(w[0] == -0.625F);
  }
  SECTION("neither") {
    const auto sgd = make_sgd({.weight_decay = 0.25}, 1, {all});
    sgd->update(w, g, 0.5);  // w = 1 - 5/8
    REQUIRE(w[0] == 0.375F);
    REQUIRE(sgd->state().empty());
  }
}

TEST_CASE("SGD neither reads nor writes between its segments") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> g{1, nan, 1, nan};
  for (const bool nesterov : {false, true}) {
    std::vector<float> w{1, 7, 1, 8};
    const auto sgd = make_sgd({.momentum = 0.5, .weight_decay = 0.5, .nesterov = nesterov}, 4,
                              {{.offset = 0, .size = 1}, {.offset = 2, .size = 1, .decay = false}});
    for (int step = 0; step < 3; ++step) sgd->update(w, g, 0.1);
    REQUIRE(w[1] == 7);
    REQUIRE(w[3] == 8);
    REQUIRE(w[0] < w[2]);
    REQUIRE(sgd->state().size() == 4);
    REQUIRE(sgd->state()[1] == 0);
    REQUIRE(sgd->state()[3] == 0);
  }
}

TEST_CASE("SGD continues from a state that was saved") {
  const std::vector<float> g{0.3F, -0.7F};
  std::vector<float> w{1, 2};
  const auto first = make_sgd({.momentum = 0.9}, 2, {{.offset = 0, .size = 2}});
  first->update(w, g, 0.1);
  std::vector<float> resumed = w;
  const auto second = make_sgd({.momentum = 0.9}, 2, {{.offset = 0, .size = 2}});
  std::copy(first->state().begin(), first->state().end(), second->state().begin());
  first->update(w, g, 0.1);
  second->update(resumed, g, 0.1);
  REQUIRE(w == resumed);
}

TEST_CASE("SGD refuses what it cannot do") {
  using layers::ConfigError;
  using layers::InternalError;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  REQUIRE_THROWS_AS(make_sgd({.momentum = -0.1}, 1, {}), ConfigError);
  REQUIRE_THROWS_AS(make_sgd({.momentum = 1}, 1, {}), ConfigError);
  REQUIRE_THROWS_AS(make_sgd({.momentum = nan}, 1, {}), ConfigError);
  REQUIRE_THROWS_AS(make_sgd({.weight_decay = -1}, 1, {}), ConfigError);
  REQUIRE_THROWS_AS(make_sgd({.weight_decay = nan}, 1, {}), ConfigError);
  REQUIRE_THROWS_AS(make_sgd({.nesterov = true}, 1, {}), ConfigError);
  REQUIRE_THROWS_AS(make_sgd({}, 4, {{.offset = 0, .size = 3}, {.offset = 2, .size = 1}}), InternalError);
  REQUIRE_THROWS_AS(make_sgd({}, 4, {{.offset = 2, .size = 3}}), InternalError);
  REQUIRE_THROWS_AS(make_sgd({}, 4, {{.offset = -1, .size = 1}}), InternalError);
  const auto sgd = make_sgd({}, 2, {{.offset = 0, .size = 2}});
  std::vector<float> w(2);
  std::vector<float> g(3);
  REQUIRE_THROWS_AS(sgd->update(w, g, 0.1), InternalError);
}

}  // namespace
}  // namespace stagger::optim

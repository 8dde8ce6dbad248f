// Measured staleness against the declared one, in every step: versions of the weights are read where they are
// used, not computed from the queues.
#include "tests/catch.h"
#include "tests/ranks/networks.h"

using namespace stagger;

namespace {

/// Versions of the weights that each batch met.
struct Meetings {
  std::map<int64_t, int64_t> forward, backward;
};

class StampedCompute : public tests::WatchedCompute {
 public:
  using WatchedCompute::WatchedCompute;
  Meetings meetings;

  void forward(const runtime::TokenHeader& header, const float* input, float* output, bool keep) override {
    meetings.forward[header.batch] = updates_;
    LayerCompute::forward(header, input, output, keep);
  }
  void forward_loss(const runtime::TokenHeader& header, const float* input,
                    std::span<const int32_t> labels) override {
    meetings.forward[header.batch] = updates_;
    LayerCompute::forward_loss(header, input, labels);
  }
  void backward(const runtime::TokenHeader& header, const float* output_gradient,
                float* input_gradient) override {
    meetings.backward[header.batch] = updates_;
    LayerCompute::backward(header, output_gradient, input_gradient);
  }
  void update(const runtime::TokenHeader& header, bool apply) override {
    WatchedCompute::update(header, apply);
    ++updates_;
  }

 private:
  int64_t updates_ = 0;
};

}  // namespace

TEST_CASE("each gradient is as stale as declared, for queues of 1 to 3, even and uneven") {
  const int64_t stages = tests::session().size();
  const int64_t k = tests::session().rank();
  const std::vector<std::vector<int64_t>> lengths{{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3},
                                                  {1, 2, 3, 1}, {3, 1, 2, 2}, {0, 1, 0, 2}};
  for (const auto& a : lengths) {
    for (const auto& e : lengths) {
      const tests::PipelineRun run = tests::small_run(tests::queues(stages, a, e));
      INFO(run.schedule.describe());
      // By hand: all bubbles from here to the end and back.
      int64_t declared = 0;
      for (int64_t hop = k; hop < stages - 1; ++hop)
        declared += a[static_cast<size_t>(hop)] + e[static_cast<size_t>(hop)];

      Meetings meetings;
      const tests::PipelineResult result =
          tests::run_pipeline<StampedCompute>(run, [&](StampedCompute& c) { meetings = c.meetings; });
      REQUIRE(meetings.backward.size() == run.batches.size());
      for (const auto& [batch, version] : meetings.backward) {
        INFO("batch " << batch);
        REQUIRE(version == batch);  // batches come back in order, one update each
        REQUIRE(version - meetings.forward.at(batch) == std::min(batch, declared));
      }
      CHECK(result.report.least_steps == declared);
      CHECK(result.report.most_steps == declared);
      CHECK(result.report.most_updates == std::min<int64_t>(declared, 23));
      CHECK(result.report.least_updates == 0);  // the first batch meets the initial weights twice
      CHECK(result.report.most_saved_inputs == declared + 1);
      CHECK(result.report.message_memory == result.planned_queue_bytes);
      CHECK(result.report.steps == run.schedule.total_steps(24));
    }
  }
}

#include "runtime/trainer.h"

#include <algorithm>
#include <cstdio>

#include "layers/error.h"
#include "runtime/agree.h"
#include "runtime/collect.h"

namespace stagger::runtime {

std::unique_ptr<LayerCompute> make_stage(const Job& job, const RunSizes& sizes, int64_t k,
                                         layers::Device& device, LayerCompute::Poll poll) {
  const data::TrainingOrder order = training_order(job, sizes);
  LayerComputeOptions options{.graph = stage_graph(job, k)};
  options.first = k == 0;
  options.last = k == job.schedule.stages() - 1;
  options.recomputes = job.schedule.recomputes(k);
  options.accumulate = job.schedule.accumulate;
  options.training_samples = order.plan.sizes();
  options.evaluation_samples = evaluation_plan(job, sizes).sizes();
  options.seed = job.seed;
  options.decay_norm_and_bias = job.decay_norm_and_bias;
  const optim::LearningRate rate(job.learning_rate, order.plan.batches(), order.total_batches());
  return std::make_unique<LayerCompute>(
      device, std::move(options),
      [&](int64_t size, std::vector<optim::Segment> segments) {
        return optim::make_sgd(job.sgd, size, std::move(segments));
      },
      [rate](int64_t batch) { return rate.at(batch); }, std::move(poll));
}

QueuePlanOptions queue_options(const Job& job, const RunSizes& sizes, int64_t k) {
  const layers::Graph graph = stage_graph(job, k);
  return {.stage = k,
          .previous = static_cast<int>(k - 1),
          .next = static_cast<int>(k + 1),
          .input = graph.input_shape(),
          .output = graph.output_shape(),
          .most_training_samples = job.batch,
          .most_samples = std::max(job.batch, std::min(job.evaluation_batch, sizes.test_samples))};
}

Trainer::Trainer(const MpiSession& session, Progress& progress, const Job& job, std::ostream& terminal)
    : session_(session), progress_(progress), job_(job), terminal_(terminal) {
  agree(session_, [&] { open_data(); });
  share_sizes();
  agree(session_, [&] {
    check_sizes(job_, sizes_);
    if (last()) reporter_ = std::make_unique<Reporter>(job_, terminal_);
    make_loop();
  });
}

// Only the ends of the pipeline touch data; the others learn its size from stage 0.
void Trainer::open_data() {
  if (!first() && !last()) return;
  const data::Parts parts{.images = first(), .labels = last()};
  training_set_ = job_.training_set(parts);
  test_set_ = job_.test_set(parts);
  if (training_set_->shape() == test_set_->shape()) return;
  throw layers::DataError("training images are " + training_set_->shape().to_string() + ", test images " +
                          test_set_->shape().to_string());
}

void Trainer::share_sizes() {
  if (first()) sizes_ = {.training_samples = training_set_->size(), .test_samples = test_set_->size()};
  check_mpi(MPI_Bcast(&sizes_, static_cast<int>(sizeof(sizes_)), MPI_BYTE, 0, session_.comm()), "MPI_Bcast");
}

void Trainer::make_loop() {
  const int64_t k = session_.rank();
  device_ = layers::make_cpu_device(job_.threads);
  compute_ = make_stage(job_, sizes_, k, *device_, [this] { progress_.poll(); });
  if (first()) source_ = std::make_unique<DataSource>(job_, sizes_, *training_set_, *test_set_);
  if (last()) {
    sink_ = std::make_unique<DataSink>(
        job_, sizes_, *training_set_, *test_set_,
        DataSink::Listener{[this](const auto& header, const auto& loss) { reporter_->trained(header, loss); },
                           [this](const auto& result) { reporter_->evaluated(result); }});
  }
  StageLoopOptions options{.schedule = job_.schedule,
                           .queues = queue_options(job_, sizes_, k),
                           .watchdog_seconds = job_.watchdog_seconds};
  options.warn = [this](const std::string& text) {
    std::fprintf(stderr, "stagger: rank %d: %s\n", session_.rank(), text.c_str());
  };
  loop_ = std::make_unique<StageLoop>(std::move(options), progress_, *compute_, source_.get(), sink_.get());
}

void Trainer::introduce() {
  reporter_->say(job_.name + ": " + job_.model.name + " on " + std::to_string(session_.size()) +
                 (session_.size() == 1 ? " rank, " : " ranks, ") + job_.schedule.describe());
  reporter_->say(device_->describe() + (session_.size() == 1 ? "" : " a rank") + "; " +
                 std::to_string(sizes_.training_samples) + " training and " +
                 std::to_string(sizes_.test_samples) + " test images");
  reporter_->begin(sizes_);
}

void Trainer::run() {
  if (last()) introduce();
  StageReport report = loop_->run();
  report.model_memory = compute_->memory().total();
  const std::vector<StageReport> reports = collect_reports(session_, report);
  write_model();
  if (!last()) return;
  RunSummary summary{.final = reporter_->last_evaluation(), .stages = reports};
  const data::TrainingOrder order = training_order(job_, sizes_);
  for (int64_t b = 0; b < order.plan.batches(); ++b)
    summary.training_images += order.plan.size(b) * job_.epochs;
  summary.seconds = report.total;
  summary.images_per_s = static_cast<double>(summary.training_images) / report.total;
  reporter_->finished(summary);
}

void Trainer::write_model() {
  std::vector<layers::Graph> graphs;
  std::vector<output::TensorEntry> entries;
  for (int64_t k = 0; k < session_.size(); ++k) {
    graphs.push_back(stage_graph(job_, k));
    for (auto& entry : state_entries(layers::ParameterLayout(graphs.back())))
      entries.push_back(std::move(entry));
  }
  std::unique_ptr<output::SafetensorsWriter> writer;
  if (last()) {
    writer = std::make_unique<output::SafetensorsWriter>(
        reporter_->folder().model(), entries, std::map<std::string, std::string>{{"model", job_.model.name}});
  }
  collect_state(session_, graphs, compute_->parameters(), writer.get());
  if (writer) writer->finish();
}

std::string Trainer::where() const {
  return "rank " + std::to_string(session_.rank()) + (loop_ ? " (" + loop_->where() + ")" : "");
}

}  // namespace stagger::runtime

#include "runtime/reporter.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <ostream>

#include "layers/error.h"
#include "runtime/output/atomic_file.h"
#include "runtime/output/table.h"

namespace stagger::runtime {
namespace {

using output::fixed;
using output::Metrics;
using output::RunFolder;

std::shared_ptr<spdlog::logger> make_log(const std::string& path) {
  try {
    auto log = std::make_shared<spdlog::logger>("stagger",
                                                std::make_shared<spdlog::sinks::basic_file_sink_mt>(path));
    log->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
    log->flush_on(spdlog::level::info);
    return log;
  } catch (const spdlog::spdlog_ex& error) {
    throw layers::ConfigError(error.what());
  }
}

}  // namespace

Reporter::Reporter(const Job& job, std::ostream& terminal)
    : job_(job),
      terminal_(terminal),
      folder_(RunFolder::create(
          job.folder, job.overwrite ? RunFolder::Existing::kOverwrite : RunFolder::Existing::kRefuse)),
      metrics_(folder_.metrics()),
      log_(make_log(folder_.log())) {
  output::write_atomically(folder_.config(), job.resolved_config);
}

void Reporter::begin(const RunSizes& sizes) {
  const data::TrainingOrder order = training_order(job_, sizes);
  rate_ =
      std::make_unique<optim::LearningRate>(job_.learning_rate, order.plan.batches(), order.total_batches());
  start_ = std::chrono::steady_clock::now();
  if (job_.quiet) return;
  output::ProgressOptions options{
      .live = job_.live_progress, .epochs = job_.epochs, .batches_per_epoch = order.plan.batches()};
  options.width = [] { return output::terminal_width(STDOUT_FILENO); };
  progress_ = std::make_unique<output::ProgressDisplay>(terminal_, std::move(options));
}

double Reporter::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Reporter::say(const std::string& line) {
  log_->info(line);
  if (job_.quiet) return;
  if (progress_) {
    progress_->message(line);
  } else {
    terminal_ << line << std::endl;
  }
}

void Reporter::trained(const TokenHeader& header, const layers::LossResult& result) {
  const double loss = result.loss_sum / static_cast<double>(result.samples);
  if (progress_) progress_->batch_done(header.batch, loss, header.samples);
  images_ += header.samples;
  if (header.batch % job_.log_every != 0 && header.last == 0) return;
  const double now = seconds();
  Metrics line{.kind = Metrics::Kind::kStep, .batch = header.batch, .epoch = header.epoch, .loss = loss};
  line.learning_rate = rate_->at(header.batch);
  line.images_per_s = static_cast<double>(images_) / (now - last_line_);
  line.seconds = now;
  metrics_.write(line);
  images_ = 0;
  last_line_ = now;
}

void Reporter::evaluated(const EvaluationResult& result) {
  last_evaluation_ = result;
  Metrics line{.kind = Metrics::Kind::kEval,
               .batch = result.batches_before,
               .epoch = result.epoch,
               .loss = result.loss};
  line.accuracy = result.accuracy;
  line.samples = result.samples;
  line.seconds = seconds();
  metrics_.write(line);
  say("evaluation after epoch " + std::to_string(result.epoch) + ": accuracy " +
      fixed(100 * result.accuracy, 2) + " %, loss " + fixed(result.loss, 4) + " on " +
      std::to_string(result.samples) + " images");
}

void Reporter::finished(const RunSummary& summary) {
  Metrics line{.kind = Metrics::Kind::kSummary,
               .batch = summary.final.batches_before,
               .epoch = summary.final.epoch,
               .loss = summary.final.loss};
  line.accuracy = summary.final.accuracy;
  line.samples = summary.final.samples;
  line.images_per_s = summary.images_per_s;
  line.seconds = summary.seconds;
  metrics_.write(line, summary_json(job_, summary));
  metrics_.sync();
  if (progress_) progress_->finish();
  const std::string text = summary_text(job_, summary) + "\nwrote " + folder_.path() +
                           "/model.safetensors, metrics.jsonl, config.yaml, log.txt";
  log_->info("summary\n" + text);
  terminal_ << "\n" << text << std::endl;
}

}  // namespace stagger::runtime

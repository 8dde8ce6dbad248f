// What a run tells while it goes on: the folder's files, and a person at a terminal.
#pragma once

#include <spdlog/logger.h>

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>

#include "optim/learning_rate.h"
#include "runtime/data_ends.h"
#include "runtime/job.h"
#include "runtime/output/metrics.h"
#include "runtime/output/progress.h"
#include "runtime/output/run_folder.h"
#include "runtime/summary.h"

namespace stagger::runtime {

/// Lives on the scribe. Makes the folder and its files; every method writes to files and terminal what
/// belongs there.
class Reporter {
 public:
  /// Throws ConfigError where the folder exists already or cannot be written.
  Reporter(const Job& job, std::ostream& terminal);

  /// Training starts now.
  void begin(const RunSizes& sizes);
  /// A line for the terminal and the log.
  void say(const std::string& line);
  void trained(const TokenHeader& header, const layers::LossResult& result);
  void evaluated(const EvaluationResult& result);
  /// Everything is over and written.
  void finished(const RunSummary& summary);

  const output::RunFolder& folder() const { return folder_; }
  const EvaluationResult& last_evaluation() const { return last_evaluation_; }
  /// Since begin().
  double seconds() const;

 private:
  const Job& job_;
  std::ostream& terminal_;
  output::RunFolder folder_;
  output::MetricsWriter metrics_;
  std::shared_ptr<spdlog::logger> log_;
  std::unique_ptr<output::ProgressDisplay> progress_;
  std::unique_ptr<optim::LearningRate> rate_;
  std::chrono::steady_clock::time_point start_;
  EvaluationResult last_evaluation_;
  int64_t images_ = 0;  // since the last step line
  double last_line_ = 0;
};

}  // namespace stagger::runtime

// The end of a run, for people and for metrics.jsonl.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/data_ends.h"
#include "runtime/job.h"
#include "runtime/ledger.h"

namespace stagger::runtime {

struct RunSummary {
  EvaluationResult final;  ///< of the flushed model
  int64_t training_images = 0;
  double seconds = 0;       ///< from the first step to the end of the last evaluation
  double images_per_s = 0;  ///< trained images over the time of training, evaluations within it included
  std::vector<StageReport> stages;
};

/// The lines that stand at the end of a run: accuracy, rate, and a table of the stages.
std::string summary_text(const Job& job, const RunSummary& summary);

/// One entry a stage: blocks, staleness, shares of time, bytes.
nlohmann::ordered_json summary_json(const Job& job, const RunSummary& summary);

}  // namespace stagger::runtime

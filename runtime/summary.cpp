#include "runtime/summary.h"

#include <algorithm>

#include "runtime/output/table.h"

namespace stagger::runtime {
namespace {

using output::fixed;
using output::human_bytes;

std::string percent(double part, double whole) { return fixed(whole > 0 ? 100 * part / whole : 0, 1) + " %"; }

/// As measured; a range where it was not the same in every step.
std::string staleness(const StageReport& report) {
  if (report.batches == 0) return "-";
  const std::string most = std::to_string(report.most_steps);
  return report.least_steps == report.most_steps ? most : std::to_string(report.least_steps) + "-" + most;
}

}  // namespace

std::string summary_text(const Job& job, const RunSummary& summary) {
  using Align = output::Table::Align;
  output::Table table({{"stage", Align::kRight},
                       {"blocks", Align::kLeft},
                       {"staleness", Align::kRight},
                       {"busy", Align::kRight},
                       {"wait activation", Align::kRight},
                       {"wait error", Align::kRight},
                       {"model", Align::kRight},
                       {"queues", Align::kRight},
                       {"sent", Align::kRight}});
  for (size_t k = 0; k < summary.stages.size(); ++k) {
    const StageReport& report = summary.stages[k];
    table.add_row({std::to_string(k), stage_blocks(job, static_cast<int64_t>(k)), staleness(report),
                   percent(report.busy_total(), report.total), percent(report.wait_activation, report.total),
                   percent(report.wait_error, report.total), human_bytes(report.model_memory),
                   human_bytes(report.message_memory), human_bytes(report.sent_bytes)});
  }
  const EvaluationResult& final = summary.final;
  return "test accuracy " + fixed(100 * final.accuracy, 2) + " % (" + std::to_string(final.correct) + " of " +
         std::to_string(final.samples) + " images), loss " + fixed(final.loss, 4) + "\n" + "trained on " +
         std::to_string(summary.training_images) + " images in " + fixed(summary.seconds, 1) + " s, " +
         fixed(summary.images_per_s, 0) + " images/s\n\n" + table.to_string();
}

nlohmann::ordered_json summary_json(const Job& job, const RunSummary& summary) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::array();
  for (size_t k = 0; k < summary.stages.size(); ++k) {
    const StageReport& report = summary.stages[k];
    nlohmann::ordered_json stage{{"stage", k}, {"blocks", stage_blocks(job, static_cast<int64_t>(k))}};
    if (report.batches > 0) stage["staleness"] = report.most_steps;
    stage["seconds"] = report.total;
    for (int action = 0; action < kActions; ++action) {
      stage[std::string("busy_") + name(static_cast<Action>(action))] =
          report.busy[static_cast<size_t>(action)];
    }
    stage["wait_activation"] = report.wait_activation;
    stage["wait_error"] = report.wait_error;
    stage["wait_room"] = report.wait_room;
    stage["model_bytes"] = report.model_memory;
    stage["queue_bytes"] = report.message_memory;
    stage["sent_bytes"] = report.sent_bytes;
    stages.push_back(stage);
  }
  return {{"correct", summary.final.correct}, {"stages", stages}};
}

}  // namespace stagger::runtime

// metrics.jsonl: what a run measured, one JSON object a line.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "runtime/output/output_file.h"

namespace stagger::runtime::output {

/// One line. Numbers that are absent are left out of it.
struct Metrics {
  enum class Kind {
    kStep,     ///< one training batch, as it was trained: "step"
    kEval,     ///< one evaluation, after `batch` training batches: "eval"
    kSummary,  ///< the end of the run: "summary"
  };

  Kind kind = Kind::kStep;
  int64_t batch = 0;  ///< counted from the start of the run
  int64_t epoch = 0;
  std::optional<double> loss = {};           ///< mean over samples, natural logarithm
  std::optional<double> learning_rate = {};  ///< key "lr"
  std::optional<double> accuracy = {};       ///< 0..1
  std::optional<int64_t> samples = {};
  std::optional<double> images_per_s = {};
  std::optional<double> seconds = {};  ///< since training began
};

/// The line of `metrics`, without its end: keys in the order of the struct, then those of `details` (an
/// object or null). JSON knows no NaN: a number that is not finite becomes null, with its name beside it:
/// "loss":null,"loss_text":"nan".
std::string to_json(const Metrics& metrics, const nlohmann::ordered_json& details);

/// Appends lines to a file. Each is written at once, so that whoever reads along, or after a crash, finds
/// whole lines. Throws ConfigError where the file cannot be opened or written ("cannot write FILE: No space
/// left on device").
class MetricsWriter {
 public:
  explicit MetricsWriter(std::string path, const SystemCalls& calls = system_calls());

  void write(const Metrics& metrics);
  /// With further keys: of a summary, say, one entry a stage.
  void write(const Metrics& metrics, const nlohmann::ordered_json& details);
  /// Returns once the disk has all lines.
  void sync() { file_.sync(); }

 private:
  OutputFile file_;
};

}  // namespace stagger::runtime::output

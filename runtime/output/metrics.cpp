#include "runtime/output/metrics.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace stagger::runtime::output {
namespace {

using nlohmann::ordered_json;

const char* name_of(Metrics::Kind kind) {
  switch (kind) {
    case Metrics::Kind::kStep:
      return "step";
    case Metrics::Kind::kEval:
      return "eval";
    case Metrics::Kind::kSummary:
      return "summary";
  }
  return "";
}

void put(ordered_json& line, const std::string& key, std::optional<double> value) {
  if (!value) return;
  if (std::isfinite(*value)) {
    line[key] = *value;
    return;
  }
  line[key] = nullptr;
  line[key + "_text"] = std::isnan(*value) ? "nan" : *value > 0 ? "inf" : "-inf";
}

}  // namespace

std::string to_json(const Metrics& metrics, const ordered_json& details) {
  ordered_json line;
  line["kind"] = name_of(metrics.kind);
  line["batch"] = metrics.batch;
  line["epoch"] = metrics.epoch;
  put(line, "loss", metrics.loss);
  put(line, "lr", metrics.learning_rate);
  put(line, "accuracy", metrics.accuracy);
  if (metrics.samples) line["samples"] = *metrics.samples;
  put(line, "images_per_s", metrics.images_per_s);
  put(line, "seconds", metrics.seconds);
  if (!details.is_null()) line.update(details);
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

MetricsWriter::MetricsWriter(std::string path, const SystemCalls& calls)
    : file_(std::move(path), OutputFile::Start::kAppend, calls) {}

void MetricsWriter::write(const Metrics& metrics) { write(metrics, nullptr); }

void MetricsWriter::write(const Metrics& metrics, const ordered_json& details) {
  const std::string line = to_json(metrics, details) + "\n";
  file_.append(std::as_bytes(std::span(line)));
}

}  // namespace stagger::runtime::output

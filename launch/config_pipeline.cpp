#include "launch/config_sections.h"
#include "launch/dsp_notation.h"
#include "layers/checked.h"
#include "layers/error.h"

namespace stagger::launch {
namespace {

constexpr Integers kQueueLength = {.fallback = 1, .least = 0, .most = 1000};

void read_dsp(Section& section, PipelineConfig& pipeline) {
  if (!section.has("dsp")) {
    pipeline.activation_queue =
        section.integer_or_integers("activation_queue", kQueueLength, pipeline.stages - 1);
    pipeline.error_queue = section.integer_or_integers("error_queue", kQueueLength, pipeline.stages - 1);
    return;
  }
  for (const char* key : {"activation_queue", "error_queue"}) {
    if (section.has(key)) section.fail(key, "stands beside pipeline.dsp, allowed is one of the two");
  }
  try {
    QueueLengths lengths = parse_dsp(section.text("dsp"), pipeline.stages);
    pipeline.activation_queue = std::move(lengths.activation);
    pipeline.error_queue = std::move(lengths.error);
  } catch (const layers::ConfigError& error) {
    const std::string problem = error.what();
    if (!problem.starts_with("found ")) throw;
    section.fail("dsp", problem);
  }
}

void read_queues(Section& section, PipelineConfig& pipeline) {
  if (pipeline.schedule == "dsp") return read_dsp(section, pipeline);
  section.belongs_to("pipeline.schedule: dsp", {"dsp", "activation_queue", "error_queue"});
  pipeline.activation_queue.assign(layers::narrow<size_t>(pipeline.stages - 1), 0);
  pipeline.error_queue = pipeline.activation_queue;
}

void read_partition(Section& section, PipelineConfig& pipeline) {
  const int64_t cuts = pipeline.stages - 1;
  pipeline.cuts = section.integers_or(
      "partition", "balanced", {.each = {.least = 1, .most = kMillion}, .fewest = cuts, .largest = cuts});
  if (!pipeline.cuts) return;
  for (size_t k = 1; k < pipeline.cuts->size(); ++k) {
    const int64_t before = pipeline.cuts->at(k - 1);
    const int64_t cut = pipeline.cuts->at(k);
    if (cut > before) continue;
    section.fail("partition",
                 "found " + std::to_string(cut) + " after " + std::to_string(before) +
                     ", allowed are numbers that increase (the first block of stage 1, of stage 2, ...)");
  }
}

}  // namespace

PipelineConfig read_pipeline(Section section) {
  PipelineConfig pipeline;
  pipeline.stages = section.integer("stages", {.fallback = 1, .least = 1, .most = 10'000});
  pipeline.schedule = section.choice("schedule", {"bp", "dsp"}, "bp");
  read_queues(section, pipeline);
  read_partition(section, pipeline);
  pipeline.accumulate = section.integer("accumulate", {.fallback = 1, .least = 1, .most = kMillion});
  section.finish();
  return pipeline;
}

}  // namespace stagger::launch

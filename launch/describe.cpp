#include "launch/describe.h"

#include <memory>

#include "launch/config.h"
#include "launch/make_job.h"
#include "runtime/output/table.h"
#include "runtime/trainer.h"

namespace stagger::launch {
namespace {

using runtime::output::human_bytes;
using runtime::output::Table;
using Align = Table::Align;

std::string backward_weights(const runtime::Schedule& schedule, int64_t k) {
  if (schedule.staleness(k) == 0) return "current, kept";
  const std::string weights =
      schedule.weights == runtime::Schedule::Weights::kCurrent ? "current" : "stashed";
  return weights + (schedule.recomputes(k) ? ", recomputed" : ", stored");
}

std::string in_words(const runtime::Schedule& schedule) {
  std::string text = "schedule: " + schedule.describe() + "\n";
  if (schedule.staleness(0) == 0)
    return text + "No queue holds a batch ahead: each batch passes forward and backward within one step.\n";
  text += "Stages never wait for a whole pass: hop k -> k+1 starts with bubbles in its queues,\n";
  for (int64_t k = 0; k + 1 < schedule.stages(); ++k) {
    text += "  hop " + std::to_string(k) + " -> " + std::to_string(k + 1) + ": " +
            std::to_string(schedule.a[static_cast<size_t>(k)]) + " activation, " +
            std::to_string(schedule.e[static_cast<size_t>(k)]) + " error\n";
  }
  return text + "and a run ends with " + std::to_string(schedule.staleness(0)) +
         " more steps than batches, which empty them.\n";
}

std::string stage_table(const runtime::Job& job, const runtime::RunSizes& sizes) {
  const auto device = layers::make_cpu_device(job.threads);
  Table table({{"stage", Align::kRight},
               {"blocks", Align::kLeft},
               {"backward uses", Align::kLeft},
               {"staleness", Align::kRight},
               {"batches in flight", Align::kRight},
               {"weights", Align::kRight},
               {"gradients", Align::kRight},
               {"optimizer", Align::kRight},
               {"workspace", Align::kRight},
               {"queues", Align::kRight},
               {"total", Align::kRight}});
  for (int64_t k = 0; k < job.schedule.stages(); ++k) {
    const auto memory = runtime::make_stage(job, sizes, k, *device, nullptr)->memory();
    const int64_t queues = runtime::plan_queues(job.schedule, runtime::queue_options(job, sizes, k)).bytes();
    table.add_row({std::to_string(k), runtime::stage_blocks(job, k), backward_weights(job.schedule, k),
                   std::to_string(job.schedule.staleness(k)), std::to_string(job.schedule.saved_inputs(k)),
                   human_bytes(memory.weights + memory.statistics), human_bytes(memory.gradients),
                   human_bytes(memory.optimizer), human_bytes(memory.workspace), human_bytes(queues),
                   human_bytes(memory.total() + queues)});
  }
  return device->describe() + " a stage\n\n" + table.to_string();
}

std::string layer_table(const runtime::Job& job) {
  Table table({{"stage", Align::kRight},
               {"layer", Align::kLeft},
               {"does", Align::kLeft},
               {"gives", Align::kLeft},
               {"parameters", Align::kRight}});
  int64_t total = 0;
  for (int64_t k = 0; k < job.schedule.stages(); ++k) {
    const layers::Graph graph = runtime::stage_graph(job, k);
    layers::ValueId value = 0;
    for (const layers::Node& node : graph.nodes()) {
      const auto inputs = graph.input_shapes(node);
      int64_t parameters = 0;
      for (const auto& spec : layers::parameters(node.layer, inputs)) parameters += spec.shape.elements();
      total += parameters;
      table.add_row({std::to_string(k), node.name, layers::describe(node.layer),
                     graph.shape(++value).to_string(), std::to_string(parameters)});
    }
  }
  return table.to_string() + std::to_string(total) + " parameters\n";
}

}  // namespace

std::string describe(const CommandLine& line) {
  const Config config = load_config(line.config, line.settings);
  constexpr runtime::data::Parts kHeaders{.images = false, .labels = false};
  const auto training = open_dataset(config.data, DataSet::kTraining, kHeaders);
  const auto test = open_dataset(config.data, DataSet::kTest, kHeaders);
  const runtime::Job job = make_job(config, training->shape(), 1);
  const runtime::RunSizes sizes{.training_samples = training->size(), .test_samples = test->size()};
  runtime::check_sizes(job, sizes);
  const runtime::data::TrainingOrder order = runtime::training_order(job, sizes);
  return job.name + ": " + job.model.name + ", " + std::to_string(job.schedule.stages()) +
         (job.schedule.stages() == 1 ? " stage\n" : " stages\n") + in_words(job.schedule) +
         "data: " + training->shape().to_string() + ", " + std::to_string(sizes.training_samples) +
         " training and " + std::to_string(sizes.test_samples) + " test images; " +
         std::to_string(order.plan.batches()) + " batches an epoch, " +
         std::to_string(order.total_batches()) + " in all\n" + stage_table(job, sizes) + "\n" +
         layer_table(job);
}

}  // namespace stagger::launch

#include "runtime/job.h"

#include "layers/error.h"

namespace stagger::runtime {

data::TrainingOrder training_order(const Job& job, const RunSizes& sizes) {
  const data::BatchPlan plan{
      .samples = sizes.training_samples, .batch = job.batch, .drop_last = job.drop_last};
  return {.plan = plan, .epochs = job.epochs, .seed = job.seed, .shuffle = job.shuffle};
}

data::BatchPlan evaluation_plan(const Job& job, const RunSizes& sizes) {
  return {.samples = sizes.test_samples, .batch = job.evaluation_batch, .drop_last = false};
}

void check_sizes(const Job& job, const RunSizes& sizes) {
  if (job.batch <= sizes.training_samples) return;
  throw layers::ConfigError("train.batch: found " + std::to_string(job.batch) +
                            ", but the training set has " + std::to_string(sizes.training_samples) +
                            " samples");
}

layers::Graph stage_graph(const Job& job, int64_t k) {
  const BlockRange range = job.partition.at(static_cast<size_t>(k));
  return layers::fuse_relu(job.model.slice(range.first, range.last));
}

std::string stage_blocks(const Job& job, int64_t k) {
  const BlockRange range = job.partition.at(static_cast<size_t>(k));
  const std::string& first = job.model.blocks[static_cast<size_t>(range.first)].name;
  const std::string& last = job.model.blocks[static_cast<size_t>(range.last - 1)].name;
  return range.last - range.first == 1 ? first : first + " .. " + last;
}

}  // namespace stagger::runtime

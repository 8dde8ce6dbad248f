#include "launch/config_sections.h"

namespace stagger::launch {
namespace {

constexpr Integers kBatch = {.fallback = 128, .least = 1, .most = kMillion};

void read_optimizer(Section section, TrainConfig& train) {
  section.choice("kind", {"sgd"}, "sgd");
  train.sgd.momentum = section.number("momentum", {.fallback = 0.9, .least = 0, .most = 1, .below = true});
  train.sgd.weight_decay = section.number("weight_decay", {.fallback = 5e-4, .least = 0, .most = 1000});
  train.sgd.nesterov = section.boolean("nesterov", false);
  train.decay_norm_and_bias = section.boolean("decay_norm_and_bias", true);
  if (train.sgd.nesterov && train.sgd.momentum == 0) {
    section.fail("nesterov", "found true with momentum 0, allowed is true with momentum above 0");
  }
  section.finish();
}

std::vector<double> read_milestones(Section& section) {
  std::vector<double> milestones =
      section.numbers("milestones", {.each = {.least = 0, .most = kMillion, .above = true}, .fewest = 1});
  for (size_t i = 1; i < milestones.size(); ++i) {
    if (milestones[i] > milestones[i - 1]) continue;
    section.fail("milestones", "found " + number_text(milestones[i]) + " after " +
                                   number_text(milestones[i - 1]) + ", allowed are epochs that increase");
  }
  return milestones;
}

optim::LearningRateOptions read_learning_rate(Section section, int64_t epochs) {
  using Kind = optim::LearningRateOptions::Kind;
  constexpr double kMostRate = 1e6;
  optim::LearningRateOptions rate;
  rate.kind = section.option<Kind>(
      "kind", {{"constant", Kind::kConstant}, {"step", Kind::kStep}, {"cosine", Kind::kCosine}}, "constant");
  rate.base = section.number("base", {.fallback = 0.1, .least = 0, .most = kMostRate});
  if (rate.kind == Kind::kStep) {
    rate.milestones = read_milestones(section);
    rate.factor = section.number("factor", {.fallback = 0.1, .least = 0, .most = kMostRate});
  } else {
    section.belongs_to("train.learning_rate.kind: step", {"milestones", "factor"});
  }
  if (rate.kind == Kind::kCosine) {
    rate.final = section.number("final", {.fallback = 0, .least = 0, .most = kMostRate});
  } else {
    section.belongs_to("train.learning_rate.kind: cosine", {"final"});
  }
  rate.warmup_epochs =
      section.number("warmup_epochs", {.fallback = 0, .least = 0, .most = static_cast<double>(epochs)});
  section.finish();
  return rate;
}

}  // namespace

TrainConfig read_train(Section section) {
  TrainConfig train;
  train.epochs = section.integer("epochs", {.fallback = 1, .least = 1, .most = kMillion});
  train.batch = section.integer("batch", kBatch);
  read_optimizer(section.section("optimizer"), train);
  train.learning_rate = read_learning_rate(section.section("learning_rate"), train.epochs);
  section.finish();
  return train;
}

EvaluateConfig read_evaluate(Section section, int64_t train_batch) {
  EvaluateConfig evaluate;
  evaluate.every = section.integer("every", {.fallback = 1, .least = 0, .most = kMillion});
  evaluate.batch = section.integer("batch", {.fallback = train_batch, .least = 1, .most = kMillion});
  section.finish();
  return evaluate;
}

RunConfig read_run(Section section) {
  RunConfig run;
  run.threads = section.integer_or("threads", "auto", {.least = 1, .most = 1024});
  run.watchdog = section.number("watchdog", {.fallback = 60, .least = 0, .most = 1e6, .above = true});
  run.log_every = section.integer("log_every", {.fallback = 1, .least = 1, .most = kMillion});
  section.finish();
  return run;
}

}  // namespace stagger::launch

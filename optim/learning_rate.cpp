#include "optim/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "layers/error.h"

namespace stagger::optim {
namespace {

void check_number(const char* what, double value) {
  if (value >= 0 && std::isfinite(value)) return;
  throw layers::ConfigError(std::string("learning rate: ") + what + " is " + std::to_string(value) +
                            "; allowed is a finite number of 0 or more");
}

void check(const LearningRateOptions& options) {
  check_number("base", options.base);
  check_number("factor", options.factor);
  check_number("final", options.final);
  check_number("warm-up", options.warmup_epochs);
  double last = -1;
  for (double milestone : options.milestones) {
    check_number("a milestone", milestone);
    if (milestone <= last)
      throw layers::ConfigError("learning rate: milestone " + std::to_string(milestone) + " follows " +
                                std::to_string(last) + "; milestones must increase");
    last = milestone;
  }
}

// Rounded as a double first: a warm-up of 1e300 epochs must not meet a conversion that is undefined.
int64_t warmup_in_batches(double epochs, int64_t batches_per_epoch, int64_t total_batches) {
  const double batches = std::round(epochs * static_cast<double>(batches_per_epoch));
  if (!(batches <= static_cast<double>(total_batches)))
    throw layers::ConfigError("learning rate: the warm-up of " + std::to_string(epochs) +
                              " epochs is longer than the run of " + std::to_string(total_batches) +
                              " batches, " + std::to_string(batches_per_epoch) + " an epoch");
  return static_cast<int64_t>(batches);
}

// Repeated products as torch.optim.lr_scheduler has them, rather than a power.
double stepped(const LearningRateOptions& options, double epoch) {
  double rate = options.base;
  for (double milestone : options.milestones)
    if (epoch >= milestone) rate *= options.factor;
  return rate;
}

double cosine(const LearningRateOptions& options, double t) {
  return options.final + (options.base - options.final) * (1 + std::cos(std::numbers::pi * t)) / 2;
}

}  // namespace

LearningRate::LearningRate(LearningRateOptions options, int64_t batches_per_epoch, int64_t total_batches)
    : options_(std::move(options)), batches_per_epoch_(batches_per_epoch), total_batches_(total_batches) {
  layers::require(batches_per_epoch >= 1 && total_batches >= 1,
                  "a learning rate needs a run of one batch or more");
  check(options_);
  warmup_batches_ = warmup_in_batches(options_.warmup_epochs, batches_per_epoch, total_batches);
}

double LearningRate::at(int64_t batch) const {
  layers::require(batch >= 0, "learning rate of a negative batch");
  const int64_t b = std::min(batch, total_batches_ - 1);
  if (b < warmup_batches_)
    return options_.base * static_cast<double>(b + 1) / static_cast<double>(warmup_batches_);
  switch (options_.kind) {
    case LearningRateOptions::Kind::kConstant:
      return options_.base;
    case LearningRateOptions::Kind::kStep:
      return stepped(options_, static_cast<double>(b) / static_cast<double>(batches_per_epoch_));
    case LearningRateOptions::Kind::kCosine:
      return cosine(options_, static_cast<double>(b - warmup_batches_) /
                                  static_cast<double>(total_batches_ - warmup_batches_));
  }
  throw layers::InternalError("unknown kind of learning rate");
}

}  // namespace stagger::optim

// Learning rates as functions of the batch that is applied, never of wall time or of the local step.
#pragma once

#include <cstdint>
#include <vector>

namespace stagger::optim {

/// A rate for every batch of a run. Positions are in epochs; batch b of a run with B batches an epoch is at b
/// / B.
struct LearningRateOptions {
  enum class Kind { kConstant, kStep, kCosine };

  Kind kind = Kind::kConstant;
  double base = 0.1;
  /// kStep: the rate is multiplied by `factor` from each of these epochs on (increasing).
  std::vector<double> milestones{};
  double factor = 0.1;
  /// kCosine: falls from base to `final` over the whole run (after warm-up): final + (base-final)(1+cos(pi
  /// t))/2
  double final = 0;
  /// Rises linearly from base/W in batch 0 to base in batch W-1, W = warm-up in batches (rounded to the
  /// nearest whole).
  double warmup_epochs = 0;
};

class LearningRate {
 public:
  /// Throws ConfigError where a number is negative or not finite, milestones do not increase, or the warm-up
  /// is longer than the run. REQUIRES: both counts >= 1.
  LearningRate(LearningRateOptions options, int64_t batches_per_epoch, int64_t total_batches);
  /// REQUIRES: batch >= 0. Batches past the end keep the last rate.
  double at(int64_t batch) const;

 private:
  LearningRateOptions options_;
  int64_t batches_per_epoch_;
  int64_t total_batches_;
  int64_t warmup_batches_;
};

}  // namespace stagger::optim

// How a model is cut into stages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layers/model.h"

namespace stagger::runtime {

/// Blocks first .. last-1 of a model.
struct BlockRange {
  int64_t first = 0;
  int64_t last = 0;

  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

/// The blocks of each stage, in order: they cover all blocks, and none is empty.
using Partition = std::vector<BlockRange>;

/// Estimated seconds of one sample's forward pass on one CPU core: floating-point operations at 150 GFLOP/s
/// plus the bytes of all layers' results (ReLU folded into the layer before where it can be) at 10 GB/s. Good
/// enough to balance with and the same on every machine; no promise of speed.
double estimate_cost(const layers::Graph& block);
/// estimate_cost() of each block.
std::vector<double> estimate_costs(const layers::Model& model);

struct BalanceOptions {
  int64_t stages = 1;
  /// Work of the last stage for a block over that of any other stage. The last stage never recomputes: where
  /// the others do, they pay forward, recomputation and backward, 4 units, and it pays 3. Above 0.
  double last_stage_weight = 1;
};
constexpr double kLastStageWeightRecomputing = 0.75;

/// The split whose most expensive stage is cheapest; of several such, the one whose first cut comes earliest,
/// then its second, and so on. `costs` holds one finite number >= 0 a block. Throws ConfigError where there
/// are more stages than blocks, or stages < 1.
Partition balance(std::span<const double> costs, const BalanceOptions& options);

/// The split that a user asks for: `cuts` holds the first block of each stage but the first one.
/// Throws ConfigError unless there are stages - 1 cuts, strictly increasing, within 1 .. blocks-1.
Partition cut_at(int64_t blocks, int64_t stages, std::span<const int64_t> cuts);

}  // namespace stagger::runtime

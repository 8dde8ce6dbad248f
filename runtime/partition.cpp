#include "runtime/partition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "layers/checked.h"
#include "layers/error.h"

namespace stagger::runtime {
namespace {

using layers::ConfigError;

constexpr double kFlopsPerSecond = 150e9;
constexpr double kBytesPerSecond = 10e9;

void check_stages(int64_t blocks, int64_t stages) {
  if (stages < 1)
    throw ConfigError("the number of stages is " + std::to_string(stages) + "; it must be 1 or more");
  if (stages > blocks) {
    throw ConfigError("the model has " + std::to_string(blocks) + " blocks, too few for " +
                      std::to_string(stages) + " stages; each stage needs 1 block or more");
  }
}

Partition ranges_between(const std::vector<int64_t>& borders) {
  Partition partition;
  for (size_t k = 0; k + 1 < borders.size(); ++k) partition.push_back({borders[k], borders[k + 1]});
  return partition;
}

std::string list_of(std::span<const int64_t> numbers) {
  std::string text;
  for (int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

/// Dynamic programming over suffixes: worst_[k][i] is the least possible cost of the most expensive stage
/// where blocks i .. n-1 make the last k + 1 stages.
class Balancer {
 public:
  Balancer(std::span<const double> costs, const BalanceOptions& options)
      : blocks_(layers::narrow<int64_t>(costs.size())), stages_(options.stages), prefix_{0} {
    for (double cost : costs) {
      layers::require(std::isfinite(cost) && cost >= 0, "the cost of a block is negative or not finite");
      prefix_.push_back(prefix_.back() + cost);
    }
    std::vector<double> last;
    for (int64_t i = 0; i <= blocks_; ++i) {
      last.push_back(i < blocks_ ? options.last_stage_weight * cost_of(i, blocks_) : kImpossible);
    }
    worst_.push_back(std::move(last));
    for (int64_t k = 1; k < stages_; ++k) worst_.push_back(one_stage_more(worst_.back()));
  }

  /// Gives each stage as few blocks as the best split allows: no sum is formed that the table did not
  /// compare, so rounding cannot make this disagree with it.
  std::vector<int64_t> borders() const {
    std::vector<int64_t> list{0};
    const double limit = worst(stages_ - 1, 0);
    for (int64_t rest = stages_ - 2; rest >= 0; --rest) {
      int64_t cut = list.back() + 1;
      while (worst(rest, cut) > limit) ++cut;
      list.push_back(cut);
    }
    list.push_back(blocks_);
    return list;
  }

 private:
  static constexpr double kImpossible = std::numeric_limits<double>::infinity();

  double cost_of(int64_t first, int64_t last) const {
    return prefix_[static_cast<size_t>(last)] - prefix_[static_cast<size_t>(first)];
  }
  double worst(int64_t k, int64_t i) const { return worst_[static_cast<size_t>(k)][static_cast<size_t>(i)]; }

  std::vector<double> one_stage_more(const std::vector<double>& rest) const {
    std::vector<double> best(static_cast<size_t>(blocks_) + 1, kImpossible);
    for (int64_t i = 0; i < blocks_; ++i) {
      double& least = best[static_cast<size_t>(i)];
      for (int64_t cut = i + 1; cut < blocks_ && cost_of(i, cut) < least; ++cut) {
        least = std::min(least, std::max(cost_of(i, cut), rest[static_cast<size_t>(cut)]));
      }
    }
    return best;
  }

  int64_t blocks_;
  int64_t stages_;
  std::vector<double> prefix_;
  std::vector<std::vector<double>> worst_;
};

}  // namespace

double estimate_cost(const layers::Graph& block) {
  const layers::Graph graph = layers::fuse_relu(block);
  double flops = 0;
  double bytes = 0;
  for (const layers::Node& node : graph.nodes()) {
    const std::vector<layers::Shape> inputs = graph.input_shapes(node);
    flops += layers::flops(node.layer, inputs);
    bytes += static_cast<double>(sizeof(float)) *
             static_cast<double>(layers::output_shape(node.layer, inputs).elements());
  }
  return flops / kFlopsPerSecond + bytes / kBytesPerSecond;
}

std::vector<double> estimate_costs(const layers::Model& model) {
  std::vector<double> costs;
  for (const layers::Block& block : model.blocks) costs.push_back(estimate_cost(block.graph));
  return costs;
}

Partition balance(std::span<const double> costs, const BalanceOptions& options) {
  check_stages(layers::narrow<int64_t>(costs.size()), options.stages);
  layers::require(options.last_stage_weight > 0, "the weight of the last stage is not above 0");
  return ranges_between(Balancer(costs, options).borders());
}

Partition cut_at(int64_t blocks, int64_t stages, std::span<const int64_t> cuts) {
  check_stages(blocks, stages);
  const auto given = layers::narrow<int64_t>(cuts.size());
  if (given != stages - 1) {
    throw ConfigError(std::to_string(stages) + " stages need " + std::to_string(stages - 1) + " cuts, got " +
                      std::to_string(given) + ": " + list_of(cuts));
  }
  std::vector<int64_t> borders{0};
  for (int64_t cut : cuts) {
    if (cut <= borders.back() || cut >= blocks) {
      throw ConfigError("cuts " + list_of(cuts) + ": " + std::to_string(cut) +
                        " does not fit; cuts must increase within 1 to " + std::to_string(blocks - 1));
    }
    borders.push_back(cut);
  }
  borders.push_back(blocks);
  return ranges_between(borders);
}

}  // namespace stagger::runtime

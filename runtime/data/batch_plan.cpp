#include <algorithm>
#include <numeric>

#include "layers/error.h"
#include "layers/random.h"
#include "runtime/data/loader.h"

namespace stagger::runtime::data {

int64_t BatchPlan::batches() const {
  layers::require(samples >= 0 && batch >= 1, "a plan of batches needs samples and a batch size");
  return samples / batch + (samples % batch != 0 && !drop_last ? 1 : 0);
}

int64_t BatchPlan::size(int64_t index) const {
  layers::require(index >= 0 && index < batches(), "size of a batch that a pass does not have");
  return std::min(batch, samples - index * batch);
}

std::vector<int64_t> BatchPlan::sizes() const {
  if (batches() == 0) return {};
  const int64_t first = size(0);
  const int64_t last = size(batches() - 1);
  return first == last ? std::vector{first} : std::vector{first, last};
}

std::vector<int64_t> epoch_order(int64_t samples, uint64_t seed, int64_t epoch, bool shuffle) {
  layers::require(samples >= 0, "order of a negative number of samples");
  std::vector<int64_t> order(static_cast<size_t>(samples));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (!shuffle) return order;
  const layers::Stream stream(seed, layers::Purpose::kShuffle, 0, epoch);
  for (int64_t i = samples - 1; i > 0; --i)
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(stream.below(0, i, i + 1))]);
  return order;
}

std::span<const int64_t> BatchIndices::of(int64_t batch) {
  layers::require(batch >= 0 && batch < order_.total_batches(),
                  "samples of a batch that the run does not have");
  const int64_t epoch = order_.epoch_of(batch);
  if (epoch != epoch_) {
    permutation_ = epoch_order(order_.plan.samples, order_.seed, epoch, order_.shuffle);
    epoch_ = epoch;
  }
  const int64_t begin = batch % order_.plan.batches() * order_.plan.batch;
  return std::span(permutation_)
      .subspan(static_cast<size_t>(begin), static_cast<size_t>(order_.size_of(batch)));
}

}  // namespace stagger::runtime::data

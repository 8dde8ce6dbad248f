#include "layers/cpu/arena_plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "layers/checked.h"

namespace stagger::layers::cpu {
namespace {

/// A buffer that has its place already.
struct Placed {
  int64_t begin, end;
  Lifetime lifetime;
};

bool meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

/// The offset of the smallest gap for `bytes` between those of `placed` (sorted by begin) that live with
/// `buffer`.
int64_t best_gap(const std::vector<Placed>& placed, const Lifetime& buffer, int64_t bytes) {
  int64_t best = -1;
  int64_t smallest = std::numeric_limits<int64_t>::max();
  int64_t free_from = 0;
  for (const Placed& other : placed) {
    if (!meet(other.lifetime, buffer)) continue;
    const int64_t gap = other.begin - free_from;
    if (gap >= bytes && gap < smallest) {
      best = free_from;
      smallest = gap;
    }
    free_from = std::max(free_from, other.end);
  }
  return best >= 0 ? best : free_from;
}

/// The buffers placed one by one, those of the greatest weight first.
template <class Weight>
ArenaPlan plan_in_order(std::span<const Lifetime> buffers, Weight weight) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weight(buffers[a]) > weight(buffers[b]); });
  ArenaPlan plan{.offsets = std::vector<int64_t>(buffers.size(), 0)};
  std::vector<Placed> placed;
  for (size_t i : order) {
    const int64_t bytes = round_up(buffers[i].bytes, kArenaAlignment);
    if (bytes == 0) continue;
    const int64_t begin = best_gap(placed, buffers[i], bytes);
    plan.offsets[i] = begin;
    plan.bytes = std::max(plan.bytes, begin + bytes);
    const auto after = std::upper_bound(placed.begin(), placed.end(), begin,
                                        [](int64_t offset, const Placed& p) { return offset < p.begin; });
    placed.insert(after, {begin, begin + bytes, buffers[i]});
  }
  return plan;
}

}  // namespace

ArenaPlan plan_arena(std::span<const Lifetime> buffers) {
  const auto tasks = [](const Lifetime& b) { return static_cast<double>(b.last - b.first + 1); };
  const auto bytes = [](const Lifetime& b) { return static_cast<double>(b.bytes); };
  ArenaPlan best = plan_in_order(buffers, bytes);
  for (auto&& other :
       std::array{plan_in_order(buffers, tasks),
                  plan_in_order(buffers, [&](const Lifetime& b) { return tasks(b) * bytes(b); })}) {
    if (other.bytes < best.bytes) best = std::move(other);
  }
  return best;
}

int64_t peak_live_bytes(std::span<const Lifetime> buffers) {
  std::map<int64_t, int64_t> change;  // at the begin of each task
  for (const Lifetime& b : buffers) {
    const int64_t bytes = round_up(b.bytes, kArenaAlignment);
    change[b.first] += bytes;
    change[b.last + 1] -= bytes;
  }
  int64_t live = 0;
  int64_t peak = 0;
  for (const auto& [task, difference] : change) peak = std::max(peak, live += difference);
  return peak;
}

}  // namespace stagger::layers::cpu

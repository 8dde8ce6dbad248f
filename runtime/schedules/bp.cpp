#include "runtime/schedules/bp.h"

namespace stagger::runtime {

Schedule make_bp(const ScheduleOptions& options) {
  const auto hops = static_cast<size_t>(options.stages - 1);
  return {.method = {}, .a = std::vector<int64_t>(hops, 0), .e = std::vector<int64_t>(hops, 0)};
}

}  // namespace stagger::runtime

#include "runtime/schedule.h"

#include <algorithm>
#include <numeric>

#include "layers/error.h"
#include "runtime/schedules/bp.h"
#include "runtime/schedules/dsp.h"

namespace stagger::runtime {
namespace {

struct Method {
  const char* name;
  Schedule (*make)(const ScheduleOptions&);
};
constexpr Method kMethods[] = {{"bp", make_bp}, {"dsp", make_dsp}};

std::string joined(const std::vector<int64_t>& numbers) {
  std::string text;
  for (int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

}  // namespace

int64_t Schedule::delay_to(int64_t k) const { return std::accumulate(a.begin(), a.begin() + k, int64_t{0}); }

int64_t Schedule::staleness(int64_t k) const {
  return std::accumulate(a.begin() + k, a.end(), int64_t{0}) +
         std::accumulate(e.begin() + k, e.end(), int64_t{0});
}

int64_t Schedule::updates_between(int64_t k, int64_t batch) const {
  return batch / accumulate - std::max<int64_t>(0, batch - staleness(k)) / accumulate;
}

std::string Schedule::describe() const {
  if (stages() == 1) return method + ", one stage";
  std::vector<int64_t> stale;
  for (int64_t k = 0; k < stages(); ++k) stale.push_back(staleness(k));
  return method + ", activation queues " + joined(a) + ", error queues " + joined(e) + ", staleness " +
         joined(stale);
}

void Schedule::check() const {
  if (a.size() != e.size()) {
    throw layers::ConfigError("pipeline: " + std::to_string(a.size()) + " activation queues and " +
                              std::to_string(e.size()) +
                              " error queues; there is one of each between two stages");
  }
  for (const auto* queues : {&a, &e}) {
    for (int64_t bubbles : *queues) {
      if (bubbles < 0)
        throw layers::ConfigError("pipeline: a queue starts with " + std::to_string(bubbles) +
                                  " bubbles; allowed are 0 and more");
    }
  }
  if (accumulate < 1)
    throw layers::ConfigError("pipeline.accumulate: found " + std::to_string(accumulate) +
                              ", allowed are 1 and above");
}

Schedule make_schedule(const ScheduleOptions& options) {
  for (const Method& method : kMethods) {
    if (options.method != method.name) continue;
    Schedule schedule = method.make(options);
    schedule.method = options.method;
    schedule.accumulate = options.accumulate;
    schedule.check();
    if (schedule.stages() != options.stages) {
      throw layers::ConfigError("pipeline: queues for " + std::to_string(schedule.stages()) +
                                " stages, but there are " + std::to_string(options.stages));
    }
    return schedule;
  }
  std::string known;
  for (const std::string& name : schedule_names()) known += (known.empty() ? "" : ", ") + name;
  throw layers::ConfigError("pipeline.schedule: found " + options.method + ", allowed are " + known);
}

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const Method& method : kMethods) names.emplace_back(method.name);
  return names;
}

}  // namespace stagger::runtime

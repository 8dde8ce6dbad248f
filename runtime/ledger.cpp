#include "runtime/ledger.h"

#include <algorithm>
#include <numeric>

namespace stagger::runtime {

double StageReport::busy_total() const { return std::accumulate(busy.begin(), busy.end(), 0.0); }

void Ledger::waited(const Missing& missing, double seconds) {
  if (missing.activation && missing.error) {
    both_ += seconds;
  } else if (missing.activation) {
    report_.wait_activation += seconds;
  } else if (missing.error) {
    report_.wait_error += seconds;
  } else if (missing.room) {
    report_.wait_room += seconds;
  } else {
    report_.put_off += seconds;
  }
}

void Ledger::activation_came() {
  report_.wait_error += both_;
  both_ = 0;
}

void Ledger::error_came() {
  report_.wait_activation += both_;
  both_ = 0;
}

void Ledger::used_batch(int64_t steps, int64_t updates) {
  ++report_.batches;
  report_.least_steps = std::min(report_.least_steps, steps);
  report_.most_steps = std::max(report_.most_steps, steps);
  report_.least_updates = std::min(report_.least_updates, updates);
  report_.most_updates = std::max(report_.most_updates, updates);
}

void Ledger::saved_inputs(int64_t count) {
  report_.most_saved_inputs = std::max(report_.most_saved_inputs, count);
}

}  // namespace stagger::runtime

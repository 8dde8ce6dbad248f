// Says who waits for whom when a run stands still.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace stagger::runtime {

/// A wait that lasts longer than `seconds` is told once, again after twice the time, four times, and so on.
class Watchdog {
 public:
  using Tell = std::function<void(const std::string&)>;

  /// `seconds` = 0 turns it off.
  Watchdog(double seconds, Tell tell) : seconds_(seconds), next_(seconds), tell_(std::move(tell)) {}

  /// Something moved.
  void moved(double now) {
    since_ = now;
    next_ = seconds_;
  }
  /// Nothing could run. `describe` names what is waited for; called only when it is told.
  void waiting(double now, const std::function<std::string()>& describe) {
    const double age = now - since_;
    if (seconds_ <= 0 || age < next_) return;
    tell_(describe() + " for " + std::to_string(static_cast<int64_t>(age)) + " s");
    next_ *= 2;
  }

 private:
  double seconds_;
  double next_;
  double since_ = 0;
  Tell tell_;
};

}  // namespace stagger::runtime

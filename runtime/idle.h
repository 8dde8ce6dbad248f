// What a rank does while it has nothing to do: it gets out of the way of the others on its core.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace stagger::runtime {

/// Yields a few times, then sleeps for a time that doubles from 20 microseconds up to `longest`.
class Idle {
 public:
  using Duration = std::chrono::microseconds;

  explicit Idle(Duration longest = Duration(1000)) : longest_(longest) {}

  void wait() {
    if (yields_ < kYields) {
      ++yields_;
      ::sched_yield();
      return;
    }
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min(2 * sleep_, longest_);
  }
  void reset() {
    yields_ = 0;
    sleep_ = kShortest;
  }

 private:
  static constexpr int kYields = 20;
  static constexpr Duration kShortest{20};

  Duration longest_;
  Duration sleep_ = kShortest;
  int yields_ = 0;
};

}  // namespace stagger::runtime

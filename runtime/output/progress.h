// How far a run is, for people who watch it.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace stagger::runtime::output {

/// "0:07", "12:34", "1:02:03", rounded down to whole seconds; "-:--" for what is negative, not finite or over
/// 99 days.
std::string format_duration(double seconds);

/// What a line of progress says.
struct ProgressState {
  int64_t epoch = 1;  ///< counted from 1
  int64_t epochs = 1;
  int64_t batch = 0;  ///< batches of this epoch that are done
  int64_t batches = 1;
  double loss = 0;
  std::optional<double> images_per_s = {};
  double elapsed = 0;  ///< seconds
  double left = 0;     ///< seconds
};

/// "epoch 1/2  batch 123/469  loss 0.4321  812 images/s  elapsed 0:35  left 1:20", without the fields at its
/// end that `width` columns have no room for. Pure ASCII.
std::string format_progress(const ProgressState& state, int64_t width);

/// Columns of the terminal at file descriptor `file`; 80 where it is none.
int64_t terminal_width(int file);

/// A mean that forgets: each value takes `share` (0..1] of it. Unbiased from the first value on.
class Smoothed {
 public:
  void add(double value, double share);
  /// REQUIRES: a value was added.
  double value() const { return sum_ / weight_; }
  bool empty() const { return weight_ == 0; }

 private:
  double sum_ = 0;
  double weight_ = 0;
};

struct ProgressOptions {
  /// Redraw one line in place, as a terminal can: five times a second at most. Otherwise a plain line every
  /// 30 s at most. Either way one plain line stays for each epoch.
  bool live = false;
  int64_t epochs = 1;
  int64_t batches_per_epoch = 1;
  /// Seconds from any fixed moment on, never falling. Empty: the machine's steady clock.
  std::function<double()> clock = {};
  /// Columns that a live line may take, asked at every redraw. Empty: 80.
  std::function<int64_t()> width = {};
};

/// Writes the progress of one run to a stream. Loss is smoothed over about 20 batches, images/s over about 5
/// s, both for the eye only. Not thread-safe. `out` must outlive it; what `out` cannot write is lost.
class ProgressDisplay {
 public:
  /// The run begins now.
  ProgressDisplay(std::ostream& out, ProgressOptions options);

  /// Batch `batch`, counted from the start of the run, is done. REQUIRES: batches come in order.
  void batch_done(int64_t batch, double loss, int64_t samples);
  /// Writes a line of its own.
  void message(std::string_view line);
  /// Leaves the cursor on a line of its own; call it before anything else is written to the terminal.
  void finish();

 private:
  void measure_rate(double now);
  ProgressState state(int64_t batch, double now) const;
  void draw(const ProgressState& state);
  void erase();

  std::ostream& out_;
  ProgressOptions options_;
  double start_;
  double last_shown_;
  double last_measured_;
  int64_t batches_done_ = 0;
  int64_t images_ = 0;  // since last_measured_
  Smoothed loss_;
  Smoothed images_per_s_;
  bool line_open_ = false;  // the cursor is at the end of a live line
};

}  // namespace stagger::runtime::output

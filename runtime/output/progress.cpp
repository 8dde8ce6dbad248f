#include "runtime/output/progress.h"

#include <sys/ioctl.h>

#include <chrono>
#include <cmath>
#include <ostream>
#include <utility>

#include "layers/error.h"
#include "runtime/output/table.h"

namespace stagger::runtime::output {
namespace {

constexpr int64_t kUsualWidth = 80;
constexpr double kSecondsBetweenRedraws = 0.2;
constexpr double kSecondsBetweenLines = 30;
constexpr double kSecondsOfRate = 5;
constexpr double kShareOfBatch = 0.05;
constexpr const char* kEraseLine = "\r\x1b[K";

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string two_digits(int64_t value) {
  std::string text(value < 10 ? 1 : 0, '0');
  return text += std::to_string(value);
}

std::string fraction(const char* name, int64_t part, int64_t whole) {
  return name + std::to_string(part) + "/" + std::to_string(whole);
}

}  // namespace

std::string format_duration(double seconds) {
  constexpr double kTooLong = 99.0 * 24 * 3600;
  if (!(seconds >= 0 && seconds <= kTooLong)) return "-:--";
  const auto whole = static_cast<int64_t>(seconds);
  const int64_t hours = whole / 3600;
  const int64_t minutes = whole / 60 % 60;
  if (hours == 0) return std::to_string(minutes) + ":" + two_digits(whole % 60);
  return std::to_string(hours) + ":" + two_digits(minutes) + ":" + two_digits(whole % 60);
}

std::string format_progress(const ProgressState& state, int64_t width) {
  std::string text;
  bool full = false;
  const auto add = [&](const std::string& field) {
    const std::string longer = text.empty() ? field : text + "  " + field;
    full = full || display_width(longer) > width;
    if (!full) text = longer;
  };
  add(fraction("epoch ", state.epoch, state.epochs));
  add(fraction("batch ", state.batch, state.batches));
  add("loss " + fixed(state.loss, 4));
  if (state.images_per_s) add(fixed(*state.images_per_s, *state.images_per_s < 10 ? 1 : 0) + " images/s");
  add("elapsed " + format_duration(state.elapsed));
  add("left " + format_duration(state.left));
  return text;
}

int64_t terminal_width(int file) {
  winsize size{};
  return ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualWidth;
}

void Smoothed::add(double value, double share) {
  sum_ += share * (value - sum_);
  weight_ += share * (1 - weight_);
}

ProgressDisplay::ProgressDisplay(std::ostream& out, ProgressOptions options)
    : out_(out), options_(std::move(options)) {
  layers::require(options_.epochs >= 1 && options_.batches_per_epoch >= 1,
                  "a run without batches has no progress");
  if (!options_.clock) options_.clock = steady_seconds;
  if (!options_.width) options_.width = [] { return kUsualWidth; };
  start_ = last_shown_ = last_measured_ = options_.clock();
}

void ProgressDisplay::batch_done(int64_t batch, double loss, int64_t samples) {
  const double now = options_.clock();
  loss_.add(loss, kShareOfBatch);
  images_ += samples;
  ++batches_done_;
  if (now - last_measured_ >= kSecondsBetweenRedraws) measure_rate(now);

  const bool ends_epoch = (batch + 1) % options_.batches_per_epoch == 0;
  const double pause = options_.live ? kSecondsBetweenRedraws : kSecondsBetweenLines;
  if (!ends_epoch && now - last_shown_ < pause) return;
  last_shown_ = now;
  if (options_.live && !ends_epoch) {
    draw(state(batch, now));
  } else {
    message(format_progress(state(batch, now), INT64_MAX));
  }
}

void ProgressDisplay::measure_rate(double now) {
  const double seconds = now - last_measured_;
  images_per_s_.add(static_cast<double>(images_) / seconds, 1 - std::exp(-seconds / kSecondsOfRate));
  images_ = 0;
  last_measured_ = now;
}

ProgressState ProgressDisplay::state(int64_t batch, double now) const {
  const int64_t per_epoch = options_.batches_per_epoch;
  const int64_t still_to_do = options_.epochs * per_epoch - (batch + 1);
  ProgressState state{.epoch = batch / per_epoch + 1,
                      .epochs = options_.epochs,
                      .batch = batch % per_epoch + 1,
                      .batches = per_epoch,
                      .loss = loss_.value(),
                      .elapsed = now - start_};
  state.left = state.elapsed / static_cast<double>(batches_done_) * static_cast<double>(still_to_do);
  if (!images_per_s_.empty()) state.images_per_s = images_per_s_.value();
  return state;
}

void ProgressDisplay::draw(const ProgressState& state) {
  // A line that fills the last column makes some terminals wrap.
  out_ << kEraseLine << format_progress(state, options_.width() - 1) << std::flush;
  line_open_ = true;
}

void ProgressDisplay::message(std::string_view line) {
  erase();
  out_ << line << '\n' << std::flush;
}

void ProgressDisplay::finish() {
  if (line_open_) out_ << '\n' << std::flush;
  line_open_ = false;
}

void ProgressDisplay::erase() {
  if (line_open_) out_ << kEraseLine;
  line_open_ = false;
}

}  // namespace stagger::runtime::output

// Progress for people: its formats, how often it shows, and how it treats a terminal. Time is made by hand.
#include "runtime/output/progress.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "tests/catch.h"

using namespace stagger::runtime::output;

namespace {

constexpr const char* kErase = "\r\x1b[K";

/// A display whose clock stands still until it is told to move.
struct Watched {
  explicit Watched(bool live, int64_t epochs = 1, int64_t batches = 1000)
      : display(out, {.live = live,
                      .epochs = epochs,
                      .batches_per_epoch = batches,
                      .clock = [this] { return now; },
                      .width = [this] { return width; }}) {}

  std::string take() {
    std::string text = out.str();
    out.str("");
    return text;
  }

  double now = 1000;
  int64_t width = 200;
  std::ostringstream out;
  ProgressDisplay display;
};

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("durations") {
  CHECK(format_duration(0) == "0:00");
  CHECK(format_duration(7.99) == "0:07");
  CHECK(format_duration(59.9) == "0:59");
  CHECK(format_duration(60) == "1:00");
  CHECK(format_duration(754) == "12:34");
  CHECK(format_duration(3600) == "1:00:00");
  CHECK(format_duration(3723) == "1:02:03");
  CHECK(format_duration(100 * 3600) == "100:00:00");
  CHECK(format_duration(-1) == "-:--");
  CHECK(format_duration(std::nan("")) == "-:--");
  CHECK(format_duration(std::numeric_limits<double>::infinity()) == "-:--");
  CHECK(format_duration(1e300) == "-:--");
}

TEST_CASE("a line of progress drops the fields that have no room") {
  const ProgressState state{.epoch = 1,
                            .epochs = 2,
                            .batch = 123,
                            .batches = 469,
                            .loss = 0.43214,
                            .images_per_s = 812.4,
                            .elapsed = 35,
                            .left = 80};
  const std::string whole = "epoch 1/2  batch 123/469  loss 0.4321  812 images/s  elapsed 0:35  left 1:20";
  CHECK(format_progress(state, 200) == whole);
  CHECK(format_progress(state, 76) == whole);
  CHECK(format_progress(state, 75) == "epoch 1/2  batch 123/469  loss 0.4321  812 images/s  elapsed 0:35");
  CHECK(format_progress(state, 12) == "epoch 1/2");
  CHECK(format_progress(state, 8).empty());
  CHECK(format_progress(state, -1).empty());
  ProgressState odd = state;
  odd.loss = std::nan("");
  odd.images_per_s.reset();
  CHECK(format_progress(odd, 200) == "epoch 1/2  batch 123/469  loss nan  elapsed 0:35  left 1:20");
  odd.images_per_s = 3.14;
  CHECK(format_progress(odd, 200).find("  3.1 images/s  ") != std::string::npos);
}

TEST_CASE("a live line is redrawn five times a second at most") {
  Watched watched(true);
  for (int64_t batch = 0; batch < 96; ++batch) {
    watched.now += 1.0 / 64;
    watched.display.batch_done(batch, 1.0, 8);
  }
  const std::string text = watched.take();
  CHECK(count(text, kErase) == 7);  // every 13 batches
  CHECK(count(text, "\n") == 0);
  // By hand: 512 images/s in 7 periods of 13/64 s, then 44.5 in 69/64 s; they weigh exp(-t/5) by their age t.
  watched.now += 1;
  watched.display.batch_done(96, 1.0, 8);
  CHECK(watched.take() ==
        std::string(kErase) + "epoch 1/1  batch 97/1000  loss 1.0000  282 images/s  elapsed 0:02  left 0:23");
}

TEST_CASE("a live line stays within the terminal, also when that shrinks") {
  Watched watched(true);
  for (int64_t batch = 0; batch < 500; ++batch) {
    watched.width = 100 - batch % 100;
    watched.now += 0.25;
    watched.display.batch_done(batch, 1e6, 128);
    const std::string text = watched.take();
    REQUIRE(text.starts_with(kErase));
    REQUIRE(static_cast<int64_t>(text.size() - std::string(kErase).size()) < watched.width);
  }
}

TEST_CASE("messages and epochs leave whole lines on a terminal") {
  Watched watched(true, 2, 3);
  watched.now += 1;
  watched.display.batch_done(0, 1.0, 10);
  watched.take();
  watched.display.message("accuracy 0.9");
  CHECK(watched.take() == std::string(kErase) + "accuracy 0.9\n");
  watched.display.message("again");
  CHECK(watched.take() == "again\n");  // nothing to erase
  watched.now += 1;
  watched.display.batch_done(1, 1.0, 10);
  watched.take();
  watched.display.batch_done(2, 1.0, 10);  // at once: an epoch's end shows all the same
  CHECK(watched.take() ==
        std::string(kErase) + "epoch 1/2  batch 3/3  loss 1.0000  10 images/s  elapsed 0:02  left 0:02\n");
  watched.display.finish();
  CHECK(watched.take().empty());
  watched.now += 1;
  watched.display.batch_done(3, 1.0, 10);
  CHECK(watched.take().find("epoch 2/2  batch 1/3") != std::string::npos);
  watched.display.finish();
  watched.display.finish();
  CHECK(watched.take() == "\n");
}

TEST_CASE("where nobody watches, a plain line every 30 s and every epoch") {
  Watched watched(false, 2, 100);
  for (int64_t batch = 0; batch < 200; ++batch) {
    watched.now += 1;
    watched.display.batch_done(batch, 0.5, 64);
  }
  const std::string text = watched.take();
  CHECK(count(text, "\r") == 0);
  CHECK(count(text, "\x1b") == 0);
  // At 30, 60, 90, 100 (epoch), 130, 160, 190, 200 (epoch).
  CHECK(count(text, "\n") == 8);
  CHECK(count(text, "epoch 1/2  batch 100/100  loss 0.5000  64 images/s  elapsed 1:40  left 1:40\n") == 1);
  CHECK(count(text, "epoch 2/2  batch 100/100  loss 0.5000  64 images/s  elapsed 3:20  left 0:00\n") == 1);
}

TEST_CASE("a clock that stands still does not hurt") {
  Watched watched(false, 1, 1);
  watched.display.batch_done(0, 0.5, 64);
  CHECK(watched.take() == "epoch 1/1  batch 1/1  loss 0.5000  elapsed 0:00  left 0:00\n");
}

TEST_CASE("a smoothed value is unbiased and forgets") {
  Smoothed mean;
  CHECK(mean.empty());
  mean.add(4, 0.25);
  CHECK(mean.value() == Approx(4));
  mean.add(8, 0.25);
  CHECK(mean.value() == Approx((4 * 0.75 + 8) / 1.75));  // weights 0.75 and 1, by hand
  for (int i = 0; i < 100; ++i) mean.add(2, 0.25);
  CHECK(mean.value() == Approx(2));
}

TEST_CASE("the width of a terminal") {
  const int null = ::open("/dev/null", O_RDWR);
  CHECK(terminal_width(null) == 80);
  ::close(null);
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal >= 0) {
    winsize size{.ws_row = 10, .ws_col = 123, .ws_xpixel = 0, .ws_ypixel = 0};
    REQUIRE(::ioctl(terminal, TIOCSWINSZ, &size) == 0);
    CHECK(terminal_width(terminal) == 123);
    size.ws_col = 0;
    REQUIRE(::ioctl(terminal, TIOCSWINSZ, &size) == 0);
    CHECK(terminal_width(terminal) == 80);
    ::close(terminal);
  }
}

// The two ends of a queue between two ranks.
#include <chrono>
#include <thread>

#include "runtime/inbox.h"
#include "runtime/outbox.h"
#include "tests/catch.h"
#include "tests/ranks/rank_main.h"

using namespace stagger;
using namespace stagger::runtime;

namespace {

bool sender() { return tests::session().rank() == 0; }

void meet() { MPI_Barrier(tests::session().comm()); }

template <class Condition>
void poll_until(Progress& progress, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!condition()) {
    progress.poll();
    if (std::chrono::steady_clock::now() > deadline) FAIL("a message did not arrive within 120 s");
  }
}

void send(Progress& progress, Outbox& out, TokenHeader header, float value) {
  poll_until(progress, [&] { return out.room(); });
  for (int64_t i = 0; i < header.payload_bytes / 4; ++i)
    out.reserve()[i] = value + static_cast<float>(i % 1000);
  out.send(header);
}

Token receive(Progress& progress, Inbox& in) {
  poll_until(progress, [&] { return in.head().has_value(); });
  return in.take();
}

}  // namespace

TEST_CASE("tokens arrive in order, bubbles first, whatever their size") {
  Progress progress(tests::session());
  constexpr int64_t kTokens = 500;
  constexpr int64_t kBytes = 1 << 20;
  const auto bytes_of = [](int64_t i) {
    return i % 3 == 0 ? kBytes : i % 3 == 1 ? int64_t{0} : int64_t{4 * (i % 40 + 1)};
  };
  if (sender()) {
    Outbox out(progress, {.peer = 1, .ring = 4, .payload_bytes = kBytes});
    for (int64_t i = 0; i < kTokens; ++i) {
      const int64_t bytes = bytes_of(i);
      send(
          progress, out,
          {.kind = bytes > 0 ? TokenKind::kTraining : TokenKind::kBubble, .batch = i, .payload_bytes = bytes},
          static_cast<float>(i));
    }
    poll_until(progress, [&] { return out.empty(); });
  } else {
    Inbox in(progress, {.peer = 0, .ring = 4, .bubbles = 2, .payload_bytes = kBytes, .held = 2});
    CHECK(in.take().header.kind == TokenKind::kBubble);
    CHECK(in.take().header.stop_at == kNever);
    Token held;  // stays readable while later ones arrive
    for (int64_t i = 0; i < kTokens; ++i) {
      Token token = receive(progress, in);
      REQUIRE(token.header.batch == i);
      REQUIRE(token.header.payload_bytes == bytes_of(i));
      if (token.header.payload_bytes == 0) continue;
      const int64_t last = bytes_of(i) / 4 - 1;
      REQUIRE(token.buffer.tensor()[last] == static_cast<float>(i) + static_cast<float>(last % 1000));
      if (held.buffer) REQUIRE(held.buffer.tensor()[0] == static_cast<float>(held.header.batch));
      held = std::move(token);
    }
    in.close();
  }
  meet();
}

TEST_CASE("evaluation tokens are held back by a receiver that does not take them") {
  Progress progress(tests::session());
  constexpr int64_t kRing = 3;
  if (sender()) {
    Outbox out(progress, {.peer = 1, .ring = kRing, .payload_bytes = 64});
    int64_t sent = 0;
    const auto stop = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    while (std::chrono::steady_clock::now() < stop) {
      progress.poll();
      if (out.room()) out.send({.kind = TokenKind::kEvaluation, .batch = sent++, .payload_bytes = 64});
    }
    CHECK(sent == 2 * kRing);  // the receiver's ring and ours are full
    meet();
    for (; sent < 100; ++sent)
      send(progress, out, {.kind = TokenKind::kEvaluation, .batch = sent, .payload_bytes = 64}, 0);
    poll_until(progress, [&] { return out.empty(); });
  } else {
    Inbox in(progress, {.peer = 0, .ring = kRing, .payload_bytes = 64});
    meet();
    for (int64_t i = 0; i < 100; ++i) REQUIRE(receive(progress, in).header.batch == i);
    in.close();
  }
  meet();
}

TEST_CASE("a tensor of more than 2^31 bytes travels in one message") {
  Progress progress(tests::session());
  constexpr int64_t kBytes = (int64_t{1} << 31) + 4096;
  constexpr int64_t kFloats = kBytes / 4;
  const auto at = [](int64_t i) { return static_cast<float>(i % 8191); };
  if (sender()) {
    Outbox out(progress, {.peer = 1, .ring = 1, .payload_bytes = kBytes});
    for (int64_t i = 0; i < kFloats; i += 512) out.reserve()[i] = at(i);
    out.send({.kind = TokenKind::kTraining, .payload_bytes = kBytes});
    poll_until(progress, [&] { return out.empty(); });
  } else {
    Inbox in(progress, {.peer = 0, .ring = 1, .payload_bytes = kBytes});
    const Token token = receive(progress, in);
    CHECK(token.header.payload_bytes == kBytes);
    bool same = true;
    for (int64_t i = 0; i < kFloats; i += 512) same = same && token.buffer.tensor()[i] == at(i);
    CHECK(same);
    in.close();
  }
  meet();
}

TEST_CASE("an error inside MPI reaches us as an exception that names both ranks") {
  Progress progress(tests::session());
  if (sender()) {
    Outbox out(progress, {.peer = 1, .ring = 1, .payload_bytes = 512});
    send(progress, out, {.kind = TokenKind::kTraining, .payload_bytes = 512}, 0);
    poll_until(progress, [&] { return out.empty(); });
  } else {
    Inbox in(progress, {.peer = 0, .ring = 1, .payload_bytes = 64});  // too small for what comes
    std::string message;
    try {
      poll_until(progress, [&] { return in.head().has_value(); });
    } catch (const MpiError& error) {
      message = error.what();
    }
    INFO(message);
    CHECK(message.find("rank 1 and rank 0") != std::string::npos);
    CHECK(message.find("MPI_ERR_TRUNCATE") != std::string::npos);
  }
  meet();
}

TEST_CASE("a call that MPI refuses reaches us as an exception") {
  Progress progress(tests::session());
  Outbox out(progress, {.peer = 1000, .ring = 1, .payload_bytes = 64});
  CHECK_THROWS_AS(out.send({.kind = TokenKind::kTraining, .payload_bytes = 64}), MpiError);
  meet();
}

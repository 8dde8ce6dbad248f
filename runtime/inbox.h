// The receiving end of a queue between two stages.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/buffer_pool.h"
#include "runtime/progress.h"
#include "runtime/token.h"

namespace stagger::runtime {

/// A token and its buffer. Bubbles and ends have no buffer.
struct Token {
  TokenHeader header;
  Buffer buffer;
};

/// One direction of one hop.
struct QueueOptions {
  int peer = 0;
  Direction direction = Direction::kActivation;
  int64_t ring = 2;           ///< messages that can be on their way or waiting: a + e + 2
  int64_t bubbles = 0;        ///< inbox: bubbles that stand in the queue before the first step
  int64_t payload_bytes = 0;  ///< of the largest tensor
  int64_t held = 1;           ///< inbox: tokens that the stage keeps at one time after taking them
};

/// First in, first out: a ring of receives that are always posted, so that a sender never waits in training.
///
/// Order is MPI's: messages of one peer and tag match posted receives in order, and only the head may be
/// taken, also where a later, smaller message completed first.
class Inbox {
 public:
  Inbox(Progress& progress, const QueueOptions& options);
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// The header of the oldest token that has not been taken, or nothing if it has not arrived.
  std::optional<TokenHeader> head() const;
  /// Takes it. REQUIRES: head() has a value.
  Token take();
  /// Withdraws the posted receives. REQUIRES: every token that was sent has been taken.
  void close();

  int64_t taken() const { return taken_; }

 private:
  struct Slot {
    Progress::Line line;
    Buffer buffer;
  };
  void post(Slot& slot);

  Progress& progress_;
  QueueOptions options_;
  BufferPool pool_;
  std::vector<Slot> ring_;
  size_t head_ = 0;
  int64_t bubbles_left_;
  int64_t taken_ = 0;
};

}  // namespace stagger::runtime

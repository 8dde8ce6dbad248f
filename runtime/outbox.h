// The sending end of a queue between two stages.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/buffer_pool.h"
#include "runtime/inbox.h"
#include "runtime/progress.h"
#include "runtime/token.h"

namespace stagger::runtime {

/// Results are written straight into a message buffer: reserve, fill, send. One reservation at a time.
///
/// Training tokens always find room, by the size of the rings. Evaluation tokens may not: they are sent
/// synchronously, so that a sender that runs ahead of a slow receiver is held back here and not by MPI's
/// memory.
class Outbox {
 public:
  Outbox(Progress& progress, const QueueOptions& options);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// Whether a token can be sent now.
  bool room() const { return progress_.idle(ring_[next_].line); }
  /// Where the tensor of the next token goes; stays valid until it is sent. REQUIRES: room().
  float* reserve() const { return ring_[next_].buffer.tensor(); }
  /// Sends what reserve() gave, or a header alone if payload_bytes is 0. REQUIRES: room().
  void send(const TokenHeader& header);
  /// Whether every message has left its buffer.
  bool empty() const;

  int64_t sent_bytes() const { return sent_bytes_; }

 private:
  struct Slot {
    Progress::Line line;
    Buffer buffer;
  };

  Progress& progress_;
  QueueOptions options_;
  BufferPool pool_;
  std::vector<Slot> ring_;
  size_t next_ = 0;
  int64_t sent_bytes_ = 0;
};

}  // namespace stagger::runtime

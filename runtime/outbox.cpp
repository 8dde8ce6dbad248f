#include "runtime/outbox.h"

#include <algorithm>

namespace stagger::runtime {

Outbox::Outbox(Progress& progress, const QueueOptions& options)
    : progress_(progress), options_(options), pool_(progress, options.payload_bytes, options.ring) {
  for (int64_t i = 0; i < options.ring; ++i) ring_.push_back({progress.add_line(), pool_.take()});
}

void Outbox::send(const TokenHeader& header) {
  layers::require(room(), "a token was sent without room for it");
  const int64_t bytes = kHeaderBytes + layers::round_up(header.payload_bytes, kBlockBytes);
  layers::require(bytes <= pool_.bytes(), "a token is larger than its queue was made for");
  Slot& slot = ring_[next_];
  next_ = (next_ + 1) % ring_.size();
  slot.buffer.set_header(header);
  const bool synchronous = header.kind == TokenKind::kEvaluation;
  progress_.send(slot.line, slot.buffer.data(), bytes, options_.peer, static_cast<int>(options_.direction),
                 synchronous);
  sent_bytes_ += bytes;
}

bool Outbox::empty() const {
  return std::all_of(ring_.begin(), ring_.end(), [&](const Slot& slot) { return progress_.idle(slot.line); });
}

}  // namespace stagger::runtime

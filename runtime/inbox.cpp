#include "runtime/inbox.h"

#include <utility>

namespace stagger::runtime {

Inbox::Inbox(Progress& progress, const QueueOptions& options)
    : progress_(progress),
      options_(options),
      pool_(progress, options.payload_bytes, options.ring + options.held),
      bubbles_left_(options.bubbles) {
  for (int64_t i = 0; i < options.ring; ++i) {
    ring_.push_back({progress.add_line(), pool_.take()});
    post(ring_.back());
  }
}

void Inbox::post(Slot& slot) {
  progress_.receive(slot.line, slot.buffer.data(), pool_.bytes(), options_.peer,
                    static_cast<int>(options_.direction));
}

std::optional<TokenHeader> Inbox::head() const {
  if (bubbles_left_ > 0) return TokenHeader{};
  const Slot& slot = ring_[head_];
  if (!progress_.idle(slot.line)) return std::nullopt;
  return slot.buffer.header();
}

Token Inbox::take() {
  ++taken_;
  if (bubbles_left_ > 0) {
    --bubbles_left_;
    return {};
  }
  Slot& slot = ring_[head_];
  head_ = (head_ + 1) % ring_.size();
  Token token{slot.buffer.header(), {}};
  const int64_t expected = kHeaderBytes + layers::round_up(token.header.payload_bytes, kBlockBytes);
  layers::require(progress_.received(slot.line) == expected, "a message is not as long as its header says");
  if (token.header.payload_bytes > 0) {
    token.buffer = std::move(slot.buffer);
    slot.buffer = pool_.take();
  }
  post(slot);
  return token;
}

void Inbox::close() {
  for (Slot& slot : ring_) progress_.cancel(slot.line);
}

}  // namespace stagger::runtime

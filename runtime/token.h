// What travels through the queues.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/mpi_session.h"

namespace stagger::runtime {

enum class TokenKind : int64_t {
  kBubble = 0,      ///< nothing: the step that takes it does nothing
  kTraining = 1,    ///< a batch, or the error of one
  kEvaluation = 2,  ///< a batch that is only scored
  kEnd = 3,         ///< the last token of a run
};

/// "No step": what stop_at says while the end is not known.
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

/// Everything that a stage must know of a token; rides in front of its tensor. All control is in here, so
/// that a stage learns everything from its queues, in order.
struct TokenHeader {
  TokenKind kind = TokenKind::kBubble;
  int64_t epoch = 0;
  int64_t batch = 0;  ///< training: counted from the start of the run; evaluation: within the evaluation
  int64_t samples = 0;
  int64_t evaluation = 0;      ///< which evaluation of the run
  int64_t batches_before = 0;  ///< evaluation: training batches that were sent before it
  int64_t last = 0;            ///< 1 on the last batch of the run, and on the last of an evaluation
  int64_t stop_at = kNever;    ///< every stage ends before its step of this number
  int64_t payload_bytes = 0;
  int64_t step = 0;  ///< the sender's step, for messages to people
};
static_assert(std::is_trivially_copyable_v<TokenHeader>);

/// Bytes in front of the tensor in a message: keeps the tensor aligned to a cache line.
constexpr int64_t kHeaderBytes = 2 * kBlockBytes;
static_assert(sizeof(TokenHeader) <= kHeaderBytes);

/// The two directions of a hop.
enum class Direction : int { kActivation = 1, kError = 2 };

}  // namespace stagger::runtime

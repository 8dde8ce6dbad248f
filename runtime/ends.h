// The two ends of the pipeline: where batches come from, and where their labels and results are.
#pragma once

#include <cstdint>
#include <span>

#include "layers/device.h"
#include "runtime/token.h"

namespace stagger::runtime {

/// The script of a run, read by stage 0: training batches 0, 1, ..., evaluations between them, evaluations of
/// the final model after them, then an end.
class Source {
 public:
  virtual ~Source() = default;
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Training batches of the whole run.
  virtual int64_t batches() const = 0;
  /// The next token; payload_bytes, step and stop_at are the loop's to set.
  virtual TokenHeader next() const = 0;
  /// Whether take() has the data of next() at hand.
  virtual bool ready() = 0;
  /// Writes the images of next() and moves on. REQUIRES: ready().
  virtual void take(float* images) = 0;
};

/// Labels and results, on the last stage.
class Sink {
 public:
  virtual ~Sink() = default;
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// The labels of a batch, valid until the next call.
  virtual std::span<const int32_t> labels(const TokenHeader& header) = 0;
  /// Called once for every batch that was trained on or scored, in order.
  virtual void scored(const TokenHeader& header, const layers::LossResult& result) = 0;
};

}  // namespace stagger::runtime

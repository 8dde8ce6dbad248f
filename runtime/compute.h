// What the loop asks of a stage's model: to start work on one of two lanes, and to say when it is done.
#pragma once

#include <cstdint>
#include <span>

#include "layers/device.h"
#include "runtime/token.h"

namespace stagger::runtime {

/// F and evaluation run on one lane, R, B and U on the other. Work of one lane runs in the order in which it
/// was started.
enum class Lane : int { kForward = 0, kBackward = 1 };

/// A stage's model. Each call starts work and may return before it is done; a device that computes in the
/// call itself returns from it done. Tensors are samples x shape, dense f32, and stay valid until the work is
/// done; those of a kept forward or a replay until their backward is done.
class Compute {
 public:
  virtual ~Compute() = default;
  Compute() = default;
  Compute(const Compute&) = delete;
  Compute& operator=(const Compute&) = delete;

  /// F of a stage that is not the last. With `keep`, also keeps what backward needs (F and B are of one
  /// step).
  virtual void forward(const TokenHeader& header, const float* input, float* output, bool keep) = 0;
  /// F of the last stage: the loss, its gradient and what backward needs.
  virtual void forward_loss(const TokenHeader& header, const float* input,
                            std::span<const int32_t> labels) = 0;
  /// Scores a batch with running statistics; `output` is null on the last stage, `labels` empty on the
  /// others.
  virtual void evaluate(const TokenHeader& header, const float* input, float* output,
                        std::span<const int32_t> labels) = 0;
  /// Of the last forward_loss or evaluate that is done.
  virtual layers::LossResult loss() const = 0;

  /// R: keeps what backward needs, computed with the weights of now.
  virtual void replay(const TokenHeader& header, const float* input) = 0;
  /// B of what was kept last. `output_gradient` is null on the last stage (the loss's is used),
  /// `input_gradient` on the first.
  virtual void backward(const TokenHeader& header, const float* output_gradient, float* input_gradient) = 0;
  /// U: makes the statistics of the batch visible, adds its gradient to the group's and, with `apply`,
  /// changes the weights by the mean over the group's samples, at the learning rate of this batch.
  virtual void update(const TokenHeader& header, bool apply) = 0;

  /// Whether all work started on `lane` is done.
  virtual bool finished(Lane lane) = 0;
  /// A stamp that grows by one with every change of the weights.
  virtual int64_t version() const = 0;
};

}  // namespace stagger::runtime

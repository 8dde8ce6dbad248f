// What turns gradients into new weights.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace stagger::optim {

/// A stretch of a flat buffer that is decayed or not.
struct Segment {
  int64_t offset = 0;
  int64_t size = 0;
  bool decay = true;
};

/// An update rule with its state, for the flat buffers of one stage. Not thread-safe. Never edits the
/// gradients.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One step: changes `values` in place. REQUIRES: both have the size that it was made for.
  virtual void update(std::span<float> values, std::span<const float> gradients, double learning_rate) = 0;
  /// The state between steps, flat; for memory accounts and checkpoints. Valid until the object dies.
  virtual std::span<float> state() = 0;
};

/// Stochastic gradient descent with PyTorch's arithmetic (torch.optim.SGD, dampening 0):
///   d = g + weight_decay * w;  v = d in the first step, then momentum * v + d;
///   w -= lr * (nesterov ? d + momentum * v : v).  Without momentum: w -= lr * d.
struct SgdOptions {
  double momentum = 0;
  double weight_decay = 0;
  bool nesterov = false;
};
/// `segments` lie within 0 .. size-1, in order and without overlap; what they do not cover is never changed.
/// The state is the velocity v, of `size` numbers with 0 in the gaps; without momentum there is none. Throws
/// ConfigError where momentum is not in [0, 1), weight_decay is negative, or nesterov goes without momentum.
std::unique_ptr<Optimizer> make_sgd(const SgdOptions& options, int64_t size, std::vector<Segment> segments);

}  // namespace stagger::optim

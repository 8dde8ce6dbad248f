// A training method as the declaration of a network of queues: nothing here knows of tensors, MPI or time.
//
// K stages; between stage k and k+1 an activation queue that starts with a[k] bubbles and an error queue that
// starts with e[k]. In step n every stage takes one activation (F), recomputes the batch whose error comes
// next (R), takes that error (B) and updates (U). Stage k forwards batch b in step b + sum(a[:k]) and
// backpropagates it in step b + sum(a) + sum(e[k:]). The difference, its staleness, is fixed by the queues
// alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stagger::runtime {

struct Schedule {
  /// Whose weights backward uses.
  enum class Weights { kCurrent, kStashed };
  /// Where backward's activations come from.
  enum class Replay { kRecompute, kStored };

  std::string method;
  std::vector<int64_t> a;  ///< bubbles in the activation queue of each hop, K-1 numbers >= 0
  std::vector<int64_t> e;  ///< bubbles in the error queue of each hop
  Weights weights = Weights::kCurrent;
  Replay replay = Replay::kRecompute;
  int64_t accumulate = 1;  ///< batches whose mean gradient makes one update

  int64_t stages() const { return static_cast<int64_t>(a.size()) + 1; }
  /// Bubbles on the way from stage 0 to stage k: sum(a[:k]).
  int64_t delay_to(int64_t k) const;
  /// Steps between the forward and the backward of a batch on stage k.
  int64_t staleness(int64_t k) const;
  int64_t forward_step(int64_t k, int64_t batch) const { return batch + delay_to(k); }
  int64_t backward_step(int64_t k, int64_t batch) const { return forward_step(k, batch) + staleness(k); }
  /// Steps of every stage in a run that ends flushed.
  int64_t total_steps(int64_t batches) const { return batches + staleness(0); }
  /// Changes of the weights that lie between the forward and the backward of `batch` on stage k. With one
  /// update a batch it is the staleness, but less for the first batches, since errors that are bubbles change
  /// nothing.
  int64_t updates_between(int64_t k, int64_t batch) const;
  /// Whether stage k runs a separate R: where forward and backward fall into one step, the forward keeps what
  /// backward needs.
  bool recomputes(int64_t k) const { return replay == Replay::kRecompute && staleness(k) > 0; }
  /// Messages that can be on their way or waiting in either queue of a hop.
  int64_t ring(int64_t hop) const {
    return a.at(static_cast<size_t>(hop)) + e.at(static_cast<size_t>(hop)) + 2;
  }
  /// Batches whose input stage k holds at one time.
  int64_t saved_inputs(int64_t k) const { return staleness(k) + 1; }
  /// For people, one line: "dsp, activation queues 1,1, error queues 1,1, staleness 4,2,0".
  std::string describe() const;

  /// Throws ConfigError where the lists differ in length or a number is out of range.
  void check() const;
};

/// The schedule of a method by name, over given queues. Throws ConfigError for an unknown name or queues that
/// the method does not have.
struct ScheduleOptions {
  std::string method;
  int64_t stages = 1;
  std::vector<int64_t> activation_queue;  ///< K-1 numbers; empty for methods that have fixed ones
  std::vector<int64_t> error_queue;
  int64_t accumulate = 1;
};
Schedule make_schedule(const ScheduleOptions& options);

/// The names that make_schedule knows.
std::vector<std::string> schedule_names();

}  // namespace stagger::runtime

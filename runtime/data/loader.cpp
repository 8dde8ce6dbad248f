#include "runtime/data/loader.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "layers/checked.h"
#include "layers/error.h"

namespace stagger::runtime::data {

// A ring of `depth` buffers. Batch b lives in slot b % depth; slots taken_ .. made_-1 belong to the consumer,
// the others to the thread. Only the two counters and the error are shared, under the mutex; images are
// copied outside of it.
class Loader::Impl {
 public:
  Impl(const Dataset& dataset, const ImagePipeline& pipeline, TrainingOrder order, int64_t depth)
      : pipeline_(pipeline),
        order_(order),
        total_(order.total_batches()),
        indices_(order),
        elements_(dataset.shape().elements()) {
    if (depth < 1)
      throw layers::ConfigError("data: " + std::to_string(depth) +
                                " batches read ahead; allowed is 1 or more");
    const std::vector<int64_t> sizes = order.plan.sizes();
    const int64_t largest = sizes.empty() ? 0 : layers::checked_product(sizes.front(), elements_);
    // More slots than batches would never be filled.
    ring_.resize(layers::narrow<size_t>(std::clamp<int64_t>(depth, 1, std::max<int64_t>(total_, 1))));
    for (auto& slot : ring_) slot.resize(layers::narrow<size_t>(largest));
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  bool try_take(float* out) {
    {
      const std::lock_guard lock(mutex_);
      if (taken_ == made_ && error_) std::rethrow_exception(error_);
      if (taken_ == made_) return false;
    }
    const int64_t count = order_.size_of(taken_) * elements_;
    std::copy_n(slot(taken_), count, out);
    {
      const std::lock_guard lock(mutex_);
      ++taken_;
    }
    room_.notify_one();
    return true;
  }

  bool ready() const {
    const std::lock_guard lock(mutex_);
    return taken_ < made_ || error_;
  }

 private:
  float* slot(int64_t batch) { return ring_[static_cast<size_t>(batch) % ring_.size()].data(); }

  void run(const std::stop_token& stop) try {
    for (int64_t batch = 0; batch < total_; ++batch) {
      if (!wait_for_room(stop) || !fill(batch, stop)) return;
      const std::lock_guard lock(mutex_);
      ++made_;
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    error_ = std::current_exception();
  }

  bool wait_for_room(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return room_.wait(lock, stop, [&] { return made_ - taken_ < static_cast<int64_t>(ring_.size()); });
  }

  /// False where it was told to stop.
  bool fill(int64_t batch, const std::stop_token& stop) {
    const int64_t epoch = order_.epoch_of(batch);
    float* out = slot(batch);
    int64_t position = 0;
    for (int64_t index : indices_.of(batch)) {
      if (stop.stop_requested()) return false;
      pipeline_.training(index, epoch, batch, position++, out);
      out += elements_;
    }
    return true;
  }

  const ImagePipeline& pipeline_;
  const TrainingOrder order_;
  const int64_t total_;
  BatchIndices indices_;  // the thread's
  const int64_t elements_;
  std::vector<std::vector<float>> ring_;
  mutable std::mutex mutex_;
  std::condition_variable_any room_;
  int64_t made_ = 0;
  int64_t taken_ = 0;  // written by the consumer only, hence read by it without the mutex
  std::exception_ptr error_;
  std::jthread thread_;  // last: ends before what it works on
};

Loader::Loader(const Dataset& dataset, const ImagePipeline& pipeline, TrainingOrder order, int64_t depth)
    : impl_(std::make_unique<Impl>(dataset, pipeline, order, depth)) {}
Loader::~Loader() = default;

bool Loader::try_take(float* out) { return impl_->try_take(out); }
bool Loader::ready() const { return impl_->ready(); }

}  // namespace stagger::runtime::data

// A training run from one rank's side: set up, train, hand in what is to be kept.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "layers/device.h"
#include "runtime/data/dataset.h"
#include "runtime/data_ends.h"
#include "runtime/job.h"
#include "runtime/layer_compute.h"
#include "runtime/mpi_session.h"
#include "runtime/progress.h"
#include "runtime/reporter.h"
#include "runtime/stage_loop.h"

namespace stagger::runtime {

/// The model of stage k of `job`, compiled on `device` for all batches that the run has.
std::unique_ptr<LayerCompute> make_stage(const Job& job, const RunSizes& sizes, int64_t k,
                                         layers::Device& device, LayerCompute::Poll poll);

/// The queue ends of stage k of `job`; rank k runs stage k.
QueuePlanOptions queue_options(const Job& job, const RunSizes& sizes, int64_t k);

/// One rank's share of a run. Collective: every rank makes one and calls run(). session and job must outlive
/// it.
class Trainer {
 public:
  /// Opens data and folder, compiles the stage. Throws JobEnded on all ranks where that fails on any: nothing
  /// has been trained.
  Trainer(const MpiSession& session, Progress& progress, const Job& job, std::ostream& terminal);

  /// Trains, evaluates, writes. Throws what goes wrong; then the job cannot go on.
  void run();
  /// "rank 1 (stage 1, step 37, batch 33)", for messages.
  std::string where() const;

 private:
  bool first() const { return session_.rank() == 0; }
  bool last() const { return session_.rank() == session_.size() - 1; }
  void open_data();
  void share_sizes();
  void make_loop();
  void introduce();
  void write_model();

  const MpiSession& session_;
  Progress& progress_;
  const Job& job_;
  std::ostream& terminal_;
  RunSizes sizes_;
  std::unique_ptr<data::Dataset> training_set_, test_set_;
  std::unique_ptr<layers::Device> device_;
  std::unique_ptr<LayerCompute> compute_;
  std::unique_ptr<Reporter> reporter_;
  std::unique_ptr<DataSource> source_;
  std::unique_ptr<DataSink> sink_;
  std::unique_ptr<StageLoop> loop_;
};

}  // namespace stagger::runtime

#include "launch/train.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "launch/config.h"
#include "launch/make_job.h"
#include "launch/mpirun.h"
#include "layers/error.h"
#include "runtime/agree.h"
#include "runtime/progress.h"
#include "runtime/trainer.h"

namespace stagger::launch {
namespace {

void check_ranks(const Config& config, const runtime::MpiSession& session) {
  if (config.pipeline.stages == session.size()) return;
  throw layers::ConfigError("pipeline.stages is " + std::to_string(config.pipeline.stages) +
                            ", but the job has " + std::to_string(session.size()) +
                            (session.size() == 1 ? " rank" : " ranks") + "; each stage needs one");
}

/// The configuration as every rank reads it, "auto" replaced by what it stands for here.
Config read_config(const CommandLine& line, const runtime::MpiSession& session) {
  Config config;
  runtime::agree(session, [&] {
    config = load_config(line.config, line.settings);
    check_ranks(config, session);
  });
  if (config.run.threads) return config;
  std::vector<std::string> settings = line.settings;
  settings.push_back("run.threads=" + std::to_string(session.cores_per_rank()));
  runtime::agree(session, [&] { config = load_config(line.config, settings); });
  return config;
}

/// Of one training image. Stage 0 looks, all are told.
layers::Shape image_shape(const Config& config, const runtime::MpiSession& session) {
  std::array<int64_t, 3> sizes{};
  runtime::agree(session, [&] {
    if (session.rank() != 0) return;
    const layers::Shape shape =
        open_dataset(config.data, DataSet::kTraining, {.images = false, .labels = false})->shape();
    for (int64_t axis = 0; axis < 3; ++axis) sizes[static_cast<size_t>(axis)] = shape[axis];
  });
  runtime::check_mpi(MPI_Bcast(sizes.data(), 3, MPI_INT64_T, 0, session.comm()), "MPI_Bcast");
  return {sizes[0], sizes[1], sizes[2]};
}

runtime::Job read_job(const CommandLine& line, const runtime::MpiSession& session) {
  const Config config = read_config(line, session);
  const layers::Shape shape = image_shape(config, session);
  runtime::Job job;
  runtime::agree(session, [&] { job = make_job(config, shape, *config.run.threads); });
  job.folder = line.output.empty() ? "runs/" + config.name : line.output;
  job.overwrite = line.overwrite;
  // A rank cannot tell whether a person watches: mpirun gives it a terminal of its own.
  const bool terminal = session.size() == 1 && isatty(STDOUT_FILENO) != 0;
  job.live_progress = line.progress == Progress::kLive || (line.progress == Progress::kAuto && terminal);
  job.quiet = line.progress == Progress::kOff;
  return job;
}

int train_here(const CommandLine& line) {
  const runtime::MpiSession session;
  runtime::Progress progress(session);
  try {
    const runtime::Job job = read_job(line, session);
    runtime::Trainer trainer(session, progress, job, std::cout);
    try {
      trainer.run();
    } catch (const std::exception& error) {
      // The others wait for this rank: it ends them before anything that a message could still reach is torn
      // down.
      std::fprintf(stderr, "stagger: error: %s: %s\n", trainer.where().c_str(), error.what());
      std::fflush(stderr);
      session.abort(layers::exit_code(error));
    }
    return 0;
  } catch (const runtime::JobEnded& ended) {
    return ended.code();
  }
}

}  // namespace

int train(const CommandLine& line) {
  if (is_started_as_rank([](const char* name) -> const char* { return std::getenv(name); }))
    return train_here(line);
  const Config config = load_config(line.config, line.settings);
  return config.pipeline.stages > 1 ? run_under_mpirun(line, config) : train_here(line);
}

}  // namespace stagger::launch

// What the ranks give to the one that writes the run's folder, once training is over. Collective.
#pragma once

#include <vector>

#include "layers/graph.h"
#include "layers/parameters.h"
#include "runtime/ledger.h"
#include "runtime/mpi_session.h"
#include "runtime/output/safetensors_writer.h"

namespace stagger::runtime {

/// The rank that knows losses first, and writes and shows everything: the last one.
inline int scribe(const MpiSession& session) { return session.size() - 1; }

/// Reports of all stages, in order, on the scribe; empty elsewhere.
std::vector<StageReport> collect_reports(const MpiSession& session, const StageReport& mine);

/// Names and shapes of all tensors of a stage in the order in which its state is written: parameters, then
/// statistics.
std::vector<output::TensorEntry> state_entries(const layers::ParameterLayout& layout);

/// Appends the state of every stage, in order, to the scribe's `writer` (null elsewhere), one stage in memory
/// at a time. `graphs` are those of all stages, which every rank knows.
void collect_state(const MpiSession& session, const std::vector<layers::Graph>& graphs,
                   const layers::Parameters& mine, output::SafetensorsWriter* writer);

}  // namespace stagger::runtime

#include "runtime/collect.h"

#include "layers/checked.h"
#include "layers/memory.h"

namespace stagger::runtime {
namespace {

constexpr int kStateTag = 3;

/// Calls visit(tensor, numbers) for each tensor, in the order of state_entries().
template <class Visit>
void for_each_tensor(const layers::ParameterLayout& layout, const float* values, const float* running,
                     Visit visit) {
  for (const layers::Tensor& tensor : layout.parameters) visit(tensor, values + tensor.offset);
  for (const layers::Tensor& tensor : layout.statistics) visit(tensor, running + tensor.offset);
}

int blocks(int64_t floats) { return layers::narrow<int>(floats * 4 / kBlockBytes); }

}  // namespace

std::vector<StageReport> collect_reports(const MpiSession& session, const StageReport& mine) {
  std::vector<StageReport> all(session.rank() == scribe(session) ? static_cast<size_t>(session.size()) : 0);
  const int bytes = static_cast<int>(sizeof(StageReport));
  check_mpi(MPI_Gather(&mine, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, scribe(session), session.comm()),
            "MPI_Gather");
  return all;
}

std::vector<output::TensorEntry> state_entries(const layers::ParameterLayout& layout) {
  std::vector<output::TensorEntry> entries;
  for_each_tensor(layout, nullptr, nullptr, [&](const layers::Tensor& tensor, const float*) {
    entries.push_back({tensor.name, tensor.shape});
  });
  return entries;
}

void collect_state(const MpiSession& session, const std::vector<layers::Graph>& graphs,
                   const layers::Parameters& mine, output::SafetensorsWriter* writer) {
  const int target = scribe(session);
  if (session.rank() != target) {
    const layers::ParameterLayout& layout = mine.layout();
    check_mpi(MPI_Send(mine.values(), blocks(layout.parameter_floats), session.block(), target, kStateTag,
                       session.comm()),
              "MPI_Send");
    check_mpi(MPI_Send(mine.running(), blocks(layout.statistic_floats), session.block(), target, kStateTag,
                       session.comm()),
              "MPI_Send");
    return;
  }
  const auto write = [&](const layers::Tensor& tensor, const float* numbers) {
    writer->append({numbers, static_cast<size_t>(tensor.shape.elements())});
  };
  for (int rank = 0; rank < target; ++rank) {
    const layers::ParameterLayout layout(graphs[static_cast<size_t>(rank)]);
    const layers::Memory values = layers::allocate_host(layout.parameter_floats * 4);
    const layers::Memory running = layers::allocate_host(layout.statistic_floats * 4);
    const auto receive = [&](const layers::Memory& memory, int64_t floats) {
      check_mpi(MPI_Recv(memory.data(), blocks(floats), session.block(), rank, kStateTag, session.comm(),
                         MPI_STATUS_IGNORE),
                "MPI_Recv");
    };
    receive(values, layout.parameter_floats);
    receive(running, layout.statistic_floats);
    for_each_tensor(layout, values.floats(), running.floats(), write);
  }
  for_each_tensor(mine.layout(), mine.values(), mine.running(), write);
}

}  // namespace stagger::runtime

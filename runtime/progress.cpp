#include "runtime/progress.h"

#include <exception>

#include "layers/checked.h"
#include "layers/error.h"

namespace stagger::runtime {

Progress::~Progress() {
  // After an error the job is being ended; talking to MPI again could wait for a rank that is gone.
  if (std::uncaught_exceptions() > 0) return;
  for (Line line = 0; line < requests_.size(); ++line) {
    if (!idle(line)) MPI_Cancel(&requests_[line]);
    if (!idle(line)) MPI_Request_free(&requests_[line]);
  }
}

Progress::Line Progress::add_line() {
  requests_.push_back(MPI_REQUEST_NULL);
  received_.push_back(0);
  peers_.push_back(MPI_PROC_NULL);
  completed_.push_back(0);
  statuses_.emplace_back();
  return requests_.size() - 1;
}

std::byte* Progress::allocate(int64_t bytes) {
  memory_.push_back(layers::allocate_host(bytes));
  allocated_bytes_ += bytes;
  return memory_.back().data();
}

int Progress::blocks(int64_t bytes) const {
  layers::require(bytes % kBlockBytes == 0, "a message is not a whole number of blocks");
  return layers::narrow<int>(bytes / kBlockBytes);
}

void Progress::receive(Line line, std::byte* data, int64_t bytes, int peer, int tag) {
  layers::require(idle(line), "a receive on a line that is in use");
  peers_[line] = peer;
  check_mpi(MPI_Irecv(data, blocks(bytes), session_.block(), peer, tag, session_.comm(), &requests_[line]),
            "MPI_Irecv");
}

void Progress::send(Line line, const std::byte* data, int64_t bytes, int peer, int tag, bool synchronous) {
  layers::require(idle(line), "a send on a line that is in use");
  peers_[line] = peer;
  const auto start = synchronous ? MPI_Issend : MPI_Isend;
  check_mpi(start(data, blocks(bytes), session_.block(), peer, tag, session_.comm(), &requests_[line]),
            "MPI_Isend");
}

void Progress::cancel(Line line) {
  if (idle(line)) return;
  check_mpi(MPI_Cancel(&requests_[line]), "MPI_Cancel");
  check_mpi(MPI_Wait(&requests_[line], MPI_STATUS_IGNORE), "MPI_Wait");
}

bool Progress::poll() {
  int count = 0;
  const int code = MPI_Testsome(layers::narrow<int>(requests_.size()), requests_.data(), &count,
                                completed_.data(), statuses_.data());
  if (code == MPI_ERR_IN_STATUS) {
    for (int i = 0; i < count; ++i) {
      check_mpi(statuses_[static_cast<size_t>(i)].MPI_ERROR,
                where(static_cast<size_t>(completed_[static_cast<size_t>(i)])));
    }
  }
  check_mpi(code, "MPI_Testsome");
  if (count == MPI_UNDEFINED) return false;
  for (int i = 0; i < count; ++i) {
    int elements = 0;
    MPI_Get_count(&statuses_[static_cast<size_t>(i)], session_.block(), &elements);
    received_[static_cast<size_t>(completed_[static_cast<size_t>(i)])] = elements * kBlockBytes;
  }
  return count > 0;
}

std::string Progress::where(size_t line) const {
  return "a message between rank " + std::to_string(session_.rank()) + " and rank " +
         std::to_string(peers_[line]);
}

}  // namespace stagger::runtime

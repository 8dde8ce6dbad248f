// Every message in flight, and the memory it uses.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "layers/memory.h"
#include "runtime/mpi_session.h"

namespace stagger::runtime {

/// Owns the requests of a rank and the buffers that MPI reads and writes, so that neither can die before the
/// other, also while an exception unwinds whoever asked for the message. Made in main beside the session.
///
/// A *line* is a place for one request at a time; queues take theirs at the start, hence nothing is allocated
/// later. Not thread-safe.
class Progress {
 public:
  using Line = size_t;

  explicit Progress(const MpiSession& session) : session_(session) {}
  /// Receives that nothing has matched are cancelled.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  Line add_line();
  /// Zeroed memory for messages, alive as long as this object.
  std::byte* allocate(int64_t bytes);

  /// Starts to receive at most `bytes` (a multiple of kBlockBytes) into `data`. REQUIRES: the line is idle.
  void receive(Line line, std::byte* data, int64_t bytes, int peer, int tag);
  /// Starts to send. A synchronous send is done only once the peer has posted its receive.
  void send(Line line, const std::byte* data, int64_t bytes, int peer, int tag, bool synchronous);
  /// Withdraws a receive that nothing has matched; a matched one is completed. The line is idle afterwards.
  void cancel(Line line);

  bool idle(Line line) const { return requests_[line] == MPI_REQUEST_NULL; }
  /// Bytes of the last completed receive of the line.
  int64_t received(Line line) const { return received_[line]; }

  /// Gives MPI a chance to move messages; says whether any message completed. Throws MpiError.
  bool poll();

  int64_t allocated_bytes() const { return allocated_bytes_; }

 private:
  std::string where(size_t line) const;
  int blocks(int64_t bytes) const;

  const MpiSession& session_;
  std::vector<MPI_Request> requests_;
  std::vector<int64_t> received_;
  std::vector<int> peers_;
  std::vector<int> completed_;  // scratch of poll(), sized with the lines
  std::vector<MPI_Status> statuses_;
  std::vector<layers::Memory> memory_;
  int64_t allocated_bytes_ = 0;
};

}  // namespace stagger::runtime

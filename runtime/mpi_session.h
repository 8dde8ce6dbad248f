// MPI from start to end: one object in main owns it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace stagger::runtime {

/// A call into MPI failed: the message names the call, who was talking to whom, and MPI's reason.
class MpiError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws MpiError with `what` (the call and its peer) unless `code` is MPI_SUCCESS.
void check_mpi(int code, const std::string& what);
inline void check_mpi(int code, const char* what) {
  if (code != MPI_SUCCESS) check_mpi(code, std::string(what));
}

/// Messages are counted in blocks of this many bytes, so that MPI's `int` counts reach 128 GiB.
constexpr int64_t kBlockBytes = 64;

/// Initialises MPI (one thread talks to it: MPI_THREAD_FUNNELED) and finalises it. Errors come back as
/// MpiError: MPI itself never ends the program. Made once, in main; outlives everything that communicates.
///
/// Where it dies because of an exception it ends the whole job, since the other ranks wait for this one.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Ranks on this host, and which of them this is.
  int local_size() const { return local_size_; }
  int local_rank() const { return local_rank_; }
  MPI_Comm comm() const { return comm_; }
  /// kBlockBytes bytes.
  MPI_Datatype block() const { return block_; }

  /// Cores that a rank of this host may use: those that any rank of the host is allowed, divided by the
  /// ranks; the smallest over all hosts; at least 1. Collective.
  int64_t cores_per_rank() const;

  /// Ends every rank of the job at once with `code`.
  [[noreturn]] void abort(int code) const;

 private:
  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  int local_size_ = 1;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm host_ = MPI_COMM_NULL;
  MPI_Datatype block_ = MPI_DATATYPE_NULL;
  int exceptions_at_start_ = 0;
};

}  // namespace stagger::runtime

#include "runtime/mpi_session.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>

namespace stagger::runtime {

void check_mpi(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw MpiError(what + ": " + std::string(text.data(), static_cast<size_t>(length)));
}

MpiSession::MpiSession() : exceptions_at_start_(std::uncaught_exceptions()) {
  int provided = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  // Without this MPI ends the program before a check of ours can say what happened.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host_),
            "MPI_Comm_split_type");
  check_mpi(MPI_Comm_rank(host_, &local_rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(host_, &local_size_), "MPI_Comm_size");
  check_mpi(MPI_Type_contiguous(static_cast<int>(kBlockBytes), MPI_BYTE, &block_), "MPI_Type_contiguous");
  check_mpi(MPI_Type_commit(&block_), "MPI_Type_commit");
}

MpiSession::~MpiSession() {
  if (std::uncaught_exceptions() > exceptions_at_start_) abort(1);
  MPI_Type_free(&block_);
  MPI_Comm_free(&host_);
  MPI_Comm_free(&comm_);
  MPI_Finalize();
}

int64_t MpiSession::cores_per_rank() const {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof(mine), &mine);
  cpu_set_t all;
  check_mpi(MPI_Allreduce(&mine, &all, static_cast<int>(sizeof(mine)), MPI_BYTE, MPI_BOR, host_),
            "MPI_Allreduce");
  int64_t cores = std::max<int64_t>(1, CPU_COUNT(&all) / local_size_);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &cores, 1, MPI_INT64_T, MPI_MIN, comm_), "MPI_Allreduce");
  return cores;
}

void MpiSession::abort(int code) const {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);  // MPI_Abort is not declared to never return
}

}  // namespace stagger::runtime

#include "runtime/agree.h"

#include <cstdio>
#include <string>

#include "layers/error.h"

namespace stagger::runtime {

void agree(const MpiSession& session, const std::function<void()>& work) {
  std::string message;
  int code = 0;
  try {
    work();
  } catch (const std::exception& error) {
    message = error.what();
    code = layers::exit_code(error);
  }
  int failed = code != 0 ? 1 : 0;
  int lowest = code != 0 ? session.rank() : session.size();
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, session.comm()), "MPI_Allreduce");
  if (failed == 0) return;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, session.comm()), "MPI_Allreduce");
  if (session.rank() == lowest) {
    const std::string who =
        failed < session.size() && session.size() > 1 ? "rank " + std::to_string(lowest) + ": " : "";
    std::fprintf(stderr, "stagger: error: %s%s\n", who.c_str(), message.c_str());
    std::fflush(stderr);
  }
  check_mpi(MPI_Bcast(&code, 1, MPI_INT, lowest, session.comm()), "MPI_Bcast");
  throw JobEnded(code);
}

}  // namespace stagger::runtime

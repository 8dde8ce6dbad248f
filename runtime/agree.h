// How ranks end a job together when it cannot start.
#pragma once

#include <functional>
#include <stdexcept>

#include "runtime/mpi_session.h"

namespace stagger::runtime {

/// The job cannot go on; why has been said. Every rank throws it, and exits with `code` after MPI is
/// finalised.
class JobEnded : public std::runtime_error {
 public:
  explicit JobEnded(int code) : std::runtime_error("the job ended"), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

/// Runs `work`, which must not communicate, on every rank. If it throws on any, the lowest such rank prints
/// its error, one line on standard error, and all ranks throw JobEnded with the exit code of that error.
/// Collective.
void agree(const MpiSession& session, const std::function<void()>& work);

}  // namespace stagger::runtime

// What tests on several ranks share: the MPI session that main owns.
#pragma once

#include "runtime/mpi_session.h"

namespace stagger::tests {

/// The session of this process.
const runtime::MpiSession& session();

}  // namespace stagger::tests

// Runs the tests of a file on every rank. The number of ranks must be the one that the test was registered
// with, and a failure on one rank ends all, since the others may wait for it.
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include "tests/catch.h"
#include "tests/ranks/rank_main.h"

namespace stagger::tests {
namespace {

const runtime::MpiSession* current = nullptr;

#if __has_include(<catch2/catch_all.hpp>)
using ListenerBase = Catch::EventListenerBase;
#else
using ListenerBase = Catch::TestEventListenerBase;
#endif

class EndOnFailure : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (stats.totals.assertions.failed == 0) return;
    std::cerr << "rank " << session().rank() << ": a test failed, see above; ending all ranks" << std::endl;
    session().abort(1);
  }
};
CATCH_REGISTER_LISTENER(EndOnFailure)

/// Takes "--ranks N" out of the arguments. 0 if it is not there.
int take_ranks(std::vector<char*>& arguments) {
  for (size_t i = 1; i + 1 < arguments.size(); ++i) {
    if (std::string(arguments[i]) != "--ranks") continue;
    const int ranks = std::atoi(arguments[i + 1]);
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i),
                    arguments.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    return ranks;
  }
  return 0;
}

}  // namespace

const runtime::MpiSession& session() { return *current; }

}  // namespace stagger::tests

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  const int wanted = stagger::tests::take_ranks(arguments);
  const stagger::runtime::MpiSession session;
  stagger::tests::current = &session;
  if (wanted != session.size()) {
    std::cerr << "this test wants --ranks " << wanted << " and was started with " << session.size()
              << std::endl;
    return 1;
  }
  int failed = Catch::Session().run(static_cast<int>(arguments.size()), arguments.data());
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, session.comm());
  return failed == 0 ? 0 : 1;
}

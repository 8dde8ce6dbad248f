// Where waiting is booked, and who is named when it lasts.
#include "runtime/ledger.h"

#include <string>
#include <vector>

#include "runtime/watchdog.h"
#include "tests/catch.h"

using namespace stagger::runtime;

TEST_CASE("a wait for both inputs is booked on the one that comes last") {
  Ledger ledger;
  ledger.waited({.activation = true, .error = true}, 3);
  ledger.activation_came();  // the error is still missing
  ledger.waited({.error = true}, 1);
  ledger.error_came();
  CHECK(ledger.report().wait_error == 4);
  CHECK(ledger.report().wait_activation == 0);

  ledger.waited({.activation = true, .error = true}, 2);
  ledger.error_came();
  ledger.activation_came();
  CHECK(ledger.report().wait_activation == 2);
  ledger.waited({.room = true}, 5);
  ledger.waited({}, 7);
  CHECK(ledger.report().wait_room == 5);
  CHECK(ledger.report().put_off == 7);
}

TEST_CASE("a wait is told when it is long, then ever more rarely") {
  std::vector<std::string> told;
  Watchdog watchdog(10, [&](const std::string& text) { told.push_back(text); });
  watchdog.moved(0);
  for (int now = 1; now < 100; ++now) watchdog.waiting(now, [] { return "stage 1 has waited"; });
  CHECK(told == std::vector<std::string>{"stage 1 has waited for 10 s", "stage 1 has waited for 20 s",
                                         "stage 1 has waited for 40 s", "stage 1 has waited for 80 s"});
  watchdog.moved(100);
  told.clear();
  watchdog.waiting(109, [] { return "again"; });
  CHECK(told.empty());
  watchdog.waiting(110, [] { return "again"; });
  CHECK(told.size() == 1);

  Watchdog off(0, [&](const std::string&) { FAIL("a watchdog that is off spoke"); });
  off.waiting(1e9, [] { return ""; });
}

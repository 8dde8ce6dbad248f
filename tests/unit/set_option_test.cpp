#include "launch/set_option.h"

#include "tests/catch.h"
#include "tests/unit/config_error.h"

namespace stagger::launch {
namespace {

using testing::error_of;

std::string set(const std::string& text, const std::string& setting) {
  Value root = parse_yaml(text, "f.yaml");
  apply_setting(setting, root);
  return to_yaml(root);
}

std::string set_error(const std::string& text, const std::string& setting) {
  return error_of([&] { set(text, setting); });
}

}  // namespace

TEST_CASE("settings replace, add and make maps") {
  CHECK(set("a: 1\n", "a=2") == "a: 2\n");
  CHECK(set("a: {b: 1, c: 2}\n", "a.b=3") == "a:\n  b: 3\n  c: 2\n");
  CHECK(set("a: 1\n", "x.y.z=[1, 2]") == "a: 1\nx:\n  y:\n    z: [1, 2]\n");
  CHECK(set("a:\n", "a.b=1") == "a:\n  b: 1\n");
  CHECK(set("a: 1\n", "a={b: true}") == "a:\n  b: true\n");
  CHECK(set("a: 1\n", "a=x=y") == "a: x=y\n");
  CHECK(set("a: 1\n", "a=-3") == "a: -3\n");
}

TEST_CASE("elements of lists are named by number") {
  CHECK(set("a: [{b: 1}, {b: 2}]\n", "a.1.b=5") == "a:\n  - b: 1\n  - b: 5\n");
  CHECK(set_error("a: [1, 2]\n", "a.2=5") ==
        "--set a.2=5: a.2: found the element 2 of a list, allowed are 0 to 1");
  CHECK(set_error("a: [1, 2]\n", "a.x=5") ==
        "--set a.x=5: a.x: found the element x of a list, allowed are 0 to 1");
  CHECK(set_error("a: []\n", "a.0=5") ==
        "--set a.0=5: a.0: found the element 0 of a list, allowed are none, the list is empty");
}

TEST_CASE("the last of several settings wins, the order of keys stays") {
  Value root = parse_yaml("a: 1\nb: 2\n", "f.yaml");
  const std::vector<std::string> settings = {"a=3", "c=4", "a=5"};
  apply_settings(settings, root);
  CHECK(to_yaml(root) == "a: 5\nb: 2\nc: 4\n");
}

TEST_CASE("values that were set say so instead of a line") {
  Value root = parse_yaml("a: 1\n", "f.yaml");
  apply_setting("x.y=3", root);
  CHECK(root.find("x")->where == "--set x.y=3");
  CHECK(root.find("x")->find("y")->where == "--set x.y=3");
  CHECK(root.find("a")->where == "f.yaml:1");
}

TEST_CASE("settings that are none") {
  CHECK(set_error("a: 1\n", "a") == "--set a: found no '=', allowed is key.path=value");
  CHECK(set_error("a: 1\n", "=1") == "--set =1: found an empty key, allowed is key.path=value");
  CHECK(set_error("a: 1\n", "a..b=1") == "--set a..b=1: found an empty key, allowed is key.path=value");
  CHECK(set_error("a: 1\n", "a.=1") == "--set a.=1: found an empty key, allowed is key.path=value");
  CHECK(set_error("a: 1\n", "a.b=1") ==
        "--set a.b=1: a.b: found 1 at f.yaml:1 on the way to it, allowed are maps and lists");
  CHECK(set_error("a: 1\n", "a=[1")
            .starts_with("--set a=[1: found a key that is not a word (is a bracket left open?)"));
  CHECK(set_error("a: 1\n", "a='x").starts_with("--set a='x: not valid YAML: "));
  CHECK(set_error("a: 1\n", "a=") == "--set a=: found no value after '=', allowed is key.path=value");
  CHECK(testing::is_one_line(set_error("a: 1\n", "a=1\n---\n2")));
}

}  // namespace stagger::launch

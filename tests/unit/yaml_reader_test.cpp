#include "launch/yaml_reader.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "launch/text.h"
#include "tests/catch.h"
#include "tests/unit/config_error.h"

namespace stagger::launch {
namespace {

using testing::error_of;

std::string parse_error(const std::string& text) {
  return error_of([&] { parse_yaml(text, "f.yaml"); });
}

/// The error of reading `text` with `read`.
template <class Read>
std::string read_error(const std::string& text, const Read& read) {
  return error_of([&] {
    const Value root = parse_yaml(text, "f.yaml");
    Value record;
    Section section(root, "", record);
    read(section);
    section.finish();
  });
}

std::string integer_error(const std::string& text) {
  return read_error(text, [](Section& root) {
    Section train = root.section("train");
    train.integer("batch", {.fallback = 1, .least = 1, .most = 100});
    train.finish();
  });
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("stagger_yaml_" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("values know their lines") {
  const Value root = parse_yaml("a: 1\nb:\n  c: [1,\n      2]\n  d: {e: 'x'}\n", "f.yaml");
  CHECK(root.find("a")->where == "f.yaml:1");
  CHECK(root.find("b")->where == "f.yaml:2");
  CHECK(root.find("b")->find("c")->entries.back().value.where == "f.yaml:4");
  CHECK(root.find("b")->find("d")->find("e")->where == "f.yaml:5");
  CHECK(root.find("b")->find("d")->find("e")->quoted);
}

TEST_CASE("documents that are none") {
  CHECK(parse_error("") == "f.yaml: holds nothing, allowed is one YAML document");
  CHECK(parse_error("# only this\n") == "f.yaml: holds nothing, allowed is one YAML document");
  CHECK(parse_error("a: 1\n---\nb: 2\n") == "f.yaml: holds several YAML documents, allowed is one");
  CHECK(parse_error("a: [1, 2\nb: 3\n").starts_with("f.yaml:2:"));
  CHECK(parse_error("a: 1\n b: 2\n").starts_with("f.yaml:2:3: not valid YAML: "));
  CHECK(parse_error("a: 1\nb: \x04\nc: 3\n") ==
        "f.yaml:2: found the control character \\x04, allowed is UTF-8 text");
  CHECK(parse_error("a: \"x\\qy\"\n").starts_with("f.yaml:1:"));
  CHECK(parse_error("a: *nowhere\n").starts_with("f.yaml:1:"));
}

TEST_CASE("keys") {
  CHECK(parse_error("train:\n  batch: 1\n  epochs: 2\n  batch: 3\n") ==
        "f.yaml:4: the key batch stands twice; the first is at f.yaml:2");
  CHECK(parse_error("{a: 1, b: 2, a: 3}") == "f.yaml:1: the key a stands twice; the first is at f.yaml:1");
  CHECK(parse_error("? [1, 2]\n: 3\n") ==
        "f.yaml:1: found a key that is not a word (is a bracket left open?), allowed are words");
  CHECK(parse_error("~: 3\n") ==
        "f.yaml:1: found a key that is not a word (is a bracket left open?), allowed are words");
  CHECK(parse_error("a: !!int 3\n").starts_with("f.yaml:1: found the tag "));
}

TEST_CASE("aliases are written out, within bounds") {
  const Value root = parse_yaml("a: &x {b: [1, 2]}\nc: *x\n", "f.yaml");
  CHECK(root.find("c")->find("b")->entries.size() == 2);
  CHECK(parse_error("a: &x [1, *x]\n") == "f.yaml:1: an alias stands inside of what it names");

  std::string bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    std::string line = "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 8; ++k) line += "," + before;
    bomb += line + "]\n";
  }
  CHECK(parse_error(bomb).find("more than 20000 values") != std::string::npos);

  std::string ladder = "a0: &a0 [1]\n";
  for (int i = 1; i < 40; ++i) {
    ladder += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  }
  CHECK(parse_error(ladder).find("nested more than 32 levels deep") != std::string::npos);
}

TEST_CASE("depth and size are bounded") {
  CHECK_NOTHROW(parse_yaml(std::string(32, '[') + std::string(32, ']'), "f.yaml"));
  CHECK(parse_error(std::string(33, '[') + std::string(33, ']')) ==
        "f.yaml:1: nested more than 32 levels deep");
  CHECK(testing::is_one_line(parse_error(std::string(200'000, '['))));
  CHECK(parse_error(std::string(2'000'000, 'a')) == "f.yaml: larger than 1 MiB");
}

TEST_CASE("files") {
  const Folder folder;
  CHECK(load_yaml(folder.write("good.yaml", "a: 1\n")).find("a")->text == "1");
  CHECK(error_of([&] { load_yaml(folder.path() + "/none.yaml"); }) ==
        folder.path() + "/none.yaml: no such file");
  CHECK(error_of([&] { load_yaml(folder.path()); }) ==
        folder.path() + ": not a file that can be read as a configuration");
  CHECK(error_of([&] { load_yaml("/dev/zero"); }) ==
        "/dev/zero: not a file that can be read as a configuration");
  if (geteuid() != 0) {
    const std::string closed = folder.write("closed.yaml", "a: 1\n");
    std::filesystem::permissions(closed, std::filesystem::perms::none);
    CHECK(error_of([&] { load_yaml(closed); }) == closed + ": cannot be read");
  }
}

TEST_CASE("integers are strict") {
  CHECK(integer_error("train:\n  batch: -3\n") == "f.yaml:2: train.batch: found -3, allowed are 1 to 100");
  CHECK(integer_error("train: {batch: 101}") == "f.yaml:1: train.batch: found 101, allowed are 1 to 100");
  CHECK(integer_error("train: {batch: 99999999999999999999}") ==
        "f.yaml:1: train.batch: found 99999999999999999999, allowed are 1 to 100");
  for (const std::string text :
       {"1e1", "10.0", "010", "0x10", "+5", "1_0", "abc", "true", "'10'", "1 0", "-", ".inf"}) {
    INFO(text);
    const std::string found = text == "'10'" ? "\"10\"" : text;
    CHECK(integer_error("train: {batch: " + text + "}") ==
          "f.yaml:1: train.batch: found " + found + ", allowed are whole numbers, 1 to 100");
  }
  CHECK(integer_error("train: {batch: [1]}") ==
        "f.yaml:1: train.batch: found a list, allowed are whole numbers, 1 to 100");
  CHECK(integer_error("train: {batch: {a: 1}}") ==
        "f.yaml:1: train.batch: found a map, allowed are whole numbers, 1 to 100");
  CHECK(integer_error("train:\n  batch:\n") ==
        "f.yaml:2: train.batch: found nothing, allowed are whole numbers, 1 to 100");
  CHECK(integer_error("train:\n  batch: null\n") ==
        "f.yaml:2: train.batch: found nothing, allowed are whole numbers, 1 to 100");
}

TEST_CASE("numbers are finite and in range") {
  const auto error = [](const std::string& text, const Numbers& rule) {
    return read_error("x: " + text + "\n", [&](Section& root) { root.number("x", rule); });
  };
  const Numbers share = {.least = 0, .most = 1, .below = true};
  CHECK(error("1", share) == "f.yaml:1: x: found 1, allowed are numbers from 0 to below 1");
  CHECK(error("-0.5", share) == "f.yaml:1: x: found -0.5, allowed are numbers from 0 to below 1");
  CHECK(error("0", {.least = 0, .above = true}) == "f.yaml:1: x: found 0, allowed are numbers above 0");
  for (const std::string text :
       {"nan", ".nan", ".inf", "-.inf", "inf", "1e999", "abc", "1,5", "0x1p3", "'0.5'"}) {
    INFO(text);
    CHECK(error(text, share).find("allowed are numbers from 0 to below 1") != std::string::npos);
  }
  CHECK(error("nan", {}) == "f.yaml:1: x: found nan, allowed are finite numbers");
  const Value root = parse_yaml("a: 5.0e-4\nb: 1e-3\nc: 2\nd: .5\n", "f.yaml");
  Value record;
  Section section(root, "", record);
  CHECK(section.number("a", {}) == 5e-4);
  CHECK(section.number("b", {}) == 1e-3);
  CHECK(section.number("c", {}) == 2);
  CHECK(section.number("d", {}) == 0.5);
  CHECK(section.number("e", {.fallback = 0.1}) == 0.1);
}

TEST_CASE("booleans, choices, words and lists") {
  for (const std::string text : {"yes", "True", "1", "on", "'true'", "[true]"}) {
    INFO(text);
    CHECK(read_error("x: " + text, [](Section& root) {
            root.boolean("x");
          }).ends_with(", allowed are true and false"));
  }
  const auto choose = [](Section& root) { root.choice("x", {"bp", "dsp"}, "bp"); };
  CHECK(read_error("x: dps", choose) == "f.yaml:1: x: found dps, allowed are bp, dsp");
  CHECK(read_error("x: {}", choose) == "f.yaml:1: x: found a map, allowed are bp, dsp");
  CHECK(read_error("x: ''", [](Section& root) { root.text("x"); }) ==
        "f.yaml:1: x: found \"\", allowed are words");
  const IntegerLists pair = {.each = {.least = 0, .most = 9}, .fewest = 2, .largest = 2};
  const auto list = [&](Section& root) { root.integers("x", pair); };
  CHECK(read_error("x: 3", list) == "f.yaml:1: x: found 3, allowed are lists of 2 numbers");
  CHECK(read_error("x: [1]", list) == "f.yaml:1: x: found a list of 1, allowed are lists of 2 numbers");
  CHECK(read_error("x: [1,\n 10]", list) == "f.yaml:2: x.1: found 10, allowed are 0 to 9");
  CHECK(read_error("x: [1, [2]]", list) == "f.yaml:1: x.1: found a list, allowed are whole numbers, 0 to 9");
}

TEST_CASE("an unknown key names the nearest known one") {
  CHECK(integer_error("train:\n  bacth: 3\n") ==
        "f.yaml:2: train.bacth: unknown key; did you mean train.batch?");
  CHECK(integer_error("train:\n  frobnicate: 3\n") ==
        "f.yaml:2: train.frobnicate: unknown key; known are batch");
  CHECK(integer_error("trian: {}\n") == "f.yaml:1: trian: unknown key; did you mean train?");
  CHECK(integer_error("train: 3\n") == "f.yaml:1: train: found 3, allowed is a map (key: value)");
  CHECK(integer_error("- 1\n") == "f.yaml:1: found a list, allowed is a map (key: value)");
  CHECK(integer_error("train:\n") == "f.yaml:1: train: found nothing, allowed is a map (key: value)");
}

TEST_CASE("keys of another kind say whose they are") {
  const auto read = [](Section& root) { root.belongs_to("kind: resnet", {"depth"}); };
  CHECK(read_error("depth: 20\n", read) == "f.yaml:1: depth: unknown key here; it belongs to kind: resnet");
}

TEST_CASE("a missing key that is required points at a slip") {
  const auto read = [](Section& root) {
    Section data = root.section("data");
    data.text("images");
  };
  CHECK(read_error("a: 1\ndata:\n  image: x\n", read) ==
        "f.yaml:2: data.images: missing, and has no default (the key image stands at f.yaml:3)");
  CHECK(read_error("data: {b: 1}\n", read) == "f.yaml:1: data.images: missing, and has no default");
  CHECK(read_error("a: 1\n", read) == "f.yaml:1: data.images: missing, and has no default");
}

TEST_CASE("messages stay on one line, whatever was typed") {
  const std::string message =
      integer_error("train: {batch: \"a\\nb\\tc\\u0007" + std::string(500, 'x') + "\"}");
  CHECK(testing::is_one_line(message));
  CHECK(message.starts_with("f.yaml:1: train.batch: found \"a\\nb\\tc\\x07xxx"));
  CHECK(message.size() < 200);
  CHECK(testing::is_one_line(integer_error("\"a\\nb\": 1\ntrain: {}\n")));
}

TEST_CASE("the record holds all that was read, in order, and reads the same") {
  const auto read = [](const Value& root, Value& record) {
    Section section(root, "", record);
    Section b = section.section("b");
    CHECK(b.number("y", {.fallback = 1.0 / 3}) == 1.0 / 3);
    CHECK(b.text("t", "12: # x") == "12: # x");
    b.finish();
    CHECK(section.integer("a", {.fallback = -7}) == -7);
    CHECK(section.integers("l", {.fallback = std::vector<int64_t>{1, 2}}).size() == 2);
    CHECK(section.integers("m", {.fallback = std::vector<int64_t>{}}).empty());
    CHECK(section.text("n", "null") == "null");
    section.finish();
  };
  Value record;
  read(Value(parse_yaml("a: -7\n", "f.yaml")), record);
  const std::string text = to_yaml(record);
  CHECK(text == "b:\n  y: 0.3333333333333333\n  t: \"12: # x\"\na: -7\nl: [1, 2]\nm: []\nn: \"null\"\n");
  Value again;
  read(parse_yaml(text, "g.yaml"), again);
  CHECK(to_yaml(again) == text);
}

TEST_CASE("any text is written so that it reads as the same text") {
  for (const std::string text : {"a",      "a b",   " a",          "a ",
                                 "a: b",   "a:",    ": a",         "#a",
                                 "a #b",   "a#b",   "-",           "- a",
                                 "-a",     "--- a", "---",         "...",
                                 "?",      "? a",   "~",           "null",
                                 "Null",   "NULL",  "true",        "1",
                                 "-1",     "1e3",   "[",           "[a]",
                                 "{a: b}", "a, b",  ",",           "'",
                                 "\"",     "a'b",   "a\"b",        "\\",
                                 "&a",     "*a",    "!a",          "!!x",
                                 "|",      ">",     "%a",          "@a",
                                 "`a",     "a\nb",  "a\tb",        "\xc3\xa9",
                                 "<<",     "=",     "1,1,0;4,2,0", "/usr/share/a b.gz",
                                 "a\\n",   "$x"}) {
    INFO(text);
    Value list = Value::list();
    list.entries.push_back({"", "", Value::scalar(text)});
    Value map = Value::map();
    map.entries.push_back({"key", "", Value::scalar(text)});
    map.entries.push_back({"list", "", list});
    map.entries.push_back({"map", "", map});
    const Value again = parse_yaml(to_yaml(map), "f.yaml");
    CHECK(again.find("key")->text == text);
    CHECK(again.find("list")->entries.front().value.text == text);
    CHECK(again.find("map")->find("key")->text == text);
    // What would be taken for nothing is quoted, what is a number stays one.
    CHECK(again.find("key")->kind == Value::Kind::kScalar);
    if (text == "-1" || text == "1e3" || text == "true") CHECK_FALSE(again.find("key")->quoted);
  }
}

TEST_CASE("edit distance") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("bacth", "batch") == 1);
  CHECK(edit_distance("ca", "abc") == 3);
  const std::vector<std::string> words = {"momentum", "weight_decay", "kind"};
  CHECK(nearest("weigth_decay", words) == "weight_decay");
  CHECK(nearest("dnik", words).empty());
  CHECK(nearest("learning", words).empty());
}

}  // namespace stagger::launch

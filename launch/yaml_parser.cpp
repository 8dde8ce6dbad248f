#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "launch/text.h"
#include "launch/yaml_tree.h"
#include "layers/error.h"

namespace stagger::launch {
namespace {

using layers::ConfigError;

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr size_t kMostLevels = 32;
constexpr int64_t kMostValues = 20'000;

/// Builds the tree from the parser's events, so that what a tree cannot show (keys that stand twice, aliases)
/// is seen.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string source, bool numbered) : source_(std::move(source)), numbered_(numbered) {}

  Value take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { leaf(mark, anchor, Value{}); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    const bool quoted = tag == "!";
    if (!quoted) refuse_tag(mark, tag);
    if (wants_key()) {
      set_key(mark, text);
    } else {
      leaf(mark, anchor, Value::scalar(text, quoted));
    }
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) fail(mark, "an alias stands inside of what it names");
    leaf(mark, 0, known->second);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    open(mark, anchor, Value::list());
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    open(mark, anchor, Value::map());
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    Value* value;
    YAML::anchor_t anchor;
    bool wants_key;
  };

  std::string place(const YAML::Mark& mark) const {
    return numbered_ ? source_ + ":" + std::to_string(mark.line + 1) : source_;
  }

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& problem) const {
    throw ConfigError(place(mark) + ": " + problem);
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!") return;
    fail(mark, "found the tag " + printable(tag) + ", allowed are values without tags");
  }

  bool wants_key() const { return !levels_.empty() && levels_.back().wants_key; }

  void set_key(const YAML::Mark& mark, const std::string& key) {
    Level& level = levels_.back();
    if (const Value* first = level.value->find(key)) {
      fail(mark, "the key " + printable(key) + " stands twice; the first is at " + first->where);
    }
    level.value->entries.push_back({key, place(mark), Value{}});
    level.value->entries.back().value.where = place(mark);
    level.wants_key = false;
  }

  /// The place in the tree for the next value.
  Value& slot(const YAML::Mark& mark) {
    if (levels_.empty()) return root_;
    Level& level = levels_.back();
    if (level.wants_key)
      fail(mark, "found a key that is not a word (is a bracket left open?), allowed are words");
    if (level.value->kind == Value::Kind::kMap) {
      level.wants_key = true;
    } else {
      level.value->entries.push_back({"", place(mark), Value{}});
    }
    return level.value->entries.back().value;
  }

  void count(const YAML::Mark& mark, const Value& value) {
    if (++values_ > kMostValues) fail(mark, "more than " + std::to_string(kMostValues) + " values");
    for (const Entry& entry : value.entries) count(mark, entry.value);
  }

  static size_t levels_of(const Value& value) {
    size_t most = 0;
    for (const Entry& entry : value.entries) most = std::max(most, levels_of(entry.value));
    return most + 1;
  }

  void check_levels(const YAML::Mark& mark, size_t below) const {
    if (levels_.size() + below > kMostLevels) {
      fail(mark, "nested more than " + std::to_string(kMostLevels) + " levels deep");
    }
  }

  /// Places `value` where its key is, or else where it begins: a block map begins only at its first key.
  Value& put(const YAML::Mark& mark, Value value) {
    Value& free = slot(mark);
    value.where = free.where.empty() ? place(mark) : free.where;
    free = std::move(value);
    return free;
  }

  void leaf(const YAML::Mark& mark, YAML::anchor_t anchor, Value value) {
    count(mark, value);
    check_levels(mark, value.entries.empty() ? 0 : levels_of(value));
    if (anchor != 0) anchors_[anchor] = value;
    put(mark, std::move(value));
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Value value) {
    count(mark, value);
    check_levels(mark, 1);
    const bool is_map = value.kind == Value::Kind::kMap;
    levels_.push_back({&put(mark, std::move(value)), anchor, is_map});
  }

  void close() {
    const Level level = levels_.back();
    levels_.pop_back();
    if (level.anchor == 0) return;
    anchored_ += size_of(*level.value);
    if (anchored_ > kMostValues) {
      throw ConfigError(level.value->where + ": more than " + std::to_string(kMostValues) +
                        " values under anchors");
    }
    anchors_[level.anchor] = *level.value;
  }

  static int64_t size_of(const Value& value) {
    int64_t size = 1;
    for (const Entry& entry : value.entries) size += size_of(entry.value);
    return size;
  }

  std::string source_;
  bool numbered_;
  Value root_;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Value> anchors_;
  int64_t values_ = 0;
  int64_t anchored_ = 0;
};

/// The parser takes some control characters for the end of the text; nothing that a user wrote may be dropped
/// so.
void refuse_control_characters(std::string_view text, const std::string& source, bool numbered) {
  int64_t line = 1;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') ++line;
    if (byte >= 0x20 ? byte != 0x7F : (c == '\n' || c == '\t' || c == '\r')) continue;
    throw ConfigError(source + (numbered ? ":" + std::to_string(line) : "") +
                      ": found the control character " + printable(std::string_view(&c, 1)) +
                      ", allowed is UTF-8 text");
  }
}

Value parse_single_document(std::string_view text, const std::string& source, bool numbered) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  TreeBuilder builder(source, numbered);
  if (!parser.HandleNextDocument(builder)) {
    throw ConfigError(source + ": holds nothing, allowed is one YAML document");
  }
  TreeBuilder second(source, numbered);
  if (parser.HandleNextDocument(second)) {
    throw ConfigError(source + ": holds several YAML documents, allowed is one");
  }
  return builder.take();
}

}  // namespace

Value parse_yaml(std::string_view text, const std::string& source, bool numbered) {
  if (text.size() > kMostBytes) throw ConfigError(source + ": larger than 1 MiB");
  refuse_control_characters(text, source, numbered);
  try {
    return parse_single_document(text, source, numbered);
  } catch (const YAML::Exception& error) {
    std::string place = source;
    if (numbered && !error.mark.is_null()) {
      place += ":" + std::to_string(error.mark.line + 1) + ":" + std::to_string(error.mark.column + 1);
    }
    throw ConfigError(place + ": not valid YAML: " + printable(error.msg));
  }
}

Value load_yaml(const std::string& file) {
  std::error_code failure;
  const auto status = std::filesystem::status(file, failure);
  const std::string name = printable(file, 500);
  if (status.type() == std::filesystem::file_type::not_found) throw ConfigError(name + ": no such file");
  if (failure) throw ConfigError(name + ": cannot be read: " + failure.message());
  if (!std::filesystem::is_regular_file(status))
    throw ConfigError(name + ": not a file that can be read as a configuration");
  std::ifstream stream(file, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  if (stream) stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.is_open() || stream.bad()) throw ConfigError(name + ": cannot be read");
  text.resize(static_cast<size_t>(stream.gcount()));
  return parse_yaml(text, name);
}

}  // namespace stagger::launch

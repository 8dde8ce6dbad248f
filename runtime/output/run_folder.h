// The folder that a run leaves behind.
#pragma once

#include <string>

namespace stagger::runtime::output {

/// A folder with the files that Stagger writes into it. Made by one process of a run; the others get its
/// path.
class RunFolder {
 public:
  /// What to do with a folder that is not empty.
  enum class Existing {
    kRefuse,
    kOverwrite,  ///< remove the files that Stagger writes, and only those
  };

  /// Makes `path`, and the folders above it where they are missing. Throws ConfigError, with the path and the
  /// reason, where that is refused or fails, or no file could be made in it.
  static RunFolder create(std::string path, Existing existing);
  /// Names the files of a folder that exists already; touches nothing.
  explicit RunFolder(std::string path);

  const std::string& path() const { return path_; }
  std::string config() const { return path_ + "/config.yaml"; }       ///< the resolved configuration
  std::string metrics() const { return path_ + "/metrics.jsonl"; }    ///< metrics.h
  std::string model() const { return path_ + "/model.safetensors"; }  ///< the flushed model
  std::string log() const { return path_ + "/log.txt"; }

 private:
  std::string path_;
};

}  // namespace stagger::runtime::output

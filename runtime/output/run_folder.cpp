#include "runtime/output/run_folder.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "layers/error.h"

namespace stagger::runtime::output {
namespace {

namespace fs = std::filesystem;
using layers::ConfigError;

void check(const std::error_code& failure, const std::string& action, const std::string& path) {
  if (failure) throw ConfigError("cannot " + action + " " + path + ": " + failure.message());
}

/// Whether `path` is a folder with something in it. Throws where it is there and no folder.
bool is_occupied(const std::string& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (!fs::exists(status)) return false;  // also where it cannot be told: making the folder will say why
  if (!fs::is_directory(status)) throw ConfigError("output folder " + path + " exists and is not a folder");
  const bool empty = fs::is_empty(path, failure);
  check(failure, "read folder", path);
  return !empty;
}

void remove_own_files(const RunFolder& folder) {
  for (const std::string& path : {folder.config(), folder.metrics(), folder.model(), folder.log()}) {
    for (const std::string& name : {path, path + ".tmp"}) {
      // Not remove(), which would also take an empty folder.
      if (::unlink(name.c_str()) != 0 && errno != ENOENT) {
        check(std::error_code(errno, std::generic_category()), "overwrite", name);
      }
    }
  }
}

}  // namespace

RunFolder::RunFolder(std::string path) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
}

RunFolder RunFolder::create(std::string path, Existing existing) {
  if (path.empty()) throw ConfigError("the name of the output folder is empty");
  RunFolder folder(std::move(path));
  const std::string& name = folder.path();
  const bool occupied = is_occupied(name);
  if (occupied && existing == Existing::kRefuse) {
    throw ConfigError("output folder " + name + " exists; give another name, --output DIR, or --overwrite");
  }
  std::error_code failure;
  fs::create_directories(name, failure);
  check(failure, "create folder", name);
  if (::access(name.c_str(), W_OK | X_OK) != 0) {
    check(std::error_code(errno, std::generic_category()), "write into folder", name);
  }
  if (occupied) remove_own_files(folder);
  return folder;
}

}  // namespace stagger::runtime::output

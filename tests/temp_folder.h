// A folder that a test may write into, gone when the test ends.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>

namespace stagger::tests {

class TempFolder {
 public:
  TempFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "stagger-test-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + path);
    path_ = path;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, std::span<const uint8_t> bytes) const {
    std::ofstream file(path_ / name, std::ios::binary);
    for (uint8_t byte : bytes) file.put(static_cast<char>(byte));
    file.close();
    if (!file) throw std::runtime_error("cannot write " + (path_ / name).string());
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace stagger::tests

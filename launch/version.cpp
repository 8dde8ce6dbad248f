#include "launch/version.h"

#include <mpi.h>
#include <spdlog/version.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <boost/version.hpp>
#include <nlohmann/json.hpp>

#include "layers/device.h"

// yaml-cpp's headers do not say their version; the build may.
#ifndef STAGGER_YAML_CPP_VERSION
#define STAGGER_YAML_CPP_VERSION "(unknown version)"
#endif

namespace stagger::launch {
namespace {

/// "Open MPI v4.1.4" of a text that goes on with who built it.
std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "MPI (unknown version)";
  const std::string whole(text.data());
  return whole.substr(0, whole.find_first_of(",\n"));
}

std::string dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace

std::string version() { return STAGGER_VERSION; }

std::string version_text() {
  const std::string boost = dotted(BOOST_VERSION / 100'000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100);
  const std::string json =
      dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH);
  return "stagger " + version() + "\nbackends: cpu (" + layers::cpu_backend_version() +
         ")\nlibraries: " + mpi_version() + ", yaml-cpp " STAGGER_YAML_CPP_VERSION ", Boost " + boost +
         ", spdlog " + dotted(SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH) + ", nlohmann-json " +
         json + ", zlib " + zlibVersion() + "\n";
}

}  // namespace stagger::launch

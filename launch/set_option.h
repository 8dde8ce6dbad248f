// `--set key.path=value`: a configuration changed from the command line.
#pragma once

#include <span>
#include <string>

#include "launch/yaml_tree.h"

namespace stagger::launch {

/// Sets one value of `root` as `setting` says. Keys are separated by dots; where a map on the way is missing
/// it is made; an element of a list is named by its number from 0 and must exist. The value is YAML (so '[1,
/// 2]' is a list). Errors about it, here and later, name "--set key.path=value" instead of a line.
///
/// Throws ConfigError where `setting` has no key or no '=', the value is not valid YAML, or the way leads
/// through something that is neither a map nor a list. REQUIRES: root is a map.
void apply_setting(const std::string& setting, Value& root);

/// All of them in order; a later one wins.
void apply_settings(std::span<const std::string> settings, Value& root);

}  // namespace stagger::launch

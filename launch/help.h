// The texts of --help.
#pragma once

#include <string>

namespace stagger::launch {

std::string general_help();
/// `options` is the table of the command's options.
std::string train_help(const std::string& options);
std::string describe_help(const std::string& options);

}  // namespace stagger::launch

// object: reading YAML, in which metadata are written.
#pragma once

#include <string_view>

#include <yaml-cpp/yaml.h>

#include "support/error.h"

namespace Atoll::object {

/// The document that a text is. Aliases (`*name`), by which some lines can stand for billions, are an error, as they
/// are in LLVM.
support::Result<YAML::Node> read_yaml(std::string_view text);

}  // namespace Atoll::object

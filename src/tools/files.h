// tools: files that subcommands read and write whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "support/error.h"

namespace Atoll::tools {

/// The text of a file; "-" is standard input.
support::Result<std::string> read_text_file(const std::string& path);

/// Writes a file, replacing what was there. Nothing half-written stays behind.
support::Result<void> write_file(const std::string& path, std::span<const uint8_t> bytes);

}  // namespace Atoll::tools

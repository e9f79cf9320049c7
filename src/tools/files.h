// tools: how subcommands read and write files. Every file name of the command line goes through here, or through
// support::MappedFile where the library that a subcommand uses opens the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "support/error.h"
#include "support/mapped_file.h"

namespace Atoll::tools {

/// The bytes of a file, of a pipe or of a device; "-" is standard input.
support::Result<support::MappedFile> open_input(const std::string& path);
/// The same as text.
support::Result<std::string> read_text_file(const std::string& path);

/// Whether write_file() writes to standard output, so that nothing else should: "-", /dev/stdout, or the file that
/// standard output is redirected to.
bool is_standard_output(const std::string& path);

/// Writes a file. A regular one is replaced when all is written, and not before: where writing fails it stays as it
/// was, and it may be what `bytes` are mapped from. Its permissions stay, and a symbolic link to it. What is no regular
/// file, a device or a pipe, is written to and stays; "-" is standard output.
support::Result<void> write_file(const std::string& path, std::span<const uint8_t> bytes);

/// Writes to standard output, maybe not at once.
support::Result<void> write_standard_output(std::string_view text);
/// Writes what is still to be written there: the error is that this, or anything before, could not be written.
support::Result<void> finish_standard_output();
/// Opens what is closed of the three standard streams such that using it fails, so that no file that is opened later
/// gets its number, and with it what is meant for the stream.
void reserve_standard_streams();

}  // namespace Atoll::tools

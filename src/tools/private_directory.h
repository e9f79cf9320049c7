// tools: a directory of the user's own for what programs that Atoll runs need as files.
//
// What is in it stays, for programs that go on when the command has long become another. It is found again by its name,
// so that it does not grow.
#pragma once

#include <filesystem>

#include "support/error.h"

namespace Atoll::tools {

/// The directory, made if need be: /tmp/atoll-UID, only this user's, or /tmp/atoll-UID-1 and so on if another user
/// holds that name; in TMPDIR or XDG_RUNTIME_DIR where /tmp cannot be written. Its path has no character that means
/// something in LD_PRELOAD or LD_LIBRARY_PATH.
support::Result<std::filesystem::path> private_directory();

/// A new, empty directory in it, for one run.
support::Result<std::filesystem::path> make_run_directory();

/// A path to `directory` that the dynamic loader reads as one, without ':', ';', '$' or blanks: itself or a symbolic
/// link to it.
support::Result<std::filesystem::path> loader_path(const std::filesystem::path& directory);

}  // namespace Atoll::tools

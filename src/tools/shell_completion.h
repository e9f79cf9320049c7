// tools: scripts by which a shell completes the atoll command's subcommands, options and values.
#pragma once

#include <string>

#include "tools/command_description.h"

namespace Atoll::tools {

/// For bash, with or without the bash-completion package. To be read by the shell, or to lie as "atoll" in
/// share/bash-completion/completions.
std::string bash_completion(const CommandDescription& command);

/// For zsh: "_atoll" in a directory of fpath.
std::string zsh_completion(const CommandDescription& command);

/// For fish: "atoll.fish" in share/fish/vendor_completions.d.
std::string fish_completion(const CommandDescription& command);

}  // namespace Atoll::tools

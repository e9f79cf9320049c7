// tools: the options and subcommands of the atoll command as data, for what is made of them besides --help: shell
// completion and manual pages. A value's name says what it is: FILE, DIRECTORY, GPU and ENGINE mean the same in every
// subcommand.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace Atoll::tools {

struct OptionDescription {
  std::vector<std::string> names;    ///< with their dashes, the short one first; of a positional argument one without
  std::string value;                 ///< "FILE"; empty: a flag
  std::vector<std::string> choices;  ///< the only values that there are, if they are few
  std::string description;           ///< may have several lines
  bool positional = false, repeated = false;
  bool optional_value = false;  ///< --core[=FILE]: the value stands behind a =, or is left out

  /// Whether the value is a list with commas.
  bool is_list() const { return value == "GPU" || value == "LIST"; }
};

struct CommandDescription {
  std::string name;         ///< "atoll bundle list"
  std::string description;  ///< one line
  std::string usage;        ///< a line or several, without "Usage:"
  std::string footer;       ///< examples and what else --help says after the options
  std::vector<OptionDescription> options;
  std::vector<CommandDescription> subcommands;
  bool takes_program = false;  ///< after "--", with its arguments

  /// "list"
  std::string own_name() const { return name.substr(name.rfind(' ') + 1); }
};

/// Returns the text of --help for `app` and its visible subcommands.
CommandDescription describe_command(const CLI::App& app);

/// Candidates for a value: the choices, or names of GPUs or engines; nothing for free text.
std::vector<std::string> known_values(const OptionDescription& option);

}  // namespace Atoll::tools

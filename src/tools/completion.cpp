// tools: `atoll completion`, which prints the shells' completion scripts, and `atoll manual-pages`, hidden, by which
// the build makes the pages that are installed.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tools/command_line.h"
#include "tools/files.h"
#include "tools/manual_page.h"
#include "tools/shell_completion.h"

namespace Atoll::tools {

namespace {

support::Result<int> print_completion(const CommandDescription& command, const std::string& shell) {
  fmt::print("{}", shell == "bash"  ? bash_completion(command)
                   : shell == "zsh" ? zsh_completion(command)
                                    : fish_completion(command));
  return 0;
}

/// Writes the pages of the command and of all below it. Each refers to those one level above and below.
support::Result<int> write_pages(const CommandDescription& command, const std::string& above,
                                 const std::filesystem::path& directory) {
  std::vector<std::string> see_also;
  if (!above.empty()) see_also.push_back(above);
  for (const CommandDescription& each : command.subcommands) see_also.push_back(manual_name(each));
  const std::string page = manual_page(command, see_also);
  const std::string path = directory / (manual_name(command) + ".1");
  const std::span bytes(reinterpret_cast<const uint8_t*>(page.data()), page.size());
  if (auto written = write_file(path, bytes); !written) return std::unexpected(written.error());
  for (const CommandDescription& each : command.subcommands)
    if (auto written = write_pages(each, manual_name(command), directory); !written) return written;
  return 0;
}

}  // namespace

void add_completion(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("completion", "Print a script by which a shell completes this command");
  command->formatter(with_usage("atoll completion bash|zsh|fish"));
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->type_name("SHELL")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "An installed Atoll has the scripts where the shells look for them. For one that is not installed:\n\n"
      "Examples:\n"
      "  source <(atoll completion bash)\n"
      "  source <(atoll completion zsh)\n"
      "  atoll completion fish | source");
  command->callback([shell, &app, &invocation] {
    invocation.work = [shell, &app] { return print_completion(describe_command(app), *shell); };
  });

  CLI::App* pages = app.add_subcommand("manual-pages", "Write manual pages into a directory")->group("");
  auto directory = std::make_shared<std::string>();
  pages->add_option("DIRECTORY", *directory, "Made if it is not there")->type_name("DIRECTORY")->required();
  pages->callback([directory, &app, &invocation] {
    invocation.work = [directory, &app]() -> support::Result<int> {
      std::error_code error;
      std::filesystem::create_directories(*directory, error);
      return write_pages(describe_command(app), "", *directory);
    };
  });
}

}  // namespace Atoll::tools

// tools: the atoll command. main.cpp takes the command line apart; each subcommand is a file of its own that
// declares its options and does its work.
//
// Errors are one line on standard error, "atoll: ..."; the exit code is 2 for a command line that makes no sense and
// 1 for a failure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/error.h"

namespace CLI {
class App;
}

namespace Atoll::tools {

/// The parsed command line.
struct Invocation {
  std::function<support::Result<int>()> work;  ///< of the subcommand that was named; gives the exit code
  std::vector<std::string> after_dashes;       ///< what stood after "--", in `atoll run` the program
};

// Each adds its subcommand to `app`; when the command line names it, `invocation.work` is set.
void add_asm(CLI::App& app, Invocation& invocation);
void add_bundle(CLI::App& app, Invocation& invocation);
void add_cache(CLI::App& app, Invocation& invocation);
void add_cc(CLI::App& app, Invocation& invocation);
void add_completion(CLI::App& app, Invocation& invocation);
void add_diff(CLI::App& app, Invocation& invocation);
void add_disassemble(CLI::App& app, Invocation& invocation);
void add_eval(CLI::App& app, Invocation& invocation);
void add_gpus(CLI::App& app, Invocation& invocation);
void add_inspect(CLI::App& app, Invocation& invocation);
void add_isa(CLI::App& app, Invocation& invocation);
void add_launch(CLI::App& app, Invocation& invocation);
void add_link(CLI::App& app, Invocation& invocation);
void add_litmus(CLI::App& app, Invocation& invocation);
void add_model(CLI::App& app, Invocation& invocation);
void add_run(CLI::App& app, Invocation& invocation);

/// A usage error that a subcommand finds itself: exit code 2.
[[nodiscard]] inline std::unexpected<support::Error> wrong_usage(std::string message) {
  return std::unexpected(support::Error{support::ErrorKind::invalid_argument, std::move(message)});
}

}  // namespace Atoll::tools

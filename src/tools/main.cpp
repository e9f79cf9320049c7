// tools: the atoll command's entry: finds the subcommand, runs it, and says what went wrong.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "support/exceptions.h"
#include "tools/command.h"
#include "tools/files.h"

namespace Atoll::tools {
namespace {

constexpr int usage_error = 2, failure = 1;

int complain(const std::string& message, int exit_code) {
  std::fputs(fmt::format("atoll: {}\n", message).c_str(), stderr);  // unlike fmt's, it throws nothing
  return exit_code;
}

/// In a thread of the machine's or an engine's nobody is there to take an exception.
[[noreturn]] void end_by_exception() {
  const std::string reason = std::current_exception() ? support::describe_exception().message : "std::terminate()";
  complain(reason, failure);
  _exit(failure);
}

/// "atoll bundle list", of the subcommands that the command line has named.
std::string named_command(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty(); name += " " + at->get_name())
    at = at->get_subcommands().front();
  return name;
}

support::Result<int> run(int argc, char** argv) {
  CLI::App app{"Atoll: an AMD GPU in software.", "atoll"};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("atoll " ATOLL_VERSION));
  app.set_help_flag("-h,--help", "Print this and exit; `atoll SUBCOMMAND --help` explains one subcommand");

  Invocation invocation;
  add_run(app, invocation);
  add_launch(app, invocation);
  add_eval(app, invocation);
  add_gpus(app, invocation);
  add_cache(app, invocation);
  add_asm(app, invocation);
  add_disassemble(app, invocation);
  add_inspect(app, invocation);
  add_isa(app, invocation);
  add_model(app, invocation);
  add_litmus(app, invocation);
  add_link(app, invocation);
  add_bundle(app, invocation);
  add_completion(app, invocation);

  // What is after "--" belongs to the program that is to be run, options and all.
  char** const end = argv + argc;
  char** const dashes = std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; });
  if (dashes != end) invocation.after_dashes.assign(dashes + 1, end);
  const auto is_named = [&](const CLI::App* subcommand) { return argc > 1 && subcommand->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' &&
      std::ranges::none_of(app.get_subcommands([](const CLI::App*) { return true; }), is_named))
    return wrong_usage(fmt::format("there is no subcommand '{}' (`atoll --help` says what there is)", argv[1]));
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::Success& request) {  // --help and --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return wrong_usage(fmt::format("{} (`{} --help` says what there is)", error.what(), named_command(app)));
  }
  return invocation.work();
}

/// The exit code, when all output is where it should be, or else the reason is told.
int run_to_end(int argc, char** argv) {
  auto exit_code = support::without_exceptions([&] { return run(argc, argv); });
  const auto finished = finish_standard_output();
  if (exit_code && !finished) exit_code = std::unexpected(finished.error());
  if (exit_code) return *exit_code;
  return complain(exit_code.error().message,
                  exit_code.error().kind == support::ErrorKind::invalid_argument ? usage_error : failure);
}

}  // namespace
}  // namespace Atoll::tools

int main(int argc, char** argv) {
  std::set_terminate(Atoll::tools::end_by_exception);
  Atoll::tools::reserve_standard_streams();
  // A file that may not become so large (ulimit -f) is an error like any other. A program that `atoll run` becomes
  // would inherit what is ignored.
  if (argc < 2 || std::string_view(argv[1]) != "run") std::signal(SIGXFSZ, SIG_IGN);
  return Atoll::tools::run_to_end(argc, argv);
}

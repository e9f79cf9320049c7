// tools: the atoll command's entry: finds the subcommand, runs it, and says what went wrong.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tools/command.h"

namespace Atoll::tools {
namespace {

constexpr int usage_error = 2, failure = 1;

int complain(const std::string& message, int exit_code) {
  fmt::print(stderr, "atoll: {}\n", message);
  return exit_code;
}

int run(int argc, char** argv) {
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
    return complain(fmt::format("there is no subcommand '{}' (`atoll --help` says what there is)", argv[1]),
                    usage_error);
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::Success& request) {  // --help and --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return complain(fmt::format("{} (`atoll --help` says what there is)", error.what()), usage_error);
  }

  const auto exit_code = invocation.work();
  if (exit_code) return *exit_code;
  return complain(exit_code.error().message,
                  exit_code.error().kind == support::ErrorKind::invalid_argument ? usage_error : failure);
}

}  // namespace
}  // namespace Atoll::tools

int main(int argc, char** argv) { return Atoll::tools::run(argc, argv); }

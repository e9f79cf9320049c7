// tools: the atoll command's entry: finds the subcommand, runs it, and says what went wrong.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "support/exceptions.h"
#include "support/spelling.h"
#include "tools/colours.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/files.h"

namespace Atoll::tools {
namespace {

constexpr int usage_error = 2, failure = 1;

int complain(const std::string& message, int exit_code) {
  const Colours colours = colours_of(stderr);
  // Unlike fmt's, it throws nothing.
  std::fputs(fmt::format("{}atoll:{} {}\n", colours.error, colours.plain, message).c_str(), stderr);
  return exit_code;
}

/// Threads of the machine or of an engine have no handler for exceptions.
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

std::vector<CLI::App*> subcommands_of(CLI::App& app) {
  return app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

/// Returns a usage error for a word that names no subcommand, with a suggestion.
std::unexpected<support::Error> unknown_subcommand(CLI::App& app, const std::string& command, const std::string& word) {
  support::SpellingOf spelling(word);
  for (const CLI::App* each : subcommands_of(app)) spelling.consider(each->get_name());
  return wrong_usage(
      fmt::format("unknown subcommand '{}'{} (`{} --help` lists them)", word, spelling.question(), command));
}

/// The subcommand that was parsed last: "list" of "atoll bundle list".
CLI::App& last_parsed(CLI::App& app) {
  CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

/// Returns a usage error for the first word that the parser could not place, or for what else the parser says.
std::unexpected<support::Error> parse_error(CLI::App& app, const CLI::ParseError& error) {
  const std::string name = named_command(app);
  CLI::App& command = last_parsed(app);
  const auto words = app.remaining(true);
  const auto is_option = [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); };
  if (const auto option = std::ranges::find_if(words, is_option); option != words.end()) {
    const std::string word = option->substr(0, option->find('='));
    support::SpellingOf spelling(word);
    std::vector<std::string> known;
    for (const CLI::Option* each : command.get_options())
      for (const std::string& long_name : each->get_lnames()) known.push_back("--" + long_name);
    for (const std::string& each : known) spelling.consider(each);
    return wrong_usage(fmt::format("unknown option '{}'{} (`{} --help` lists them)", word, spelling.question(), name));
  }
  if (!words.empty() && !subcommands_of(command).empty()) return unknown_subcommand(command, name, words.front());
  if (!words.empty() && dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return wrong_usage(
        fmt::format("unexpected argument '{}' (`{} --help` explains the arguments)", words.front(), name));
  return wrong_usage(fmt::format("{} (`{} --help` explains it)", error.what(), name));
}

/// `atoll help` and `atoll help bundle list`.
support::Result<int> print_help(CLI::App& app, const std::vector<std::string>& words) {
  CLI::App* at = &app;
  std::string name = "atoll", above;
  for (const std::string& word : words) {
    const auto all = subcommands_of(*at);
    const auto found = std::ranges::find(all, word, [](const CLI::App* each) { return each->get_name(); });
    if (found == all.end()) return unknown_subcommand(*at, name, word);
    at = *found;
    above = name;
    name += " " + word;
  }
  fmt::print("{}", at->help(above));
  return 0;
}

void add_help(CLI::App& app, Invocation& invocation) {
  CLI::App* help = app.add_subcommand("help", "Explain the command or a subcommand");
  help->formatter(with_usage("atoll help [SUBCOMMAND...]"));
  auto words = std::make_shared<std::vector<std::string>>();
  help->add_option("SUBCOMMAND", *words, "As in `atoll help bundle list`")->type_name("SUBCOMMAND");
  help->callback([words, &app, &invocation] {
    invocation.work = [words = *words, &app] {
      app.clear();  // its help is that of the subcommand that was parsed
      return print_help(app, words);
    };
  });
}

void add_version(CLI::App& app, Invocation& invocation) {
  CLI::App* version = app.add_subcommand("version", "Print the version");
  version->formatter(with_usage("atoll version"));
  version->callback([&invocation] {
    invocation.work = []() -> support::Result<int> {
      fmt::print("atoll {}\n", ATOLL_VERSION);
      return 0;
    };
  });
}

support::Result<int> run(int argc, char** argv) {
  CLI::App app{"Atoll: an AMD GPU in software.", "atoll"};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("atoll " ATOLL_VERSION));
  app.set_help_flag("-h,--help", "Print this and exit; `atoll SUBCOMMAND --help` explains one subcommand");
  app.footer(
      "Environment: `atoll run --help` lists the variables that set options. NO_COLOR turns colours off.\n\n"
      "Files:\n"
      "  ~/.cache/atoll          compiled kernels, or in $XDG_CACHE_HOME or $ATOLL_CACHE (`atoll cache --help`)\n"
      "  /tmp/atoll-UID          files of programs that `atoll run` has started\n\n"
      "Examples:\n"
      "  atoll run -- ./saxpy\n"
      "  atoll disasm ./saxpy --gpu gfx90a\n"
      "  atoll help launch");

  Invocation invocation;
  add_run(app, invocation);
  add_launch(app, invocation);
  add_eval(app, invocation);
  add_gpus(app, invocation);
  add_cache(app, invocation);
  add_cc(app, invocation);
  add_diff(app, invocation);
  add_asm(app, invocation);
  add_disassemble(app, invocation);
  add_inspect(app, invocation);
  add_isa(app, invocation);
  add_model(app, invocation);
  add_litmus(app, invocation);
  add_link(app, invocation);
  add_bundle(app, invocation);
  add_completion(app, invocation);
  add_help(app, invocation);
  add_version(app, invocation);
  app.formatter(with_usage("atoll SUBCOMMAND [OPTIONS]"));  // subcommands made after it would inherit it

  // Arguments after "--" belong to the program to run, including options.
  char** const end = argv + argc;
  char** const dashes = std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; });
  if (dashes != end) invocation.after_dashes.assign(dashes + 1, end);
  if (argc == 1) return print_help(app, {});
  const auto is_named = [&](const CLI::App* subcommand) { return subcommand->get_name() == argv[1]; };
  if (argv[1][0] != '-' && std::ranges::none_of(app.get_subcommands([](const CLI::App*) { return true; }), is_named))
    return unknown_subcommand(app, "atoll", argv[1]);
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::Success& request) {  // --help and --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return parse_error(app, error);
  }
  return invocation.work();
}

/// Returns the exit code after all output is written. Otherwise reports the error.
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

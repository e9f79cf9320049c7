// tools: `--check` and its further options, which `atoll run` and `atoll launch` share.
#include <filesystem>

#include "tools/command_line.h"

namespace Atoll::tools {

support::Result<observe::Options> CheckRequest::options() const {
  const auto wrong = [](const char* option, const support::Error& error) {
    return wrong_usage(fmt::format("{}: {}", option, error.message));
  };
  const auto absolute = [](const std::string& path) {
    return path.empty() ? path : std::filesystem::absolute(path).string();
  };
  observe::Options options;
  if (list.empty()) {
    for (const auto& [value, option] : {std::pair(&report, "--check-report"),
                                        {&exit_code, "--check-exit-code"},
                                        {&suppressions, "--check-suppressions"}})
      if (!value->empty()) return wrong_usage(fmt::format("{} requires --check", option));
    return options;
  }
  auto checkers = observe::parse_checkers(list);
  if (!checkers) return wrong("--check", checkers.error());
  options.checkers = std::move(*checkers);
  options.report_file = absolute(report);
  options.suppressions = absolute(suppressions);
  if (!exit_code.empty()) {
    const auto code = observe::parse_exit_code(exit_code);
    if (!code) return wrong("--check-exit-code", code.error());
    options.exit_code = *code;
  }
  if (const auto checked = observe::check(options); !checked) return wrong("--check", checked.error());
  return options;
}

void add_check_options(CLI::App& command, std::string& list, std::string& report, std::string& exit_code,
                       std::string& suppressions) {
  command.add_flag("--check{all}", list,
                   fmt::format("Check what kernels and copies do and report mistakes: --check=LIST with\n"
                               "names out of {}, separated by commas",
                               observe::checker_names()));
  command
      .add_option("--check-report", report,
                  "Write the findings to a file, too: .json, .xml (JUnit) or .sarif\n(%p in its name is the process)")
      ->type_name("FILE");
  command.add_option("--check-exit-code", exit_code, "The exit code when there are findings and it would have been 0")
      ->type_name("N");
  command.add_option("--check-suppressions", suppressions, "A file of findings not to be reported")->type_name("FILE");
}

}  // namespace Atoll::tools

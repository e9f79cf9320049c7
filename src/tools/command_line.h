// tools: what the subcommands need besides the option parser's own: usage lines in words, and checks of values whose
// complaints a person can read.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "engine/engines.h"
#include "observe/report/options.h"
#include "support/error.h"
#include "target/processor.h"
#include "tools/command.h"

namespace Atoll::tools {

/// Returns the value's name of an option whose value may be left out ("FILE" of `--core[=FILE]`), or an empty text. The
/// parser knows such options as flags with a value: "--core{gpucore.%p}".
inline std::string optional_value(const CLI::Option& option) {
  const std::string name = option.get_name(false, true);
  if (!name.contains('{')) return {};
  return name.starts_with("--check{") ? "LIST" : "FILE";
}

/// Help as usual, under this usage line.
inline std::shared_ptr<CLI::Formatter> with_usage(std::string line) {
  class Formatter : public CLI::Formatter {
   public:
    explicit Formatter(std::string usage) : usage_(std::move(usage)) {}
    std::string make_usage(const CLI::App*, std::string) const override { return "Usage: " + usage_ + "\n"; }
    std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
      const std::string value = optional_value(*option);
      const std::string name = CLI::Formatter::make_option_name(option, is_positional);
      return value.empty() ? name : fmt::format("{}[={}]", name.substr(0, name.find('{')), value);
    }

   private:
    std::string usage_;
  };
  return std::make_shared<Formatter>(std::move(line));
}

/// Accepts numbers above zero, up to `most`, beyond which nothing makes sense or can be afforded.
inline CLI::Validator positive(uint64_t most) {
  return {[most](std::string& text) -> std::string {
            double value = 0;
            if (CLI::detail::lexical_cast(text, value) && value > 0 && value <= static_cast<double>(most)) return {};
            return fmt::format("'{}' is not a number above 0 and up to {}", text, most);
          },
          ""};
}

/// Thirty years: no timeout is longer.
constexpr uint64_t max_seconds = 1'000'000'000;

/// Accepts the names of engines.
inline CLI::Validator engine_name() {
  return {[](std::string& text) -> std::string {
            if (std::ranges::find(engine::engine_names, text) != std::end(engine::engine_names)) return {};
            return fmt::format("unknown engine '{}'; use '{}'", text, fmt::join(engine::engine_names, "' or '"));
          },
          ""};
}

/// `--core[=FILE]`. The file's name stands behind a =, because a word that follows may be the program to run.
inline void add_core_option(CLI::App& command, std::string& file) {
  command.add_flag("--core{gpucore.%p}", file,
                   "After a fault, write the state of the GPU (waves, queues, memory) to a core\n"
                   "file, for `atoll inspect`: --core=FILE, or gpucore.PID (%p is the process)");
}

/// `--stats[=FILE]`; the value is machine::statistics_as_table without a file.
inline void add_statistics_option(CLI::App& command, std::string& file) {
  command.add_flag("--stats{1}", file,
                   "At the end, print on standard error what each kernel took;\n"
                   "--stats=FILE writes it to a file instead, as JSON (%p is the process)");
}

/// `--check[=LIST]` and what belongs to it.
struct CheckRequest {
  std::string list, report, exit_code, suppressions;

  /// Usage errors: an unknown checker, a report whose kind is unknown, a mistake in the suppressions. Files are given
  /// with absolute paths.
  support::Result<observe::Options> options() const;
};
void add_check_options(CLI::App& command, std::string& list, std::string& report, std::string& exit_code,
                       std::string& suppressions);

/// A usage error where the processor has no waves of so many lanes; 0 is no wish.
inline support::Result<void> check_wave_size(const target::Processor& processor, unsigned lanes) {
  if (lanes == 0 || processor.has_wave_size(lanes)) return {};
  return wrong_usage(fmt::format("{} has no waves of {} lanes", processor.name, lanes));
}

}  // namespace Atoll::tools

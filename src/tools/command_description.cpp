// tools: takes the option parser's tables apart. See command_description.h.
#include "tools/command_description.h"

#include <CLI/CLI.hpp>

#include "engine/engines.h"
#include "observe/report/options.h"
#include "target/processor.h"
#include "target/product.h"
#include "tools/command_line.h"

namespace Atoll::tools {

namespace {

/// The names of "NAME:{one,two}", as the parser writes a value that has to be one of some.
std::vector<std::string> choices_in(const std::string& type) {
  const size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

OptionDescription describe_option(const CLI::Option& option) {
  OptionDescription result;
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  result.positional = result.names.empty();
  if (result.positional) result.names.push_back(option.get_name(true, false));
  if (option.get_items_expected_max() != 0) {
    const std::string type = option.get_type_name();
    result.value = type.substr(0, type.find_first_of(":[ "));
    result.choices = choices_in(type);
    if (result.value.empty()) result.value = "VALUE";
  }
  if (const std::string value = optional_value(option); !value.empty()) {
    result.value = value;
    result.optional_value = true;
  }
  result.description = option.get_description();
  result.repeated =
      option.get_items_expected_max() > 1 || option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  return result;
}

CommandDescription describe(const CLI::App& app, const std::string& prefix) {
  CommandDescription result;
  result.name = prefix + app.get_name();
  result.description = app.get_description();
  result.footer = app.get_footer();
  // The parser's own usage lines name the subcommand alone, those of Atoll's begin with "Usage: atoll".
  const auto* formatter = dynamic_cast<const CLI::Formatter*>(app.get_formatter().get());
  const std::string usage = formatter == nullptr ? "" : formatter->make_usage(&app, result.name);
  const size_t begin = usage.find("Usage: ");
  result.usage = begin == std::string::npos ? result.name : usage.substr(begin + 7);
  while (result.usage.ends_with('\n')) result.usage.pop_back();
  result.takes_program = result.usage.find(" -- ") != std::string::npos;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) result.options.push_back(describe_option(*option));
  for (const CLI::App* subcommand :
       app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    result.subcommands.push_back(describe(*subcommand, result.name + " "));
  return result;
}

}  // namespace

CommandDescription describe_command(const CLI::App& app) { return describe(app, ""); }

std::vector<std::string> known_values(const OptionDescription& option) {
  if (!option.choices.empty()) return option.choices;
  if (option.value == "ENGINE") return {std::begin(engine::engine_names), std::end(engine::engine_names)};
  if (option.value == "LIST") {
    std::vector<std::string> checkers{"all"};
    for (const observe::CheckerName& each : observe::checker_list) checkers.emplace_back(each.name);
    return checkers;
  }
  std::vector<std::string> names;
  if (option.value == "GPU") {
    for (const target::Product& product : target::products()) names.emplace_back(product.name);
    for (const target::Processor& processor : target::processors()) names.emplace_back(processor.name);
  }
  return names;
}

}  // namespace Atoll::tools

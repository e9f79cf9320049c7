// tools: writes shell completion. See shell_completion.h. Each shell has a function of its own below, which walks the
// commands in the order of --help.
#include "tools/shell_completion.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace Atoll::tools {

namespace {

/// The text with a backslash before each of the characters.
std::string escaped(const std::string& text, std::string_view characters) {
  std::string result;
  for (const char each : text) {
    if (characters.contains(each)) result += '\\';
    result += each;
  }
  return result;
}

/// One line between single quotes, as sh and zsh take it. In fish a backslash is one there, too, but for \' and \\.
std::string single_quoted(const std::string& text) {
  std::string result = "'";
  for (const char each : text) {
    if (each == '\'')
      result += "'\\''";
    else
      result += each == '\n' ? ' ' : each;
  }
  return result + "'";
}

bool is_file(const OptionDescription& option) { return option.value == "FILE"; }
bool is_directory(const OptionDescription& option) { return option.value == "DIRECTORY"; }
bool is_instruction(const OptionDescription& option) { return option.value == "INSTRUCTION"; }

std::string name_of_function(const CommandDescription& command) {
  std::string name = "_" + command.name;
  std::ranges::replace(name, ' ', '_');
  return name;
}

std::vector<std::string> names_of(const std::vector<CommandDescription>& commands) {
  std::vector<std::string> names;
  for (const CommandDescription& each : commands) names.push_back(each.own_name());
  return names;
}

bool takes_files(const CommandDescription& command) {
  return std::ranges::any_of(command.options, [](const auto& each) { return each.positional && is_file(each); });
}

/// The command and all below it.
void walk(const CommandDescription& command, const auto& visit) {
  visit(command);
  for (const CommandDescription& each : command.subcommands) walk(each, visit);
}

/// The command that prints names of instructions which begin with a word.
constexpr std::string_view list_instructions = "atoll complete-instruction";

/// Returns the COMPREPLY contents for a value in bash.
std::string bash_values(const OptionDescription& option) {
  if (is_file(option)) return "_atoll_files -f";
  if (is_directory(option)) return "_atoll_files -d";
  if (is_instruction(option)) return fmt::format("COMPREPLY=($({} \"$word\" 2>/dev/null))", list_instructions);
  const auto values = known_values(option);
  if (values.empty()) return ":";
  if (option.is_list()) return fmt::format("_atoll_list '{}'", fmt::join(values, " "));
  return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", fmt::join(values, " "));
}

/// Returns the completion function for a value in zsh: _files, or a list of words.
std::string zsh_values(const OptionDescription& option) {
  if (is_file(option)) return "_files";
  if (is_directory(option)) return "_files -/";
  if (is_instruction(option)) return fmt::format("{{compadd -- $({} \"$PREFIX\" 2>/dev/null)}}", list_instructions);
  const auto values = known_values(option);
  if (option.is_list() && !values.empty()) return fmt::format("_sequence compadd - {}", fmt::join(values, " "));
  return values.empty() ? " " : fmt::format("({})", fmt::join(values, " "));
}

std::string zsh_message(const std::string& text) { return escaped(text, "[]:\\"); }

/// The specifications that _arguments takes of an option: one for each of its names.
void write_zsh_option(std::string& script, const OptionDescription& option) {
  if (option.positional) {
    script += fmt::format(" \\\n    {}", single_quoted(fmt::format("{}:{}:{}", option.repeated ? "*" : "", option.value,
                                                                   zsh_values(option))));
    return;
  }
  for (const std::string& name : option.names) {
    const std::string excluded = option.repeated ? "*" : fmt::format("({})", fmt::join(option.names, " "));
    std::string spec = excluded + name;
    // "=-": the value stands behind a = in the same word; "::": it may be left out.
    if (!option.value.empty()) spec += option.optional_value ? "=-" : name.starts_with("--") ? "=" : "+";
    spec += fmt::format("[{}]", zsh_message(option.description));
    if (!option.value.empty())
      spec += fmt::format("{}:{}:{}", option.optional_value ? ":" : "", option.value, zsh_values(option));
    script += " \\\n    " + single_quoted(spec);
  }
}

void write_zsh_function(std::string& script, const CommandDescription& command) {
  script += fmt::format("{}() {{\n", name_of_function(command));
  if (!command.subcommands.empty()) {
    script += "  local curcontext=$curcontext state line\n  local -a subcommands=(\n";
    for (const CommandDescription& each : command.subcommands)
      script += fmt::format("    {}\n", single_quoted(escaped(each.own_name(), ":") + ":" + each.description));
    script += "  )\n";
  }
  script += "  _arguments -S";
  if (!command.subcommands.empty()) script += " -C";
  for (const OptionDescription& option : command.options) write_zsh_option(script, option);
  if (command.takes_program) script += " \\\n    '*:::PROGRAM:_normal'";
  if (command.subcommands.empty()) {
    script += "\n}\n\n";
    return;
  }
  script += " \\\n    '1:SUBCOMMAND:->subcommand' \\\n    '*:: :->rest'\n  case $state in\n";
  script += "    subcommand) _describe SUBCOMMAND subcommands ;;\n    rest)\n      case $line[1] in\n";
  for (const CommandDescription& each : command.subcommands)
    script += fmt::format("        {}) {} ;;\n", each.own_name(), name_of_function(each));
  script += "      esac ;;\n  esac\n}\n\n";
}

/// Whether fish is at this command, as a condition of `complete`.
std::string fish_condition(const CommandDescription& command) {
  std::string condition;
  for (const auto word : command.name | std::views::split(' ') | std::views::drop(1)) {
    if (!condition.empty()) condition += "; and ";
    condition += fmt::format("__fish_seen_subcommand_from {}", std::string_view(word));
  }
  if (!command.subcommands.empty()) {
    if (!condition.empty()) condition += "; and ";
    condition += fmt::format("not __fish_seen_subcommand_from {}", fmt::join(names_of(command.subcommands), " "));
  }
  return condition;
}

void write_fish_option(std::string& script, const std::string& begin, const OptionDescription& option) {
  if (option.positional) return;
  script += begin;
  for (const std::string& name : option.names)
    script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  const auto values = known_values(option);
  if (option.optional_value)  // without -r: the value may be left out
    script += is_file(option) ? " -F" : fmt::format(" -f -a '(__fish_append , {})'", fmt::join(values, " "));
  else if (is_file(option))
    script += " -r -F";
  else if (is_directory(option))
    script += " -x -a '(__fish_complete_directories)'";
  else if (!values.empty() && option.is_list())
    script += fmt::format(" -x -a '(__fish_append , {})'", fmt::join(values, " "));
  else if (!values.empty())
    script += fmt::format(" -x -a '{}'", fmt::join(values, " "));
  else if (!option.value.empty())
    script += " -x";
  script += fmt::format(" -d {}\n", single_quoted(option.description));
}

}  // namespace

std::string bash_completion(const CommandDescription& command) {
  std::string script = R"(# bash completion of the atoll command, by `atoll completion bash`.

_atoll_files() { # -f | -d
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$word")
}

_atoll_list() { # words, of which several may stand with commas between them
  local before=
  [[ $word == *,* ]] && before=${word%,*},
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${word##*,}")
}

_atoll() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=atoll i
  COMPREPLY=()
  # --gpu=mi250x is three words.
  [ "$word" = = ] && word= && before="$before="
  [ "$before" = = ] && before="${COMP_WORDS[COMP_CWORD - 2]}="
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
)";
  walk(command, [&](const CommandDescription& each) {
    if (each.takes_program)
      script += fmt::format(
          "      '{} --')\n        if declare -F _command_offset >/dev/null; then\n          _command_offset $((i + "
          "1))\n"
          "        elif ((i + 1 == COMP_CWORD)); then\n          compopt -o filenames 2>/dev/null\n"
          "          mapfile -t COMPREPLY < <(compgen -c -f -- \"$word\")\n"
          "        else\n          _atoll_files -f\n        fi\n        return ;;\n",
          each.name);
    if (!each.subcommands.empty()) {
      std::vector<std::string> names;
      for (const CommandDescription& one : each.subcommands) names.push_back("'" + one.name + "'");
      script += fmt::format("      {}) command=\"$command ${{COMP_WORDS[i]}}\" ;;\n", fmt::join(names, " | "));
    }
  });
  script += "    esac\n  done\n  case \"$command $before\" in\n";
  walk(command, [&](const CommandDescription& each) {
    for (const OptionDescription& option : each.options) {
      if (option.positional || option.value.empty()) continue;
      std::vector<std::string> words;
      for (const std::string& name : option.names) {
        if (!option.optional_value) words.push_back(fmt::format("'{} {}'", each.name, name));
        if (name.starts_with("--")) words.push_back(fmt::format("'{} {}='", each.name, name));
      }
      script += fmt::format("    {}) {}; return ;;\n", fmt::join(words, " | "), bash_values(option));
    }
  });
  script += "  esac\n  case \"$command\" in\n";
  walk(command, [&](const CommandDescription& each) {
    std::vector<std::string> names;
    for (const OptionDescription& option : each.options)
      if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
    const auto instruction = std::ranges::find_if(
        each.options, [](const auto& option) { return option.positional && is_instruction(option); });
    const std::string others =
        takes_files(each) ? "_atoll_files -f"
        : instruction != each.options.end()
            ? bash_values(*instruction)
            : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", fmt::join(names_of(each.subcommands), " "));
    script += fmt::format(
        "    '{}')\n      case \"$word\" in\n        -*) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n"
        "        *) {} ;;\n      esac ;;\n",
        each.name, fmt::join(names, " "), others);
  });
  return script + "  esac\n}\n\ncomplete -F _atoll atoll\n";
}

std::string zsh_completion(const CommandDescription& command) {
  std::string script = "#compdef atoll\n# zsh completion of the atoll command, by `atoll completion zsh`.\n\n";
  walk(command, [&](const CommandDescription& each) { write_zsh_function(script, each); });
  // Called as a completion function when zsh loads it, and only defined when it is sourced.
  return script + "if [ \"$funcstack[1]\" = _atoll ]; then\n  _atoll \"$@\"\nelse\n  compdef _atoll atoll\nfi\n";
}

std::string fish_completion(const CommandDescription& command) {
  std::string script = "# fish completion of the atoll command, by `atoll completion fish`.\n\n";
  walk(command, [&](const CommandDescription& each) {
    const std::string begin = fmt::format("complete -c atoll -n {}", single_quoted(fish_condition(each)));
    if (!takes_files(each) && !each.takes_program) script += begin + " -f\n";
    for (const OptionDescription& option : each.options)
      if (option.positional && is_instruction(option))
        script += fmt::format("{} -a '({} (commandline -ct) 2>/dev/null)'\n", begin, list_instructions);
    for (const CommandDescription& one : each.subcommands)
      script += fmt::format("{} -a {} -d {}\n", begin, one.own_name(), single_quoted(one.description));
    for (const OptionDescription& option : each.options) write_fish_option(script, begin, option);
  });
  return script;
}

}  // namespace Atoll::tools

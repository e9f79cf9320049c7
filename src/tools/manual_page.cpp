// tools: writes manual pages. See manual_page.h.
#include "tools/manual_page.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace Atoll::tools {

namespace {

/// As text that stands in a line: what roff would take for its own is escaped, and a dash stays a dash when the page is
/// copied from (man-pages(7), "Generating optimal glyphs").
std::string roff(const std::string& text) {
  std::string result;
  bool line_begins = true;
  for (const char each : text) {
    if (line_begins && (each == '.' || each == '\'')) result += "\\&";
    line_begins = each == '\n';
    switch (each) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '~':
        result += "\\(ti";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '`':
        result += "\\(ga";
        break;
      case '\'':
        result += "\\(aq";
        break;
      default:
        result += each;
    }
  }
  return result;
}

/// Lines as they are, in a typewriter's letters.
std::string example(const std::string& text) { return ".EX\n" + roff(text) + "\n.EE\n"; }

std::string heading(const OptionDescription& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names)
    names.push_back(option.positional ? "\\fI" + roff(name) + "\\fR" : "\\fB" + roff(name) + "\\fR");
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (option.optional_value)
    text += "[=\\fI" + roff(option.value) + "\\fR]";
  else if (!option.positional && !option.value.empty())
    text += " \\fI" + roff(option.value) + "\\fR";
  if (option.repeated) text += " ...";
  return text;
}

void write_options(std::string& page, const CommandDescription& command, bool positional, const char* title) {
  const auto is_meant = [&](const OptionDescription& each) { return each.positional == positional; };
  if (std::ranges::none_of(command.options, is_meant)) return;
  page += fmt::format(".SH {}\n", title);
  for (const OptionDescription& option : command.options) {
    if (!is_meant(option)) continue;
    page += fmt::format(".TP\n{}\n{}", heading(option), roff(option.description));
    if (!option.choices.empty()) page += roff(fmt::format(" ({})", fmt::join(option.choices, ", ")));
    page += '\n';
  }
}

/// Writes the paragraphs after the options: those that begin with "Environment", "Files:" or "Examples:" as sections of
/// their own, in the order of man-pages(7), the others as notes.
void write_footer(std::string& page, const std::string& footer) {
  struct Part {
    std::string_view begin, title;
    std::string text{};
  };
  Part parts[] = {{"Environment", "ENVIRONMENT"}, {"Files:\n", "FILES"}, {"", "NOTES"}, {"Examples:\n", "EXAMPLES"}};
  Part& notes = parts[2];
  Part* current = &notes;
  for (size_t at = 0; at < footer.size();) {
    const size_t end = std::min(footer.find("\n\n", at), footer.size());
    std::string paragraph = footer.substr(at, end - at);
    at = end + 2;
    Part* const named = std::ranges::find_if(
        parts, [&](const Part& part) { return !part.begin.empty() && paragraph.starts_with(part.begin); });
    if (named != std::end(parts))
      current = named;
    else if (!paragraph.starts_with(' '))
      current = &notes;
    // A line that is the section's title and nothing else is left out.
    if (const size_t line = paragraph.find(":\n"); named != std::end(parts) && line < paragraph.find(' '))
      paragraph.erase(0, line + 2);
    current->text += (current->text.empty() ? "" : "\n\n") + paragraph;
  }
  for (const Part& part : parts)
    if (!part.text.empty()) page += fmt::format(".SH {}\n{}", part.title, example(part.text));
}

}  // namespace

std::string manual_name(const CommandDescription& command) {
  std::string name = command.name;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string manual_page(const CommandDescription& command, const std::vector<std::string>& see_also) {
  const std::string name = manual_name(command);
  std::string upper = name;
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char each) { return static_cast<char>(std::toupper(each)); });
  std::string page =
      fmt::format(".TH {} 1 \"\" \"atoll {}\" \"Atoll\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}", roff(upper),
                  ATOLL_VERSION, roff(name), roff(command.description), example(command.usage));
  if (!command.subcommands.empty()) {
    page += ".SH SUBCOMMANDS\n";
    for (const CommandDescription& each : command.subcommands)
      page += fmt::format(".TP\n.B {}\n{}\n", roff(each.own_name()), roff(each.description));
  }
  write_options(page, command, true, "ARGUMENTS");
  write_options(page, command, false, "OPTIONS");
  write_footer(page, command.footer);
  page += ".SH EXIT STATUS\n";
  page += command.takes_program
              ? "That of the program; 2 for a command line that makes no sense, 1 if the program cannot be run.\n"
              : "0; 1 for a failure, 2 for a command line that makes no sense.\n";
  if (!see_also.empty()) {
    page += ".SH SEE ALSO\n";
    for (size_t i = 0; i < see_also.size(); ++i)
      page += fmt::format(".BR {} (1){}\n", roff(see_also[i]), i + 1 < see_also.size() ? "," : "");
  }
  return page;
}

}  // namespace Atoll::tools

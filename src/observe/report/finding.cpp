// observe: resolves places of findings and formats findings as text.
#include "observe/report/finding.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace Atoll::observe {

namespace {

/// Removes ":NUMBER" from the end and returns the number.
std::optional<uint32_t> take_number(std::string_view& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return std::nullopt;
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  text = text.substr(0, colon);
  return number;
}

}  // namespace

SourcePlace SourcePlace::parse(const std::string& text) {
  std::string_view rest = text;
  const auto last = take_number(rest);
  if (!last) return {.file = text};
  const auto first = take_number(rest);
  if (!first) return {.file = std::string(rest), .line = *last};
  return {.file = std::string(rest), .line = *first, .column = *last};
}

std::string SourcePlace::to_string() const {
  if (file.empty() || line == 0) return file;
  if (column == 0) return fmt::format("{}:{}", file, line);
  return fmt::format("{}:{}:{}", file, line, column);
}

std::vector<std::string> text_around(const SourcePlace& place) {
  constexpr uint32_t around = 2;
  constexpr size_t longest = 160;
  std::vector<std::string> lines;
  if (place.line == 0) return lines;
  std::ifstream file(place.file);
  std::string line;
  for (uint32_t number = 1; number <= place.line + around && std::getline(file, line); ++number) {
    if (number + around < place.line) continue;
    if (line.size() > longest) line = line.substr(0, longest) + "...";
    lines.push_back(fmt::format("{} {:>5} | {}", number == place.line ? '>' : ' ', number, line));
  }
  if (lines.size() <= around && place.line > around) lines.clear();  // the file on disk is another, shorter one
  return lines;
}

void resolve(Finding& finding) {
  if (finding.code.symbolizer != nullptr) {
    debug_info::CodePlace place = finding.code.resolve();
    finding.instruction = std::move(place.instruction);
    if (place.function != finding.kernel) finding.function = std::move(place.function);
    finding.source = SourcePlace::parse(place.source);
    finding.source_text = text_around(finding.source);
  }
  finding.code.symbolizer.reset();
  for (NamedStack& stack : finding.stacks) {
    if (!stack.describe) continue;
    stack.frames = stack.describe(stack.code.resolve());
    stack.describe = {};
    stack.code.symbolizer.reset();
  }
}

std::string to_text(const Finding& finding) {
  std::string text = fmt::format("atoll: {}{}: {}: {}\n", finding.is_note ? "note: " : "", finding.checker,
                                 finding.kind, finding.message);
  const auto line = [&](std::string_view label, std::string_view value) {
    if (!value.empty()) text += fmt::format("  {:<12} {}\n", label, value);
  };
  line("source", finding.source.to_string());
  for (const std::string& around : finding.source_text) text += fmt::format("  {:<12} {}\n", "", around);
  if (finding.pc != 0) line("instruction", fmt::format("{}  (at {:#x})", finding.instruction, finding.pc));
  line("function", finding.function);
  if (finding.has_work_item) {
    line("work-group", fmt::format("({}, {}, {}), wave {}", finding.work_group[0], finding.work_group[1],
                                   finding.work_group[2], finding.wave));
    line("work-item", fmt::format("({}, {}, {}), lane {}", finding.work_item[0], finding.work_item[1],
                                  finding.work_item[2], finding.lane));
  }
  line("address", finding.address);
  for (const NamedStack& stack : finding.stacks) {
    for (size_t i = 0; i < stack.frames.size(); ++i) {
      text += fmt::format("  {:<12} {}\n", i == 0 ? stack.title : "", stack.frames[i]);
    }
  }
  line("what to do", finding.advice);
  return text;
}

}  // namespace Atoll::observe

#include "isa/oracle_faults.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace Atoll::isa::test {

namespace {

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string_view::npos ? std::string() : std::string(text.substr(first, last - first + 1));
}

/// A line of a list: columns between ";;". The comment above it, up to an empty line, is the reason.
struct Line {
  std::vector<std::string> columns;
  std::string reason;
};

std::vector<Line> read_lines(const std::string& name, size_t columns) {
  std::vector<Line> lines;
  std::ifstream file(ATOLL_TEST_SOURCE_DIR "/isa/" + name);
  std::string reason;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) reason.clear();
    if (line.starts_with("#")) reason += line.substr(1);
    if (line.empty() || line.starts_with("#")) continue;
    Line read{{}, reason};
    size_t from = 0;
    for (size_t to = 0; to != std::string::npos; from = to + 2) {
      to = line.find(";;", from);
      read.columns.push_back(trimmed(std::string_view(line).substr(from, to == std::string::npos ? to : to - from)));
    }
    if (read.columns.size() == columns) {
      lines.push_back(std::move(read));
    } else {
      ADD_FAILURE() << name << ": not " << columns << " columns: " << line;
    }
  }
  EXPECT_FALSE(lines.empty()) << name << " is missing";
  return lines;
}

}  // namespace

std::vector<Fault> read_faults() {
  std::vector<Fault> faults;
  for (const auto& [columns, reason] : read_lines("oracle_faults.txt", 5)) {
    Fault fault{columns[0], {}, columns[2], columns[3], std::regex(columns[4]), reason};
    for (size_t i = 0; i + 1 < columns[1].size(); i += 2) {
      fault.sample.push_back(static_cast<uint8_t>(std::stoul(columns[1].substr(i, 2), nullptr, 16)));
    }
    faults.push_back(std::move(fault));
  }
  return faults;
}

static std::vector<AssemblerFault> read_texts(const std::string& name) {
  std::vector<AssemblerFault> faults;
  for (const auto& [columns, reason] : read_lines(name, 4)) {
    faults.push_back({columns[0], columns[1], columns[2], std::regex(columns[3]), reason});
  }
  return faults;
}

std::vector<AssemblerFault> read_assembler_faults() { return read_texts("assembler_faults.txt"); }
std::vector<AssemblerFault> read_text_faults() { return read_texts("text_faults.txt"); }

bool is_known(const std::vector<Fault>& faults, const std::string& processor, const std::string& oracle,
              const std::string& atoll) {
  const auto with_processor = [&](const std::string& text) { return text.empty() ? text : processor + ' ' + text; };
  const std::string of_oracle = with_processor(oracle), of_atoll = with_processor(atoll);
  return std::ranges::any_of(faults, [&](const Fault& fault) {
    if (fault.whose != "oracle" && fault.whose != "atoll") return false;
    if (fault.answer == "refused" && !oracle.empty()) return false;
    const std::string& text = fault.whose == "oracle" ? of_oracle : of_atoll;
    return !text.empty() && std::regex_search(text, fault.expression);
  });
}

namespace {
bool is_known_of(std::string_view whose, const std::vector<Fault>& faults, const std::string& processor,
                 const std::string& text) {
  return std::ranges::any_of(faults, [&](const Fault& fault) {
    return fault.whose == whose && std::regex_search(processor + ' ' + text, fault.expression);
  });
}
}  // namespace

bool is_known_of_assembler(const std::vector<Fault>& faults, const std::string& processor, const std::string& text) {
  return is_known_of("assembler", faults, processor, text);
}

bool is_known_of_encoder(const std::vector<Fault>& faults, const std::string& processor, const std::string& text) {
  return is_known_of("text", faults, processor, text) || is_known_of_assembler(faults, processor, text);
}

std::string said(const Assembled& answer) { return answer.error.empty() ? answer.text : answer.error; }

bool is_known(const std::vector<AssemblerFault>& faults, const std::string& processor, const std::string& text,
              const Assembled& answer) {
  const std::string all = fmt::format("{} {} => {}", processor, text, said(answer));
  return std::ranges::any_of(faults,
                             [&](const AssemblerFault& fault) { return std::regex_search(all, fault.expression); });
}

unsigned from_environment(const char* name, unsigned usual) {
  const char* value = std::getenv(name);
  return value == nullptr ? usual : static_cast<unsigned>(std::strtoul(value, nullptr, 10));
}

}  // namespace Atoll::isa::test

// Expectations on printed plans (`atoll-compiler --dump-regions`), in the manner of LLVM's FileCheck.
//
//     EXPECT_THAT(dump(source), HasPlan(R"(
//       region at 0x0
//       NEXT: reads v[0:1] s4 s9
//       NOT: interpreter fallback
//       superblock)"));
//
// Each line has to be found in a line of the text after the one that matched before. NEXT: it has to be in the very
// next line. NOT: it must not be in any line up to the next match, or the end. Runs of blanks count as one.
#pragma once

#include <gmock/gmock.h>

#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace Atoll::test {

/// Returns why a text does not match, or nothing.
inline std::optional<std::string> plan_mismatch(const std::string& text, const std::string& expectation) {
  const auto lines_of = [](const std::string& from) {
    std::vector<std::string> lines;
    std::istringstream stream(from);
    for (std::string line; std::getline(stream, line);) {
      std::istringstream words(line);
      std::string joined;
      for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
      if (!joined.empty()) lines.push_back(joined);
    }
    return lines;
  };
  const std::vector<std::string> lines = lines_of(text);
  std::vector<std::string> forbidden;
  size_t at = 0;
  // Looks for what is forbidden in [at, end).
  const auto find_forbidden = [&](size_t end) -> std::optional<std::string> {
    for (const std::string& each : forbidden)
      for (size_t i = at; i < end; ++i)
        if (lines[i].find(each) != std::string::npos) return "has '" + lines[i] + "', which NOT: excludes";
    forbidden.clear();
    return std::nullopt;
  };
  for (const std::string& line : lines_of(expectation)) {
    constexpr std::string_view not_prefix = "NOT: ", next_prefix = "NEXT: ";
    if (line.starts_with(not_prefix)) {
      forbidden.push_back(line.substr(not_prefix.size()));
      continue;
    }
    const bool is_next = line.starts_with(next_prefix);
    const std::string wanted = is_next ? line.substr(next_prefix.size()) : line;
    size_t found = at;
    while (found < lines.size() && lines[found].find(wanted) == std::string::npos) ++found;
    if (found == lines.size()) return "lacks '" + wanted + "'";
    if (is_next && found != at) return "has '" + lines[at] + "' where '" + wanted + "' is next";
    if (auto wrong = find_forbidden(found)) return wrong;
    at = found + 1;
  }
  return find_forbidden(lines.size());
}

MATCHER_P(HasPlan, expectation, "is a plan with " + std::string(expectation)) {
  const auto mismatch = plan_mismatch(arg, expectation);
  if (mismatch) *result_listener << *mismatch;
  return !mismatch;
}

inline constexpr const char* without_fallbacks = "NOT: interpreter fallback";

}  // namespace Atoll::test

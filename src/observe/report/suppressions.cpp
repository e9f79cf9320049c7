// observe: parses suppression files and matches findings against them.
#include "observe/report/suppressions.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "observe/report/options.h"

namespace Atoll::observe {

using support::ErrorKind;

bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

support::Result<Suppressions> Suppressions::parse(std::string_view text, const std::string& name) {
  Suppressions suppressions;
  size_t number = 0;
  const auto wrong = [&]<typename... Args>(fmt::format_string<Args...> words, Args&&... values) {
    return support::fail(ErrorKind::invalid_argument, "{}:{}: {}", name, number,
                         fmt::format(words, std::forward<Args>(values)...));
  };
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    std::istringstream words{std::string(line)};
    std::string checker;
    if (!(words >> checker)) continue;
    Suppression one{.checker = checker};
    if (checker != "*" && !is_checker(checker)) {
      return wrong("unknown checker '{}'; use {}", checker, checker_names());
    }
    if (!(words >> one.kind)) return wrong("a kind of finding has to follow the checker (or *)");
    if (one.kind.find('=') != std::string::npos) {
      return wrong("a kind of finding has to follow the checker (or *), not {}", one.kind);
    }
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      const std::string key = word.substr(0, equals);
      if (equals == std::string::npos || (key != "kernel" && key != "file")) {
        return wrong("'{}' is neither kernel=PATTERN nor file=PATTERN", word);
      }
      const std::string pattern = word.substr(equals + 1);
      if (pattern.empty()) return wrong("{}= has no pattern", key);
      (key == "kernel" ? one.kernel : one.file) = pattern;
    }
    suppressions.list_.push_back(std::move(one));
  }
  return suppressions;
}

support::Result<Suppressions> Suppressions::read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  if (file) text << file.rdbuf();
  if (!file) return support::fail(ErrorKind::not_found, "cannot read {}: {}", path, std::strerror(errno));
  return parse(text.str(), path);
}

bool Suppressions::match(const Finding& finding) const {
  return std::ranges::any_of(list_, [&](const Suppression& one) {
    return matches(one.checker, finding.checker) && matches(one.kind, finding.kind) &&
           matches(one.kernel, finding.kernel) && matches(one.file, finding.source.file);
  });
}

}  // namespace Atoll::observe

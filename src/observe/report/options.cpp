// observe: parses the options of checkers.
#include "observe/report/options.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "observe/report/report_file.h"
#include "observe/report/suppressions.h"

namespace Atoll::observe {

using support::ErrorKind;
using support::fail;

namespace {

constexpr std::string_view seed_item = "seed=";

std::optional<uint64_t> seed_in(std::string_view item) {
  if (!item.starts_with(seed_item)) return std::nullopt;
  item.remove_prefix(seed_item.size());
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), seed);
  if (error != std::errc() || end != item.data() + item.size()) return std::nullopt;
  return seed;
}

}  // namespace

uint64_t Options::seed() const {
  for (const std::string& each : checkers) {
    if (const auto seed = seed_in(each)) return *seed;
  }
  return 1;
}

bool is_checker(std::string_view name) {
  return std::ranges::find(checker_list, name, &CheckerName::name) != std::end(checker_list);
}

std::string checker_names() {
  std::string names;
  for (const CheckerName& checker : checker_list) names += (names.empty() ? "" : ", ") + std::string(checker.name);
  return names;
}

support::Result<std::vector<std::string>> parse_checkers(std::string_view text) {
  std::vector<std::string> checkers;
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(checkers, name) == checkers.end()) checkers.emplace_back(name);
  };
  if (text == "0" || text == "none") return checkers;
  if (text == "1") text = "all";
  do {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (name.empty() || name == "all") {
      for (const CheckerName& checker : checker_list)
        if (checker.by_default) add(checker.name);
    } else if (is_checker(name) || seed_in(name)) {
      add(name);
    } else if (name.starts_with(seed_item)) {
      return fail(ErrorKind::invalid_argument, "{} is not a valid seed; use seed=NUMBER", name);
    } else {
      return fail(ErrorKind::not_found, "unknown checker '{}'; use {}", name, checker_names());
    }
  } while (!text.empty());
  return checkers;
}

support::Result<int> parse_exit_code(std::string_view text) {
  int code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (error != std::errc() || end != text.data() + text.size() || code < 0 || code > 255) {
    return fail(ErrorKind::invalid_argument, "{} is not an exit code (0 to 255)", text);
  }
  return code;
}

support::Result<void> check(const Options& options) {
  if (!options.report_file.empty()) {
    if (const auto format = report_format(options.report_file); !format) return std::unexpected(format.error());
  }
  if (!options.suppressions.empty()) {
    if (const auto read = Suppressions::read(options.suppressions); !read) return std::unexpected(read.error());
  }
  return {};
}

}  // namespace Atoll::observe

// observe: which checkers there are, and what is asked of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace Atoll::observe {

struct CheckerName {
  std::string_view name;
  std::string_view summary;
  bool by_default;  ///< part of "all", which is what --check without a list means
};

/// All checkers, in the order in which they are told.
inline constexpr CheckerName checker_list[] = {
    {"memory", "accesses out of bounds, after free, misaligned, to read-only memory; copies and fills too", true},
    {"init", "branches, addresses, atomics and copies that depend on what nobody has written", true},
    {"race", "accesses of several waves to the same memory that nothing orders", true},
    {"sync", "barriers that not all work-items reach", true},
    {"wait", "registers that are used before a counter was waited for", true},
    {"order", "loads that get what caches may still hold; seed=N chooses which", false},
    {"leak", "memory that was never freed", false},
};

bool is_checker(std::string_view name);
/// "memory, race, ..."
std::string checker_names();

/// What `--check` and its further options say, and the library's.
struct Options {
  std::vector<std::string> checkers{};  ///< empty: nothing is checked; may have "seed=N" among them
  std::string report_file{};            ///< .json, .xml (JUnit) or .sarif; empty: none
  std::optional<int> exit_code{};       ///< of a program that found its own end good, when there were findings
  std::string suppressions{};           ///< path of a file of them; empty: none

  bool any() const { return !checkers.empty(); }
  /// What the order checker chooses by.
  uint64_t seed() const;
};

/// The names in a list with commas; "all", "1" or nothing: all but those that have to be named. "0" and "none": no
/// checker. "seed=N" stays as it is. Errors: an unknown name, with those that there are.
support::Result<std::vector<std::string>> parse_checkers(std::string_view text);

/// An exit code, 0 to 255.
support::Result<int> parse_exit_code(std::string_view text);

/// Whether what is asked for can be done: the kind of the report, the suppressions. To be found out before a program
/// starts.
support::Result<void> check(const Options& options);

}  // namespace Atoll::observe

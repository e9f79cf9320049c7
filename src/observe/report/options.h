// observe: the list of checkers and their options.
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

/// All checkers, in the order in which they are listed.
inline constexpr CheckerName checker_list[] = {
    {"memory", "accesses out of bounds, after free, misaligned, to read-only memory; copies and fills too", true},
    {"init", "branches, addresses, atomics and copies that depend on uninitialized values", true},
    {"race", "unordered accesses of several waves to the same memory", true},
    {"sync", "barriers that not all work-items reach", true},
    {"wait", "registers that are used before a counter was waited for", true},
    {"order", "loads that get what caches may still hold; seed=N chooses which", false},
    {"leak", "memory that was never freed", false},
};

bool is_checker(std::string_view name);
/// "memory, race, ..."
std::string checker_names();

/// The options of `--check` and of the library.
struct Options {
  std::vector<std::string> checkers{};  ///< empty: no checks; may include "seed=N"
  std::string report_file{};            ///< .json, .xml (JUnit) or .sarif; empty: none
  std::optional<int> exit_code{};       ///< exit code if there are findings and the program itself succeeds
  std::string suppressions{};           ///< path of a suppression file; empty: none

  bool any() const { return !checkers.empty(); }
  /// The seed of the order checker's choices.
  uint64_t seed() const;
};

/// Parses a comma-separated list of names. "all", "1" or nothing selects the default checkers; "0" and "none" select
/// none. "seed=N" is kept. Fails on an unknown name, and lists the known ones.
support::Result<std::vector<std::string>> parse_checkers(std::string_view text);

/// Parses an exit code, 0 to 255.
support::Result<int> parse_exit_code(std::string_view text);

/// Validates the report format and the suppressions, before a program starts.
support::Result<void> check(const Options& options);

}  // namespace Atoll::observe

#include "settings/values.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "support/environment.h"

namespace Atoll::settings {

using support::ErrorKind;
using support::row_of;

namespace {

/// The Levenshtein distance of two names.
size_t distance(std::string_view one, std::string_view other) {
  std::vector<size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < one.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < other.size(); ++j) {
      const size_t replaced = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

constexpr std::string_view prefix = "ATOLL_";
/// Names this far from a known one, or with fewer errors than a third of their letters, are taken for misspelt.
constexpr size_t max_distance = 2;

/// Variables of Atoll's scripts, tests and benchmarks, which run the command in their own environment.
constexpr std::string_view names_of_scripts[] = {
    "ATOLL_BENCH_CLOCK",  "ATOLL_BENCH_GO_ON",        "ATOLL_DEBIAN_MIRROR", "ATOLL_FUZZ_DIGESTS",
    "ATOLL_FUZZ_SECONDS", "ATOLL_FUZZ_SEED",          "ATOLL_KERNELS",       "ATOLL_LIBRARY",
    "ATOLL_LITMUS",       "ATOLL_PROGRAM_GPUS",       "ATOLL_PSEUDOCODE",    "ATOLL_RANDOM_PROGRAMS",
    "ATOLL_ROCM",         "ATOLL_ROCM_HEADERS",       "ATOLL_ROCM_RESULTS",  "ATOLL_ROCM_ROOTS",
    "ATOLL_SWEEP",        "ATOLL_TESTED_INSTRUCTIONS"};

/// The known name that a misspelt one means; empty: none is close.
std::string_view nearest(std::string_view name) {
  std::string_view best;
  size_t best_distance = max_distance + 1;
  const std::string_view own = name.substr(prefix.size());
  for (const support::SettingRow& row : support::setting_rows) {
    const std::string_view known(row.name);
    if (!known.starts_with(prefix) || row.meaning.empty()) continue;
    const size_t each = distance(own, known.substr(prefix.size()));
    if (each < best_distance && each * 3 <= std::max(own.size(), known.size() - prefix.size())) {
      best_distance = each;
      best = known;
    }
  }
  return best;
}

}  // namespace

Values Values::from_environment() {
  Values values;
  for (const support::SettingRow& row : support::setting_rows) {
    const char* const text = support::environment_variable(row.id);
    // An empty list of GPUs shows none.
    const bool may_be_empty = row.id == Setting::visible_devices || row.id == Setting::hip_visible_devices;
    if (text != nullptr && (*text != '\0' || may_be_empty)) values.values_[static_cast<size_t>(row.id)].text = text;
  }
  return values;
}

void Values::set_by_option(Setting setting, std::string value) {
  values_[static_cast<size_t>(setting)] = {.text = std::move(value), .is_option = true};
}

void Values::make_paths_absolute() {
  for (const support::SettingRow& row : support::setting_rows) {
    std::optional<std::string>& text = values_[static_cast<size_t>(row.id)].text;
    if (row.is_path && text && *text != row.no_path[0] && *text != row.no_path[1])
      text = std::filesystem::absolute(*text).string();
  }
}

void Values::export_all() const {
  for (const support::SettingRow& row : support::setting_rows) {
    if (const auto& text = of(row.id).text; text)
      setenv(row.name, text->c_str(), 1);
    else
      unsetenv(row.name);
  }
}

std::optional<std::string_view> Values::get(Setting setting) const {
  const Value& value = of(setting);
  return value.text ? std::optional<std::string_view>(*value.text) : std::nullopt;
}

std::string Values::name(Setting setting) const {
  return is_option(setting) ? std::string(row_of(setting).option) : row_of(setting).name;
}

std::string Values::said(Setting setting) const {
  return fmt::format("{}{}{}", name(setting), is_option(setting) ? " " : "=", get(setting).value_or(""));
}

std::unexpected<support::Error> Values::wrong(Setting setting, std::string_view why) const {
  return std::unexpected(support::Error{ErrorKind::invalid_argument, fmt::format("{}: {}", said(setting), why)});
}

std::unexpected<support::Error> Values::wrong(Setting setting, const support::Error& error) const {
  return std::unexpected(support::Error{error.kind, fmt::format("{}: {}", said(setting), error.message)});
}

NameFaults check_names(std::span<const char* const> environment) {
  NameFaults faults;
  for (const char* const entry : environment) {
    const std::string_view text(entry);
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with(prefix)) continue;
    if (std::ranges::any_of(support::setting_rows, [&](const auto& row) { return name == row.name; })) continue;
    if (std::ranges::find(names_of_scripts, name) != std::end(names_of_scripts)) continue;
    if (const std::string_view meant = nearest(name); !meant.empty())
      faults.errors.push_back(fmt::format("unknown environment variable {}; did you mean {}?", name, meant));
    else
      faults.warnings.push_back(fmt::format("the environment variable {} has no meaning to Atoll", name));
  }
  return faults;
}

NameFaults check_names() {
  size_t count = 0;
  while (environ != nullptr && environ[count] != nullptr) ++count;
  return check_names(std::span<const char* const>(environ, count));
}

}  // namespace Atoll::settings

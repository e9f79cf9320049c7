// The settings: which values each takes, where a value has precedence, and that the documents have all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "settings/configuration.h"
#include "settings/values.h"

namespace Atoll::settings {
namespace {

using testing::HasSubstr;

/// Values by option and environment, without those of this process.
Values values_of(const std::map<Setting, std::string>& wanted) {
  for (const support::SettingRow& row : support::setting_rows) unsetenv(row.name);
  for (const auto& [setting, value] : wanted) setenv(support::row_of(setting).name, value.c_str(), 1);
  return Values::from_environment();
}

std::string error_of(const std::map<Setting, std::string>& wanted) {
  const auto configuration = read_configuration(values_of(wanted));
  return configuration ? "" : configuration.error().message;
}

/// Values that must be refused, for every setting that does not take any text.
const std::multimap<Setting, std::string> wrong_values{{Setting::gpu, "voodoo2"},
                                                       {Setting::gpu, "mi250x,"},
                                                       {Setting::gpus, "0"},
                                                       {Setting::gpus, "65"},
                                                       {Setting::gpus, "two"},
                                                       {Setting::gpus, "2x"},
                                                       {Setting::memory, "1X"},
                                                       {Setting::memory, "0"},
                                                       {Setting::timeout, "soon"},
                                                       {Setting::timeout, "-1"},
                                                       {Setting::timeout, "nan"},
                                                       {Setting::timeout, "2e9"},
                                                       {Setting::threads, "2x"},
                                                       {Setting::threads, "-1"},
                                                       {Setting::threads, "99999999"},
                                                       {Setting::engine, "bogus"},
                                                       {Setting::schedule, "round"},
                                                       {Setting::schedule, "-1"},
                                                       {Setting::check, "memroy"},
                                                       {Setting::check, "seed=x"},
                                                       {Setting::check_report, "x.txt"},
                                                       {Setting::check_exit_code, "256"},
                                                       {Setting::check_exit_code, "two"},
                                                       {Setting::check_suppressions, "/nowhere/suppressions"},
                                                       {Setting::host_vectors, "mmx"},
                                                       {Setting::cache_size, "many"},
                                                       {Setting::compile, "yes"},
                                                       {Setting::compile_limit, "here"},
                                                       {Setting::compile_swapped, "here"},
                                                       {Setting::code_symbols, "perf,lldb"},
                                                       {Setting::compiler, "/nowhere/compiler"},
                                                       {Setting::cu_mask, "0"},
                                                       {Setting::cu_mask, "0:5-3"},
                                                       {Setting::cu_mask, "0:x"},
                                                       {Setting::cu_mask, "0:0x0"},
                                                       {Setting::cu_mask, "0:0-3;x"},
                                                       {Setting::xnack, "yes"},
                                                       {Setting::xnack, "2"}};
/// Settings that take any text: names of files, lists whose other parts ROCr ignores, and internal ones.
const std::vector<Setting> free_text{
    Setting::stats,     Setting::core,       Setting::cache,           Setting::library,
    Setting::tools_lib, Setting::chosen_gpu, Setting::visible_devices, Setting::hip_visible_devices,
    Setting::driver,    Setting::record};

TEST(Settings, EachRefusesWrongValuesByName) {
  for (const auto& [setting, value] : wrong_values) {
    std::map<Setting, std::string> all{{setting, value}};
    if (setting == Setting::check_report || setting == Setting::check_exit_code ||
        setting == Setting::check_suppressions)
      all.emplace(Setting::check, "memory");
    EXPECT_THAT(error_of(all), testing::StartsWith(std::string(support::row_of(setting).name) + "=" + value + ": "));
  }
  for (const support::SettingRow& row : support::setting_rows)
    EXPECT_TRUE(wrong_values.contains(row.id) || std::ranges::find(free_text, row.id) != free_text.end()) << row.name;
}

TEST(Settings, RightValuesAreTaken) {
  EXPECT_EQ(error_of({{Setting::gpu, "mi250x"},
                      {Setting::gpus, "3"},
                      {Setting::memory, "4G"},
                      {Setting::stats, "0"},
                      {Setting::timeout, "0.5"},
                      {Setting::threads, "3"},
                      {Setting::engine, "interpreter"},
                      {Setting::check, "memory,seed=3"},
                      {Setting::check_exit_code, "9"},
                      {Setting::check_report, "x.json"},
                      {Setting::compile, "wait"},
                      {Setting::cache_size, "500M"},
                      {Setting::cu_mask, "0: 0-15; 7:0x1"},
                      {Setting::xnack, "1"}}),
            "");
  EXPECT_EQ(error_of({{Setting::timeout, "0"}, {Setting::threads, "0"}}), "");
}

TEST(Settings, WhatRequiresCheckersIsRefusedWithoutThem) {
  for (const auto& [setting, value] : {std::pair(Setting::check_exit_code, "9"), {Setting::check_report, "x.json"}}) {
    EXPECT_EQ(error_of({{setting, value}}),
              std::string(support::row_of(setting).name) + " requires --check or ATOLL_CHECK");
    EXPECT_EQ(error_of({{setting, value}, {Setting::check, "none"}}), "");
    Values values = values_of({{Setting::check, "none"}});
    values.set_by_option(setting, value);
    const auto configuration = read_configuration(values);
    ASSERT_FALSE(configuration);
    EXPECT_THAT(configuration.error().message, testing::StartsWith(std::string(support::row_of(setting).option)));
  }
}

TEST(Settings, AnOptionHasPrecedenceAndItsNameIsSaid) {
  Values values = values_of({{Setting::engine, "bogus"}, {Setting::timeout, "1"}});
  values.set_by_option(Setting::engine, "interpreter");
  const auto configuration = read_configuration(values);
  ASSERT_TRUE(configuration) << configuration.error().message;
  EXPECT_EQ(configuration->engine, "interpreter");
  EXPECT_EQ(configuration->timeout, std::chrono::seconds(1));
  values.set_by_option(Setting::timeout, "soon");
  EXPECT_THAT(read_configuration(values).error().message, testing::StartsWith("--timeout soon: "));
}

TEST(Settings, MisspeltNamesAreRefusedWithTheNameThatIsMeant) {
  const auto check = [](const char* entry) { return check_names(std::span<const char* const>(&entry, 1)); };
  for (const auto& [name, meant] : {std::pair("ATOLL_GPUZ", "ATOLL_GPU"),
                                    {"ATOLL_TIMOUT", "ATOLL_TIMEOUT"},
                                    {"ATOLL_THREAD", "ATOLL_THREADS"},
                                    {"ATOLL_CHECKS", "ATOLL_CHECK"},
                                    {"ATOLL_CHECK_EXITCODE", "ATOLL_CHECK_EXIT_CODE"},
                                    {"ATOLL_STAT", "ATOLL_STATS"},
                                    {"ATOLL_MEMROY", "ATOLL_MEMORY"},
                                    {"ATOLL_ENGIN", "ATOLL_ENGINE"}}) {
    const NameFaults faults = check((std::string(name) + "=1").c_str());
    ASSERT_EQ(faults.errors.size(), 1U) << name;
    EXPECT_EQ(faults.errors[0], std::string("unknown environment variable ") + name + "; did you mean " + meant + "?");
  }
  const NameFaults foreign = check("ATOLL_PACKAGE=x.deb");
  EXPECT_TRUE(foreign.errors.empty());
  EXPECT_THAT(foreign.warnings, testing::ElementsAre(HasSubstr("ATOLL_PACKAGE")));
  const NameFaults of_script = check("ATOLL_ROCM_ROOTS=/roots");  // of scripts/in-rocm
  EXPECT_TRUE(of_script.errors.empty() && of_script.warnings.empty());
  for (const support::SettingRow& row : support::setting_rows) {
    const NameFaults faults = check((std::string(row.name) + "=x").c_str());
    EXPECT_TRUE(faults.errors.empty() && faults.warnings.empty()) << row.name;
  }
  EXPECT_TRUE(check("LATOLL_GPUZ=1").errors.empty());
}

// docs/tools.md has a row for each setting that is not internal, in the table's words.
TEST(Settings, TheDocumentsHaveAllOfThem) {
  std::ifstream file(ATOLL_DOCUMENTS "/tools.md");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const support::SettingRow& row : support::setting_rows) {
    const std::string begin = std::string("\n| `") + row.name + "` |";
    if (row.meaning.empty()) {
      EXPECT_THAT(text, testing::Not(HasSubstr(begin))) << row.name;
      continue;
    }
    const std::string option = row.option.empty() ? "" : " `" + std::string(row.option) + "`";
    EXPECT_THAT(text, HasSubstr(begin + option + " " + "| " + std::string(row.meaning) + " |\n"));
  }
}

}  // namespace
}  // namespace Atoll::settings

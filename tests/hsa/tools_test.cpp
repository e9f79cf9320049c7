// Tools: libraries that the runtime loads and gives its tables to, and the layout of these tables.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "hsa/interface/api_tables.h"
#include "support/command.h"

using namespace Atoll::test;
namespace hsa = Atoll::hsa;

namespace {

CommandResult run_client(const std::string& environment) {
  return run_command("ATOLL_GPU=gfx90a " + environment + " " ATOLL_TOOL_CLIENT " 2>&1");
}

TEST(HsaTools, WithoutOneTheProgramRunsAsItIs) {
  const CommandResult run = run_client("");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output, "client: from 2 to 0, queue of 64, 2 read\n");
}

TEST(HsaTools, OneThatIsNamedSeesAndChangesTheProgramsCalls) {
  const CommandResult run = run_client("HSA_TOOLS_LIB=" ATOLL_COUNTING_TOOL);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output,
            "counting tool: version 3, core table of 1016 bytes, 2 agents, 0 failed\n"
            "client: from 1002 to 1000, queue of 64, 2 read\n"
            "counting tool: 1 signals, 1 queues\n");
}

TEST(HsaTools, OneThatIsInTheProcessIsFoundAndInterceptsPackets) {
  const CommandResult run = run_client("LD_PRELOAD=" ATOLL_INTERCEPTING_TOOL);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output,
            "intercepting tool: loaded\n"
            "intercepting tool: second handler, packet 0, 2 of them\n"
            "intercepting tool: first handler, packet 0, 2 of them\n"
            "intercepting tool: marker 40 at packet 0\n"
            "intercepting tool: marker 41 at packet 1\n"
            "client: from 2 to 0, queue of 64, 2 read\n");
}

TEST(HsaTools, SeveralComeInOrderAndLearnWhichFailed) {
  const CommandResult run =
      run_client("HSA_TOOLS_LIB='/no/such/tool.so \"" ATOLL_COUNTING_TOOL "\"' LD_PRELOAD=" ATOLL_INTERCEPTING_TOOL);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(
      run.output.find("atoll: the tool /no/such/tool.so of HSA_TOOLS_LIB is left out: /no/such/tool.so: cannot open"),
      std::string::npos)
      << run.output;
  const size_t counting = run.output.find(
      "counting tool: version 3, core table of 1016 bytes, 2 agents, 1 failed: "
      "/no/such/tool.so\n");
  const size_t intercepting = run.output.find("intercepting tool: loaded\n");
  EXPECT_NE(counting, std::string::npos) << run.output;
  EXPECT_NE(intercepting, std::string::npos) << run.output;
  EXPECT_LT(counting, intercepting);
  EXPECT_NE(run.output.find("client: from 1002 to 1000"), std::string::npos) << run.output;
  // The one that came last replaced the function without calling the one before.
  EXPECT_NE(run.output.find("counting tool: 1 signals, 0 queues"), std::string::npos) << run.output;
}

TEST(HsaTools, ALibraryWithoutOnLoadIsLeftOut) {
  const CommandResult run = run_client("HSA_TOOLS_LIB=libm.so.6");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output,
            "atoll: the tool libm.so.6 of HSA_TOOLS_LIB is left out: it has no function OnLoad\n"
            "client: from 2 to 0, queue of 64, 2 read\n");
}

// A version of 16 bytes and a pointer for each function that ROCm 7.2 has.
static_assert(sizeof(hsa::CoreApiTable) == 1016);
static_assert(sizeof(hsa::AmdExtTable) == 624);
static_assert(sizeof(hsa::ImageExtTable) == 128);
static_assert(sizeof(hsa::FinalizerExtTable) == 64);
static_assert(sizeof(hsa::ToolsApiTable) == 64);
static_assert(sizeof(hsa::PcSamplingExtTable) == 72);

/// The functions of a table in the order of a header's text.
std::vector<std::string> slots_of(const std::string& header, const std::string& table) {
  std::vector<std::string> slots;
  const size_t start = header.find("struct " + table + " {");
  if (start == std::string::npos) return slots;
  const std::string text = header.substr(start, header.find("\n};", start) - start);
  const std::regex slot(R"(decltype\((\w+)\))");
  for (std::sregex_iterator i(text.begin(), text.end(), slot), end; i != end; ++i) slots.push_back((*i)[1]);
  return slots;
}

#define ATOLL_NAME(function) #function,
const std::vector<std::pair<std::string, std::vector<std::string>>> own_tables = {
    {"CoreApiTable", {ATOLL_HSA_CORE_FUNCTIONS(ATOLL_NAME)}},
    {"AmdExtTable", {ATOLL_HSA_AMD_FUNCTIONS(ATOLL_NAME, ATOLL_NAME)}},
    {"FinalizerExtTable", {ATOLL_HSA_FINALIZER_FUNCTIONS(ATOLL_NAME)}},
    {"ImageExtTable", {ATOLL_HSA_IMAGE_FUNCTIONS(ATOLL_NAME)}},
    {"PcSamplingExtTable", {ATOLL_HSA_PC_SAMPLING_FUNCTIONS(ATOLL_NAME)}},
};
#undef ATOLL_NAME

std::string text_of(const std::string& path) {
  const std::vector<uint8_t> bytes = read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

TEST(HsaApiTables, HaveWhatTheSystemsHeaderHasInItsOrder) {
  const std::string header = text_of(ATOLL_HSA_HEADERS "/hsa/hsa_api_trace.h");
  for (const auto& [table, own] : own_tables) {
    const std::vector<std::string> slots = slots_of(header, table);
    if (table != "PcSamplingExtTable") EXPECT_FALSE(slots.empty()) << table;
    // Newer headers have put some functions between.
    auto position = own.begin();
    for (const std::string& slot : slots) {
      position = std::find(position, own.end(), slot);
      ASSERT_NE(position, own.end()) << table << ": " << slot;
    }
  }
}

TEST(HsaApiTables, AreThoseOfRocm72) {
  const char* roots = std::getenv("ATOLL_ROCM_ROOTS");
  const std::string path =
      std::string(roots != nullptr ? roots : ATOLL_ROCM_ROOTS_DEFAULT) + "/7.2/usr/include/hsa/hsa_api_trace.h";
  const std::string header = text_of(path);
  if (header.empty()) GTEST_SKIP() << path << " is not there: scripts/rocm-root 7.2 makes it";
  for (const auto& [table, own] : own_tables) EXPECT_EQ(slots_of(header, table), own) << table;
}

}  // namespace

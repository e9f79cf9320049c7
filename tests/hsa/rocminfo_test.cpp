// Debian's rocminfo, as it is, on top of the library.
#include <gtest/gtest.h>

#include <string>

#include "support/command.h"

using namespace Atoll::test;

namespace {

CommandResult rocminfo(const std::string& gpu) {
  return run_command(ATOLL_COMMAND " run --gpu " + gpu + " -- rocminfo 2>&1");
}

/// The text without its runs of blanks.
std::string squeezed(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ' || result.empty() || result.back() != ' ') result += c;
  }
  return result;
}

TEST(Rocminfo, ShowsBothAgents) {
  const CommandResult run = rocminfo("mi250x");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const std::string text = squeezed(run.output);
  for (const char* line :
       {"Agent 1", "Vendor Name: CPU", "Segment: GLOBAL; FLAGS: KERNARG, FINE GRAINED", "Agent 2", "Name: gfx90a",
        "Marketing Name: AMD Instinct MI250X", "Vendor Name: AMD", "Feature: KERNEL_DISPATCH", "Device Type: GPU",
        "Compute Unit: 110", "SIMDs per CU: 4", "Wavefront Size: 64(0x40)", "Max Waves Per CU: 32(0x20)",
        "Segment: GROUP", "Size: 64(0x40) KB", "Name: amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "*** Done ***"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(text.find("ERROR"), std::string::npos) << text;
}

TEST(Rocminfo, ShowsTheGpuThatIsAskedFor) {
  const std::string text = squeezed(rocminfo("gfx906:sramecc-:xnack+").output);
  EXPECT_NE(text.find("Name: gfx906"), std::string::npos) << text;
  EXPECT_NE(text.find("Name: amdgcn-amd-amdhsa--gfx906:sramecc-:xnack+"), std::string::npos) << text;
}

TEST(Rocminfo, ShowsSeveralGpus) {
  const std::string text = squeezed(rocminfo("mi250x,rx7900xtx").output);
  for (const char* line : {"Agent 2", "Name: gfx90a", "Agent 3", "Name: gfx1100", "Node: 2", "BDFID: 1024",
                           "Name: amdgcn-amd-amdhsa--gfx1100", "*** Done ***"})
    EXPECT_NE(text.find(line), std::string::npos) << line;
  EXPECT_EQ(text.find("Agent 4"), std::string::npos) << text;
}

}  // namespace

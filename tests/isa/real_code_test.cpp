// Real code: kernels compiled by clang-22 for each processor, disassembled whole by Atoll and by llvm-objdump-22. Texts
// and sizes of all instructions must be equal, and Atoll's assembler must make the same bytes of them. GFX6 and GFX7,
// which LLVM does not disassemble, are assembled again from Atoll's text by llvm-mc-22, too, which must give the same
// bytes and print the same text.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "isa/listing.h"
#include "support/command.h"
#include "support/llvm_processors.h"

namespace Atoll::isa::test {
namespace {

void run(const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; }

struct Source {
  const char* name;
  const char* standard;
};

/// The kernels that clang can compile for that processor: without flat memory, no pointers to any memory.
std::vector<Source> sources(const target::Processor& processor) {
  using enum target::Generation;
  if (processor.generation == gfx6) return {{"arithmetic", "CL1.2"}, {"early", "CL1.2"}};
  if (processor.generation == gfx7) return {{"arithmetic", "CL1.2"}, {"early", "CL1.2"}, {"memory", "CL2.0"}};
  return {{"arithmetic", "CL2.0"}, {"memory", "CL2.0"}, {"special", "CL2.0"}};
}

class RealCode : public testing::TestWithParam<std::string> {};

TEST_P(RealCode, IsDisassembledAsByTheOracleAndAssembledAgain) {
  const std::string name = GetParam();
  const target::Processor& processor = *target::find_processor(name);
  const Atoll::test::TemporaryDirectory directory;
  const std::string object = directory / "kernels.o";
  ListingComparison listing;
  for (const auto& [source, standard] : sources(processor)) {
    for (std::string options : {"-O0", "-O3", "-O3 halves"}) {
      SCOPED_TRACE(std::string(source) + options);
      if (options.ends_with("halves")) {
        const std::string_view feature = Atoll::test::halves_feature(name);
        if (feature.empty()) continue;
        options = fmt::format("-O3 -Xclang -target-feature -Xclang {}", feature);
      }
      run(
          fmt::format("clang-22 --target=amdgcn-amd-amdhsa -mcpu={} -nogpulib -x cl -cl-std={} "
                      "-Xclang -finclude-default-header -w {} -c {}/isa/real_code/{}.cl -o {}",
                      name, standard, options, ATOLL_TEST_SOURCE_DIR, source, object));
      if (HasFatalFailure()) return;
      listing.read(object, processor);
    }
  }
  listing.ask_assembler(processor);
  std::printf(
      "%s: %lu instructions, %lu texts different, %lu assembled as by llvm-mc but not as by clang, %lu otherwise\n",
      name.c_str(), listing.instructions, listing.other_texts, listing.not_as_compiled, listing.other_bytes);
  EXPECT_EQ(listing.other_texts, 0u);
  EXPECT_EQ(listing.other_bytes, 0u);
  EXPECT_GT(listing.instructions, 1000u);
}

INSTANTIATE_TEST_SUITE_P(All, RealCode,
                         testing::Values("gfx600", "gfx700", "gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx909",
                                         "gfx90a", "gfx90c", "gfx942", "gfx950", "gfx9-generic", "gfx9-4-generic",
                                         "gfx803", "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200", "gfx1250"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace Atoll::isa::test

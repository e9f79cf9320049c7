// VGPRs that a wave asks for itself (GFX12.5): a kernel that clang 22 compiles, with s_alloc_vgpr in it, in whose
// descriptor the test sets the bit for that mode, as no compiler does yet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstring>

#include "atoll/atoll.h"
#include "support/command.h"

namespace Atoll {
namespace {

constexpr const char* source = R"(
kernel void ask(global unsigned* out, global const unsigned* counts) {
  for (unsigned i = 0; i < 8; ++i) {
    unsigned granted, kept = out[64 + __builtin_amdgcn_workitem_id_x()];
    __asm volatile("s_alloc_vgpr %2\n\ts_cselect_b32 %0, 1, 0" : "=s"(granted), "+v"(kept) : "s"(__builtin_amdgcn_readfirstlane(counts[i])) : "scc");
    out[i] = granted;
    out[64 + __builtin_amdgcn_workitem_id_x()] = kept + 1;
  }
}
)";

class DynamicVgprs : public testing::Test {
 protected:
  void SetUp() override {
    test::write_file(directory / "k.cl", source);
    const auto compiled = test::run_command(
        fmt::format("cd {} && clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx1250 -nogpulib -cl-std=CL2.0 -O2 -w -Xclang "
                    "-finclude-default-header k.cl -o k.co 2>&1",
                    directory.path().string()));
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
    auto created = Gpu::create("gfx1250", {.timeout_seconds = 60});
    ASSERT_TRUE(created) << created.error().message;
    gpu = *created;
  }

  /// Runs the kernel with COMPUTE_PGM_RSRC3's ENABLE_DYNAMIC_VGPR (bit 17 of the word at byte 44 of a descriptor) on or
  /// off. Where the descriptor is, the ELF symbol "ask.kd" says.
  Expected<LaunchResult> run(bool dynamic, const std::vector<uint32_t>& counts, std::vector<uint32_t>& results) {
    const auto offset = test::run_command(fmt::format(
        "cd {} && llvm-readelf-22 --symbols k.co | awk '$8 == \"ask.kd\" {{ print $2; exit }}' && "
        "llvm-readelf-22 --sections --wide k.co | awk '{{ sub(/\\[ */, \"[\") }} $2 == \".rodata\" {{ print $4, $5 }}'",
        directory.path().string()));
    uint64_t symbol = 0, section = 0, file = 0;
    if (std::sscanf(offset.output.c_str(), "%lx %lx %lx", &symbol, &section, &file) != 3) {
      ADD_FAILURE() << offset.output;
    }
    std::vector<uint8_t> bytes = test::read_bytes(directory / "k.co");
    uint32_t rsrc3;
    std::memcpy(&rsrc3, &bytes[symbol - section + file + 44], sizeof rsrc3);
    rsrc3 |= dynamic ? 1u << 17 : 0;
    std::memcpy(&bytes[symbol - section + file + 44], &rsrc3, sizeof rsrc3);
    auto code = gpu.load(std::as_bytes(std::span(bytes)));
    if (!code) return std::unexpected(code.error());
    auto out = gpu.allocate<uint32_t>(64 + 32).value();
    auto in = gpu.allocate<uint32_t>(counts.size()).value();
    in.write(counts);
    auto done = gpu.launch(*code, "ask", {.grid = {32}, .block = {32}}, out, in);
    results.assign(out.span().begin(), out.span().end());
    return done;
  }

  test::TemporaryDirectory directory;
  Gpu gpu;
};

// RDNA4 ISA guide, S_ALLOC_VGPR: SCC is 1 where the wave gets as many, and 0 where it cannot.
TEST_F(DynamicVgprs, WavesGetAsManyAsThereAre) {
  std::vector<uint32_t> results;
  const auto done = run(true, {16, 32, 33, 256, 128, 257, 511, 64}, results);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(std::vector(results.begin(), results.begin() + 8), testing::ElementsAre(1, 1, 1, 1, 1, 0, 0, 1));
  EXPECT_THAT(std::vector(results.begin() + 64, results.end()), testing::Each(8u));
}

TEST_F(DynamicVgprs, OtherKernelsCannotAsk) {
  std::vector<uint32_t> results;
  const auto done = run(false, std::vector<uint32_t>(8, 32), results);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, testing::HasSubstr("s_alloc_vgpr"));
}

}  // namespace
}  // namespace Atoll

// Code object V2, as clang 15's assembler and linker make it, loaded and run: what the waves begin with is written out
// from the older ABI document's tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "fixture.h"
#include "object/kernel_code.h"

namespace Atoll::machine {
namespace {

using testing::HasSubstr;

std::vector<uint8_t> assemble_v2(const std::string& processor, const std::string& keys) {
  const test::TemporaryDirectory directory;
  test::write_file(directory / "k.s",
                   ".hsa_code_object_version 2,1\n.hsa_code_object_isa\n.text\n.p2align 8\n.amdgpu_hsa_kernel k\n"
                   ".globl k\nk:\n.amd_kernel_code_t\n" +
                       keys + ".end_amd_kernel_code_t\ns_endpgm\n.Lend:\n.size k, .Lend-k\n");
  const auto run = test::run_command("cd " + directory.path().string() +
                                     " && clang-15 -target amdgcn-amd-amdhsa -mcpu=" + processor +
                                     " -mcode-object-version=2 k.s -o k.co 2>&1");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  return test::read_bytes(directory / "k.co");
}

struct Seen {
  std::vector<uint32_t> sgprs;
  uint64_t pc = 0;
  uint32_t mode = 0, lds_bytes = 0, vgprs = 0;
};

class CodeObjectV2 : public testing::Test {
 protected:
  /// Runs `k` in work-groups of 64 x 1 x 1 and returns the first wave of the last one.
  Seen run(const std::string& gpu, const std::string& keys, std::array<uint32_t, 3> grid) {
    Seen seen;
    std::mutex mutex;
    code_.reset();  // before its GPU
    gpu_ = test::make_gpu(gpu, [&](Wave& wave, uint64_t) {
      const std::lock_guard lock(mutex);
      if (wave.work_group->id[0] + 1 == grid[0] / 64)
        seen = {.sgprs = {wave.scalar, wave.scalar + 16},
                .pc = wave.pc,
                .mode = wave.mode,
                .lds_bytes = wave.work_group->lds_bytes,
                .vgprs = wave.vgprs};
      return WaveState::ended;
    });
    code_ = test::load(*gpu_, assemble_v2(gpu.substr(0, gpu.find(':')), keys));
    EXPECT_NE(code_->find("k"), nullptr);
    aql::KernelDispatchPacket packet{};
    packet.header = static_cast<uint16_t>(aql::PacketType::kernel_dispatch);
    packet.setup = 3;
    packet.workgroup_size_x = 64;
    packet.workgroup_size_y = packet.workgroup_size_z = 1;
    packet.grid_size_x = grid[0];
    packet.grid_size_y = grid[1];
    packet.grid_size_z = grid[2];
    packet.kernarg_address = 0x1234'5678'0000;
    packet.kernel_object = code_->find("k")->address;
    const auto done = gpu_->run(packet);
    EXPECT_TRUE(done) << done.error().message;
    return seen;
  }

  std::unique_ptr<Gpu> gpu_;
  std::shared_ptr<LoadedCode> code_;
};

TEST_F(CodeObjectV2, WavesBeginWithWhatTheRecordAsksFor) {
  for (const char* gpu : {"gfx900:xnack+", "gfx906:sramecc-:xnack+"}) {
    SCOPED_TRACE(gpu);
    const Seen wave = run(gpu,
                          " enable_sgpr_kernarg_segment_ptr = 1\n enable_sgpr_grid_workgroup_count_x = 1\n"
                          " enable_sgpr_grid_workgroup_count_z = 1\n user_sgpr_count = 4\n"
                          " enable_sgpr_workgroup_id_x = 1\n granulated_workitem_vgpr_count = 2\n"
                          " granulated_wavefront_sgpr_count = 1\n float_mode = 0xC0\n enable_ieee_mode = 1\n"
                          " kernarg_segment_byte_size = 16\n workgroup_group_segment_byte_size = 128\n"
                          // The packet processor's own, whatever compilers write there.
                          " granulated_lds_size = 1\n enable_trap_handler = 1\n priority = 1\n",
                          {3 * 64, 1, 5});
    ASSERT_GE(wave.sgprs.size(), 5u);
    EXPECT_EQ(wave.sgprs[0], 0x5678'0000u);  // the kernel argument segment
    EXPECT_EQ(wave.sgprs[1], 0x1234u);
    EXPECT_EQ(wave.sgprs[2], 3u);  // work-groups in x and z
    EXPECT_EQ(wave.sgprs[3], 5u);
    EXPECT_EQ(wave.sgprs[4], 2u);  // the work-group's x
    EXPECT_EQ(wave.pc, code_->find("k")->address + 256);
    EXPECT_EQ(wave.vgprs, 12u);
    EXPECT_EQ(wave.lds_bytes, 128u);
    EXPECT_EQ(wave.mode & 0x3FF, 0xC0u | 1u << 9);
  }
}

TEST_F(CodeObjectV2, IsForTheGpuThatItsNoteNames) {
  gpu_ = test::make_gpu("gfx900:xnack-", [](Wave&, uint64_t) { return WaveState::ended; });
  const auto code = gpu_->load(assemble_v2("gfx906", ""), {}, "memory://test");
  ASSERT_FALSE(code);
  EXPECT_THAT(code.error().message, HasSubstr("the code is for gfx906:sramecc-:xnack+, the GPU is gfx900:xnack-"));
}

/// The metadata is not needed to run a kernel, but a record that asks for too much is refused as a descriptor is.
TEST_F(CodeObjectV2, RecordsAreChecked) {
  gpu_ = test::make_gpu("gfx900:xnack+", [](Wave&, uint64_t) { return WaveState::ended; });
  code_ = test::load(*gpu_, assemble_v2("gfx900", " workgroup_group_segment_byte_size = 0x20000\n"));
  aql::KernelDispatchPacket packet{};
  packet.setup = 1;
  packet.workgroup_size_x = 64;
  packet.workgroup_size_y = packet.workgroup_size_z = 1;
  packet.grid_size_x = 64;
  packet.grid_size_y = packet.grid_size_z = 1;
  packet.kernel_object = code_->find("k")->address;
  const auto done = gpu_->run(packet);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("131072 bytes of LDS"));
}

}  // namespace
}  // namespace Atoll::machine

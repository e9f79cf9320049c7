// Kernel descriptors as LLVM's assembler makes them from .amdhsa_ directives, decoded; and ones that ask for what
// the processor has not.
#include "object/kernel_descriptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "support/command.h"

namespace Atoll::object {
namespace {

using testing::HasSubstr;

/// The descriptor that the assembler writes for a kernel with these directives (without ".amdhsa_").
RawKernelDescriptor assemble(const std::string& processor, const std::vector<std::string>& directives) {
  const test::TemporaryDirectory directory;
  std::string text = fmt::format(".amdhsa_code_object_version 5\n.rodata\n.p2align 6\n.amdhsa_kernel k\n");
  for (const std::string& directive : directives) text += ".amdhsa_" + directive + "\n";
  text += ".end_amdhsa_kernel\n.text\n.globl k\n.p2align 8\n.type k,@function\nk:\n s_endpgm\n";
  test::write_file(directory / "k.s", text);
  const auto run = test::run_command(
      fmt::format("cd {} && llvm-mc-22 -triple amdgcn-amd-amdhsa -mcpu={} -filetype=obj k.s -o k.o 2>&1 && "
                  "llvm-objcopy-22 -O binary -j .rodata k.o k.bin 2>&1",
                  directory.path().string(), processor));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  const auto bytes = test::read_bytes(directory / "k.bin");
  RawKernelDescriptor raw{};
  EXPECT_EQ(bytes.size(), sizeof raw);
  if (bytes.size() == sizeof raw) std::memcpy(&raw, bytes.data(), sizeof raw);
  return raw;
}

KernelDescriptor decoded(const std::string& processor, const std::vector<std::string>& directives) {
  const auto result = decode_kernel_descriptor(assemble(processor, directives), *target::find_processor(processor));
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or(KernelDescriptor{});
}

const std::vector<std::string> smallest{"next_free_vgpr 1", "next_free_sgpr 1"};

TEST(KernelDescriptor, Gfx900WithEverySgprEnabled) {
  const auto d =
      decoded("gfx900", {"next_free_vgpr 37", "next_free_sgpr 50", "group_segment_fixed_size 4096",
                         "private_segment_fixed_size 528", "kernarg_size 280", "user_sgpr_private_segment_buffer 1",
                         "user_sgpr_dispatch_ptr 1", "user_sgpr_queue_ptr 1", "user_sgpr_kernarg_segment_ptr 1",
                         "user_sgpr_dispatch_id 1", "user_sgpr_flat_scratch_init 1", "user_sgpr_private_segment_size 1",
                         "system_sgpr_private_segment_wavefront_offset 1", "system_sgpr_workgroup_id_x 1",
                         "system_sgpr_workgroup_id_y 1", "system_sgpr_workgroup_id_z 1", "system_sgpr_workgroup_info 1",
                         "system_vgpr_workitem_id 2", "uses_dynamic_stack 1"});
  EXPECT_EQ(d.group_segment_fixed_size, 4096u);
  EXPECT_EQ(d.private_segment_fixed_size, 528u);
  EXPECT_EQ(d.kernarg_size, 280u);
  EXPECT_EQ(d.vgprs, 40);
  EXPECT_EQ(d.sgprs, 56);  // 50, and VCC, FLAT_SCRATCH and XNACK_MASK
  EXPECT_EQ(d.agprs, 0);
  EXPECT_EQ(d.accum_offset, 0);
  EXPECT_TRUE(d.private_segment_buffer && d.dispatch_ptr && d.queue_ptr && d.kernarg_segment_ptr && d.dispatch_id &&
              d.flat_scratch_init && d.private_segment_size);
  EXPECT_TRUE(d.work_group_id_x && d.work_group_id_y && d.work_group_id_z && d.work_group_info && d.private_segment);
  EXPECT_EQ(d.work_item_ids, 2);
  EXPECT_EQ(d.user_sgprs, 15);
  EXPECT_TRUE(d.uses_dynamic_stack);
  EXPECT_FALSE(d.wave32);
  EXPECT_EQ(d.kernarg_preload_length, 0);
}

TEST(KernelDescriptor, DisabledStateStaysDisabled) {
  const auto d = decoded("gfx900", {"next_free_vgpr 1", "next_free_sgpr 1", "system_sgpr_workgroup_id_x 0"});
  EXPECT_FALSE(d.private_segment_buffer || d.dispatch_ptr || d.queue_ptr || d.kernarg_segment_ptr || d.dispatch_id ||
               d.flat_scratch_init || d.private_segment_size);
  EXPECT_FALSE(d.work_group_id_x || d.work_group_id_y || d.work_group_id_z || d.work_group_info || d.private_segment);
  EXPECT_EQ(d.work_item_ids, 0);
  EXPECT_EQ(d.user_sgprs, 0);
  EXPECT_EQ(d.vgprs, 4);
}

// MODE: rounding in bits 0 to 3, denormals in 4 to 7, DX10_CLAMP 8, IEEE 9, exceptions from 12, FP16_OVFL 23.
TEST(KernelDescriptor, InitialMode) {
  EXPECT_EQ(decoded("gfx900", smallest).mode, 0x3C0u);  // what the assembler takes unless told
  const auto d = decoded("gfx906", {"next_free_vgpr 1", "next_free_sgpr 1", "float_round_mode_32 1",
                                    "float_round_mode_16_64 2", "float_denorm_mode_32 3", "float_denorm_mode_16_64 1",
                                    "dx10_clamp 0", "ieee_mode 0", "fp16_overflow 1", "exception_fp_ieee_inexact 1"});
  EXPECT_EQ(d.mode, 1u | 2u << 2 | 3u << 4 | 1u << 6 | 1u << 17 | 1u << 23);
  EXPECT_EQ(decoded("gfx906", {"next_free_vgpr 1", "next_free_sgpr 1", "dx10_clamp 1", "ieee_mode 0"}).mode, 0x1C0u);
}

TEST(KernelDescriptor, UnifiedRegisterFileIsSplitAtTheAccumOffset) {
  const auto d = decoded("gfx90a", {"next_free_vgpr 100", "next_free_sgpr 10", "accum_offset 36"});
  EXPECT_EQ(d.accum_offset, 36);
  EXPECT_EQ(d.vgprs, 36);
  EXPECT_EQ(d.agprs, 104 - 36);
  const auto whole = decoded("gfx942", {"next_free_vgpr 512", "next_free_sgpr 10", "accum_offset 256"});
  EXPECT_EQ(whole.vgprs, 256);
  EXPECT_EQ(whole.agprs, 256);
}

TEST(KernelDescriptor, SeparateAccumulationRegistersAreAsManyAsVgprs) {
  const auto d = decoded("gfx908", {"next_free_vgpr 30", "next_free_sgpr 10"});
  EXPECT_EQ(d.vgprs, 32);
  EXPECT_EQ(d.agprs, 32);
  EXPECT_EQ(d.accum_offset, 0);
}

TEST(KernelDescriptor, KernargPreload) {
  const auto d = decoded("gfx90a", {"next_free_vgpr 1", "next_free_sgpr 20", "accum_offset 4", "kernarg_size 64",
                                    "user_sgpr_kernarg_segment_ptr 1", "user_sgpr_kernarg_preload_length 5",
                                    "user_sgpr_kernarg_preload_offset 3"});
  EXPECT_EQ(d.kernarg_preload_length, 5);
  EXPECT_EQ(d.kernarg_preload_offset, 3);
  EXPECT_EQ(d.user_sgprs, 7);
}

TEST(KernelDescriptor, Wave32OfLaterGenerations) {
  const auto d = decoded("gfx1030", {"next_free_vgpr 20", "next_free_sgpr 20", "wavefront_size32 1"});
  EXPECT_TRUE(d.wave32);
  EXPECT_EQ(d.vgprs, 24);
  EXPECT_EQ(d.sgprs, 128);
  EXPECT_TRUE(d.wgp_mode);
}

TEST(KernelDescriptor, ThirtyTwoUserSgprsOfGfx1250) {
  const auto d = decoded("gfx1250", {"next_free_vgpr 20", "next_free_sgpr 40", "user_sgpr_count 32"});
  EXPECT_EQ(d.user_sgprs, 32);
  EXPECT_FALSE(d.trap_handler);
  EXPECT_EQ(d.vgprs, 32);
  EXPECT_TRUE(d.wave32);
}

/// What the decoder says of a descriptor of `processor` after `change`.
std::string refusal(const std::string& processor, void (*change)(RawKernelDescriptor&), support::ErrorKind kind) {
  auto directives = smallest;
  if (target::find_processor(processor)->unified_vgprs) directives.push_back("accum_offset 4");
  RawKernelDescriptor raw = assemble(processor, directives);
  change(raw);
  const auto result = decode_kernel_descriptor(raw, *target::find_processor(processor));
  EXPECT_FALSE(result);
  if (result) return {};
  EXPECT_EQ(result.error().kind, kind) << result.error().message;
  return result.error().message;
}

TEST(KernelDescriptor, NamesTheFieldThatAsksForTooMuch) {
  using Raw = RawKernelDescriptor;
  constexpr auto too_much = support::ErrorKind::out_of_resources;
  EXPECT_EQ(refusal(
                "gfx900", [](Raw& raw) { raw.group_segment_fixed_size = 65537; }, too_much),
            "the kernel descriptor's GROUP_SEGMENT_FIXED_SIZE asks for 65537 bytes of LDS, gfx900 has 65536");
  EXPECT_THAT(refusal(
                  "gfx90a", [](Raw& raw) { raw.private_segment_fixed_size = 0xFFFFFFFF; }, too_much),
              HasSubstr("PRIVATE_SEGMENT_FIXED_SIZE asks for 4294967295 bytes of scratch per lane"));
  EXPECT_THAT(refusal(
                  "gfx900", [](Raw& raw) { raw.compute_pgm_rsrc1 |= 15 << 6; }, too_much),
              HasSubstr("GRANULATED_WAVEFRONT_SGPR_COUNT asks for 128 SGPRs"));
  EXPECT_THAT(refusal(
                  "gfx900", [](Raw& raw) { raw.compute_pgm_rsrc2 |= 31 << 1; }, too_much),
              HasSubstr("USER_SGPR_COUNT asks for 31 user SGPRs"));
  EXPECT_THAT(refusal(
                  "gfx1030", [](Raw& raw) { raw.compute_pgm_rsrc1 |= 63; }, too_much),
              HasSubstr("GRANULATED_WORKITEM_VGPR_COUNT asks for 512 VGPRs"));
}

TEST(KernelDescriptor, NamesTheFieldThatMustNotBeSet) {
  using Raw = RawKernelDescriptor;
  constexpr auto invalid = support::ErrorKind::invalid_file;
  EXPECT_THAT(refusal(
                  "gfx900", [](Raw& raw) { raw.kernel_code_properties |= 1 << 10; }, invalid),
              HasSubstr("ENABLE_WAVEFRONT_SIZE32"));
  EXPECT_THAT(refusal(
                  "gfx942", [](Raw& raw) { raw.kernel_code_properties |= 1 << 5; }, invalid),
              HasSubstr("ENABLE_SGPR_FLAT_SCRATCH_INIT"));
  EXPECT_THAT(
      refusal("gfx906", [](Raw& raw) { raw.kernarg_preload = 2; }, invalid), HasSubstr("KERNARG_PRELOAD_SPEC_LENGTH"));
  EXPECT_THAT(refusal("gfx906", [](Raw& raw) { raw.compute_pgm_rsrc3 = 1; }, invalid), HasSubstr("ACCUM_OFFSET"));
  EXPECT_THAT(refusal(
                  "gfx90a", [](Raw& raw) { raw.compute_pgm_rsrc3 |= 63; }, invalid),
              HasSubstr("ACCUM_OFFSET puts the first AGPR at 256, beyond the 8 registers"));
  EXPECT_THAT(refusal("gfx906", [](Raw& raw) { raw.compute_pgm_rsrc1 |= 1 << 20; }, invalid), HasSubstr("PRIV"));
  EXPECT_THAT(refusal(
                  "gfx906", [](Raw& raw) { raw.compute_pgm_rsrc2 |= 3 << 11; }, invalid),
              HasSubstr("ENABLE_VGPR_WORKITEM_ID"));
  EXPECT_THAT(refusal("gfx906", [](Raw& raw) { raw.reserved1[7] = 1; }, invalid), HasSubstr("reserved bytes"));
  EXPECT_THAT(refusal(
                  "gfx90a",
                  [](Raw& raw) {
                    raw.kernarg_size = 8;
                    raw.kernarg_preload = 4;
                  },
                  invalid),
              HasSubstr("preloads 16 bytes of kernel arguments, of which there are 8"));
}

}  // namespace
}  // namespace Atoll::object

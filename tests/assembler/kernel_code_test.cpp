// The directives of code object V2 against LLVM 15's assembler, the last one that makes such objects.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "assembler/llvm_assembler.h"
#include "support/command.h"

namespace Atoll::test {
namespace {

constexpr const char* oracle = "llvm-mc-15 --amdhsa-code-object-version=2";

class KernelCode : public testing::TestWithParam<std::string> {};

std::string kernel(const std::string& name, const std::string& lines) {
  return fmt::format(
      ".p2align 8\n.amdgpu_hsa_kernel {0}\n.globl {0}\n{0}:\n"
      ".amd_kernel_code_t\n{1}.end_amd_kernel_code_t\n.long 0xbf810000\n.L{0}_end:\n.size {0}, .L{0}_end-{0}\n",
      name, lines);
}
const std::string start_of_object = ".hsa_code_object_version 2,1\n.hsa_code_object_isa\n";
std::string with_record(const std::string& lines) { return start_of_object + kernel("k", lines); }

TEST_P(KernelCode, IsUsualWithoutKeys) { expect_same_object(with_record(""), GetParam(), oracle); }

/// Every key that LLVM 15 reads, with the bits of its value that it has room for, each in a kernel of its own; and all
/// of them together.
TEST_P(KernelCode, HasEveryKeyAtItsPlace) {
  struct Key {
    const char* name;
    unsigned width;
  };
  constexpr Key keys[] = {
      {"amd_code_version_major", 32},
      {"kernel_code_version_major", 32},
      {"kernel_code_version_minor", 32},
      {"machine_kind", 16},
      {"machine_version_major", 16},
      {"machine_version_minor", 16},
      {"amd_machine_version_stepping", 16},
      {"machine_version_stepping", 16},
      {"kernel_code_entry_byte_offset", 62},
      {"kernel_code_prefetch_byte_size", 62},
      {"max_scratch_backing_memory_byte_size", 62},
      {"compute_pgm_rsrc1_vgprs", 6},
      {"granulated_workitem_vgpr_count", 5},
      {"compute_pgm_rsrc1_sgprs", 4},
      {"compute_pgm_rsrc1_priority", 2},
      {"compute_pgm_rsrc1_float_mode", 8},
      {"compute_pgm_rsrc1_priv", 1},
      {"compute_pgm_rsrc1_dx10_clamp", 1},
      {"compute_pgm_rsrc1_debug_mode", 1},
      {"compute_pgm_rsrc1_ieee_mode", 1},
      {"compute_pgm_rsrc2_scratch_en", 1},
      {"compute_pgm_rsrc2_user_sgpr", 5},
      {"compute_pgm_rsrc2_trap_handler", 1},
      {"compute_pgm_rsrc2_tgid_x_en", 1},
      {"compute_pgm_rsrc2_tgid_y_en", 1},
      {"compute_pgm_rsrc2_tgid_z_en", 1},
      {"enable_sgpr_workgroup_id_x", 1},
      {"compute_pgm_rsrc2_tg_size_en", 1},
      {"compute_pgm_rsrc2_tidig_comp_cnt", 2},
      {"compute_pgm_rsrc2_excp_en_msb", 2},
      {"compute_pgm_rsrc2_lds_size", 9},
      {"compute_pgm_rsrc2_excp_en", 7},
      {"enable_sgpr_private_segment_buffer", 1},
      {"enable_sgpr_dispatch_ptr", 1},
      {"enable_sgpr_queue_ptr", 1},
      {"enable_sgpr_kernarg_segment_ptr", 1},
      {"enable_sgpr_dispatch_id", 1},
      {"enable_sgpr_flat_scratch_init", 1},
      {"enable_sgpr_private_segment_size", 1},
      {"enable_sgpr_grid_workgroup_count_x", 1},
      {"enable_sgpr_grid_workgroup_count_y", 1},
      {"enable_sgpr_grid_workgroup_count_z", 1},
      {"enable_ordered_append_gds", 1},
      {"private_element_size", 2},
      {"is_ptr64", 1},
      {"is_dynamic_callstack", 1},
      {"is_debug_enabled", 1},
      {"is_xnack_enabled", 1},
      {"workitem_private_segment_byte_size", 32},
      {"workgroup_group_segment_byte_size", 32},
      {"gds_segment_byte_size", 32},
      {"kernarg_segment_byte_size", 62},
      {"workgroup_fbarrier_count", 32},
      {"wavefront_sgpr_count", 16},
      {"workitem_vgpr_count", 16},
      {"reserved_vgpr_first", 16},
      {"reserved_vgpr_count", 16},
      {"reserved_sgpr_first", 16},
      {"reserved_sgpr_count", 16},
      {"debug_wavefront_private_segment_offset_sgpr", 16},
      {"debug_private_segment_buffer_sgpr", 16},
      {"kernarg_segment_alignment", 8},
      {"group_segment_alignment", 8},
      {"private_segment_alignment", 8},
      {"call_convention", 31},
      {"runtime_loader_kernel_symbol", 62},
  };
  std::string all, kernels = start_of_object;
  for (const Key& key : keys) {
    kernels += kernel(key.name, fmt::format("  {} = {:#x}\n", key.name, (uint64_t{1} << key.width) - 1));
    all += fmt::format("  {} = 1\n", key.name);
  }
  expect_same_object(kernels, GetParam(), oracle);
  expect_same_object(with_record(all), GetParam(), oracle);
}

/// Output of clang 15 for a kernel, including its metadata and other notes.
TEST(KernelCodeText, OfClangGivesTheSameObject) {
  const TemporaryDirectory directory;
  write_file(directory / "k.cl", "kernel void k(global float *out, float x, local int *part) { *out = x + *part; }");
  const auto clang = run_command(
      "clang-15 --target=amdgcn-amd-amdhsa -mcpu=gfx900 -nogpulib -O1 -Wno-deprecated "
      "-mcode-object-version=2 -cl-kernel-arg-info -S -o - " +
      (directory / "k.cl"));
  ASSERT_EQ(clang.exit_code, 0);
  EXPECT_NE(clang.output.find(".amd_amdgpu_hsa_metadata"), std::string::npos);
  expect_same_object(clang.output, "gfx900", oracle);
}

INSTANTIATE_TEST_SUITE_P(Processors, KernelCode,
                         testing::Values("gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx1010"),
                         [](const auto& info) { return std::string(info.param); });

TEST(KernelCodeErrors, AreFoundWithTheirPlaces) {
  const auto atoll = atoll_assemble(
      ".amd_kernel_code_t\n no_such_key = 1\n priority 1\n priority = x\n.end_amd_kernel_code_t\n", "gfx900");
  EXPECT_TRUE(atoll.object.empty());
  EXPECT_EQ(error_places(atoll.messages), (std::vector<std::string>{"2:2", "3:11", "4:13"})) << atoll.messages;
}

}  // namespace
}  // namespace Atoll::test

// .amdhsa_kernel on every processor: what llvm-mc-22 refuses Atoll refuses, and descriptors are the same. Of processors
// that llvm-mc-22 does not know, those of the one that takes their place are; GFX11.7 has neither IEEE nor DX10_CLAMP
// besides (llvm-project, pull request 182107), so its descriptors are those with both off.
#include <algorithm>
#include <ranges>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "assembler/llvm_assembler.h"
#include "support/llvm_processors.h"
#include "target/processor.h"

namespace Atoll::target {
void PrintTo(const Processor& processor, std::ostream* out);
void PrintTo(const Processor& processor, std::ostream* out) { *out << processor.name; }
}  // namespace Atoll::target

namespace Atoll::test {
namespace {

/// A directive with a value that is not its default, or a few.
constexpr const char* directives[] = {
    "group_segment_fixed_size 1024",
    "private_segment_fixed_size 32",
    "kernarg_size 80",
    "user_sgpr_count 15",
    "user_sgpr_private_segment_buffer 1",
    "user_sgpr_dispatch_ptr 1",
    "user_sgpr_queue_ptr 1",
    "user_sgpr_kernarg_segment_ptr 1",
    "user_sgpr_dispatch_id 1",
    "user_sgpr_flat_scratch_init 1",
    "user_sgpr_private_segment_size 1",
    "user_sgpr_kernarg_preload_length 3",
    "user_sgpr_kernarg_preload_offset 5",
    "wavefront_size32 1",
    "wavefront_size32 0",
    "uses_dynamic_stack 1",
    "system_sgpr_private_segment_wavefront_offset 1",
    "enable_private_segment 1",
    "system_sgpr_workgroup_id_x 0",
    "system_sgpr_workgroup_id_y 1",
    "system_sgpr_workgroup_id_z 1",
    "system_sgpr_workgroup_info 1",
    "system_vgpr_workitem_id 2",
    "reserve_vcc 0",
    "reserve_flat_scratch 0",
    "reserve_flat_scratch 1",
    "reserve_xnack_mask 0",
    "reserve_xnack_mask 1",
    "float_round_mode_32 3",
    "float_round_mode_16_64 2",
    "float_denorm_mode_32 1",
    "float_denorm_mode_16_64 0",
    "dx10_clamp 0",
    "ieee_mode 0",
    "fp16_overflow 1",
    "tg_split 1",
    "workgroup_processor_mode 0",
    "memory_ordered 0",
    "forward_progress 1",
    "shared_vgpr_count 0",
    "inst_pref_size 5",
    "round_robin_scheduling 1",
    "named_barrier_count 2",
    "exception_fp_ieee_invalid_op 1",
    "exception_fp_denorm_src 1",
    "exception_fp_ieee_div_zero 1",
    "exception_fp_ieee_overflow 1",
    "exception_fp_ieee_underflow 1",
    "exception_fp_ieee_inexact 1",
    "exception_int_div_zero 1",
};

std::string kernel(const target::Processor& processor, const std::string& name, int vgprs, int sgprs,
                   const std::string& more) {
  std::string text =
      fmt::format(".amdhsa_kernel {}\n  .amdhsa_next_free_vgpr {}\n  .amdhsa_next_free_sgpr {}\n", name, vgprs, sgprs);
  if (processor.unified_vgprs) text += fmt::format("  .amdhsa_accum_offset {}\n", (vgprs + 3) / 4 * 4);
  return text + more + ".end_amdhsa_kernel\n";
}

constexpr size_t elf_machine_offset = 48;  // e_flags of an Elf64_Ehdr

/// Whether the directive is for a bit that the processor has not, although the one in its place has it.
bool is_gone(const target::Processor& processor, std::string_view directive) {
  return is_gfx11_7(processor.name) && (directive.starts_with("dx10_clamp") || directive.starts_with("ieee_mode"));
}

class Descriptors : public testing::TestWithParam<target::Processor> {};

TEST_P(Descriptors, AsLlvmHasThem) {
  const target::Processor& processor = GetParam();
  const std::string name(processor.name), llvm_name(llvm_processor(name));
  // First which directives there are, each in a kernel of its own with its own message; then all that there are at
  // once.
  std::string everything = ".globl defined\n.type defined,@function\ndefined: .long 0\n.section .rodata\n";
  for (const int vgprs : {1, 5, 24, 37, 128, 255}) {
    everything += kernel(processor, fmt::format("v{}", vgprs), vgprs, vgprs % 90 + 1, "");
  }
  everything += kernel(processor, "defined", 1, 1, "");
  std::string each;
  for (size_t i = 0; i < std::size(directives); ++i) {
    each += kernel(processor, fmt::format("k{}", i), 8, 9, fmt::format("  .amdhsa_{}\n", directives[i]));
  }
  const auto lines_of = [&](const LlvmAssembled& result) {
    std::vector<int> lines;
    for (const std::string& place : error_places(result.messages)) {
      // A kernel whose directive is refused may be complained of more than once.
      const int index = (std::stoi(place) - 1) / (processor.unified_vgprs ? 6 : 5);
      if (lines.empty() || lines.back() != index) lines.push_back(index);
    }
    return lines;
  };
  std::vector<int> refused = lines_of(llvm_assemble(each, llvm_name));
  for (size_t i = 0; i < std::size(directives); ++i) {
    if (is_gone(processor, directives[i])) refused.push_back(static_cast<int>(i));
  }
  std::ranges::sort(refused);
  EXPECT_EQ(lines_of(atoll_assemble(each, name)), refused);
  for (size_t i = 0; i < std::size(directives); ++i) {
    if (std::ranges::find(refused, static_cast<int>(i)) != refused.end()) continue;
    everything += kernel(processor, fmt::format("k{}", i), 8, 9, fmt::format("  .amdhsa_{}\n", directives[i]));
  }
  if (llvm_name == name) {
    expect_same_object(everything, name);
    return;
  }
  std::string of_other;
  for (const std::string_view line :
       std::views::split(everything, '\n') | std::views::transform([](auto part) { return std::string_view(part); })) {
    const bool ends = line == ".end_amdhsa_kernel" && is_gfx11_7(name);
    (of_other += ends ? "  .amdhsa_dx10_clamp 0\n  .amdhsa_ieee_mode 0\n" : "") += line;
    of_other += '\n';
  }
  const LlvmAssembled ours = atoll_assemble(everything, name);
  LlvmAssembled theirs = llvm_assemble(of_other, llvm_name);
  ASSERT_GT(theirs.object.size(), elf_machine_offset) << theirs.messages;
  ASSERT_FALSE(ours.object.empty()) << ours.messages;
  EXPECT_EQ(theirs.object[elf_machine_offset], target::find_processor(llvm_name)->elf_machine);
  theirs.object[elf_machine_offset] = static_cast<uint8_t>(processor.elf_machine);
  if (processor.generic) theirs.object[elf_machine_offset + 3] = 1;  // version of the generic processor
  EXPECT_EQ(theirs.object, ours.object);
}

/// How GoogleTest names a parameter.

INSTANTIATE_TEST_SUITE_P(Processors, Descriptors,
                         testing::ValuesIn(target::processors().begin(), target::processors().end()),
                         [](const auto& instance) {
                           std::string name(instance.param.name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace Atoll::test

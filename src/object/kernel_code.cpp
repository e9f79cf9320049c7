// object: the fields of amd_kernel_code_t (kernel_code.h).
#include "object/kernel_code.h"

#include <algorithm>
#include <iterator>

#include "object/kernel_descriptor_fields.h"

namespace Atoll::object {

namespace {

constexpr unsigned resources1 = 48 * 8, resources2 = 52 * 8, properties = 56 * 8;  // COMPUTE_PGM_RSRC1 and 2

constexpr KernelCodeField fields[] = {
    {"amd_code_version_major", "kernel_code_version_major", 0, 32, 1},
    {"amd_code_version_minor", "kernel_code_version_minor", 4 * 8, 32, 2},
    {"amd_machine_kind", "machine_kind", 8 * 8, 16, 1},
    {"amd_machine_version_major", "machine_version_major", 10 * 8, 16},
    {"amd_machine_version_minor", "machine_version_minor", 12 * 8, 16},
    {"amd_machine_version_stepping", "machine_version_stepping", 14 * 8, 16},
    {"kernel_code_entry_byte_offset", "", 16 * 8, 64, sizeof(RawKernelCode)},
    {"kernel_code_prefetch_byte_offset", "", 24 * 8, 64, 0, KernelCodeKey::none},
    {"kernel_code_prefetch_byte_size", "", 32 * 8, 64},
    {"max_scratch_backing_memory_byte_size", "", 40 * 8, 64, 0, KernelCodeKey::ignored},
    {"granulated_workitem_vgpr_count", "compute_pgm_rsrc1_vgprs", resources1, 6},
    {"granulated_wavefront_sgpr_count", "compute_pgm_rsrc1_sgprs", resources1 + 6, 4},
    {"priority", "compute_pgm_rsrc1_priority", resources1 + 10, 2},
    {"float_mode", "compute_pgm_rsrc1_float_mode", resources1 + 12, 8},
    {"priv", "compute_pgm_rsrc1_priv", resources1 + 20, 1},
    {"enable_dx10_clamp", "compute_pgm_rsrc1_dx10_clamp", resources1 + 21, 1},
    {"debug_mode", "compute_pgm_rsrc1_debug_mode", resources1 + 22, 1},
    {"enable_ieee_mode", "compute_pgm_rsrc1_ieee_mode", resources1 + 23, 1},
    {"bulky", "", resources1 + 24, 1, 0, KernelCodeKey::none},
    {"cdbg_user", "", resources1 + 25, 1, 0, KernelCodeKey::none},
    {"enable_wgp_mode", "compute_pgm_rsrc1_wgp_mode", resources1 + 29, 1},
    {"enable_mem_ordered", "compute_pgm_rsrc1_mem_ordered", resources1 + 30, 1},
    {"enable_fwd_progress", "compute_pgm_rsrc1_fwd_progress", resources1 + 31, 1},
    {"enable_sgpr_private_segment_wave_byte_offset", "compute_pgm_rsrc2_scratch_en", resources2, 1},
    {"user_sgpr_count", "compute_pgm_rsrc2_user_sgpr", resources2 + 1, 5},
    {"enable_trap_handler", "compute_pgm_rsrc2_trap_handler", resources2 + 6, 1},
    {"enable_sgpr_workgroup_id_x", "compute_pgm_rsrc2_tgid_x_en", resources2 + 7, 1},
    {"enable_sgpr_workgroup_id_y", "compute_pgm_rsrc2_tgid_y_en", resources2 + 8, 1},
    {"enable_sgpr_workgroup_id_z", "compute_pgm_rsrc2_tgid_z_en", resources2 + 9, 1},
    {"enable_sgpr_workgroup_info", "compute_pgm_rsrc2_tg_size_en", resources2 + 10, 1},
    {"enable_vgpr_workitem_id", "compute_pgm_rsrc2_tidig_comp_cnt", resources2 + 11, 2},
    {"enable_exception_msb", "compute_pgm_rsrc2_excp_en_msb", resources2 + 13, 2},
    {"granulated_lds_size", "compute_pgm_rsrc2_lds_size", resources2 + 15, 9},
    {"enable_exception", "compute_pgm_rsrc2_excp_en", resources2 + 24, 7},
    {"enable_sgpr_private_segment_buffer", "", properties, 1},
    {"enable_sgpr_dispatch_ptr", "", properties + 1, 1},
    {"enable_sgpr_queue_ptr", "", properties + 2, 1},
    {"enable_sgpr_kernarg_segment_ptr", "", properties + 3, 1},
    {"enable_sgpr_dispatch_id", "", properties + 4, 1},
    {"enable_sgpr_flat_scratch_init", "", properties + 5, 1},
    {"enable_sgpr_private_segment_size", "", properties + 6, 1},
    {"enable_sgpr_grid_workgroup_count_x", "", properties + 7, 1},
    {"enable_sgpr_grid_workgroup_count_y", "", properties + 8, 1},
    {"enable_sgpr_grid_workgroup_count_z", "", properties + 9, 1},
    {"enable_wavefront_size32", "", properties + 10, 1},
    {"enable_ordered_append_gds", "", properties + 16, 1},
    {"private_element_size", "", properties + 17, 2},
    {"is_ptr64", "", properties + 19, 1},
    {"is_dynamic_callstack", "", properties + 20, 1},
    {"is_debug_enabled", "", properties + 21, 1},
    {"is_xnack_enabled", "", properties + 22, 1},
    {"workitem_private_segment_byte_size", "", 60 * 8, 32},
    {"workgroup_group_segment_byte_size", "", 64 * 8, 32},
    {"gds_segment_byte_size", "", 68 * 8, 32},
    {"kernarg_segment_byte_size", "", 72 * 8, 64},
    {"workgroup_fbarrier_count", "", 80 * 8, 32},
    {"wavefront_sgpr_count", "", 84 * 8, 16},
    {"workitem_vgpr_count", "", 86 * 8, 16},
    {"reserved_vgpr_first", "", 88 * 8, 16},
    {"reserved_vgpr_count", "", 90 * 8, 16},
    {"reserved_sgpr_first", "", 92 * 8, 16},
    {"reserved_sgpr_count", "", 94 * 8, 16},
    {"debug_wavefront_private_segment_offset_sgpr", "", 96 * 8, 16},
    {"debug_private_segment_buffer_sgpr", "", 98 * 8, 16},
    {"kernarg_segment_alignment", "", 100 * 8, 8, 4},  // these are exponents of 2
    {"group_segment_alignment", "", 101 * 8, 8, 4},
    {"private_segment_alignment", "", 102 * 8, 8, 4},
    {"wavefront_size", "", 103 * 8, 8, 6},
    {"call_convention", "", 104 * 8, 32, 0xFFFFFFFF},
    {"runtime_loader_kernel_symbol", "", 120 * 8, 64},
};

}  // namespace

std::span<const KernelCodeField> kernel_code_fields() { return fields; }

const KernelCodeField& kernel_code_field(std::string_view name) {
  return *std::ranges::find(fields, name, &KernelCodeField::name);
}

uint64_t KernelCodeField::of(const RawKernelCode& code) const {
  uint64_t value = 0;
  for (unsigned i = 0; i < width; ++i) value |= uint64_t{code[(bit + i) / 8] >> (bit + i) % 8 & 1u} << i;
  return value;
}

void KernelCodeField::set(RawKernelCode& code, uint64_t value) const {
  for (unsigned i = 0; i < width; ++i) {
    const unsigned at = bit + i;
    const auto mask = static_cast<uint8_t>(1u << at % 8);
    code[at / 8] = static_cast<uint8_t>((value >> i & 1) != 0 ? code[at / 8] | mask : code[at / 8] & ~mask);
  }
}

RawKernelDescriptor descriptor_of(const RawKernelCode& code, const target::Processor& processor) {
  const auto field = [&](std::string_view name) { return kernel_code_field(name).of(code); };
  const auto word = [&](unsigned bit) {
    return static_cast<uint32_t>(
        KernelCodeField{.name = {}, .older_key = {}, .bit = static_cast<uint16_t>(bit), .width = 32}.of(code));
  };
  // Fields that the packet processor sets itself, whatever the record contains: priority, privilege, debugging
  // and traps, and the LDS size, which the packet states.
  constexpr uint32_t own1 = 1u << 10 | 1u << 11 | 1u << 20 | 1u << 22 | 1u << 24 | 1u << 25;
  constexpr uint32_t own2 = 1u << 6 | 3u << 13 | 0x1FFu << 15;
  RawKernelDescriptor descriptor{};
  descriptor.group_segment_fixed_size = static_cast<uint32_t>(field("workgroup_group_segment_byte_size"));
  descriptor.private_segment_fixed_size = static_cast<uint32_t>(field("workitem_private_segment_byte_size"));
  descriptor.kernarg_size = static_cast<uint32_t>(std::min<uint64_t>(field("kernarg_segment_byte_size"), UINT32_MAX));
  descriptor.kernel_code_entry_byte_offset = static_cast<int64_t>(field("kernel_code_entry_byte_offset"));
  descriptor.compute_pgm_rsrc1 = word(resources1) & ~own1;
  descriptor.compute_pgm_rsrc2 = word(resources2) & ~own2;
  constexpr uint32_t same_properties = 0x7F | 1u << 10;  // which SGPRs are set up, and waves of 32 lanes
  descriptor.kernel_code_properties =
      static_cast<uint16_t>((word(properties) & same_properties) | field("is_dynamic_callstack") << 11);
  if (processor.unified_vgprs) {  // younger than the record: all registers that the record requests are VGPRs
    const uint32_t vgprs = (descriptor_field::vgpr_count.of(descriptor) + 1) * processor.vgpr_granule;
    descriptor.compute_pgm_rsrc3 = vgprs / 4 - 1;  // ACCUM_OFFSET
  }
  return descriptor;
}

support::Result<KernelDescriptor> decode_kernel_code(const RawKernelCode& code, const target::Processor& processor) {
  auto descriptor = decode_kernel_descriptor(descriptor_of(code, processor), processor);
  if (!descriptor) return descriptor;
  constexpr std::string_view counts[] = {"enable_sgpr_grid_workgroup_count_x", "enable_sgpr_grid_workgroup_count_y",
                                         "enable_sgpr_grid_workgroup_count_z"};
  for (size_t i = 0; i < std::size(counts); ++i)
    descriptor->grid_work_groups[i] = kernel_code_field(counts[i]).of(code) != 0;
  return descriptor;
}

}  // namespace Atoll::object

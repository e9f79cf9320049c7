// object: decoding kernel descriptors.
//
// Each bit field is named once, below, with its place; names are the user guide's. What a processor's
// generation makes of a field (granules, counts, whether it exists) comes from the target table.
#include "object/kernel_descriptor.h"

#include <algorithm>
#include <string_view>

namespace Atoll::object {

using support::ErrorKind;
using support::fail;
using support::Result;
using target::FlatScratch;
using target::Processor;

namespace {

struct Field {
  std::string_view name;
  unsigned shift, width;
  constexpr uint32_t of(uint32_t word) const { return word >> shift & ((uint32_t{1} << width) - 1); }
};

// COMPUTE_PGM_RSRC1
constexpr Field vgpr_count{"GRANULATED_WORKITEM_VGPR_COUNT", 0, 6};
constexpr Field sgpr_count{"GRANULATED_WAVEFRONT_SGPR_COUNT", 6, 4};
constexpr Field priority{"PRIORITY", 10, 2};
constexpr Field float_mode{"FLOAT_ROUND_MODE and FLOAT_DENORM_MODE", 12, 8};
constexpr Field priv{"PRIV", 20, 1};
constexpr Field dx10_clamp{"ENABLE_DX10_CLAMP", 21, 1};
constexpr Field debug_mode{"DEBUG_MODE", 22, 1};
constexpr Field ieee_mode{"ENABLE_IEEE_MODE", 23, 1};
constexpr Field bulky{"BULKY", 24, 1};
constexpr Field cdbg_user{"CDBG_USER", 25, 1};
constexpr Field fp16_ovfl{"FP16_OVFL", 26, 1};
constexpr Field rsrc1_reserved{"the reserved bits of COMPUTE_PGM_RSRC1", 27, 2};
constexpr Field wgp_mode{"WGP_MODE", 29, 1};
constexpr Field mem_ordered{"MEM_ORDERED", 30, 1};
constexpr Field fwd_progress{"FWD_PROGRESS", 31, 1};

// COMPUTE_PGM_RSRC2
constexpr Field private_segment{"ENABLE_PRIVATE_SEGMENT", 0, 1};
constexpr Field user_sgpr_count{"USER_SGPR_COUNT", 1, 5};
constexpr Field trap_handler{"ENABLE_TRAP_HANDLER", 6, 1};
constexpr Field work_group_id_x{"ENABLE_SGPR_WORKGROUP_ID_X", 7, 1};
constexpr Field work_group_id_y{"ENABLE_SGPR_WORKGROUP_ID_Y", 8, 1};
constexpr Field work_group_id_z{"ENABLE_SGPR_WORKGROUP_ID_Z", 9, 1};
constexpr Field work_group_info{"ENABLE_SGPR_WORKGROUP_INFO", 10, 1};
constexpr Field work_item_id{"ENABLE_VGPR_WORKITEM_ID", 11, 2};
constexpr Field exception_address_watch{"ENABLE_EXCEPTION_ADDRESS_WATCH", 13, 1};
constexpr Field exception_memory{"ENABLE_EXCEPTION_MEMORY", 14, 1};
constexpr Field lds_size{"GRANULATED_LDS_SIZE", 15, 9};
constexpr Field exceptions{"ENABLE_EXCEPTION_*", 24, 7};
constexpr Field rsrc2_reserved{"bit 31 of COMPUTE_PGM_RSRC2", 31, 1};

// COMPUTE_PGM_RSRC3 of gfx90a and gfx942, and of GFX10
constexpr Field accum_offset{"ACCUM_OFFSET", 0, 6};
constexpr Field rsrc3_reserved0{"bits 6 to 15 of COMPUTE_PGM_RSRC3", 6, 10};
constexpr Field rsrc3_reserved1{"bits 17 to 31 of COMPUTE_PGM_RSRC3", 17, 15};
constexpr Field shared_vgpr_count{"SHARED_VGPR_COUNT", 0, 4};

// KERNEL_CODE_PROPERTIES
constexpr Field private_segment_buffer{"ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER", 0, 1};
constexpr Field dispatch_ptr{"ENABLE_SGPR_DISPATCH_PTR", 1, 1};
constexpr Field queue_ptr{"ENABLE_SGPR_QUEUE_PTR", 2, 1};
constexpr Field kernarg_segment_ptr{"ENABLE_SGPR_KERNARG_SEGMENT_PTR", 3, 1};
constexpr Field dispatch_id{"ENABLE_SGPR_DISPATCH_ID", 4, 1};
constexpr Field flat_scratch_init{"ENABLE_SGPR_FLAT_SCRATCH_INIT", 5, 1};
constexpr Field private_segment_size{"ENABLE_SGPR_PRIVATE_SEGMENT_SIZE", 6, 1};
constexpr Field properties_reserved0{"bits 7 to 9 of KERNEL_CODE_PROPERTIES", 7, 3};
constexpr Field wavefront_size32{"ENABLE_WAVEFRONT_SIZE32", 10, 1};
constexpr Field uses_dynamic_stack{"USES_DYNAMIC_STACK", 11, 1};
constexpr Field properties_reserved1{"bits 12 to 15 of KERNEL_CODE_PROPERTIES", 12, 4};

// KERNARG_PRELOAD
constexpr Field preload_length{"KERNARG_PRELOAD_SPEC_LENGTH", 0, 7};
constexpr Field preload_offset{"KERNARG_PRELOAD_SPEC_OFFSET", 7, 9};

/// The most SGPRs that a wave can be given: on GFX6 to GFX9 the addressable ones with VCC, FLAT_SCRATCH and
/// XNACK_MASK, rounded up; from GFX10 on all that there are.
constexpr uint32_t most_sgprs = 112, all_sgprs = 128;

template <size_t N>
bool all_zero(const uint8_t (&bytes)[N]) {
  return std::ranges::all_of(bytes, [](uint8_t byte) { return byte == 0; });
}

/// An error when the descriptor sets what must be 0 on this processor. (GRANULATED_WAVEFRONT_SGPR_COUNT must be too,
/// from GFX10 on, but clang 15 writes it and hardware takes no notice.)
Result<void> check_reserved(const RawKernelDescriptor& raw, const Processor& processor) {
  struct Check {
    const Field& field;
    uint32_t word;
    bool exists;  ///< on this processor, so that it may be set
  };
  const bool work_group_processors = processor.work_group_processors;  // these have another RSRC3
  const bool architected = processor.flat_scratch == FlatScratch::architected;
  const Check checks[] = {
      {priority, raw.compute_pgm_rsrc1, false},
      {priv, raw.compute_pgm_rsrc1, false},
      {debug_mode, raw.compute_pgm_rsrc1, false},
      {bulky, raw.compute_pgm_rsrc1, false},
      {cdbg_user, raw.compute_pgm_rsrc1, false},
      {fp16_ovfl, raw.compute_pgm_rsrc1, processor.fp16_ovfl_mode},
      {rsrc1_reserved, raw.compute_pgm_rsrc1, false},
      {wgp_mode, raw.compute_pgm_rsrc1, work_group_processors},
      {mem_ordered, raw.compute_pgm_rsrc1, work_group_processors},
      {fwd_progress, raw.compute_pgm_rsrc1, work_group_processors},
      {ieee_mode, raw.compute_pgm_rsrc1, processor.ieee_mode},
      {exception_address_watch, raw.compute_pgm_rsrc2, false},
      {exception_memory, raw.compute_pgm_rsrc2, false},
      {lds_size, raw.compute_pgm_rsrc2, false},
      {rsrc2_reserved, raw.compute_pgm_rsrc2, false},
      {rsrc3_reserved0, raw.compute_pgm_rsrc3, work_group_processors},
      {rsrc3_reserved1, raw.compute_pgm_rsrc3, work_group_processors},
      {accum_offset, raw.compute_pgm_rsrc3, processor.unified_vgprs || work_group_processors},
      {private_segment_buffer, raw.kernel_code_properties, !architected},
      {flat_scratch_init, raw.kernel_code_properties, !architected && processor.flat_scratch != FlatScratch::none},
      {properties_reserved0, raw.kernel_code_properties, false},
      {wavefront_size32, raw.kernel_code_properties, (processor.wave_sizes & 1) != 0},
      {properties_reserved1, raw.kernel_code_properties, false},
      {preload_length, raw.kernarg_preload, processor.kernarg_preload},
      {preload_offset, raw.kernarg_preload, processor.kernarg_preload},
  };
  for (const auto& [field, word, exists] : checks)
    if (!exists && field.of(word) != 0)
      return fail(ErrorKind::invalid_file, "the kernel descriptor sets {} to {}, which must be 0 on {}", field.name,
                  field.of(word), processor.name);
  if (!all_zero(raw.reserved0) || !all_zero(raw.reserved1) || !all_zero(raw.reserved3))
    return fail(ErrorKind::invalid_file, "the kernel descriptor sets reserved bytes, which must be 0");
  return {};
}

std::unexpected<support::Error> too_much(std::string_view field, uint64_t wanted, std::string_view unit,
                                         const Processor& processor, uint64_t most) {
  return fail(ErrorKind::out_of_resources, "the kernel descriptor's {} asks for {} {}, {} has {}", field, wanted, unit,
              processor.name, most);
}

/// The register counts, which take four fields and the processor's granules to know.
Result<void> decode_registers(const RawKernelDescriptor& raw, const Processor& processor, KernelDescriptor& result) {
  const uint32_t granule = result.wave32 ? processor.vgpr_granule_wave32 : processor.vgpr_granule;
  const uint32_t allocated = (vgpr_count.of(raw.compute_pgm_rsrc1) + 1) * granule;
  if (allocated > processor.addressable_vgprs)
    return too_much(vgpr_count.name, allocated, "VGPRs", processor, processor.addressable_vgprs);
  result.vgprs = static_cast<uint16_t>(allocated);
  if (processor.unified_vgprs) {
    const uint32_t first_agpr = (accum_offset.of(raw.compute_pgm_rsrc3) + 1) * 4;
    if (first_agpr > allocated)
      return fail(ErrorKind::invalid_file,
                  "the kernel descriptor's ACCUM_OFFSET puts the first AGPR at {}, behind the {} registers that {} "
                  "asks for",
                  first_agpr, allocated, vgpr_count.name);
    result.accum_offset = static_cast<uint16_t>(first_agpr);
    result.vgprs = static_cast<uint16_t>(first_agpr);
    result.agprs = static_cast<uint16_t>(allocated - first_agpr);
  } else if (processor.has_agprs) {
    result.agprs = result.vgprs;  // a file of its own, of the same size
  } else if (processor.shared_vgprs && shared_vgpr_count.of(raw.compute_pgm_rsrc3) != 0) {
    return fail(ErrorKind::unsupported,
                "the kernel descriptor asks for shared VGPRs (SHARED_VGPR_COUNT), which Atoll "
                "does not implement");
  }

  const uint32_t sgprs = processor.fixed_sgprs ? all_sgprs : (sgpr_count.of(raw.compute_pgm_rsrc1) + 1) * 8;
  if (!processor.fixed_sgprs && sgprs > most_sgprs)
    return too_much(sgpr_count.name, sgprs, "SGPRs", processor, most_sgprs);
  result.sgprs = static_cast<uint16_t>(sgprs);
  return {};
}

/// The initial MODE register: the float modes in bits 0 to 7, then DX10_CLAMP, IEEE, the enabled exceptions from bit
/// 12 on, and FP16_OVFL in bit 23 (ISA documents, "MODE register").
uint32_t initial_mode(const RawKernelDescriptor& raw, const Processor& processor) {
  const uint32_t clamp = processor.ieee_mode ? dx10_clamp.of(raw.compute_pgm_rsrc1) : 0;  // GFX12: WG_RR_EN
  return float_mode.of(raw.compute_pgm_rsrc1) | clamp << 8 | ieee_mode.of(raw.compute_pgm_rsrc1) << 9 |
         exceptions.of(raw.compute_pgm_rsrc2) << 12 | fp16_ovfl.of(raw.compute_pgm_rsrc1) << 23;
}

}  // namespace

Result<KernelDescriptor> decode_kernel_descriptor(const RawKernelDescriptor& raw, const Processor& processor) {
  if (auto ok = check_reserved(raw, processor); !ok) return std::unexpected(ok.error());

  const auto property = [&](const Field& field) { return field.of(raw.kernel_code_properties) != 0; };
  const auto rsrc1 = [&](const Field& field) { return field.of(raw.compute_pgm_rsrc1) != 0; };
  const auto rsrc2 = [&](const Field& field) { return field.of(raw.compute_pgm_rsrc2) != 0; };

  KernelDescriptor result{};
  result.group_segment_fixed_size = raw.group_segment_fixed_size;
  result.private_segment_fixed_size = raw.private_segment_fixed_size;
  result.kernarg_size = raw.kernarg_size;
  result.entry_offset = raw.kernel_code_entry_byte_offset;
  result.wave32 = property(wavefront_size32) || processor.wave_sizes == 1;

  if (raw.group_segment_fixed_size > processor.lds_bytes)
    return too_much("GROUP_SEGMENT_FIXED_SIZE", raw.group_segment_fixed_size, "bytes of LDS", processor,
                    processor.lds_bytes);
  const uint32_t lanes = result.wave32 ? 32 : 64;
  if (raw.private_segment_fixed_size > processor.scratch_bytes_per_wave / lanes)
    return too_much("PRIVATE_SEGMENT_FIXED_SIZE", raw.private_segment_fixed_size, "bytes of scratch per lane",
                    processor, processor.scratch_bytes_per_wave / lanes);
  if (auto ok = decode_registers(raw, processor, result); !ok) return std::unexpected(ok.error());
  result.mode = initial_mode(raw, processor);

  result.private_segment_buffer = property(private_segment_buffer);
  result.dispatch_ptr = property(dispatch_ptr);
  result.queue_ptr = property(queue_ptr);
  result.kernarg_segment_ptr = property(kernarg_segment_ptr);
  result.dispatch_id = property(dispatch_id);
  result.flat_scratch_init = property(flat_scratch_init);
  result.private_segment_size = property(private_segment_size);
  result.uses_dynamic_stack = property(uses_dynamic_stack);

  result.work_group_id_x = rsrc2(work_group_id_x);
  result.work_group_id_y = rsrc2(work_group_id_y);
  result.work_group_id_z = rsrc2(work_group_id_z);
  result.work_group_info = rsrc2(work_group_info);
  result.private_segment = rsrc2(private_segment);
  result.trap_handler = rsrc2(trap_handler);
  result.work_item_ids = static_cast<uint8_t>(work_item_id.of(raw.compute_pgm_rsrc2));
  if (result.work_item_ids > 2)
    return fail(ErrorKind::invalid_file, "the kernel descriptor sets {} to 3, which means nothing", work_item_id.name);

  result.wgp_mode = processor.work_group_processors && rsrc1(wgp_mode);
  result.forward_progress = processor.work_group_processors && rsrc1(fwd_progress);

  result.kernarg_preload_length = static_cast<uint16_t>(preload_length.of(raw.kernarg_preload));
  result.kernarg_preload_offset = static_cast<uint16_t>(preload_offset.of(raw.kernarg_preload));
  const uint32_t preload_end = preload_length.of(raw.kernarg_preload) + preload_offset.of(raw.kernarg_preload);
  if (raw.kernarg_size != 0 && result.kernarg_preload_length != 0 && uint64_t{preload_end} * 4 > raw.kernarg_size)
    return fail(ErrorKind::invalid_file,
                "the kernel descriptor preloads {} bytes of kernel arguments, of which there are {} (KERNARG_SIZE)",
                preload_end * 4, raw.kernarg_size);

  // Where there are 32, the count takes the bit that is ENABLE_TRAP_HANDLER elsewhere.
  const bool wide = processor.user_sgprs > 31;
  const uint32_t user_sgprs = user_sgpr_count.of(raw.compute_pgm_rsrc2) | (wide && result.trap_handler ? 32 : 0);
  if (user_sgprs > processor.user_sgprs)
    return too_much(user_sgpr_count.name, user_sgprs, "user SGPRs", processor, processor.user_sgprs);
  result.user_sgprs = static_cast<uint8_t>(user_sgprs);
  if (wide) result.trap_handler = false;
  return result;
}

}  // namespace Atoll::object

// object: decoding kernel descriptors.
//
// The bit fields are those of kernel_descriptor_fields.h. What a processor's generation makes of a field (granules,
// counts) comes from the target table.
#include "object/kernel_descriptor.h"

#include <algorithm>
#include <string_view>

#include "object/dynamic_vgprs.h"
#include "object/kernel_descriptor_fields.h"

namespace Atoll::object {

using support::ErrorKind;
using support::fail;
using support::Result;
using target::FlatScratch;
using target::Processor;

namespace {

using namespace descriptor_field;

/// The most SGPRs that a wave can be given: on GFX6 to GFX9 the addressable ones with VCC, FLAT_SCRATCH and
/// XNACK_MASK, rounded up; from GFX10 on all that there are.
constexpr uint32_t max_sgprs = 112, all_sgprs = 128;

template <size_t N>
bool all_zero(const uint8_t (&bytes)[N]) {
  return std::ranges::all_of(bytes, [](uint8_t byte) { return byte == 0; });
}

/// An error when the descriptor sets what must be 0 on this processor.
Result<void> check_reserved(const RawKernelDescriptor& raw, const Processor& processor) {
  // A bit may belong to several fields. It may be set if any field of this processor covers it.
  uint32_t known[5]{};
  for (const DescriptorField* field : all) {
    if (field->exists(processor)) known[static_cast<size_t>(field->word)] |= field->mask() << field->shift;
  }
  for (const DescriptorField* field : all) {
    const uint32_t unknown = ~known[static_cast<size_t>(field->word)] >> field->shift & field->mask();
    if ((field->of(raw) & unknown) == 0) continue;
    return fail(ErrorKind::invalid_file, "the kernel descriptor sets {} to {}, which must be 0 on {}", field->name,
                field->of(raw), processor.name);
  }
  // The third register is another one on each generation, with holes that have no names.
  if (const uint32_t bits = known[static_cast<size_t>(DescriptorWord::rsrc3)]; (raw.compute_pgm_rsrc3 & ~bits) != 0) {
    return fail(ErrorKind::invalid_file,
                "the kernel descriptor sets COMPUTE_PGM_RSRC3 to {:#x}, of which {} knows {:#x}", raw.compute_pgm_rsrc3,
                processor.name, bits);
  }
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
  const uint32_t allocated = (vgpr_count.of(raw) + 1) * granule;
  if (allocated > processor.addressable_vgprs)
    return too_much(vgpr_count.name, allocated, "VGPRs", processor, processor.addressable_vgprs);
  result.vgprs = static_cast<uint16_t>(allocated);
  result.dynamic_vgprs = processor.generation >= target::Generation::gfx12_5 && dynamic_vgpr.of(raw) != 0;
  if (result.dynamic_vgprs) result.vgprs = max_dynamic_vgprs;
  if (processor.unified_vgprs) {
    const uint32_t first_agpr = (accum_offset.of(raw) + 1) * 4;
    if (first_agpr > allocated)
      return fail(ErrorKind::invalid_file,
                  "the kernel descriptor's ACCUM_OFFSET puts the first AGPR at {}, beyond the {} registers that {} "
                  "asks for",
                  first_agpr, allocated, vgpr_count.name);
    result.accum_offset = static_cast<uint16_t>(first_agpr);
    result.vgprs = static_cast<uint16_t>(first_agpr);
    result.agprs = static_cast<uint16_t>(allocated - first_agpr);
  } else if (processor.has_agprs) {
    result.agprs = result.vgprs;  // a file of its own, of the same size
  } else if (processor.shared_vgprs && shared_vgpr_count.of(raw) != 0) {
    return fail(ErrorKind::unsupported,
                "the kernel descriptor asks for shared VGPRs (SHARED_VGPR_COUNT), which Atoll "
                "does not implement");
  }

  const uint32_t sgprs = processor.fixed_sgprs ? all_sgprs : (sgpr_count.of(raw) + 1) * 8;
  if (!processor.fixed_sgprs && sgprs > max_sgprs)
    return too_much(sgpr_count.name, sgprs, "SGPRs", processor, max_sgprs);
  result.sgprs = static_cast<uint16_t>(sgprs);
  return {};
}

/// The initial MODE register: the float modes in bits 0 to 7, then DX10_CLAMP, IEEE, the enabled exceptions from bit
/// 12 on (which on GFX12.5 are the VGPRs' banks), and FP16_OVFL in bit 23 (ISA documents, "MODE register").
uint32_t initial_mode(const RawKernelDescriptor& raw, const Processor& processor) {
  const uint32_t clamp = processor.ieee_mode ? dx10_clamp.of(raw) : 0;  // GFX12: WG_RR_EN
  const uint32_t floats = raw.compute_pgm_rsrc1 >> round_mode_32.shift & 0xFF;
  const bool has_exceptions = processor.generation < target::Generation::gfx12_5;
  const uint32_t exceptions = has_exceptions ? raw.compute_pgm_rsrc2 >> invalid_operation.shift & 0x7F : 0;
  return floats | clamp << 8 | ieee_mode.of(raw) << 9 | exceptions << 12 | fp16_ovfl.of(raw) << 23;
}

}  // namespace

Result<KernelDescriptor> decode_kernel_descriptor(const RawKernelDescriptor& raw, const Processor& processor) {
  if (auto ok = check_reserved(raw, processor); !ok) return std::unexpected(ok.error());

  const auto property = [&](const DescriptorField& field) { return field.of(raw) != 0; };
  const auto rsrc1 = [&](const DescriptorField& field) { return field.of(raw) != 0; };
  const auto rsrc2 = [&](const DescriptorField& field) { return field.of(raw) != 0; };

  KernelDescriptor result{};
  result.group_segment_fixed_size = raw.group_segment_fixed_size;
  result.private_segment_fixed_size = raw.private_segment_fixed_size;
  result.kernarg_size = raw.kernarg_size;
  result.entry_offset = raw.kernel_code_entry_byte_offset;
  result.wave32 = property(wavefront_size32) || !processor.has_wave_size(64);

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
  result.trap_handler = trap_handler.exists(processor) && rsrc2(trap_handler);
  result.work_item_ids = static_cast<uint8_t>(work_item_id.of(raw));
  if (result.work_item_ids > 2)
    return fail(ErrorKind::invalid_file, "the kernel descriptor sets {} to 3, which means nothing", work_item_id.name);

  result.wgp_mode = processor.work_group_processors && rsrc1(wgp_mode);
  result.forward_progress = processor.work_group_processors && rsrc1(fwd_progress);

  result.kernarg_preload_length = static_cast<uint16_t>(preload_length.of(raw));
  result.kernarg_preload_offset = static_cast<uint16_t>(preload_offset.of(raw));
  const uint32_t preload_end = preload_length.of(raw) + preload_offset.of(raw);
  if (raw.kernarg_size != 0 && result.kernarg_preload_length != 0 && uint64_t{preload_end} * 4 > raw.kernarg_size)
    return fail(ErrorKind::invalid_file,
                "the kernel descriptor preloads {} bytes of kernel arguments, of which there are {} (KERNARG_SIZE)",
                preload_end * 4, raw.kernarg_size);

  const uint32_t user_sgprs = (wide_user_sgpr_count.exists(processor) ? wide_user_sgpr_count : user_sgpr_count).of(raw);
  if (user_sgprs > processor.user_sgprs)
    return too_much(user_sgpr_count.name, user_sgprs, "user SGPRs", processor, processor.user_sgprs);
  result.user_sgprs = static_cast<uint8_t>(user_sgprs);
  return result;
}

}  // namespace Atoll::object

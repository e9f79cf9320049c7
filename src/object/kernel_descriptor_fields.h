// object: the bit fields of a kernel descriptor: what each is called, where it lies, on which processors it means
// something, and which assembler directive sets it. Decoding, checking, printing and assembling derive from it.
// Source: user guide, "Kernel Descriptor" and "Assembler" (.amdhsa_ directives); llvm/Support/AMDHSAKernelDescriptor.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "object/kernel_descriptor.h"
#include "target/processor.h"

namespace Atoll::object {

enum class DescriptorWord : uint8_t { rsrc1, rsrc2, rsrc3, properties, preload };

struct DescriptorField {
  std::string_view name;
  DescriptorWord word;
  uint8_t shift, width;
  /// Whether the bits are this field on a processor; elsewhere they are another, or must be 0.
  bool (*exists)(const target::Processor&);
  std::string_view directive = {};  ///< that gives the field its value as it is; empty: none does

  constexpr uint32_t mask() const { return (uint32_t{1} << width) - 1; }
  constexpr uint32_t of(uint32_t bits) const { return bits >> shift & mask(); }
  uint32_t of(const RawKernelDescriptor& raw) const {
    switch (word) {
      case DescriptorWord::rsrc1:
        return of(raw.compute_pgm_rsrc1);
      case DescriptorWord::rsrc2:
        return of(raw.compute_pgm_rsrc2);
      case DescriptorWord::rsrc3:
        return of(raw.compute_pgm_rsrc3);
      case DescriptorWord::properties:
        return of(raw.kernel_code_properties);
      case DescriptorWord::preload:
        return of(raw.kernarg_preload);
    }
    return 0;
  }
};

namespace descriptor_field {

using target::FlatScratch;
using target::Generation;
using target::Processor;

// On which processors.
constexpr bool everywhere(const Processor&) { return true; }
constexpr bool nowhere(const Processor&) { return false; }  // must be 0
constexpr bool with_ieee_mode(const Processor& p) { return p.ieee_mode; }
constexpr bool from_gfx12(const Processor& p) { return p.generation >= Generation::gfx12; }
constexpr bool with_fp16_ovfl(const Processor& p) { return p.fp16_ovfl_mode; }
constexpr bool with_work_group_processors(const Processor& p) { return p.work_group_processors; }
constexpr bool from_gfx12_5(const Processor& p) { return p.generation >= Generation::gfx12_5; }
/// GFX12.5 pairs its compute units no more.
constexpr bool with_wgp_mode(const Processor& p) { return p.work_group_processors && !from_gfx12_5(p); }
constexpr bool with_unified_vgprs(const Processor& p) { return p.unified_vgprs; }
constexpr bool with_shared_vgprs(const Processor& p) { return p.shared_vgprs; }
constexpr bool gfx11(const Processor& p) {
  return p.generation >= Generation::gfx11 && p.generation < Generation::gfx12;
}
constexpr bool from_gfx11(const Processor& p) { return p.generation >= Generation::gfx11; }
constexpr bool with_wave32(const Processor& p) { return p.has_wave_size(32); }
constexpr bool with_preload(const Processor& p) { return p.kernarg_preload; }
constexpr bool with_scratch_setup(const Processor& p) { return p.flat_scratch != FlatScratch::architected; }
constexpr bool with_few_user_sgprs(const Processor& p) { return p.user_sgprs <= 31; }

using enum DescriptorWord;

inline constexpr DescriptorField vgpr_count{"GRANULATED_WORKITEM_VGPR_COUNT", rsrc1, 0, 6, everywhere};
/// Must be 0 from GFX10 on, but clang 15 writes it there and hardware takes no notice.
inline constexpr DescriptorField sgpr_count{"GRANULATED_WAVEFRONT_SGPR_COUNT", rsrc1, 6, 4, everywhere};
inline constexpr DescriptorField priority{"PRIORITY", rsrc1, 10, 2, nowhere};
inline constexpr DescriptorField round_mode_32{"FLOAT_ROUND_MODE_32",        rsrc1, 12, 2, everywhere,
                                               ".amdhsa_float_round_mode_32"};
inline constexpr DescriptorField round_mode_16_64{"FLOAT_ROUND_MODE_16_64",        rsrc1, 14, 2, everywhere,
                                                  ".amdhsa_float_round_mode_16_64"};
inline constexpr DescriptorField denorm_mode_32{"FLOAT_DENORM_MODE_32",        rsrc1, 16, 2, everywhere,
                                                ".amdhsa_float_denorm_mode_32"};
inline constexpr DescriptorField denorm_mode_16_64{"FLOAT_DENORM_MODE_16_64",        rsrc1, 18, 2, everywhere,
                                                   ".amdhsa_float_denorm_mode_16_64"};
inline constexpr DescriptorField priv{"PRIV", rsrc1, 20, 1, nowhere};
inline constexpr DescriptorField dx10_clamp{"ENABLE_DX10_CLAMP", rsrc1, 21, 1, with_ieee_mode, ".amdhsa_dx10_clamp"};
inline constexpr DescriptorField round_robin{
    "ENABLE_WG_RR_EN", rsrc1, 21, 1, from_gfx12, ".amdhsa_round_robin_scheduling"};
inline constexpr DescriptorField debug_mode{"DEBUG_MODE", rsrc1, 22, 1, nowhere};
inline constexpr DescriptorField ieee_mode{"ENABLE_IEEE_MODE", rsrc1, 23, 1, with_ieee_mode, ".amdhsa_ieee_mode"};
inline constexpr DescriptorField disable_perf{"DISABLE_PERF", rsrc1, 23, 1, from_gfx12};
inline constexpr DescriptorField bulky{"BULKY", rsrc1, 24, 1, nowhere};
inline constexpr DescriptorField cdbg_user{"CDBG_USER", rsrc1, 25, 1, nowhere};
inline constexpr DescriptorField fp16_ovfl{"FP16_OVFL", rsrc1, 26, 1, with_fp16_ovfl, ".amdhsa_fp16_overflow"};
inline constexpr DescriptorField flat_scratch_is_nv{"FLAT_SCRATCH_IS_NV", rsrc1, 27, 1, from_gfx12_5};
inline constexpr DescriptorField rsrc1_reserved{"RESERVED (COMPUTE_PGM_RSRC1 bit 28)", rsrc1, 28, 1, nowhere};
inline constexpr DescriptorField wgp_mode{"WGP_MODE", rsrc1, 29, 1, with_wgp_mode, ".amdhsa_workgroup_processor_mode"};
inline constexpr DescriptorField mem_ordered{"MEM_ORDERED",           rsrc1, 30, 1, with_work_group_processors,
                                             ".amdhsa_memory_ordered"};
inline constexpr DescriptorField fwd_progress{
    "FWD_PROGRESS", rsrc1, 31, 1, with_work_group_processors, ".amdhsa_forward_progress"};

/// Scratch: SGPR_PRIVATE_SEGMENT_WAVEFRONT_OFFSET, or only that scratch is used where the wave finds it
/// otherwise.
inline constexpr DescriptorField private_segment{"ENABLE_PRIVATE_SEGMENT", rsrc2, 0, 1, everywhere};
inline constexpr DescriptorField user_sgpr_count{"USER_SGPR_COUNT", rsrc2, 1, 5, with_few_user_sgprs};
/// Where there are 32 of them, the count takes the bit that is ENABLE_TRAP_HANDLER elsewhere.
inline constexpr DescriptorField wide_user_sgpr_count{"USER_SGPR_COUNT", rsrc2, 1, 6,
                                                      [](const Processor& p) { return !with_few_user_sgprs(p); }};
inline constexpr DescriptorField trap_handler{"ENABLE_TRAP_HANDLER", rsrc2, 6, 1, with_few_user_sgprs};
inline constexpr DescriptorField work_group_id_x{"ENABLE_SGPR_WORKGROUP_ID_X",        rsrc2, 7, 1, everywhere,
                                                 ".amdhsa_system_sgpr_workgroup_id_x"};
inline constexpr DescriptorField work_group_id_y{"ENABLE_SGPR_WORKGROUP_ID_Y",        rsrc2, 8, 1, everywhere,
                                                 ".amdhsa_system_sgpr_workgroup_id_y"};
inline constexpr DescriptorField work_group_id_z{"ENABLE_SGPR_WORKGROUP_ID_Z",        rsrc2, 9, 1, everywhere,
                                                 ".amdhsa_system_sgpr_workgroup_id_z"};
inline constexpr DescriptorField work_group_info{"ENABLE_SGPR_WORKGROUP_INFO",        rsrc2, 10, 1, everywhere,
                                                 ".amdhsa_system_sgpr_workgroup_info"};
inline constexpr DescriptorField work_item_id{"ENABLE_VGPR_WORKITEM_ID",        rsrc2, 11, 2, everywhere,
                                              ".amdhsa_system_vgpr_workitem_id"};
inline constexpr DescriptorField exception_address_watch{"ENABLE_EXCEPTION_ADDRESS_WATCH", rsrc2, 13, 1, nowhere};
inline constexpr DescriptorField exception_memory{"ENABLE_EXCEPTION_MEMORY", rsrc2, 14, 1, nowhere};
inline constexpr DescriptorField lds_size{"GRANULATED_LDS_SIZE", rsrc2, 15, 9, nowhere};
inline constexpr DescriptorField invalid_operation{
    "ENABLE_EXCEPTION_IEEE_754_FP_INVALID_OPERATION", rsrc2, 24, 1, everywhere, ".amdhsa_exception_fp_ieee_invalid_op"};
inline constexpr DescriptorField denormal_source{"ENABLE_EXCEPTION_FP_DENORMAL_SOURCE", rsrc2, 25, 1, everywhere,
                                                 ".amdhsa_exception_fp_denorm_src"};
inline constexpr DescriptorField division_by_zero{
    "ENABLE_EXCEPTION_IEEE_754_FP_DIVISION_BY_ZERO", rsrc2, 26, 1, everywhere, ".amdhsa_exception_fp_ieee_div_zero"};
inline constexpr DescriptorField fp_overflow{"ENABLE_EXCEPTION_IEEE_754_FP_OVERFLOW", rsrc2, 27, 1, everywhere,
                                             ".amdhsa_exception_fp_ieee_overflow"};
inline constexpr DescriptorField fp_underflow{"ENABLE_EXCEPTION_IEEE_754_FP_UNDERFLOW", rsrc2, 28, 1, everywhere,
                                              ".amdhsa_exception_fp_ieee_underflow"};
inline constexpr DescriptorField fp_inexact{"ENABLE_EXCEPTION_IEEE_754_FP_INEXACT", rsrc2, 29, 1, everywhere,
                                            ".amdhsa_exception_fp_ieee_inexact"};
inline constexpr DescriptorField int_divide_by_zero{"ENABLE_EXCEPTION_INT_DIVIDE_BY_ZERO", rsrc2, 30, 1, everywhere,
                                                    ".amdhsa_exception_int_div_zero"};
inline constexpr DescriptorField rsrc2_reserved{"RESERVED (COMPUTE_PGM_RSRC2 bit 31)", rsrc2, 31, 1, nowhere};

inline constexpr DescriptorField accum_offset{"ACCUM_OFFSET", rsrc3, 0, 6, with_unified_vgprs};
inline constexpr DescriptorField tg_split{"TG_SPLIT", rsrc3, 16, 1, with_unified_vgprs, ".amdhsa_tg_split"};
inline constexpr DescriptorField shared_vgpr_count{"SHARED_VGPR_COUNT",        rsrc3, 0, 4, with_shared_vgprs,
                                                   ".amdhsa_shared_vgpr_count"};
inline constexpr DescriptorField prefetch_size_gfx11{"INST_PREF_SIZE", rsrc3, 4, 6, gfx11, ".amdhsa_inst_pref_size"};
inline constexpr DescriptorField trap_on_start{"TRAP_ON_START", rsrc3, 10, 1, gfx11};
inline constexpr DescriptorField trap_on_end{"TRAP_ON_END", rsrc3, 11, 1, gfx11};
inline constexpr DescriptorField prefetch_size_gfx12{"INST_PREF_SIZE",        rsrc3, 4, 8, from_gfx12,
                                                     ".amdhsa_inst_pref_size"};
inline constexpr DescriptorField glg_en{"GLG_EN", rsrc3, 13, 1, from_gfx12};
inline constexpr DescriptorField named_barrier_count{
    "NAMED_BAR_CNT", rsrc3, 14, 3, from_gfx12_5, ".amdhsa_named_barrier_count"};
inline constexpr DescriptorField dynamic_vgpr{"ENABLE_DYNAMIC_VGPR", rsrc3, 17, 1, from_gfx12_5};
inline constexpr DescriptorField tcp_split{"TCP_SPLIT", rsrc3, 18, 3, from_gfx12_5};
inline constexpr DescriptorField didt_throttle{"ENABLE_DIDT_THROTTLE", rsrc3, 21, 1, from_gfx12_5};
inline constexpr DescriptorField image_op{"IMAGE_OP", rsrc3, 31, 1, from_gfx11};

inline constexpr DescriptorField private_segment_buffer{
    "ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER",      properties, 0, 1, with_scratch_setup,
    ".amdhsa_user_sgpr_private_segment_buffer"};
inline constexpr DescriptorField dispatch_ptr{"ENABLE_SGPR_DISPATCH_PTR",      properties, 1, 1, everywhere,
                                              ".amdhsa_user_sgpr_dispatch_ptr"};
inline constexpr DescriptorField queue_ptr{"ENABLE_SGPR_QUEUE_PTR",      properties, 2, 1, everywhere,
                                           ".amdhsa_user_sgpr_queue_ptr"};
inline constexpr DescriptorField kernarg_segment_ptr{
    "ENABLE_SGPR_KERNARG_SEGMENT_PTR", properties, 3, 1, everywhere, ".amdhsa_user_sgpr_kernarg_segment_ptr"};
inline constexpr DescriptorField dispatch_id{"ENABLE_SGPR_DISPATCH_ID",      properties, 4, 1, everywhere,
                                             ".amdhsa_user_sgpr_dispatch_id"};
inline constexpr DescriptorField flat_scratch_init{
    "ENABLE_SGPR_FLAT_SCRATCH_INIT", properties, 5, 1, with_scratch_setup, ".amdhsa_user_sgpr_flat_scratch_init"};
inline constexpr DescriptorField private_segment_size{
    "ENABLE_SGPR_PRIVATE_SEGMENT_SIZE", properties, 6, 1, everywhere, ".amdhsa_user_sgpr_private_segment_size"};
inline constexpr DescriptorField properties_reserved0{"RESERVED (KERNEL_CODE_PROPERTIES bits 7 to 9)", properties, 7, 3,
                                                      nowhere};
inline constexpr DescriptorField wavefront_size32{"ENABLE_WAVEFRONT_SIZE32", properties, 10, 1, with_wave32,
                                                  ".amdhsa_wavefront_size32"};
inline constexpr DescriptorField uses_dynamic_stack{"USES_DYNAMIC_STACK",        properties, 11, 1, everywhere,
                                                    ".amdhsa_uses_dynamic_stack"};
inline constexpr DescriptorField properties_reserved1{"RESERVED (KERNEL_CODE_PROPERTIES bits 12 to 15)", properties, 12,
                                                      4, nowhere};

inline constexpr DescriptorField preload_length{
    "KERNARG_PRELOAD_SPEC_LENGTH", preload, 0, 7, with_preload, ".amdhsa_user_sgpr_kernarg_preload_length"};
inline constexpr DescriptorField preload_offset{
    "KERNARG_PRELOAD_SPEC_OFFSET", preload, 7, 9, with_preload, ".amdhsa_user_sgpr_kernarg_preload_offset"};

/// All of them, by word and place.
inline constexpr const DescriptorField* all[] = {&vgpr_count,
                                                 &sgpr_count,
                                                 &priority,
                                                 &round_mode_32,
                                                 &round_mode_16_64,
                                                 &denorm_mode_32,
                                                 &denorm_mode_16_64,
                                                 &priv,
                                                 &dx10_clamp,
                                                 &round_robin,
                                                 &debug_mode,
                                                 &ieee_mode,
                                                 &disable_perf,
                                                 &bulky,
                                                 &cdbg_user,
                                                 &fp16_ovfl,
                                                 &flat_scratch_is_nv,
                                                 &rsrc1_reserved,
                                                 &wgp_mode,
                                                 &mem_ordered,
                                                 &fwd_progress,
                                                 &private_segment,
                                                 &user_sgpr_count,
                                                 &wide_user_sgpr_count,
                                                 &trap_handler,
                                                 &work_group_id_x,
                                                 &work_group_id_y,
                                                 &work_group_id_z,
                                                 &work_group_info,
                                                 &work_item_id,
                                                 &exception_address_watch,
                                                 &exception_memory,
                                                 &lds_size,
                                                 &invalid_operation,
                                                 &denormal_source,
                                                 &division_by_zero,
                                                 &fp_overflow,
                                                 &fp_underflow,
                                                 &fp_inexact,
                                                 &int_divide_by_zero,
                                                 &rsrc2_reserved,
                                                 &accum_offset,
                                                 &tg_split,
                                                 &shared_vgpr_count,
                                                 &prefetch_size_gfx11,
                                                 &trap_on_start,
                                                 &trap_on_end,
                                                 &prefetch_size_gfx12,
                                                 &glg_en,
                                                 &named_barrier_count,
                                                 &dynamic_vgpr,
                                                 &tcp_split,
                                                 &didt_throttle,
                                                 &image_op,
                                                 &private_segment_buffer,
                                                 &dispatch_ptr,
                                                 &queue_ptr,
                                                 &kernarg_segment_ptr,
                                                 &dispatch_id,
                                                 &flat_scratch_init,
                                                 &private_segment_size,
                                                 &properties_reserved0,
                                                 &wavefront_size32,
                                                 &uses_dynamic_stack,
                                                 &properties_reserved1,
                                                 &preload_length,
                                                 &preload_offset};

}  // namespace descriptor_field

/// Returns how many bytes of LDS GRANULATED_LDS_SIZE counts in: 128 dwords, on GFX6 64 (user guide,
/// "compute_pgm_rsrc2"; Mesa, ac_gpu_info.c).
constexpr uint32_t lds_granule(const target::Processor& processor) {
  return processor.generation == target::Generation::gfx6 ? 256 : 512;
}

/// Sets a field of the raw descriptor. `value` must fit.
inline void set_descriptor_field(RawKernelDescriptor& raw, const DescriptorField& field, uint32_t value) {
  const auto set = [&](auto& word) {
    using Word = std::remove_reference_t<decltype(word)>;
    word = static_cast<Word>((word & ~(field.mask() << field.shift)) | (value & field.mask()) << field.shift);
  };
  switch (field.word) {
    case DescriptorWord::rsrc1:
      return set(raw.compute_pgm_rsrc1);
    case DescriptorWord::rsrc2:
      return set(raw.compute_pgm_rsrc2);
    case DescriptorWord::rsrc3:
      return set(raw.compute_pgm_rsrc3);
    case DescriptorWord::properties:
      return set(raw.kernel_code_properties);
    case DescriptorWord::preload:
      return set(raw.kernarg_preload);
  }
}

}  // namespace Atoll::object

// object: the kernel descriptor, the 64 bytes from which the packet processor takes the initial state of a
// kernel's waves. Source: user guide, "Kernel Descriptor"; llvm/Support/AMDHSAKernelDescriptor.h.
#pragma once

#include <cstdint>
#include <span>

#include "support/error.h"
#include "target/processor.h"

namespace Atoll::object {

/// As it lies in memory.
struct RawKernelDescriptor {
  uint32_t group_segment_fixed_size, private_segment_fixed_size, kernarg_size;
  uint8_t reserved0[4];
  int64_t kernel_code_entry_byte_offset;
  uint8_t reserved1[20];
  uint32_t compute_pgm_rsrc3, compute_pgm_rsrc1, compute_pgm_rsrc2;
  uint16_t kernel_code_properties, kernarg_preload;
  uint8_t reserved3[4];
};
static_assert(sizeof(RawKernelDescriptor) == 64);

/// A kernel descriptor decoded for one processor.
struct KernelDescriptor {
  uint32_t group_segment_fixed_size, private_segment_fixed_size, kernarg_size;
  /// Offset of the code from the descriptor. If kernarg_preload_length is not 0, the code starts with 256 bytes
  /// for packet processors that cannot preload. A packet processor that can starts the wave after them.
  int64_t entry_offset;
  uint16_t vgprs, sgprs;  ///< allocated; vgprs: architected ones where AGPRs are apart or at accum_offset
  uint16_t accum_offset;  ///< first AGPR in a unified file; 0 without AGPRs
  uint16_t agprs;         ///< available accumulation registers
  uint32_t mode;          ///< initial MODE register: rounding, denormals, dx10_clamp, ieee, fp16_ovfl
  // Enabled SGPR state, in the order in which it is laid out.
  bool private_segment_buffer, dispatch_ptr, queue_ptr, kernarg_segment_ptr, dispatch_id, flat_scratch_init,
      private_segment_size;
  bool grid_work_groups[3];  ///< how many there are in each dimension: of code object V2 only
  bool work_group_id_x, work_group_id_y, work_group_id_z, work_group_info, private_segment;  ///< scratch wave offset
  uint8_t work_item_ids;  ///< 0: x, 1: x and y, 2: x, y and z
  uint8_t user_sgprs;     ///< as the descriptor says it: more than the enabled ones is padding
  uint16_t kernarg_preload_length, kernarg_preload_offset;  ///< in dwords
  bool wave32, uses_dynamic_stack, trap_handler;
  bool wgp_mode, forward_progress;
  bool dynamic_vgprs;  ///< waves begin with few VGPRs and allocate more (GFX12.5); `vgprs` is then the maximum
};

/// Decodes and checks a descriptor. The error names the field: out_of_resources if it requests more than the
/// processor has, invalid_file if no compiler may set it so for this processor.
support::Result<KernelDescriptor> decode_kernel_descriptor(const RawKernelDescriptor& raw,
                                                           const target::Processor& processor);

}  // namespace Atoll::object

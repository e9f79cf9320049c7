// target: which AMD GPUs there are and how they differ, as data.
//
// This file: the table of processors (gfx900, gfx90a, ...). Everything that a later room would otherwise ask
// "is this gfx9?" about is a field here. Adding a processor is adding a row in processors.cpp.
// Source: the AMDGPU backend user guide, "Processors", "Target Features", "Kernel Descriptor",
// "Initial Kernel Execution State"; the ELF numbers are llvm/BinaryFormat/ELF.h's EF_AMDGPU_MACH.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace Atoll::target {

/// The opcode column of the instruction table that a processor reads (isa/table). A later column takes over
/// from an earlier one whatever it does not give anew.
enum class Generation : uint8_t {
  gfx6,
  gfx7,
  gfx8,
  gfx9,
  gfx90a,
  gfx940,
  gfx950,
  gfx10,
  gfx10_3,
  gfx11,
  gfx11_5,
  gfx11_7,
  gfx12,
  gfx12_5
};

/// Groups of instructions that a processor has or has not, beyond its generation. The names are LLVM's.
enum class Feature : uint8_t {
  none,
  fma_mix_insts,  ///< v_fma_mix_f32 ... (gfx904, gfx906 and later)
  mad_mix_insts,  ///< v_mad_mix_f32 ... (gfx900, gfx902)
  dl_insts,       ///< v_fmac_f32, v_xnor_b32
  dot1_insts,
  dot2_insts,
  dot3_insts,
  dot4_insts,
  dot5_insts,
  dot6_insts,
  dot7_insts,
  dot8_insts,
  dot9_insts,
  dot10_insts,
  dot11_insts,
  dot12_insts,
  dot13_insts,
  mai_insts,     ///< matrix instructions and accumulation registers (gfx908 and later CDNA)
  gfx90a_insts,  ///< packed f32, f64 atomics, unified VGPR file
  gfx940_insts,
  gfx950_insts,
  fp8_conversion_insts,
  xf32_insts,  ///< v_mfma_f32_16x16x8_xf32 ...
  atomic_fadd_rtn_insts,
  atomic_fadd_no_rtn_insts,
  extended_image_insts,
  image_insts,
  unpacked_d16,     ///< 16-bit components of memory instructions fill registers of their own (GFX8 but gfx810)
  msaa_load_insts,  ///< image_msaa_load
  dpp_64bit,        ///< row_share on operands of 64 bits (gfx1251)
  count
};

/// How a wave's scratch memory is addressed by FLAT and SCRATCH instructions (user guide, "Flat Scratch").
enum class FlatScratch : uint8_t {
  none,         ///< GFX6: no flat instructions
  offset_size,  ///< GFX7, GFX8: FLAT_SCRATCH holds offset and size
  absolute,     ///< GFX9, GFX10: FLAT_SCRATCH holds the address, set up by the kernel's prologue
  architected   ///< gfx942, GFX11 and later: set before the wave starts
};

/// How the words of a buffer resource are read (ISA guides, "Buffer Resource Descriptor").
enum class BufferResources : uint8_t {
  gfx6,   ///< a data and a number format
  gfx8,   ///< with ADD_TID_ENABLE the data format extends the stride
  gfx10,  ///< one format, and OOB_SELECT says how bounds are checked
  gfx11,  ///< likewise, and SWIZZLE_ENABLE says how large elements are
};

/// How matrix instructions sum up the products of floats of 16 bits and less (semantics/matrix/mfma.h).
enum class MatrixSums : uint8_t {
  chained,            ///< one after the other
  exact,              ///< those of a lane and what there is already, rounded once
  pairwise_flushing,  ///< those of a lane in pairs first, with denormals flushed
  aligned             ///< several at a time, cut off where the largest of them says
};

/// Where WMMA's matrices are in the registers (semantics/matrix/wmma.h).
enum class WaveMatrices : uint8_t {
  none,
  replicated,  ///< A and B are in the lanes' every 16 (GFX11)
  spread       ///< each element is in one lane (GFX11.7, GFX12)
};

/// A setting of a target feature that a code object or a GPU may have ("xnack+", "xnack-", not said).
enum class Setting : uint8_t { unsupported, any, off, on };

struct Processor {
  std::string_view name;  ///< "gfx90a"
  uint32_t elf_machine;   ///< EF_AMDGPU_MACH_AMDGCN_*
  Generation generation;
  uint64_t features;                      ///< bit per Feature
  bool supports_xnack, supports_sramecc;  ///< whether the target ID may name them
  uint16_t addressable_vgprs;             ///< VGPRs that one wave can have, AGPRs included where the file is unified
  uint8_t vgpr_granule;                   ///< of the kernel descriptor's GRANULATED_WORKITEM_VGPR_COUNT, wave64
  uint8_t vgpr_granule_wave32;            ///< the same for wave32; 0 where there is no wave32
  uint16_t simd_vgprs;                    ///< that a SIMD has for waves of 64 lanes, twice as many for waves of 32
  uint8_t vgpr_allocation_granule;        ///< in which it gives them to waves of 64 lanes; likewise
  uint16_t addressable_sgprs;             ///< 102 on GFX9
  bool fixed_sgprs;                       ///< every wave has all SGPRs, the descriptor says nothing (GFX10 and later)
  uint16_t allocated_sgprs;               ///< that every wave must ask for (gfx802, gfx805); 0: what it needs
  uint8_t user_sgprs;                     ///< most that the packet processor sets
  bool shared_vgprs;                      ///< the descriptor's SHARED_VGPR_COUNT means something (GFX10, GFX11)
  bool work_group_processors;             ///< WGP_MODE, MEM_ORDERED and FWD_PROGRESS do (GFX10 and later)
  bool ieee_mode, fp16_ovfl_mode;         ///< MODE has IEEE and DX10_CLAMP (until GFX11.5), FP16_OVFL (from GFX9 on)
  bool has_agprs;                         ///< accumulation registers
  bool ocp_fp8;                           ///< 8-bit floats are OCP's E4M3 and E5M2, not the FNUZ kind of gfx942
  MatrixSums matrix_sums;                 ///< where there are matrix instructions
  WaveMatrices wave_matrices;             ///< where there is WMMA
  uint8_t permute_lanes;                  ///< that ds_permute and ds_bpermute reach in waves of 64
  bool unified_vgprs;                     ///< AGPRs follow VGPRs at ACCUM_OFFSET in one file (gfx90a and later)
  bool packed_work_item_ids;              ///< v0 holds x | y << 10 | z << 20
  bool kernarg_preload;                   ///< the descriptor's KERNARG_PRELOAD fields mean something
  FlatScratch flat_scratch;
  BufferResources buffer_resources;
  bool architected_work_group_ids;  ///< in TTMP registers instead of SGPRs (GFX12)
  uint32_t lds_bytes;               ///< that one work-group can have
  uint32_t scratch_bytes_per_wave;  ///< most that one wave can have
  uint8_t simds_per_cu, waves_per_simd;
  uint8_t wave_sizes;  ///< bit 0: 32, bit 1: 64
  bool generic;        ///< a generic processor: code objects have it, GPUs don't

  /// The generic processor whose code runs here ("gfx9-generic"), empty if there is none, and the version of that
  /// generic processor from which on it covers this one.
  std::string_view generic_processor;
  uint8_t generic_since;

  /// Whether there are waves of that many lanes, 32 or 64.
  constexpr bool has_wave_size(unsigned lanes) const { return (wave_sizes & lanes / 32) != 0; }
  constexpr bool has(Feature feature) const {
    return feature == Feature::none || (features >> static_cast<unsigned>(feature) & 1) != 0;
  }
};

/// The parts of a processor's name: gfx90a is 9, 0 and 10.
struct IsaVersion {
  unsigned major = 0, minor = 0, stepping = 0;
};
IsaVersion isa_version(const Processor& processor);

/// Every processor that Atoll knows, in the order of the user guide's table.
std::span<const Processor> processors();

/// The names that processors had before they had numbers (user guide, "Processors"; LLVM's too).
struct AlternativeName {
  std::string_view name, processor;  ///< "tahiti", "gfx600"
};
std::span<const AlternativeName> alternative_names();

/// The processor of that name ("gfx90a") or alternative name, or nullptr.
const Processor* find_processor(std::string_view name);

/// The processor with that EF_AMDGPU_MACH value, or nullptr.
const Processor* find_processor(uint32_t elf_machine);

}  // namespace Atoll::target

// isa: what a processor's bits mean: from opcode values to rows of the instruction table, from codes of scalar sources
// to registers and constants, and the properties in which encodings of the same format differ.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "isa/format.h"
#include "isa/opcode.h"
#include "isa/table.h"
#include "target/processor.h"

namespace Atoll::isa {

/// Meaning of an encoding's bits on a processor, beyond their positions (format.h).
struct Layout {
  bool accumulation_bit = false;  ///< memory instructions can name AGPRs; matrix destinations too
  bool even_tuples = false;       ///< VGPR tuples begin at an even register
  uint16_t vgprs = 256;           ///< that a tuple reaches into; its first register's number has eight bits
  bool scc_bit = false;           ///< memory instructions have a third cache bit
  bool tfe_bit = false;
  bool gds_bit = false;
  bool flat_lds_bit = false;            ///< bit 13 of FLAT sends a load to LDS ...
  bool scratch_vaddr_bit = false;       ///< ... or says that SCRATCH uses vaddr
  bool fadd_returns = false;            ///< float atomics on global memory can return the old value
  bool wide_lds_loads = false;          ///< buffer loads of 3 and 4 words can go to LDS
  bool cache_levels = false;            ///< the cache bits of buffer_inv and buffer_wbl2 mean something
  bool row_newbcast = false;            ///< DPP controls 0x150 ...
  bool row_share = false;               ///< ... which are row_share and row_xmask from GFX10 on
  bool wide_dpp = false;                ///< DPP on operands of 64 bits
  bool wave_shifts = false;             ///< DPP across rows: wave_shl and so on, row_bcast (until GFX9)
  bool unpacked_d16 = false;            ///< 16-bit components fill registers of their own in memory instructions
  bool scalar_sdwa = false;             ///< SDWA has scalar sources, omod, and a lane mask of VOPC's own
  bool swizzle_modes = false;           ///< ds_swizzle has modes besides quad_perm and masks
  bool sdwa = false;                    ///< there is SDWA
  bool dpp = false;                     ///< there is DPP
  bool integer_clamp = false;           ///< integers, and what has a carry-out, can have clamp
  bool image_d16 = false;               ///< images can have d16
  bool inverse_two_pi = false;          ///< 1 / (2 pi) is an inline constant
  bool snorm_ogl = false;               ///< MTBUF's number format 6 is SNORM_OGL
  bool atomic_dlc = false;              ///< buffer atomics can have dlc
  bool scalar_cache_checked = false;    ///< SMEM: the cache bits of what is no load are zero
  bool fetch_inactive = false;          ///< DPP has fi
  bool vector_literals = false;         ///< VOP3 and VOP3P can have a literal
  bool vector_dpp = false;              ///< VOP3 and VOP3P can have DPP
  bool scalar_dpp_sources = false;      ///< ... whose second source can be an SGPR or a constant
  bool true16 = false;                  ///< 16-bit operands are halves of registers by name (VOP3P has none)
  bool exec_compares = false;           ///< v_cmpx writes EXEC alone
  bool dimensions = false;              ///< images have dim instead of da
  bool unified_formats = false;         ///< MTBUF has one format number
  uint8_t scalar_offset_bits = 0;       ///< of the signed offset of SMEM; 0: unsigned as wide as it is
  bool scalar_offset_words = false;     ///< SMRD offsets count words
  bool scalar_literals = false;         ///< ... and can be literals
  bool null_soffset = false;            ///< SMEM always has soffset, which is null if there is none
  bool null_soffset_printed = false;    ///< ... which is printed if there is no offset at all
  bool scalar_offset_always = false;    ///< SMEM shows its offset even if it is 0
  bool positive_offsets = false;        ///< SMEM: of what reads buffers
  uint8_t smem_immediate_bits = 7;      ///< of the number in the place of data
  bool byte_select = false;             ///< a result or source that is one byte of a register is named byte_sel
  bool temporal_hints = false;          ///< cache policies are a temporal hint and a scope instead of bits
  bool scale_offsets = false;           ///< memory instructions can have scale_offset and nv
  bool waits_for_null = false;          ///< s_waitcnt_vscnt and its like have null in a register's place
  bool flat_bases = false;              ///< FLAT can have a scalar base
  bool wide_row_share = false;          ///< row_share on operands of 64 bits, and no other DPP on these
  bool wide_literals = false;           ///< code 254 is a literal of 64 bits
  bool split_matrices = false;          ///< all matrices of WMMA have half as many registers in wave64, the sources too
  bool address_tuples = false;          ///< the last of several image addresses can be a tuple
  bool moves_share_banks = false;       ///< both halves of a dual instruction can read the same bank if they are moves
  bool halves_share_registers = false;  ///< ... or if they read the same register
  bool bf16_dots_begin_vopd = false;    ///< can be the first half of VOPD, and not of VOPD3 alone
  bool branch_needs_nop = false;        ///< after a branch by 63 words, which goes astray otherwise
  uint8_t scalar_inputs = 1;            ///< different scalar values that a vector instruction can read
  bool right_shifts_read_two = false;   ///< ... and so can right shifts of 64 bits, not one alone
  bool bf16_constants_high = false;     ///< a bf16 operand reads an inline float as a single float
  bool packed_scalars_low = false;      ///< a scalar source of two floats is its lower register twice
  uint8_t scratch_none = 0;             ///< the code of no scalar base and no register either (SCRATCH); 0: none
  uint8_t flat_saddr_none = 0;          ///< the code of a missing scalar base; 0: there is no field

  explicit Layout(const target::Processor& processor);

  /// Whether the instruction can have clamp in VOP3.
  bool clamps(const InstructionRow& row) const;
  /// Whether the instruction, with DPP, can have an SGPR or a constant as its second source. LLVM has v_fma_mix and the
  /// dot products of 8-bit floats without.
  bool has_scalar_dpp_source(const InstructionRow& row) const {
    return scalar_dpp_sources && !row.has(flag::mix | flag::neg_accumulator);
  }
};

/// Operand that a code of a scalar source or destination names.
struct SourceCode {
  OperandKind kind = OperandKind::none;
  uint16_t reg = 0;         ///< of a scalar register
  int8_t integer = 0;       ///< of a constant that is an integer
  int8_t float_index = -1;  ///< of a constant that is a float: its place in InlineFloats
  bool literal = false;
  bool wide = false;  ///< a literal of 64 bits
};

/// Parts of an image instruction's address, as its name implies.
struct ImageParts {
  std::array<uint8_t, 5> rays{};  ///< words of the parts of a ray's address, else 0
  bool half_rays = false;         ///< the last two of them can be 16 bits wide and are one part, then
  uint8_t extra = 0;              ///< offset, bias, comparison value
  bool coordinates = true, sampled = false, lod = false, gradients = false, half_gradients = false;

  explicit ImageParts(std::string_view name = {});
  /// The most and the least words that it can be.
  unsigned most() const;
  unsigned least() const { return words(0, true); }
  /// How many words it is.
  unsigned words(unsigned dim, bool a16) const;
  /// How many parts a ray's address has.
  unsigned ray_groups(bool a16) const { return a16 ? 4 : 5; }
};

using SourceCodes = std::array<SourceCode, 256>;

/// Halves of dual instructions by their codes.
struct DualHalves {
  std::array<Opcode, 64> x{}, y{};
};

/// Opcode values to rows, for one processor in one wave size.
struct OpcodeMap {
  target::Generation generation;
  uint8_t lane_mask_words;  ///< 1 in wave32, 2 in wave64
  bool empty = true;        ///< no row is for the processor's generation
  Layout layout;
  SourceCodes sources{};
  /// By the first word's upper 9 bits; where several share them, any of them.
  std::array<const Format*, 512> formats{};
  std::array<const Format*, 4> segments{};  ///< by the segment bits of those that have them
  /// By encoding and opcode value.
  std::array<std::vector<Opcode>, static_cast<size_t>(Encoding::count)> opcodes;
  DualHalves vopd, vopd3;
  std::array<std::string_view, 64> dual_names{};  ///< of their halves, the same in both encodings
  /// VOP3P after an instruction that loads scales, by how many words each of the two has, less one.
  std::array<std::vector<Opcode>, 2> scaled;
  /// By Opcode: the row as it is on this generation, and the instruction's name there.
  std::vector<const InstructionRow*> rows;
  std::vector<std::string_view> names;
  std::vector<ImageParts> image_parts;
  std::vector<uint8_t> d16_components;  ///< how many 16-bit components a buffer format instruction has, else 0
  std::vector<bool> suffixed;  ///< has VOP1, VOP2 or VOPC and VOP3 forms, which the suffixes _e32 and _e64 distinguish

  OpcodeMap(const target::Processor& processor, unsigned wave_size);

  const InstructionRow& row(Opcode opcode) const { return *rows[static_cast<size_t>(opcode)]; }
  std::string_view name(Opcode opcode) const { return names[static_cast<size_t>(opcode)]; }
  const DualHalves& duals(Encoding encoding) const { return encoding == Encoding::vopd3 ? vopd3 : vopd; }
  /// Whether an instruction can have a DPP word in that encoding; `dpp8`: one of that kind.
  bool has_dpp(const InstructionRow& row, Encoding encoding, bool dpp8) const;
  /// How many index_key of a sparse matrix instruction choose among.
  unsigned index_keys(const InstructionRow& row) const;
  Opcode at(Encoding encoding, unsigned value) const {
    const std::vector<Opcode>& all = opcodes[static_cast<size_t>(encoding)];
    return value < all.size() ? all[value] : Opcode::invalid;
  }

 private:
  void read_formats();
  void read_duals();
  void place(Opcode opcode, const InstructionRow& row, Opcodes::Change now);
  void put(Encoding encoding, unsigned value, Opcode opcode);
};

/// Returns the map of a processor of target::processors(), built on first use. `wave_size` is 32, 64, or 0 for
/// the smallest that the processor has.
const OpcodeMap& opcode_map_of(const target::Processor& processor, unsigned wave_size = 0);

}  // namespace Atoll::isa

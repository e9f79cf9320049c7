// isa: the instruction table's columns, and questions about a row.
//
// table/*.inc hold the rows:
//
//   ATOLL_ROW(name, encoding, operation, feature, flags,
//             opcodes,
//             operands...)
//
//   name      the enumerator of Opcode and the mnemonic, without _e32, _e64, _sdwa, _dpp
//   encoding  the format that the opcodes are of; with the flag `vop3` it is in VOP3 as well
//   operation op(name, parameters...): what it computes (operation.h). op(sub, reversed), op(compare, lt),
//             op(load, u8, low_half), op(convert, f32, from(fp8)). Types stand there only if operands do not give them.
//   feature   target::Feature that a processor must have besides
//   flags     what else decides how it is decoded, printed or run (namespace flag)
//   opcodes   at(generation, opcode): from that generation of its family on; .gone(generation): no longer;
//             .vop3_at(generation, opcode), .vop2_at ...: in that encoding from then on (.vop2_only_at: and not in VOP3
//             as well); .as("name"): its name there, if not the row's; .always(): there without the row's feature. A
//             family is gfx6-7, gfx8-9 (with gfx90a, gfx940, gfx950), gfx10, gfx11, gfx12.
//   operands  in the order of the assembly text, results first: the field of the encoding, and the data type,
//             from which follow its width, what inline constants mean, and whether it takes neg and abs
//
// Flags and operands are GFX9's. Where they are others from some generation on (before GFX9: until then),
// table/variants.inc has a row for that:
//
//   ATOLL_VARIANT(name, generation, flags, operands...)
//
// Sources: the vendor's ISA guides ("Vega", "MI100", "MI200", "MI300") for opcodes and operands; where they are
// silent or differ (modifiers that an instruction accepts, later processors) the assembler of LLVM 22 decides, which
// tests/isa asks about every row.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "isa/constants.h"
#include "isa/instruction.h"
#include "isa/opcode.h"
#include "isa/operation.h"
#include "target/processor.h"

namespace Atoll::isa {

/// Where an operand is in its encoding, and which kinds of registers and constants it may be.
enum class Field : uint8_t {
  none,
  // Vector ALU. VOP1, VOP2 and VOPC have `src0` in 9 bits and `src1` in 8 (a VGPR); VOP3 has 9 bits for each.
  vdst,
  src0,
  src1,
  src2,
  vgpr_src0,  ///< VGPRs only (src0: or LDS_DIRECT)
  vgpr_src1,
  vgpr_src2,
  agpr_dst,
  agpr_src0,
  carry_out,     ///< lane mask: VCC in VOP2, an SGPR pair in VOP3
  carry_in,      ///< lane mask: VCC in VOP2, src2 in VOP3
  vcc_in,        ///< lane mask: always VCC, not in the text (v_div_fmas)
  cmp_dst,       ///< lane mask: VCC in VOPC, an SGPR pair in VOP3 and SDWA
  lane_dst,      ///< an SGPR in the place of vdst (v_readlane)
  src0_dst,      ///< src0 is written too (v_swap)
  literal,       ///< the constant of v_madmk, v_madak, s_setreg_imm32
  message_code,  ///< s_sendmsg_rtn: the message in src0's code
  wmma_dst,      ///< half as many registers in wave64
  wmma_src0,
  wmma_src1,
  wmma_acc,      ///< or a constant
  wmma_acc_f16,  ///< or a constant, of which a half counts
  wmma_index,    ///< which elements of a sparse matrix are there; the type says how many bits a lane of wave32 has
  interp_slot,   ///< P10, P20 or P0
  attribute,     ///< interpolated attribute and channel
  // Matrix instructions (VOP3P with register-file bits).
  matrix_dst,
  matrix_src0,
  matrix_src1,
  matrix_acc_f32,
  matrix_acc_f64,
  matrix_acc_i32,
  scale_src0,  ///< of the words before it
  scale_src1,
  // Scalar ALU.
  sdst,
  sdst_in,  ///< a source in the place of sdst (SOPK)
  ssrc0,
  ssrc1,
  // Memory.
  sdata,
  sdata_imm,
  prefetch_length,  ///< in units of 128 bytes, less one
  sbase,
  soffset,
  ds_dst,
  ds_addr,
  ds_data0,
  ds_data1,
  flat_dst,
  flat_return,  ///< the old value that an atomic returns if its glc (sc0) bit is set
  flat_address,
  flat_data,
  flat_base,
  tensor_base,       ///< or null
  lds_address,       ///< of the data in LDS, in the place of the result
  lds_data_address,  ///< ... of the data
  buffer_data,
  buffer_address,
  buffer_resource,
  buffer_offset,
  image_data,
  image_address,
  image_resource,
  image_sampler,
  tensor_group0,  ///< of the descriptor
  tensor_group1,
  tensor_group2,  ///< it and the last are null or not there for tensors of up to two dimensions
  tensor_group3,
  export_src0,
  export_src1,
  export_src2,
  export_src3,
};

/// Properties of a row besides its operands. A row combines them with |.
using Flags = unsigned __int128;
namespace flag {
// Vector ALU: other forms and modifiers.
inline constexpr uint64_t vop3 = 1ull << 0;
inline constexpr uint64_t sdwa = 1ull << 1;
inline constexpr uint64_t dpp = 1ull << 2;
inline constexpr uint64_t neg = 1ull << 3;    // neg and abs on the float sources
inline constexpr uint64_t clamp = 1ull << 4;  // floats: to [0, 1]; integers: saturate
inline constexpr uint64_t omod = 1ull << 5;
inline constexpr uint64_t fp = neg | clamp | omod;
inline constexpr uint64_t neg_any = 1ull << 6;  // neg and abs on sources that are not floats as well
inline constexpr uint64_t slack = 1ull << 7;    // neg and abs bits of sources that are not floats mean nothing
inline constexpr uint64_t op_sel = 1ull << 8;
inline constexpr uint64_t op_sel4 = 1ull << 9;  // two bits of op_sel choose the byte of the result
inline constexpr uint64_t op_sel_dst = 1ull << 10;
inline constexpr uint64_t swap_control = 1ull << 11;  // op_sel's place holds bound_ctrl and fi
inline constexpr uint64_t bitop3 = 1ull << 12;        // abs, omod and neg bits are the truth table
inline constexpr uint64_t no_literal = 1ull << 13;
inline constexpr uint64_t mix = 1ull << 14;         // op_sel_hi selects between f16 and f32 for each source
inline constexpr uint64_t sdwa_whole = 1ull << 18;  // SDWA selects parts of sources only
inline constexpr uint64_t matrix = 1ull << 15;
inline constexpr uint64_t sparse = 1ull << 16;
inline constexpr uint64_t scaled = 1ull << 19;          // with words before it that load scales: 16 bytes
inline constexpr uint64_t matrix_formats = 1ull << 17;  // cbsz and blgp are the formats of the sources
// Implicit reads and writes, besides the operands.
inline constexpr uint64_t reads_dst = 1ull << 20;  // the destination's old value is a source too
inline constexpr uint64_t scc_in = 1ull << 21;
inline constexpr uint64_t scc_out = 1ull << 22;
inline constexpr uint64_t exec_out = 1ull << 23;
// Control.
inline constexpr uint64_t branch = 1ull << 24;  // may continue elsewhere than after itself
inline constexpr uint64_t label = 1ull << 25;   // its immediate is a distance in words from the next instruction
inline constexpr uint64_t ends = 1ull << 26;    // the wave's last instruction
inline constexpr uint64_t barrier = 1ull << 27;
inline constexpr uint64_t trap = 1ull << 28;
// Sources of dot products and matrices that can be negated otherwise than by `neg`.
inline constexpr uint64_t neg_low_sources = 1ull << 29;  // neg_lo of the first two alone
inline constexpr uint64_t neg_accumulator = 1ull << 30;  // the third alone
inline constexpr uint64_t byte_source = 1ull << 31;      // two bits of op_sel choose the byte of the source
// The immediate of SOPK, SOPP and SOPC.
inline constexpr uint64_t simm16 = 1ull << 32;
inline constexpr uint64_t hwreg = 1ull << 33;
inline constexpr uint64_t waitcnt = 1ull << 34;
inline constexpr uint64_t message = 1ull << 35;
inline constexpr uint64_t gpr_index_imm = 1ull << 36;
inline constexpr uint64_t depctr = 1ull << 37;
inline constexpr uint64_t version = 1ull << 38;
inline constexpr uint64_t delay = 1ull << 39;
inline constexpr uint64_t any_immediate =
    simm16 | hwreg | waitcnt | message | gpr_index_imm | label | depctr | version | delay;
// Memory.
inline constexpr uint64_t load = 1ull << 40;
inline constexpr uint64_t store = 1ull << 41;
inline constexpr uint64_t atomic = 1ull << 42;        // with load and store
inline constexpr uint64_t float_atomic = 1ull << 55;  // its third cache bit is there from gfx940 on only
inline constexpr uint64_t to_lds = 1ull << 43;
inline constexpr uint64_t from_lds = 1ull << 44;
inline constexpr uint64_t lds_bit = 1ull << 45;       // goes to LDS if the encoding's lds bit is set
inline constexpr uint64_t wide_lds_bit = 1ull << 52;  // the same, on gfx950 only
inline constexpr uint64_t two_offsets = 1ull << 46;
inline constexpr uint64_t gws = 1ull << 47;
inline constexpr uint64_t gds_only = 1ull << 48;
inline constexpr uint64_t no_gds = 1ull << 49;
inline constexpr uint64_t sampler = 1ull << 50;
inline constexpr uint64_t gather4 = 1ull << 51;
inline constexpr uint64_t d16_bit = 1ull << 53;     // images: components can be 16 bits wide
inline constexpr uint64_t cache_bits = 1ull << 54;  // cache control whose sc0 and sc1 say what it reaches (gfx940)

inline constexpr uint64_t no_dpp = 1ull << 58;         // not even in VOP3 of GFX11 and later
inline constexpr uint64_t hex_immediate = 1ull << 59;  // SOPP: simm16 is printed so however small it is
inline constexpr uint64_t permlane = 1ull << 60;       // op_sel of two sources: fi and bound_ctrl
inline constexpr uint64_t wmma = 1ull << 61;           // also of loads: half as many registers in wave64
inline constexpr uint64_t true16_only = 1ull << 62;    // no older form without halves
inline constexpr uint64_t ray = 1ull << 57;            // image_bvh_intersect_ray and the like
inline constexpr uint64_t tensor = 1ull << 63;         // goes between a tensor in memory and LDS
inline constexpr uint64_t vsample = 1ull << 56;        // an image without a sampler that is in VSAMPLE from GFX12 on

inline constexpr uint64_t memory = load | store | atomic;

// Properties that effects.h reads besides operands and the flags above (bits from 64 on).
inline constexpr Flags reads_vcc = Flags{1} << 64;     // without naming it, as the following
inline constexpr Flags reads_exec = Flags{1} << 65;    // of scalar instructions; vector instructions do
inline constexpr Flags ignores_exec = Flags{1} << 66;  // of vector instructions
inline constexpr Flags reads_m0 = Flags{1} << 67;
inline constexpr Flags writes_m0 = Flags{1} << 68;
inline constexpr Flags reads_mode = Flags{1} << 69;  // of scalar instructions
inline constexpr Flags writes_mode = Flags{1} << 70;
inline constexpr Flags indexed_source = Flags{1} << 71;     // M0 says which register is read, from the operand's on
inline constexpr Flags indexed_result = Flags{1} << 72;     // ... or written
inline constexpr Flags register_indexing = Flags{1} << 73;  // changes which registers the following instructions name
inline constexpr Flags bitwise = Flags{1}
                                 << 74;  // a bit of the result depends on the same bit of the sources (and SCC)
// Control flow.
inline constexpr Flags if_zero = Flags{1} << 75;      // a conditional branch is taken if its condition is false
inline constexpr Flags if_debugged = Flags{1} << 76;  // a debugger sets its condition
inline constexpr Flags subvector = Flags{1} << 77;    // a loop over the halves of EXEC
inline constexpr Flags call = Flags{1} << 78;         // keeps where to return to
inline constexpr Flags fork = Flags{1} << 79;         // on GFX6 to 9: both ways, one after the other
inline constexpr Flags trap_return = Flags{1} << 80;
inline constexpr Flags adds_to_pc = Flags{1} << 86;  // of an indirect branch
inline constexpr Flags waits = Flags{1} << 81;       // the wave may stop here until others have done something
inline constexpr Flags no_state = Flags{1} << 82;    // waits for counters, hints, upkeep of caches of code, tracing: no
                                                     // effect on registers or memory
inline constexpr Flags reads_flat_scratch = Flags{1} << 84;  // of scalar instructions
inline constexpr Flags writes_address = Flags{1} << 85;      // the register with the address gets another one
inline constexpr Flags cache_control = Flags{1} << 83;       // writes back or invalidates caches of data: orders memory
inline constexpr Flags transposes = Flags{1} << 87;          // a load that gives lanes what others load
inline constexpr Flags transcendental = Flags{1} << 88;      // done by a unit of its own
// Matrix and vector instructions: further modifiers and forms.
inline constexpr Flags reuse = Flags{1} << 89;         // the next instruction reads a matrix again (matrix_a_reuse)
inline constexpr Flags no_suffix = Flags{1} << 90;     // the text of VOP1 and VOP3 is the same
inline constexpr Flags scale_select = Flags{1} << 91;  // op_sel's bits select the scale
inline constexpr Flags neg_hi_accumulator = Flags{1} << 92;  // neg_hi of the third source alone
inline constexpr Flags scalar_selects = Flags{1} << 93;      // the sources after the first are no VGPRs
inline constexpr Flags doubled_constants = Flags{1} << 96;   // an inline half is in both halves of a packed source
// Scalar instructions. Only the disassembler accepts the other operands.
inline constexpr Flags register_source = Flags{1} << 94;  // the source is a register, never a constant
inline constexpr Flags m0_source = Flags{1} << 95;        // the source is M0 or a constant
}  // namespace flag

/// From which generation on an instruction has which opcode.
struct Opcodes {
  static constexpr uint16_t none = 0xFFFF;
  struct Change {
    target::Generation since{};
    uint16_t opcode = none;
    Encoding encoding = Encoding::count;  ///< from then on, if it is not the row's
    std::string_view name{};              ///< if it is not the row's
    bool always = false;                  ///< without the row's feature
    bool only = false;                    ///< in that encoding alone, not in VOP3 as well
  };
  std::array<Change, 10> changes{};
  uint8_t count = 0;

  constexpr Opcodes with(Change change) const {
    Opcodes more = *this;
    more.changes[more.count++] = change;
    return more;
  }
  constexpr Opcodes at(target::Generation since, uint16_t opcode) const { return with({since, opcode}); }
  constexpr Opcodes vop3_at(target::Generation since, uint16_t opcode) const {
    return with({since, opcode, Encoding::vop3});
  }
  constexpr Opcodes vop2_at(target::Generation since, uint16_t opcode) const {
    return with({since, opcode, Encoding::vop2});
  }
  constexpr Opcodes vop2_only_at(target::Generation since, uint16_t opcode) const {
    return with({.since = since, .opcode = opcode, .encoding = Encoding::vop2, .only = true});
  }
  constexpr Opcodes vop1_at(target::Generation since, uint16_t opcode) const {
    return with({since, opcode, Encoding::vop1});
  }
  constexpr Opcodes gone(target::Generation since) const { return with({since, none}); }
  constexpr Opcodes always() const {
    Opcodes on_all = *this;
    on_all.changes[on_all.count - 1u].always = true;
    return on_all;
  }
  constexpr Opcodes as(std::string_view name) const {
    Opcodes named = *this;
    named.changes[named.count - 1u].name = name;
    return named;
  }
  /// Returns the entry for that generation; its opcode is `none` if the instruction does not exist there.
  Change on(target::Generation generation) const;
};

struct OperandSpec {
  Field field = Field::none;
  DataType type = DataType::none;
};

struct InstructionRow {
  static constexpr unsigned max_operands = 6;

  std::string_view name;
  Encoding encoding = Encoding::sopp;
  Opcodes opcodes;
  target::Feature feature = target::Feature::none;
  Flags flags = 0;
  std::array<OperandSpec, max_operands> operands{};  ///< up to the first whose field is none
  Computation computes{};

  constexpr bool has(Flags flag) const { return (flags & flag) != 0; }
};

/// The row of an opcode (not of Opcode::count; of Opcode::invalid a row without a name).
const InstructionRow& row(Opcode opcode);

/// The row with the flags and operands that hold on that generation.
const InstructionRow& row_on(Opcode opcode, target::Generation generation);

/// The row of a decoded instruction, on the generation that it was decoded for.
inline const InstructionRow& row_of(const Instruction& instruction) {
  return row_on(instruction.opcode, instruction.generation);
}

/// True if this form of the instruction has no operand in that field, which its row has: the result of an atomic that
/// returns nothing, data that goes to LDS instead, an offset register, the last groups of a tensor's descriptor.
constexpr bool is_absent(const Instruction& instruction, Field field) {
  switch (field) {
    case Field::flat_return:
      return !instruction.glc;
    case Field::flat_dst:
    case Field::buffer_data:
      return instruction.lds;
    case Field::soffset:
      return !instruction.offset_register;
    case Field::tensor_group2:
    case Field::tensor_group3:
      return instruction.operand_count == 2;
    default:
      return false;
  }
}

/// The row's column for an operand of a decoded instruction; without a field for the base of FLAT, which rows do not
/// have. Not for the second half of a dual instruction.
inline OperandSpec spec_of(const Instruction& instruction, unsigned operand) {
  for (const OperandSpec& spec : row_of(instruction).operands) {
    if (spec.field == Field::none) break;
    if (is_absent(instruction, spec.field)) continue;
    if (operand-- == 0) return spec;
  }
  return {};
}

inline Field field_of(const Instruction& instruction, unsigned operand) { return spec_of(instruction, operand).field; }

/// The operand of a decoded instruction in that field; null if it has none there.
inline const Operand* operand_of(const Instruction& instruction, Field field) {
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    if (field_of(instruction, i) == field) return &instruction.operands[i];
  }
  return nullptr;
}

/// Whether the operand in that field is written. `returns`: of an atomic, that it returns the old value.
bool writes(const InstructionRow& row, Field field, bool returns);

/// Which of the three sets of source modifiers belongs to the operand in that field; -1 if none does.
constexpr int source_index(Field field) {
  switch (field) {
    case Field::src0:
    case Field::ssrc0:
    case Field::wmma_src0:
    case Field::vgpr_src0:
      return 0;
    case Field::src1:
    case Field::wmma_src1:
    case Field::vgpr_src1:
      return 1;
    case Field::src2:
    case Field::wmma_acc:
    case Field::wmma_acc_f16:
    case Field::wmma_index:
    case Field::vgpr_src2:
      return 2;
    default:
      return -1;
  }
}

/// How many 32-bit registers a value of that type fills (1 for everything of up to 32 bits; 0 for none).
constexpr unsigned words_of(DataType type) {
  switch (type) {
    case DataType::none:
      return 0;
    case DataType::b64:
    case DataType::i64:
    case DataType::u64:
    case DataType::f64:
    case DataType::v2b32:
    case DataType::v2f32:
    case DataType::lane_mask:
      return 2;
    case DataType::b96:
      return 3;
    case DataType::b128:
      return 4;
    case DataType::b160:
      return 5;
    case DataType::b192:
      return 6;
    case DataType::b256:
      return 8;
    case DataType::b320:
      return 10;
    case DataType::b384:
      return 12;
    case DataType::b512:
      return 16;
    case DataType::b1024:
      return 32;
    default:
      return 1;
  }
}

/// Type of a constant in place of a WMMA accumulator of `words` registers. LLVM treats it as a double if `words`
/// is 8.
constexpr DataType type_of_accumulator_constant(Field field, unsigned words) {
  return field == Field::wmma_acc_f16 ? DataType::f16 : words == 8 ? DataType::f64 : DataType::f32;
}

/// How many registers a source of v_mfma_..._f8f6f4 fills in that format (cbsz, blgp): fp8 and bf8, fp6 and bf6, fp4.
constexpr unsigned words_of_matrix_format(unsigned format) {
  constexpr std::array<uint8_t, 8> words{8, 8, 6, 6, 4, 8, 8, 8};
  return words[format & 7];
}

/// As words_of_matrix_format() for WMMA, whose waves have half as many lanes.
constexpr unsigned wmma_words_of_format(unsigned format) { return 2 * words_of_matrix_format(format); }

/// The patterns of the inline floats as an instruction's operand of that type sees them.
constexpr const InlineFloats& inline_floats(const InstructionRow& row, DataType type) {
  const bool is_doubled = type == DataType::v2f16 && row.has(flag::doubled_constants);
  return is_doubled ? inline_f16_twice : inline_floats(type);
}

/// Whether it is one 16-bit value: a half of a register where registers have halves by name.
constexpr bool is_half(DataType type) {
  switch (type) {
    case DataType::b16:
    case DataType::i16:
    case DataType::u16:
    case DataType::f16:
    case DataType::bf16:
      return true;
    default:
      return false;
  }
}

/// Whether it is two values.
constexpr bool is_packed(DataType type) { return type >= DataType::v2i16 && type <= DataType::v2f32; }

/// Whether neg and abs mean something on a source of that type.
constexpr bool is_float(DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::bf16:
    case DataType::f32:
    case DataType::f64:
    case DataType::v2f16:
    case DataType::v2bf16:
    case DataType::v2f32:
      return true;
    default:
      return false;
  }
}

}  // namespace Atoll::isa

// isa: the one table of instructions, and what is derived from it: decoding, printing, encoding, parsing.
//
// This file: what one decoded instruction is. The decoder (decode.h) makes it from bytes, the printer
// (print.h) turns it into LLVM's syntax, the engines run it. The differences between encodings and between
// generations end here: a register has one number on all of them, a constant is already the value that the
// operand's type sees, and a modifier has one name.
#pragma once

#include <array>
#include <cstdint>

#include "isa/opcode.h"
#include "target/processor.h"

namespace Atoll::isa {

/// The encoding formats of all generations; the vendor's ISA guides describe each as a chapter.
enum class Encoding : uint8_t {
  sop1,
  sop2,
  sopk,
  sopc,
  sopp,
  smem,
  vop1,
  vop2,
  vopc,
  vop3,
  vop3p,
  vopd,
  vopd3,
  vinterp,
  vintrp,
  ldsdir,
  ds,
  flat,
  global,
  scratch,
  mubuf,  ///< untyped buffer memory: MUBUF, and VBUFFER from GFX12 on
  mtbuf,  ///< typed buffer memory
  mimg,   ///< images: MIMG, and from GFX12 on VIMAGE ...
  vsample,
  exp,
  count
};

/// Words behind the base word of a VOP1, VOP2 or VOPC instruction (other encodings can have a literal, too).
enum class Extension : uint8_t { none, literal, sdwa, dpp16, dpp8 };

/// How an instruction sees an operand: decides how wide it is, what inline constants mean, which modifiers apply.
enum class DataType : uint8_t {
  none,
  b8,
  b16,
  i16,
  u16,
  f16,
  bf16,
  b32,
  i32,
  u32,
  f32,
  b64,
  i64,
  u64,
  f64,
  b96,
  b128,
  b160,
  b192,
  b256,
  b320,
  b384,
  b512,
  b1024,
  v2i16,
  v2u16,
  v2f16,
  v2bf16,  ///< two 16-bit values in one register
  v2b32,
  v2f32,      ///< two 32-bit values in a register pair, packed arithmetic
  lane_mask,  ///< a bit per lane in scalar registers (VCC, EXEC, SGPR pair): 64 bits in wave64
};

enum class OperandKind : uint8_t {
  none,
  vgpr,      ///< `reg` counts from v0
  agpr,      ///< `reg` counts from a0
  scalar,    ///< `reg` is a ScalarRegister: SGPRs, VCC, TTMPs, M0, EXEC, FLAT_SCRATCH, ... one numbering for all
  constant,  ///< `value`: an inline constant, a literal or an immediate, as the operand's type sees it
  vccz,
  execz,
  scc,  ///< single-bit sources
  shared_base,
  shared_limit,
  private_base,
  private_limit,
  pops_exiting_wave_id,  ///< aperture sources
  flat_scratch_base_lo,  ///< from GFX12.5 on; as 64 bits it is both halves
  flat_scratch_base_hi,
  lds_direct,
  off,  ///< an address operand that is not there ("off")
};

/// Numbers of scalar registers, the same on every generation (the encodings differ; the decoder translates).
/// Wave::scalar in machine is indexed by them. Register pairs are consecutive, the low half even.
namespace scalar {
inline constexpr uint16_t s0 = 0;  // ... s105
inline constexpr uint16_t vcc_lo = 106, vcc_hi = 107;
inline constexpr uint16_t ttmp0 = 108;  // ... ttmp15 = 123
inline constexpr uint16_t m0 = 124;
inline constexpr uint16_t exec_lo = 126, exec_hi = 127;
inline constexpr uint16_t flat_scratch_lo = 128, flat_scratch_hi = 129;
inline constexpr uint16_t xnack_mask_lo = 130, xnack_mask_hi = 131;
inline constexpr uint16_t tba_lo = 132, tba_hi = 133, tma_lo = 134, tma_hi = 135;
/// Reads as 0, and what is written to it is lost. As a result it may be as wide as any, and has room for that.
inline constexpr uint16_t null = 136;
inline constexpr uint16_t count = null + 16;
}  // namespace scalar

/// Numbers of hardware registers (s_getreg, s_setreg), the same on every generation; those of GFX9 as there.
namespace hardware {
inline constexpr uint16_t mode = 1, status = 2, trap_status = 3, hw_id = 4, gpr_alloc = 5, lds_alloc = 6, ib_status = 7;
inline constexpr uint16_t shared_memory_bases = 15, xcc_id = 20;
inline constexpr uint16_t hw_id1 = 32, hw_id2 = 33, flat_scratch_lo = 34, flat_scratch_hi = 35;
inline constexpr uint16_t shader_cycles = 36, shader_cycles_hi = 37;  ///< the former also SHADER_CYCLES_LO of GFX12
inline constexpr uint16_t tba_lo = 38, tba_hi = 39, tma_lo = 40, tma_hi = 41;
inline constexpr uint16_t state_private = 42, exception_private = 43, exception_user = 44, trap_control = 45;
inline constexpr uint16_t ib_status2 = 46;  ///< of a wave of a cluster, where it is in it
inline constexpr uint16_t unknown = 63;
}  // namespace hardware

/// Which part of a register an SDWA operand is (ISA guide, "SDWA": SRC0_SEL, DST_SEL).
enum class SdwaSelect : uint8_t { byte_0, byte_1, byte_2, byte_3, word_0, word_1, dword };
enum class SdwaUnused : uint8_t { pad, sext, preserve };

struct Operand {
  OperandKind kind = OperandKind::none;
  DataType type = DataType::none;
  uint8_t words = 0;        ///< 32-bit registers that it spans; 0 for what is no register
  bool is_literal = false;  ///< a constant that stands after the instruction rather than inline
  uint16_t reg = 0;
  uint64_t value = 0;  ///< of a constant, in the operand's type: sign-extended integers, f16/f32/f64 bit patterns
  // Input modifiers.
  bool neg = false;  ///< also neg_lo of packed operands
  bool abs = false;
  bool sext = false;       ///< SDWA integer sources
  bool neg_hi = false;     ///< packed: negates the upper half
  bool op_sel = false;     ///< 16-bit operand in (packed: low half from) the upper half of the register
  bool op_sel_hi = false;  ///< packed: high half from the upper half of the register
  SdwaSelect sdwa = SdwaSelect::dword;
  bool half = false;  ///< a 16-bit register (true 16-bit processors): `op_sel` selects the half of `reg`
};

/// A Data Parallel Primitives control (DPP16 DPP_CTRL encoding; for DPP8, eight 3-bit lane selects).
struct Dpp {
  uint32_t control = 0;
  uint8_t row_mask = 0xF, bank_mask = 0xF;
  bool bound_ctrl = false;  ///< invalid lanes read 0 rather than disabling the write
  bool fetch_inactive = false;
};

/// One decoded instruction. Operands stand in the order of the assembly text, results first; sources that the
/// encoding implies but the text does not show (VCC of v_addc in VOP2) stand there too (the printer knows to leave them
/// out).
struct Instruction {
  Opcode opcode = Opcode::invalid;
  Encoding encoding = Encoding::sopp;
  Extension extension = Extension::none;
  target::Generation generation = target::Generation::gfx9;  ///< whose instruction it is (table.h: row_of)
  uint8_t lane_mask_words = 2;  ///< scalar registers that EXEC, VCC and other lane masks fill: 1 in waves of 32 lanes
  uint8_t size = 0;             ///< bytes, literal or extension word included
  uint8_t destinations = 0;     ///< how many of `operands` are written (an operand may be read as well)
  uint8_t operand_count = 0;
  std::array<Operand, 8> operands{};

  // Modifiers, each meaning the same on every encoding that has it.
  bool clamp = false;
  uint8_t omod = 0;                        ///< 0: none, 1: *2, 2: *4, 3: /2
  bool op_sel_dst = false;                 ///< 16-bit result goes to the upper half
  SdwaSelect dst_sel = SdwaSelect::dword;  ///< also the byte that a conversion to 8 bits writes
  SdwaUnused dst_unused = SdwaUnused::pad;
  Dpp dpp{};
  uint32_t literal = 0;       ///< the constant after the instruction, as it stands there
  uint32_t literal_high = 0;  ///< its upper half, if it has 64 bits
  bool wide_literal = false;
  int32_t offset = 0;   ///< of a memory instruction, bytes, sign-extended; DS: offset (or offset0)
  uint8_t offset1 = 0;  ///< DS with two offsets
  bool offset_register = false, offset_immediate = false;   ///< SMEM: which of soffset and offset it has
  bool glc = false, slc = false, dlc = false, scc = false;  ///< gfx940 prints sc0, nt, -, sc1 for them
  bool gds = false, lds = false, tfe = false;
  /// If it is a load into half a register, the other half becomes 0. The GPU (target::Target) decides that, not the
  /// code, so it is set by whoever decodes to execute (engine/target_code.h).
  bool clears_other_half = false;
  bool offen = false, idxen = false, addr64 = false;
  uint8_t data_format = 0;               ///< MTBUF dfmt (or the unified format)
  uint8_t number_format = 0;             ///< MTBUF nfmt
  uint8_t cbsz = 0, abid = 0, blgp = 0;  ///< matrix instructions; of sparse WMMA, abid is the index key
  /// GFX12.5: which of the two sources of a matrix instruction the next one reads again (bit 0: the first).
  uint8_t matrix_reuse = 0;
  std::array<uint8_t, 2> scale_formats{};  ///< GFX12.5: of a matrix instruction's scales, E8, E5M3 or E4M3
  uint8_t dmask = 0;                       ///< images: which components
  bool unorm = false, da = false, r128 = false, a16 = false, lwe = false, d16 = false;
  uint8_t dim = 0;  ///< images from GFX10 on: 1D, 2D, 3D, cube, 1D array, 2D array, 2D MSAA, 2D MSAA array
  /// Images with addresses in any registers (NSA): the number of registers or tuples that are named one by one, 0 if
  /// the address is one tuple; the first is the operand's `reg`, the others stand here.
  uint8_t address_count = 0;
  std::array<uint8_t, 13> addresses{};
  uint8_t temporal_hint = 0, scope = 0;  ///< of memory instructions from GFX12 on
  bool nv = false, scale_offset = false;
  bool row_enable = false;          ///< of an export
  uint8_t wait_exp = 0;             ///< VINTERP: counter to wait for; LDSDIR: wait_vdst
  bool wait_vm_vsrc = false;        ///< LDSDIR
  Opcode second = Opcode::invalid;  ///< of a dual instruction: the Y half, whose operands follow the X half's
  uint8_t second_operands = 0;      ///< where they begin
  uint8_t export_target = 0;
  bool done = false, compressed = false, valid_mask = false;  ///< of an export
  /// SIMM16 of SOPK and SOPP (branch distance in words, counters, message, hardware register), the mode of
  /// s_set_gpr_idx_on, the truth table of v_bitop3.
  uint16_t immediate = 0;

  const Operand& dst(unsigned i = 0) const { return operands[i]; }
  const Operand& src(unsigned i) const { return operands[destinations + i]; }
  unsigned sources() const { return operand_count - destinations; }
};

}  // namespace Atoll::isa

// isa: where the fields of each encoding are, as data. formats.cpp has a table for each family of generations; decoding
// reads fields by name through them, so that what moved from one generation to the next is no code.
//
// A format is recognised by the leading bits of the first word (its prefix, at most 9 bits: SOP1, SOPC and SOPP are the
// longest). Bits are counted over the whole instruction: bit 32 is the lowest of the second word.
// Sources: the vendor's ISA guides, "Microcode Formats".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "isa/instruction.h"
#include "target/processor.h"

namespace Atoll::isa {

/// The fields of encodings. A format has each at most once; one that it has not reads as 0.
enum class Bits : uint8_t {
  opcode,
  opcode_high,  ///< further opcode bits elsewhere
  segment,      ///< FLAT: flat, scratch or global; VBUFFER: untyped or typed
  // ALU
  vdst,
  sdst,  ///< VOP3: the lane mask that is written besides
  src0,
  src1,
  src2,
  src0_y,  ///< VOPD: of the second half
  src1_y,
  src2_y,
  vdst_y,  ///< in VOPD without its lowest bit, which is not the first half's
  neg_y,
  simm16,
  abs,  ///< VOP3P: neg_hi
  op_sel,
  op_sel_hi,
  op_sel_hi2,
  clamp,
  omod,
  neg,
  accumulation,  ///< data or matrix destination are AGPRs
  source_accumulation,
  cbsz,
  abid,
  blgp,
  // VINTRP, VINTERP, LDSDIR
  attribute,
  channel,
  high,
  slot,
  wait_exp,
  wait_vdst,
  wait_vm_vsrc,
  // Memory
  sdata,
  sbase,
  soffset,
  soffset_enable,
  offset,
  offset_is_immediate,
  glc,
  slc,
  dlc,
  scc,
  nv,
  scale_offset,
  temporal_hint,
  scope,
  addr,
  data0,
  data1,
  gds,
  saddr,
  vaddr_enable,  ///< SCRATCH
  lds,
  offen,
  idxen,
  addr64,
  tfe,
  resource,
  data_format,
  number_format,
  sampler,
  dmask,
  unorm,
  da,
  r128,
  a16,
  lwe,
  d16,
  dim,
  nsa,       ///< MIMG: how many words of addresses follow; VIMAGE and VSAMPLE name each address
  address1,  ///< ... of VIMAGE and VSAMPLE
  address2,
  address3,
  address4,
  // EXP
  enable,
  export_target,
  done,
  compressed,
  valid_mask,
  row_enable,
  zero,  ///< bits that must be zero
  count
};

struct BitRange {
  uint8_t low = 0, count = 0;
};

struct Format {
  struct Place {
    Bits field;
    uint8_t low, count;
  };

  Encoding encoding{};
  uint8_t prefix_bits = 0;
  uint16_t prefix = 0;  ///< the first word's leading bits
  uint8_t size = 4;     ///< in bytes, without literal and extension words
  std::array<BitRange, static_cast<size_t>(Bits::count)> places{};

  constexpr Format(Encoding of, uint8_t leading_bits, uint16_t leading, uint8_t bytes, std::initializer_list<Place> at)
      : encoding(of), prefix_bits(leading_bits), prefix(leading), size(bytes) {
    for (const Place& place : at) places[static_cast<size_t>(place.field)] = {place.low, place.count};
  }

  constexpr BitRange at(Bits field) const { return places[static_cast<size_t>(field)]; }
  constexpr bool has(Bits field) const { return at(field).count != 0; }
  /// How many values the opcode can have.
  constexpr unsigned opcodes() const { return 1u << (at(Bits::opcode).count + at(Bits::opcode_high).count); }
};

/// The formats of a generation. Those of FLAT, SCRATCH and GLOBAL may have the same prefix, and those of MUBUF and
/// MTBUF; `segment` tells them apart.
std::span<const Format> formats_of(target::Generation generation);

/// Words after VOP1, VOP2, VOPC and VOP3 that modify them (ISA guides, "SDWA", "DPP", "DPP8"): places in that word.
namespace dpp16 {
inline constexpr BitRange src0{0, 8}, control{8, 9}, fetch_inactive{18, 1}, bound_ctrl{19, 1}, modifiers{20, 4},
    bank_mask{24, 4}, row_mask{28, 4};
}
namespace dpp8 {
inline constexpr BitRange src0{0, 8}, selects{8, 24};
}

}  // namespace Atoll::isa

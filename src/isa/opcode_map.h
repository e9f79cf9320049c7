// isa: from opcode values to rows of the instruction table, and what the bits of encodings mean, for one processor.
#pragma once

#include <array>
#include <cstdint>

#include "isa/opcode.h"
#include "isa/table.h"
#include "target/processor.h"

namespace Atoll::isa {

/// What the bits of an encoding mean on a processor, where it differs within a family.
struct Layout {
  bool accumulation_bit = false;  ///< memory instructions can name AGPRs; matrix destinations too
  bool even_tuples = false;       ///< VGPR tuples begin at an even register
  bool scc_bit = false;           ///< memory instructions have a third cache bit
  bool tfe_bit = false;
  bool gds_bit = false;
  bool flat_lds_bit = false;       ///< bit 13 of FLAT sends a load to LDS ...
  bool scratch_vaddr_bit = false;  ///< ... or says that SCRATCH uses vaddr
  bool fadd_returns = false;       ///< float atomics on global memory can return the old value
  bool wide_lds_loads = false;     ///< buffer loads of 3 and 4 words can go to LDS
  bool cache_levels = false;       ///< the cache bits of buffer_inv and buffer_wbl2 mean something
  bool row_newbcast = false;       ///< DPP controls 0x150 ...

  explicit Layout(const target::Processor& processor);
};

inline constexpr unsigned vop3p_in_vop3 = 0x380;  // VOP3P's 9-bit prefix is VOP3's 6-bit prefix and 3 opcode bits

/// Opcode values to rows, for one processor.
struct OpcodeMap {
  template <size_t size>
  using Map = std::array<Opcode, size>;

  Layout layout;
  bool empty = true;  ///< no row is for the processor's generation
  Map<0x80> sop2{}, sopc{}, sopp{}, flat{}, global{}, scratch{}, mubuf{}, mimg{}, vop3p{}, scaled{};
  Map<0x20> sopk{};
  Map<0x100> sop1{}, smem{}, vop1{}, vopc{}, ds{};
  Map<0x40> vop2{};
  Map<0x400> vop3{};
  Map<0x10> mtbuf{};
  Map<0x4> vintrp{};
  Map<1> exp{};

  explicit OpcodeMap(const target::Processor& processor);

 private:
  void place(Opcode opcode, const InstructionRow& row, unsigned value);
};

/// The map of a processor of target::processors(), made when it is first asked for.
const OpcodeMap& opcode_map_of(const target::Processor& processor);

}  // namespace Atoll::isa

// isa: what an instruction reads and writes, by name or without naming it, and where it goes next.
//
// Both follow from the operands and from columns of the instruction table: which fields are written
// (table.h: writes()), flags of the row as it is on the instruction's generation, and the encoding, which says whether
// an instruction works on lanes (and so under EXEC) and which memory it reaches. Whoever follows code (control flow,
// liveness, scheduling, checkers) asks here; no one else has lists of opcodes for that.
//
// tests/isa/effects_test.cpp compares all of it with what LLVM says of each instruction.
#pragma once

#include <bitset>
#include <cstdint>

#include "isa/instruction.h"

namespace Atoll::isa {

/// Scalar registers by their number (namespace scalar), and SCC.
inline constexpr unsigned scc_number = scalar::count, scalar_registers = scalar::count + 1;
using ScalarSet = std::bitset<scalar_registers>;

/// Vector registers: VGPRs by their number, of which GFX12.5 has four banks (vgpr_banks.h), AGPRs from `first_agpr` on.
inline constexpr unsigned vector_registers_of_a_kind = 256;  ///< that an instruction can name
inline constexpr unsigned first_agpr = 4 * vector_registers_of_a_kind;
inline constexpr unsigned vector_registers = first_agpr + vector_registers_of_a_kind;
using VectorSet = std::bitset<vector_registers>;

/// Kinds of memory; an access may be to one of several.
enum class MemoryKind : uint8_t { global = 1, scratch = 2, lds = 4, gds = 8 };
struct MemorySet {
  uint8_t bits = 0;
  constexpr bool any() const { return bits != 0; }
  constexpr bool has(MemoryKind kind) const { return (bits & static_cast<uint8_t>(kind)) != 0; }
  constexpr MemorySet operator|(MemoryKind kind) const {
    return {static_cast<uint8_t>(bits | static_cast<uint8_t>(kind))};
  }
  friend constexpr bool operator==(MemorySet, MemorySet) = default;
};

/// Registers and memory that an instruction may read and write. A write may leave the old value, for some lanes
/// or altogether. The old value is then in `reads`, too, unless only EXEC decides.
struct Effects {
  ScalarSet reads, writes;
  VectorSet vector_reads, vector_writes;
  bool reads_mode = false, writes_mode = false;  ///< MODE: of the floating-point mode, exceptions, register indexing
  MemorySet loads, stores;                       ///< an atomic has both
  bool orders_memory = false;                    ///< writes back or invalidates caches
};
Effects effects_of(const Instruction& instruction);

/// Copies between memory and LDS.
enum class LdsCopy : uint8_t { none, to_lds, from_lds };
LdsCopy lds_copy(const Instruction& instruction);

/// Whether an instruction works on all lanes of a wave together, whatever EXEC has: matrices, loads that transpose.
bool works_on_whole_waves(const Instruction& instruction);

/// Adds a lane mask that begins with that register: one register or two.
inline void add_lane_mask(ScalarSet& set, unsigned reg, const Instruction& of) {
  for (unsigned word = 0; word < of.lane_mask_words; ++word) set.set(reg + word);
}

/// Where a wave goes after an instruction.
struct Control {
  enum class Kind : uint8_t {
    next,           ///< to the instruction after it
    branch,         ///< to the target
    conditional,    ///< to the target if the condition holds, else to the instruction after it
    call,           ///< to the target, with the address of the instruction after it kept
    indirect,       ///< where a register says
    indirect_call,  ///< likewise, with the address of the instruction after it kept
    fork,           ///< s_cbranch_*_fork, s_cbranch_join: both ways, one after the other
    trap_return,    ///< s_rfe_b64: where a register says, out of the trap handler
    trap,           ///< into the trap handler
    wait,  ///< to the instruction after it, but perhaps not before others have done something (barriers, sleep)
    end,   ///< the wave ends
  };
  /// What is compared with zero.
  enum class Condition : uint8_t { none, scc, vcc, exec, debugger, subvector };

  Kind kind = Kind::next;
  Condition condition = Condition::none;
  bool if_zero = false;     ///< the branch is taken if it is zero
  bool adds_to_pc = false;  ///< an indirect branch by the register's value, not to it (s_add_pc_i64)
  bool has_target = false;  ///< the immediate is a distance in words from the instruction after it

  /// Whether the instruction after it may be next.
  constexpr bool falls_through() const {
    return kind == Kind::next || kind == Kind::conditional || kind == Kind::wait || kind == Kind::trap ||
           kind == Kind::fork;
  }
  /// Whether the wave comes back to the instruction after it when what it calls returns.
  constexpr bool is_call() const { return kind == Kind::call || kind == Kind::indirect_call; }
  /// Whether it is a branch of any kind.
  constexpr bool is_branch() const {
    return kind != Kind::next && kind != Kind::wait && kind != Kind::trap && kind != Kind::end;
  }
};
Control control_of(const Instruction& instruction);

}  // namespace Atoll::isa

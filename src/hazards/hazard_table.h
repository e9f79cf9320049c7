// hazards: the table of hazards between instructions, a row for each and for the GPUs that have it.
//
// A hazard is a pair of instructions, a producer and a consumer, which a register usually connects. The GPU does not
// hold the consumer back, so that code has to: by enough instructions between, or by an instruction that waits. A row
// states both sides, the distance and what ends the hazard. hazard_recognizer.h follows a wave by these rows.
//
// Sources of rows: the ISA guides' "Manually Inserted Wait States (NOPs)", and LLVM 22's GCNHazardRecognizer and
// AMDGPUWaitSGPRHazards, by the name of the function. tests/observe/wait_pairs_test.cpp compares both ways with what
// llc inserts.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "hazards/counters.h"
#include "hazards/instruction_class.h"
#include "target/processor.h"

namespace Atoll::hazards {

/// Unit of the distance between producer and consumer.
enum class Unit : uint8_t {
  states,        ///< wait states: an instruction is one, s_nop as many as it says
  instructions,  ///< any, s_nop included
  valu,          ///< vector ALU instructions
  transcendentals,
  vector_nops,
  scalar_writes,  ///< ALU instructions that write scalar registers
  lds_nops,       ///< ds_nop without another instruction between
  count
};

/// A distance after which the hazard is over. A count of 0: no distance is enough.
struct Limit {
  Unit unit = Unit::states;
  uint8_t count = 0;
};

/// Waits that end a hazard, beside instructions of a class.
struct EndingWait {
  enum class Kind : uint8_t {
    none,
    dependency,      ///< s_waitcnt_depctr, s_wait_alu with all of `fields` at 0
    all_counters,    ///< s_waitcnt 0
    stores,          ///< the counter of stores at 0
    scalar_and_lds,  ///< the counter of scalar memory at 0
    vector_memory,   ///< the counter of vector memory at 0
  };
  Kind kind = Kind::none;
  DependencyFields fields = 0;
};

/// Measure by which code resolves a hazard.
struct Remedy {
  enum class Kind : uint8_t {
    s_nop,       ///< as many wait states as are missing
    v_nop,       ///< as many v_nop as are missing
    valu,        ///< a vector ALU instruction that is not v_nop
    scalar_alu,  ///< a scalar ALU instruction, such as s_mov_b32 null, 0
    dependency,  ///< s_waitcnt_depctr, s_wait_alu
    stores,      ///< s_waitcnt_vscnt null, 0
    operand,     ///< the consumer's own field that waits
    registers,   ///< other registers
  };
  Kind kind = Kind::s_nop;
  DependencyFields fields = 0;
};

/// One side of a hazard.
struct Side {
  InstructionClass is = InstructionClass::any;
  InstructionClass is_not = InstructionClass::count;  ///< unless it is of that class, too
  Role role = Role::none;
};

/// Rows by name, where others refer to them.
enum class Stage : uint8_t {
  none,
  lds,            ///< LDS was accessed
  vector_memory,  ///< vector memory was accessed
  mask_read,      ///< a VALU instruction took a lane mask from the SGPR
  valu_read,      ///< a VALU instruction read the SGPR, or the other one of its pair
};

struct Hazard {
  std::string_view name;    ///< "VALU writes an SGPR, vector memory reads it"
  std::string_view source;  ///< where that is written
  target::Generation first, last;
  target::Feature feature = target::Feature::none;
  std::string_view processor{};  ///< only this one; empty: all of these generations
  uint8_t wave_size = 0;         ///< only in waves of that size; 0: any
  Side producer{};
  Side consumer{};  ///< its class is `count` for a row that is only a stage of others
  std::array<Limit, 2> limits{};
  bool by_wait_vdst = false;  ///< the consumer's field wait_vdst says how many VALU instructions may be between
  std::array<InstructionClass, 4> ended_by{InstructionClass::count, InstructionClass::count, InstructionClass::count,
                                           InstructionClass::count};
  InstructionClass not_ended_by = InstructionClass::count;  ///< not even if it is of a class of `ended_by`
  std::array<EndingWait, 2> waits{};
  bool overwritten_ends = false;    ///< so does a later write of the register: by VALU of a VGPR, by any of an SGPR
  bool partial_forwarding = false;  ///< the recognizer's own rule about writes around a write of EXEC
  Stage stage = Stage::none;        ///< the row is this stage
  Stage after = Stage::none;        ///< the producer counts only while that stage of its register lasts
  Remedy remedy{};
  std::string_view problem{};  ///< for a report: what the consumer does: "uses {}", "writes {}"
  std::string_view earlier{};  ///< and the producer: "has written it"

  bool has_consumer() const { return consumer.is != InstructionClass::count; }
  bool applies_to(const target::Processor& processor, unsigned wave_size) const;
};

/// All rows, those of the oldest GPUs first.
std::span<const Hazard> hazard_table();

}  // namespace Atoll::hazards

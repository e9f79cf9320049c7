// hazards: operations that a wave has not waited for, and the registers that they are still to fill or to read.
//
// Source: the ISA guides' "S_WAITCNT"; user guide, "Memory Model", for which counter counts what. From GFX12.5 on XCNT
// counts accesses of memory until their addresses are translated, since one whose page is missing is executed again:
// until then nothing may change the registers that it reads, EXEC among them. Accesses of vector memory are translated
// in the order of their issue, and those of scalar and of vector memory never at once: the GPU waits by itself between
// them (LLVM's SIInsertWaitcnts, which clang 22's code shows, too).
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "hazards/counters.h"
#include "isa/effects.h"
#include "memory_model/generation.h"

namespace Atoll::hazards {

/// VGPRs by their number in all banks; AGPRs from isa::first_agpr on.
using VectorRegisters = isa::VectorSet;

/// What counts of an instruction.
struct OperationInfo {
  std::optional<CounterWaits> waits;
  memory_model::Counters counted = 0;  ///< by which counters it is under way
  CounterWaits room;                   ///< what may be left for these counters to count it, too
  bool in_order = true;                ///< a counter's operations are done in the order of their issue
  bool fills_in_order = true;          ///< and those of the same counter fill their registers in that order
  bool fills = false;                  ///< registers
  bool is_scalar_memory = false;
  bool leaves_function = false;  ///< a call or a return, before which compilers do not wait for XCNT
  isa::LdsCopy copy = isa::LdsCopy::none;
  /// VGPRs of which it has to do with one half only, where instructions name halves (GFX11 and later), and which.
  struct Half {
    uint16_t reg = 0;
    uint8_t halves = 0;  ///< 1: the lower one, 2: the upper one
  };
  std::vector<Half> halves;
  uint8_t halves_of(unsigned vgpr) const;

  isa::ScalarSet reads, writes;
  VectorRegisters vector_reads, vector_writes, vectors;  ///< the last: both
};
OperationInfo operation_info(const isa::Instruction& instruction, const isa::Effects& effects);

/// An operation that has not been waited for.
struct OutstandingOperation {
  uint64_t pc = 0;
  memory_model::Counters counters = 0;  ///< in whose queues it still is
  bool arrived = false;
  const OperationInfo* facts = nullptr;

  bool is_copy() const { return facts->copy != isa::LdsCopy::none && !arrived; }
  bool is_filling() const { return !arrived && facts->fills; }
  bool is_reading() const { return memory_model::has(counters, memory_model::Counter::xnack); }
};

/// Events of a wave's copies between memory and LDS that are in flight: a further one has begun, or one has
/// completed.
struct CopyStep {
  const OperationInfo* begun = nullptr;  ///< of the instruction at `pc`; null: one is done, ...
  uint64_t pc = 0;
  unsigned done = 0;  ///< ... of those that are under way the one of that number, from the oldest on
};
using CopySteps = std::vector<CopyStep>;

/// How an instruction depends on an operation that is in flight.
struct RegisterConflict {
  enum class Kind : uint8_t {
    reads,      ///< a register that is still to be filled
    writes,     ///< likewise
    overwrites  ///< a register that is still to be read
  };
  Kind kind;
  OutstandingOperation operation{};
  bool is_vector = false;
  unsigned reg = 0;
};

/// The operations of a wave, as far as it matters to what comes.
class Scoreboard {
 public:
  void wait(const CounterWaits& waits, CopySteps& copies);
  /// Before a wave executes an instruction: a counter counts no more than it can.
  void make_room(const OperationInfo& facts, CopySteps& copies);
  /// Operations that an instruction has to wait for.
  std::vector<RegisterConflict> conflicts(const OperationInfo& facts) const;
  /// A wave executes an instruction.
  void execute(const OperationInfo& facts, uint64_t pc, CopySteps& copies);
  /// The oldest first.
  const std::vector<OutstandingOperation>& all() const { return queue_; }

 private:
  bool touches(const OperationInfo& facts) const {
    return (vectors_filled_ & facts.vectors).any() || (vectors_read_ & facts.vector_writes).any() ||
           (scalars_filled_ & (facts.reads | facts.writes)).any() || (scalars_read_ & facts.writes).any();
  }
  /// The operations in flight have changed.
  void collect();
  void add(const OutstandingOperation& operation);
  /// The copy at that place in the queue is done.
  void end_copy(size_t at, CopySteps& copies) const;

  std::vector<OutstandingOperation> queue_;  ///< the oldest first
  // Registers that operations in flight will still write and read.
  VectorRegisters vectors_filled_, vectors_read_;
  isa::ScalarSet scalars_filled_, scalars_read_;
};

}  // namespace Atoll::hazards

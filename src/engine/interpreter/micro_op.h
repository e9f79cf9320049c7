// engine: the prepared form of an instruction.
//
// Every instruction is decoded once and turned into a MicroOp: the host function that carries it out (its handler)
// and the operands that this function needs, already resolved as far as they can be before the wave is known.
// MicroOps stand in memory as the code does, one slot per 4 bytes (code_cache.h), so that the next one is found by
// adding, and a branch by adding more.
//
// Handlers form a chain: each does its work and then jumps to the handler of the next MicroOp (a guaranteed tail
// call), until one of them returns because the wave stops. There is no loop around them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isa/instruction.h"
#include "machine/engine.h"
#include "machine/wave/wave.h"
#include "semantics/lanes/lane_movement.h"
#include "semantics/matrix/wmma.h"
#include "semantics/registry.h"

namespace Atoll::machine {
class InstrumentationClient;
class Observer;
class WaveControl;
}  // namespace Atoll::machine

namespace Atoll::engine {

class AccessReporter;
struct DualHalf;
struct MatrixOperation;
struct MicroOp;
struct Run;

using machine::Row;
using machine::Wave;

using Handler = void (*)(Wave& wave, const MicroOp* op, Run& run);

/// Tells what a memory instruction is about to access, in a machine that is observed (observation.h).
using Accesses = void (*)(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter);

/// Where a MicroOp came from; what the quick handlers need of it is in the MicroOp itself.
struct OpMetadata {
  uint64_t pc = 0;
  isa::Instruction instruction;
  std::optional<semantics::DppMove> dpp{};                      ///< of an instruction that has one
  std::optional<semantics::LaneMap> lane_map{};                 ///< of ds_swizzle_b32
  std::optional<semantics::WaveMatrixOperation> wave_matrix{};  ///< of WMMA and SWMMAC
  std::shared_ptr<const MatrixOperation> matrix{};              ///< of MFMA and SMFMAC
  const semantics::VectorShape* shape = nullptr;                ///< of a vector instruction with modifiers
  std::shared_ptr<const DualHalf[]> halves{};                   ///< of a dual instruction
  Accesses accesses = nullptr;                                  ///< of a memory instruction
  Handler observed = nullptr;   ///< the instruction's own handler, where its slot has one that reports
  Handler unpatched = nullptr;  ///< the slot's handler without a breakpoint
};

/// What an operand's row offset counts from. Constants have rows of their own and are addressed absolutely.
enum class RowBase : uint8_t { vgpr, agpr, temporary, absolute, count };

/// A vector instruction: rows in, rows out.
struct VectorOp {
  semantics::VectorFunction function;
  uint64_t source[3];  ///< byte offset of each source's first row from its base
  uint32_t result;     ///< and of the result's
  RowBase source_base[3];
  RowBase result_base;
};

/// A scalar instruction: words in, a word or pair out.
struct ScalarOp {
  semantics::ScalarFunction function;
  uint64_t constant[3];  ///< value of each source that is no register
  uint8_t source[3];     ///< register of each source that is one
  uint8_t result;
};

/// A branch: the slot that it goes to.
struct BranchOp {
  const MicroOp* target;
  uint64_t target_pc, next_pc;
};

struct LaneAddresses;
struct Lds;

/// A memory instruction. Which of the fields mean something is for the family's file to say.
struct MemoryOp {
  uint64_t pc;
  union {
    void (*transfer)(const LaneAddresses&, uint64_t lanes, uint32_t word_stride, Row* data);
    void (*atomic)(const LaneAddresses&, uint64_t lanes, const Row* data, const Row* data2, Row* result,
                   semantics::Denormals);
    void (*lds_atomic)(const Lds&, const LaneAddresses& offsets, uint64_t lanes, const Row* data, const Row* data2,
                       Row* result, semantics::Denormals);
  };
  int32_t offset;         ///< bytes
  uint32_t address;       ///< byte offset of the first row of the address, from the VGPRs
  uint32_t data;          ///< byte offset of the first row of the data (loads: result) from its base
  uint32_t data2;         ///< of a second data operand
  uint32_t result;        ///< of an atomic's result
  RowBase data_base;      ///< of all three: VGPRs or AGPRs
  uint8_t scalar_base;    ///< SGPR of a scalar base address or descriptor
  uint8_t scalar_offset;  ///< SGPR of a scalar offset
  uint8_t bits;           ///< the family's flags
};

struct alignas(64) MicroOp {
  Handler handler;
  const OpMetadata* origin;
 uint8_t slots : 4;           ///< that it spans: the next instruction is this many MicroOps on
  uint8_t broadcasts : 4;     ///< how many scalars are to be spread over temporary rows first: ...
  uint8_t broadcast[2];       ///< ... from these registers ...
  uint8_t broadcast_slot[2];  ///< ... for these sources; with broadcast_pair: both words
  uint8_t signs;              ///< sources whose sign is changed: sign_neg and sign_abs for each, and sign_pairs
  uint8_t mask_in;            ///< scalar register of a lane mask read (carry-in, selector) ...
  uint8_t mask_out;           ///< ... and written
  union {
    VectorOp vector;
    ScalarOp scalar;
    BranchOp branch;
    MemoryOp memory;
  };
};
static_assert(sizeof(MicroOp) == 64);

/// One of the two halves of a dual instruction (vopd.cpp): a chain of its own, which ends after it.
struct DualHalf {
  OpMetadata origin;
  MicroOp chain[2];
};

inline constexpr uint8_t broadcast_pair = 0x80;

/// MicroOp::signs, shifted by two bits for each source; and whether the signs are in the second of a pair of rows.
inline constexpr uint8_t sign_neg = 1, sign_abs = 2, sign_pairs = 0x80;

/// The slot's handler. Another thread may just be preparing it: whoever sees the new handler sees the rest, too.
inline Handler handler_of(const MicroOp* op) { return __atomic_load_n(&op->handler, __ATOMIC_ACQUIRE); }

class CodeCache;
class GlobalWaveSync;

inline constexpr uint8_t no_chunk = 0xFF;

/// What one call of Engine::run keeps beside the wave: a host thread's scratch for operands, and the budget.
struct alignas(64) Run {
  Row temporary[40];             ///< broadcast scalars and modified sources
  semantics::VectorCall call{};  ///< kept from one instruction to the next; `mode` follows Wave::float_mode
  uintptr_t base[static_cast<unsigned>(RowBase::count)]{};  ///< addresses; 0 for RowBase::absolute
  uint64_t instructions = 0;                                ///< executed in this run
  uint64_t limit = 0;                                       ///< at which a branch gives the wave back
  bool resume = false;              ///< the chain ended only to go on in another way (register_index.h)
  bool fallback_completed = false;  ///< an interpreter fallback has been executed (compiled/interpreter_fallback.h)
  /// Of translated code that may fault and runs a chunk of lanes ahead of the others: which one
  /// (compiler/lowering/region.h).
  uint8_t chunk = no_chunk;
  /// Which waves may follow in translated code when this one has ended; null: none.
  machine::WaveBatch* series = nullptr;
  CodeCache* code = nullptr;
  GlobalWaveSync* sync = nullptr;
  machine::Observer* observer = nullptr;  ///< null: none
  /// Of the compiled engine: instructions that this thread interpreted and has not told the places where it began
  /// (compiled/entry_table.h); each counts for those with the same hash. Kept from one run to the next.
  std::array<uint32_t, 8> hotness{};
  machine::InstrumentationClient* client = nullptr;  ///< the observer's
  machine::WaveControl* control = nullptr;           ///< the observer's; null: it never stops waves
  bool stopped = false;                              ///< a breakpoint or an observer has stopped the wave
};

/// The calling thread's Run as it was left.
Run& run_of_thread();
/// Prepares it, or the Run of a CompiledRun, for `wave` and `budget` instructions, and for an observer or null.
void begin_run(Run& run, Wave& wave, uint64_t budget, CodeCache& code, GlobalWaveSync& sync,
               machine::Observer* observer = nullptr);

/// Gives the wave back in `state`, to go on at `pc`: the handler returns after it.
inline void stop(Wave& wave, machine::WaveState state, uint64_t pc) {
  wave.state = state;
  wave.pc = pc;
}

/// The same for a fault.
void fault(Wave& wave, uint64_t pc, machine::Fault::Kind kind, std::string what, uint64_t address = 0,
           bool is_write = false, unsigned lane = 0);

/// The chain's link: every handler that cannot stop the wave is step<Body>.
template <void (*Body)(Wave&, const MicroOp&, Run&)>
void step(Wave& wave, const MicroOp* op, Run& run) {
  ++run.instructions;
  Body(wave, *op, run);
  op += op->slots;
  [[clang::musttail]] return handler_of(op)(wave, op, run);
}

/// The same for a body that may stop the wave: it returns whether the wave goes on.
template <bool (*Body)(Wave&, const MicroOp&, Run&)>
void step_or_stop(Wave& wave, const MicroOp* op, Run& run) {
  ++run.instructions;
  if (!Body(wave, *op, run)) return;
  op += op->slots;
  [[clang::musttail]] return handler_of(op)(wave, op, run);
}

}  // namespace Atoll::engine

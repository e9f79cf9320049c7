// engine: MicroOp, the prepared form of an instruction.
//
// Each instruction is decoded once into a MicroOp: a handler (the host function that executes it) and its operands,
// resolved as far as possible without a wave. MicroOps are laid out like the code, one slot per 4 bytes (code_cache.h),
// so the next instruction and branch targets are found by address arithmetic.
//
// Handlers are threaded code: each executes its instruction and jumps to the next MicroOp's handler (a guaranteed tail
// call) until one returns because the wave stops. There is no dispatch loop.
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

/// Reports the accesses that a memory instruction is about to make, in an observed machine (observation.h).
using Accesses = void (*)(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter);

/// The source of a MicroOp. Data that fast handlers need is in the MicroOp itself.
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

/// Base of an operand's row offset. Constants have rows of their own, with absolute addresses.
enum class RowBase : uint8_t { vgpr, agpr, temporary, absolute, count };

/// Operands of a vector instruction: rows.
struct VectorOp {
  semantics::VectorFunction function;
  uint64_t source[3];  ///< byte offset of each source's first row from its base
  uint32_t result;     ///< byte offset of the result
  RowBase source_base[3];
  RowBase result_base;
};

/// Operands of a scalar instruction: words.
struct ScalarOp {
  semantics::ScalarFunction function;
  uint64_t constant[3];  ///< value of each source that is not a register
  uint8_t source[3];     ///< register of each source that is a register
  uint8_t result;
};

/// Operand of a branch: the target slot.
struct BranchOp {
  const MicroOp* target;
  uint64_t target_pc, next_pc;
};

struct LaneAddresses;
struct Lds;

/// Operands of a memory instruction. Their use is described in the file of each family.
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
  uint32_t address;       ///< byte offset of the address's first row from the VGPRs
  uint32_t data;          ///< byte offset of the first row of the data (loads: result) from its base
  uint32_t data2;         ///< second data operand
  uint32_t result;        ///< result of an atomic
  RowBase data_base;      ///< base of all three: VGPRs or AGPRs
  uint8_t scalar_base;    ///< SGPR of a scalar base address or descriptor
  uint8_t scalar_offset;  ///< SGPR of a scalar offset
  uint8_t bits;           ///< flags, defined by each family
};

struct alignas(64) MicroOp {
  Handler handler;
  const OpMetadata* origin;
 uint8_t slots : 4;           ///< number of slots to the next instruction
  uint8_t broadcasts : 4;     ///< number of scalars to broadcast to temporary rows first: ...
  uint8_t broadcast[2];       ///< ... from these registers ...
  uint8_t broadcast_slot[2];  ///< ... for these sources; with broadcast_pair: both words
  uint8_t signs;              ///< sources with sign modifiers: sign_neg and sign_abs for each, and sign_pairs
  uint8_t mask_in;            ///< SGPR of a lane mask that is read (carry-in, selector) ...
  uint8_t mask_out;           ///< ... and written
  union {
    VectorOp vector;
    ScalarOp scalar;
    BranchOp branch;
    MemoryOp memory;
  };
};
static_assert(sizeof(MicroOp) == 64);

/// One half of a VOPD (vopd.cpp): a chain that ends after it.
struct DualHalf {
  OpMetadata origin;
  MicroOp chain[2];
};

inline constexpr uint8_t broadcast_pair = 0x80;

/// MicroOp::signs, shifted by two bits per source; sign_pairs: the signs are in the second row of a pair.
inline constexpr uint8_t sign_neg = 1, sign_abs = 2, sign_pairs = 0x80;

/// Loads the slot's handler. Acquires, because another thread may be preparing the slot.
inline Handler handler_of(const MicroOp* op) { return __atomic_load_n(&op->handler, __ATOMIC_ACQUIRE); }

class CodeCache;
class GlobalWaveSync;

inline constexpr uint8_t no_chunk = 0xFF;

/// Execution context of one Engine::run(): temporary rows, budget, and links to the wave's environment.
struct alignas(64) Run {
  Row temporary[40];             ///< broadcast scalars and modified sources
  semantics::VectorCall call{};  ///< kept between instructions; `mode` mirrors Wave::float_mode
  uintptr_t base[static_cast<unsigned>(RowBase::count)]{};  ///< base addresses; 0 for RowBase::absolute
  uint64_t instructions = 0;                                ///< executed in this run
  uint64_t limit = 0;                                       ///< instruction count at which branches preempt the wave
  bool resume = false;              ///< the chain ended to continue in another mode (register_index.h)
  bool fallback_completed = false;  ///< an interpreter fallback has been executed (compiled/interpreter_fallback.h)
  /// Chunk that translated code was executing ahead of the others when it failed (compiler/lowering/region.h).
  uint8_t chunk = no_chunk;
  /// Waves that translated code may chain to after this one ends; null: none.
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

/// Returns the calling thread's Run in its last state.
Run& run_of_thread();
/// Prepares it, or the Run of a CompiledRun, for `wave` and `budget` instructions, and for an observer or null.
void begin_run(Run& run, Wave& wave, uint64_t budget, CodeCache& code, GlobalWaveSync& sync,
               machine::Observer* observer = nullptr);

/// Stops the wave in `state` at `pc`. The handler must return afterwards.
inline void stop(Wave& wave, machine::WaveState state, uint64_t pc) {
  wave.state = state;
  wave.pc = pc;
}

/// Stops the wave with a fault.
void fault(Wave& wave, uint64_t pc, machine::Fault::Kind kind, std::string what, uint64_t address = 0,
           bool is_write = false, unsigned lane = 0);

/// Handler for a Body that cannot stop the wave: executes it and tail-calls the next handler.
template <void (*Body)(Wave&, const MicroOp&, Run&)>
void step(Wave& wave, const MicroOp* op, Run& run) {
  ++run.instructions;
  Body(wave, *op, run);
  op += op->slots;
  [[clang::musttail]] return handler_of(op)(wave, op, run);
}

/// Handler for a Body that may stop the wave: it returns whether the wave continues.
template <bool (*Body)(Wave&, const MicroOp&, Run&)>
void step_or_stop(Wave& wave, const MicroOp* op, Run& run) {
  ++run.instructions;
  if (!Body(wave, *op, run)) return;
  op += op->slots;
  [[clang::musttail]] return handler_of(op)(wave, op, run);
}

}  // namespace Atoll::engine

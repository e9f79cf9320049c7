// compiler: regions: consecutive vector instructions with independent lanes.
//
// A region's instructions are executed completely for the first chunk of lanes, then for the next: a chunk loop in
// whose body registers are values in host registers. A row is loaded at its first use and stored at the end, under
// EXEC.
//
// Scalar instructions between the vector instructions are hoisted before the loop, and scalar operands are evaluated
// when the vector instruction is added. The exception are lane masks that the region computes: bitwise operations on
// them are also in the loop, on the chunk's slices. Any other use of such a mask ends the region.
//
// A VOPD becomes two items, ordered so that neither writes what the other reads.
//
// Dead results (liveness.h) are not stored.
//
// If the code changes the mode (engine::CodeMode) within a region, each instruction is compiled for its mode. The
// wave's MODE is updated at the region's end, because a wave that restarts the region must be in its initial mode.
//
// Stores to LDS may be executed after the loop, each for the whole wave (deferred_stores.h), if no later access of the
// region can see them or fail.
//
// Matrix instructions (matrix_lowering.h), which combine all lanes, are deferred as well, if nothing later in the
// region uses their results or overwrites their sources. If a later access fails, they have not been executed yet, and
// the wave that restarts the region executes them.
//
// Chunk order differs from program order, in which all lanes complete an instruction before the next. A loop therefore
// contains no two accesses to the same memory of which one is a store executed in the loop. When an access fails, its
// chunk has written no register, and no scalar register that the region read. The wave can restart the region in
// program order with the remaining lanes (Engine::retrace_fault). After a load and store of the same scratch, or after
// an atomic, restarting would apply them twice, so a later access that may fail starts a new region.
//
// If addresses follow from lane 0's (affine_addresses.h), the region has two versions, selected by a run-time check
// (versioning.h): one with plain vector loads and stores, and a general one. The former may end with one store after
// loads, if it stores nothing that other chunks load; the latter then has two loops. (If such a store fails after part
// of a chunk is written, lanes before the failing one may reload their own stored values. The fault is reported all the
// same.)
//
// The result is a RegionPlan (region_plan.h), from which end() emits the loops. Scalar instructions are emitted at
// once, because they precede the loop.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "compiler/analysis/affine_addresses.h"
#include "compiler/analysis/hotness.h"
#include "compiler/analysis/liveness.h"
#include "compiler/analysis/varying_masks.h"
#include "compiler/lowering/matrix_lowering.h"
#include "compiler/lowering/region_plan.h"
#include "compiler/lowering/salu_lowering.h"
#include "compiler/lowering/valu_lowering.h"
#include "compiler/lowering/versioning.h"
#include "compiler/memory/chunk_memory.h"
#include "compiler/memory/deferred_stores.h"
#include "compiler/memory/raw_buffers.h"
#include "compiler/memory/scratch_buffers.h"

namespace Atoll::compiler {

class Region {
 public:
  /// `ordinary_resources`: SGPR quads known not to hold the scratch V#.
  Region(Frame& frame, ValuLowering& lanes, SaluLowering& scalars, MatrixLowering& matrices,
         const std::bitset<isa::scalar::count>& ordinary_resources)
      : frame_(frame),
        lanes_(lanes),
        scalars_(scalars),
        matrices_(matrices),
        memory_(frame, lanes.operations(), /*has_bases_checked=*/true),
        stack_(frame),
        buffers_(frame),
        registers_(frame),
        ordinary_resources_(ordinary_resources) {}

  /// Sets the liveness before and after the next instruction, whichever engine executes it. Both must stay valid
  /// until the call for the one after it.
  void come_to(const Live& before, const Live& after) {
    before_ = &before;
    after_ = &after;
  }

  /// Sets the hotness of the following code: Versioning, and ChunkMemory::set_hot.
  void set_hot(bool is_hot, Versioning versioning) {
    is_hot_ = is_hot;
    versioning_ = versioning;
    memory_.set_hot(is_hot);
  }

  /// Notifies of written scalar registers; forget_resources(): any.
  void note_writes(const ScalarSet& written) {
    stack_.note_writes(written);
    buffers_.note_writes(written);
  }
  void forget_resources() {
    stack_.forget();
    buffers_.forget();
  }

  /// Adds the instruction at `pc` if ValuLowering, ChunkMemory, SaluLowering or MatrixLowering supports it. Starts a
  /// new region before it if necessary.
  void add(const isa::Instruction& instruction, uint64_t pc);

  /// Sets the wave's MODE after the instructions added so far.
  void set_mode(const engine::CodeMode& mode);
  /// Adds a removed branch that would skip `instructions` if EXEC were zero (superblocks.h). Those are then not
  /// counted.
  void remove_branch(const isa::Instruction& branch, uint64_t pc, unsigned instructions);

  /// Emits the loop and the results that are live before the next instruction. The insertion point is then after it,
  /// and scalars are in the Wave.
  void end();
  /// Does the same if an instruction emitted elsewhere depends on it.
  void end_before(const isa::Instruction& instruction);

 private:
  void add_access(const isa::Instruction& instruction, unsigned element, uint64_t pc);
  void note_changes(const isa::Instruction& instruction, const MemoryOperands& operands);
  /// Analyses the addresses of the lanes' elements.
  void follow_address(RegionItem& item);
  /// Returns whether a store after loads may be in the same region.
  bool may_end_with(const isa::Instruction& store, const MemoryOperands& operands);
  RegionItem& new_item(const isa::Instruction& instruction, uint64_t pc);
  void report();
  /// `guard`: of the version with known accesses; else null.
  void emit_loop(const RegionPlan::Loop& planned, const VersionGuard* guard);
  void check_bases(std::span<const RegionItem> items, const VersionGuard* guard, llvm::Value* exec);
  void emit_item(const RegionItem& item, ChunkState& chunk, DeferredStores& deferred,
                 const ChunkMemory::Strided* strided);
  void emit_in_order();
  /// Returns whether a store may be deferred and executed for the whole wave.
  bool may_defer(const isa::Instruction& store, const MemoryOperands& operands) const;
  void uncount(llvm::Value* instructions);
  void uncount_skipped();
  void clear();
  void add_vector(const isa::Instruction& instruction, uint64_t pc);
  void add_scalar(const isa::Instruction& instruction, const LaneEffects& effects, uint64_t pc);
  void add_matrix(const isa::Instruction& instruction, const LaneEffects& effects, uint64_t pc);

  Frame& frame_;
  ValuLowering& lanes_;
  SaluLowering& scalars_;
  MatrixLowering& matrices_;
  ChunkMemory memory_;
  ScratchBuffers stack_;
  RawBuffers buffers_;
  HeldScalars registers_;
  const std::bitset<isa::scalar::count>& ordinary_resources_;
  bool is_hot_ = true;
  Versioning versioning_ = Versioning::never;
  RegionPlan plan_;
  std::deque<isa::Instruction> halves_;  ///< halves of VOPDs among the items
  AffineAddresses strides_;
  ScalarSet scalars_read_;  ///< since the region's start
  const Live *before_ = nullptr, *after_ = nullptr;
  /// Alloca, i64: a bit per removed branch, set if EXEC was not zero.
  llvm::Value* has_lanes_ = nullptr;
  VectorSet matrix_writes_;  ///< by the region's matrix instructions
  bool may_fault_ = false;
  uint32_t num_records_ = 0;         ///< of loads (access_filter.h)
  bool has_deferred_ = false;        ///< a store
  unsigned loads_ = 0, stores_ = 0;  ///< shared_spaces() of the loads and stores

  /// A range of each lane's scratch, relative to a scalar register; 0 bytes: any range.
  struct ScratchPart {
    const isa::Operand* base = nullptr;
    const isa::Operand* resource = nullptr;
    int64_t offset = 0;
    unsigned bytes = 0;
    bool may_overlap(const ScratchPart& other) const;
  };
  static ScratchPart scratch_part(const isa::Instruction& instruction, const MemoryOperands& operands);
  std::vector<ScratchPart> scratch_loads_;
  bool changes_what_it_loaded_ = false;
};

}  // namespace Atoll::compiler

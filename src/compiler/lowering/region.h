// compiler: regions: vector instructions in a row whose lanes don't meet.
//
// The instructions of a region are not executed one after the other over the whole wave, but all of them for the
// first chunk of lanes, then all of them for the next: a loop over the chunks, in whose body registers are values
// that stay in host registers. A row is read where the region first needs it and written at its end, under EXEC.
//
// Scalar instructions between a region's vector instructions are executed before its loop, and the vector
// instructions' scalar operands are taken when they are added. Only lane masks that the region makes are not there
// yet then: operations on each bit of them go into the loop, too, on the chunk's slice of each mask. Whatever else
// needs them ends the region.
//
// A dual instruction is two items, in an order in which neither writes what the other reads.
//
// What is not needed after a region (liveness.h) is not written back.
//
// Where the code changes the mode (engine::CodeMode) within a region, each instruction is made for its mode. The wave's
// MODE changes at the region's end, for a wave that begins anew has to be in the mode that the region began in.
//
// Stores to LDS may be executed after the loop one after the other, for the whole wave each (deferred_stores.h), if
// no access of the region after them could see them or fail.
//
// So are matrix instructions (matrix_lowering.h), for which all lanes meet: as long as nothing in the region after one
// needs what it writes, or writes what it reads. An access that fails after one does no harm: it has not been carried
// out then, and the wave, which begins the region again, will.
//
// The order of the chunks is not the wave's, in which every lane is done with an instruction before any lane comes to
// the next: so a loop has no two accesses to the same memory of which one is a store
// that it executes itself. When an access fails, nothing
// that its chunk computes has been written to a register, nor any scalar register that the region has read: the
// wave can execute the region again from there, in its own order, with the lanes that are left
// (Engine::retrace_fault). That would have a lane's scratch changed twice where it was loaded and then stored, or
// memory by an atomic: after such, an access that may fail begins a new region.
//
// Where addresses can be told from lane 0's (affine_addresses.h), there are two forms of a region, and a look at what
// it begins with chooses between them (versioning.h): one whose accesses are plain vector loads and stores, and the one
// that fits all. The former may have one store after loads, as its last access, if it stores nothing that loads of
// other chunks see; the latter has two loops then. (If such a store fails where some lanes of a chunk may be written
// and others not, and the host stores a chunk by several instructions, then lanes before the one that fails may have
// loaded anew what they had stored. The fault is that of the program all the same.)
//
// What a region is found to be is a RegionPlan (region_plan.h), from which end() emits the loops. Scalar instructions
// are emitted at once, as they come before the loop.
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
  /// `ordinary_resources`: those of which it is known that they are not scratch's.
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

  /// Says what is live before and after the next instruction, whoever carries it out. Both must stay where they are
  /// until the one after it.
  void come_to(const Live& before, const Live& after) {
    before_ = &before;
    after_ = &after;
  }

  /// How often the code that follows is run: Versioning, and ChunkMemory::set_hot.
  void set_hot(bool is_hot, Versioning versioning) {
    is_hot_ = is_hot;
    versioning_ = versioning;
    memory_.set_hot(is_hot);
  }

  /// Whoever writes scalar registers has to tell; forget_resources(): any.
  void note_writes(const ScalarSet& written) {
    stack_.note_writes(written);
    buffers_.note_writes(written);
  }
  void forget_resources() {
    stack_.forget();
    buffers_.forget();
  }

  /// Takes the instruction at `pc`, if ValuLowering, ChunkMemory, SaluLowering or MatrixLowering does; if need be the
  /// region ends before it and the next begins.
  void add(const isa::Instruction& instruction, uint64_t pc);

  /// Has the wave's MODE changed after what was taken, for whoever looks at it there.
  void set_mode(const engine::CodeMode& mode);
  /// A branch that the wave would take, past so many instructions, if EXEC were zero (superblocks.h). They are not
  /// counted then.
  void remove_branch(const isa::Instruction& branch, uint64_t pc, unsigned instructions);

  /// Emits the loop and the results that are live before the next instruction. The builder stands after it afterwards,
  /// and the Wave has the scalars.
  void end();
  /// The same if that makes a difference to an instruction that is about to be emitted by somebody else.
  void end_before(const isa::Instruction& instruction);

 private:
  void add_access(const isa::Instruction& instruction, unsigned element, uint64_t pc);
  void note_changes(const isa::Instruction& instruction, const MemoryOperands& operands);
  /// What is known of where the lanes' elements are.
  void follow_address(RegionItem& item);
  /// Whether a store after loads may belong to the same region.
  bool may_end_with(const isa::Instruction& store, const MemoryOperands& operands);
  RegionItem& new_item(const isa::Instruction& instruction, uint64_t pc);
  void report();
  /// `guard`: of the form whose accesses it knows.
  void emit_loop(const RegionPlan::Loop& planned, const VersionGuard* guard);
  void check_bases(std::span<const RegionItem> items, const VersionGuard* guard, llvm::Value* exec);
  void emit_item(const RegionItem& item, ChunkState& chunk, DeferredStores& deferred,
                 const ChunkMemory::Strided* strided);
  void emit_in_order();
  /// Whether a store may be executed after the loop, for the whole wave.
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
  std::deque<isa::Instruction> halves_;  ///< of dual instructions among the items
  AffineAddresses strides_;
  ScalarSet scalars_read_;  ///< since the region began
  const Live *before_ = nullptr, *after_ = nullptr;
  /// A local, 64 bits, that has a bit for each branch that is removed set where EXEC is not zero.
  llvm::Value* has_lanes_ = nullptr;
  VectorSet matrix_writes_;  ///< of the region's matrix instructions
  bool may_fault_ = false;
  uint32_t num_records_ = 0;         ///< of loads (access_filter.h)
  bool has_deferred_ = false;        ///< a store
  unsigned loads_ = 0, stores_ = 0;  ///< shared_spaces() that were

  /// A part of each lane's scratch: `bytes` from an offset on, from where a scalar register says; 0 bytes: any part.
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

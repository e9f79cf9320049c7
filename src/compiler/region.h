// compiler: regions: vector instructions in a row whose lanes don't meet.
//
// The instructions of a region are not carried out one after the other over the whole wave, but all of them for the
// first chunk of lanes, then all of them for the next: a loop over the chunks, in whose body registers are values
// that stay in host registers. A row is read where the region first needs it and written at its end, under EXEC.
//
// Scalar instructions between a region's vector instructions are carried out before its loop, and the vector
// instructions' scalar operands are taken when they are added. Only lane masks that the region makes are not there
// yet then: operations on each bit of them go into the loop, too, on the chunk's slice of each mask. Whatever else
// needs them ends the region.
//
// What nobody needs behind a region (liveness.h) is not written back.
//
// The order of the chunks is not the wave's, in which every lane is done with an instruction before any lane comes to
// the next: so a region has no two accesses to the same memory of which one is a store. When an access fails, nothing
// that its chunk computes has been written to a register, nor any scalar register that the region has read before: the
// wave can carry out the region again from there, in its own order, with the lanes that are left
// (Engine::retrace_fault). That would have a lane's scratch changed twice where it was loaded and then stored, or
// memory by an atomic: behind such, an access that may fail begins a new region.
#pragma once

#include <vector>

#include "compiler/chunk_memory.h"
#include "compiler/lane_code.h"
#include "compiler/liveness.h"
#include "compiler/scalar_code.h"
#include "compiler/slice_state.h"

namespace Atoll::compiler {

class Region {
 public:
  Region(Frame& frame, LaneCode& lanes, ScalarCode& scalars)
      : frame_(frame), lanes_(lanes), scalars_(scalars), memory_(frame), registers_(frame) {}

  /// Says what is live before and behind the next instruction, whoever carries it out. Both must stay where they are
  /// until the one after it.
  void come_to(const Live& before, const Live& behind) {
    before_ = &before;
    behind_ = &behind;
  }

  /// Whether the code that follows is run often (ChunkMemory::set_hot).
  void set_hot(bool is_hot) { memory_.set_hot(is_hot); }

  /// Takes the instruction at `pc`, if LaneCode, ChunkMemory or ScalarCode does; if need be the region ends before it
  /// and the next begins.
  void add(const isa::Instruction& instruction, uint64_t pc);

  /// Emits the loop and the results that are live before the next instruction. The builder stands behind it afterwards,
  /// and the Wave has the scalars.
  void end();
  /// The same if that makes a difference to an instruction that is about to be emitted by somebody else.
  void end_before(const isa::Instruction& instruction);

 private:
  /// A vector instruction, a load or store, or an operation on the slices of lane masks.
  struct Item {
    const isa::Instruction* instruction = nullptr;
    LaneCode::Prepared lanes;
    std::optional<ChunkMemory::Prepared> access;
    llvm::Value* whole[2] = {nullptr, nullptr};
    llvm::Value* scc = nullptr;
    bool is_vector = false;
    bool exec_written = false;     ///< in the region before it
    bool inactive_needed = false;  ///< what its results hold in lanes outside EXEC
  };

  void add_access(const isa::Instruction& instruction, unsigned element, uint64_t pc);
  void note_changes(const isa::Instruction& instruction, const MemoryOperands& operands);
  Item& new_item(const isa::Instruction& instruction, uint64_t pc);
  void add_scalar(const isa::Instruction& instruction, const Effects& effects, uint64_t pc);
  void note_scalars_written(const Effects& effects);

  Frame& frame_;
  LaneCode& lanes_;
  ScalarCode& scalars_;
  ChunkMemory memory_;
  WaveScalars registers_;
  std::vector<Item> items_;
  SliceState state_;
  bool every_chunk_ = false;  ///< also those without active lanes: their slices of masks are needed
  uint64_t begin_pc_ = 0;
  ScalarSet scalars_read_;          ///< since the region began
  bool reads_overwritten_ = false;  ///< some of them were, by instructions that are carried out before the loop
  const Live *before_ = nullptr, *behind_ = nullptr;
  bool may_fault_ = false;
  unsigned loads_ = 0, stores_ = 0;  ///< shared_spaces() that were

  /// A part of each lane's scratch: `bytes` from an offset on, from where a scalar register says; 0 bytes: any part.
  struct ScratchPart {
    const isa::Operand* base = nullptr;
    int64_t offset = 0;
    unsigned bytes = 0;
    bool may_overlap(const ScratchPart& other) const;
  };
  static ScratchPart scratch_part(const isa::Instruction& instruction, const MemoryOperands& operands);
  std::vector<ScratchPart> scratch_loads_;
  bool changes_what_it_loaded_ = false;
};

}  // namespace Atoll::compiler

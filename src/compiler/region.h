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
#pragma once

#include <set>
#include <vector>

#include "compiler/lane_code.h"
#include "compiler/scalar_code.h"

namespace Atoll::compiler {

class Region {
 public:
  Region(Frame& frame, LaneCode& lanes, ScalarCode& scalars)
      : frame_(frame), lanes_(lanes), scalars_(scalars), registers_(frame) {}

  /// Takes an instruction that LaneCode or ScalarCode does; if need be the region ends before it and the next begins.
  void add(const isa::Instruction& instruction);

  /// Emits the loop and the results. The builder stands behind it afterwards, and the Wave has the scalars.
  void end();
  /// The same if that makes a difference to an instruction that is about to be emitted by somebody else.
  void end_before(const isa::Instruction& instruction);

 private:
  /// A vector instruction, or one on the slices of lane masks.
  struct Item {
    const isa::Instruction* instruction = nullptr;
    LaneCode::Prepared lanes;
    llvm::Value* whole[2] = {nullptr, nullptr};
    llvm::Value* scc = nullptr;
    bool is_vector = false, keep_inactive = false;
  };

  bool is_sliced(unsigned reg) const { return sliced_.contains(reg & ~1u); }
  bool reads_slices(const isa::Instruction& instruction) const;
  void add_vector(const isa::Instruction& instruction);
  void add_on_slices(const isa::Instruction& instruction);
  void note_exec(bool within);
  /// A pair gets a new value from a scalar instruction, which is carried out before the loop.
  void set_whole(const isa::Instruction& instruction);

  Frame& frame_;
  LaneCode& lanes_;
  ScalarCode& scalars_;
  WaveScalars registers_;
  std::vector<Item> items_;
  std::set<unsigned> sliced_;  ///< register pairs whose value is made in the loop
  std::set<unsigned> within_;  ///< register pairs in slices that have no lane which EXEC lacked at the beginning
  bool scc_sliced_ = false, every_chunk_ = false;
  bool exec_written_ = false, exec_grows_ = false;  ///< within the region; grows: beyond what it was
};

}  // namespace Atoll::compiler

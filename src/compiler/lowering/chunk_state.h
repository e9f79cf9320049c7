// compiler: the registers of one chunk of lanes while translated code runs a region on it.
//
// Registers are values: a row's 16 words as <16 x i32>, the chunk's slice of a lane mask as <16 x i1>, and, where the
// region computes them for each chunk alike, the wave's scalars. Where the region has branches they are locals, which
// LLVM turns into values. A register begins with what it holds where the region begins: whoever asks for one first has
// its load put there. What stays unused of all this vanishes.
#pragma once

#include <map>
#include <set>

#include "compiler/analysis/liveness.h"
#include "compiler/lowering/frame.h"
#include "compiler/lowering/scalar_registers.h"

namespace Atoll::compiler {

/// VGPRs and AGPRs as one numbering, that of isa::VectorSet.
inline unsigned row_key(const isa::Operand& operand, unsigned word) {
  return operand.reg + word + (operand.kind == isa::OperandKind::agpr ? isa::first_agpr : 0u);
}

class ChunkState final : public ScalarRegisters {
 public:
  /// `once` is a block that runs before the first chunk, `begin` one that runs first for each; both end already.
  /// `first_lane` is the number of the chunk's first lane in the wave, 64 bits, and dominates `begin`. `branches`: the
  /// region's instructions are not simply executed one after the other.
  ChunkState(Frame& frame, llvm::Instruction* once_end, llvm::Instruction* begin_end, llvm::Value* first_lane,
             bool branches);

  /// Number of the chunk's first lane: 64 and 32 bits.
  llvm::Value* first_lane64() { return first_lane64_; }
  llvm::Value* first_lane() { return first_lane_; }
  /// Address of the chunk's words in a row of the wave, which is in memory.
  llvm::Value* row_address(unsigned key);

  /// A row of all 64 lanes as it is before the first chunk: a local. For registers that no chunk has written yet.
  llvm::Value* whole_row(unsigned key);

  /// All lanes of a row, by row_key().
  llvm::Value* row(unsigned key);
  void set_row(unsigned key, llvm::Value* value);
  /// Only where EXEC is set.
  void set_active_lanes(unsigned key, llvm::Value* value);

  /// The chunk's slice of the lane mask in the scalar register pair.
  llvm::Value* mask(unsigned reg);
  void set_mask(unsigned reg, llvm::Value* value);
  /// The slice of a mask that is there as a whole, 64 bits.
  llvm::Value* slice(llvm::Value* whole);
  llvm::Value* exec() { return mask(isa::scalar::exec_lo); }
  /// A slice as the lowest bits of 64.
  llvm::Value* bits(llvm::Value* slice);
  /// A slice whose being other than zero is the chunk's part of SCC.
  llvm::Value* scc_slice();
  void set_scc_slice(llvm::Value* value);

  llvm::Value* word(unsigned reg) override;
  void set_word(unsigned reg, llvm::Value* value) override;
  llvm::Value* pair(unsigned reg) override;
  void set_pair(unsigned reg, llvm::Value* value) override;
  llvm::Value* scc() override;
  void set_scc(llvm::Value* value) override;

  /// Writes those of `rows` that were set to the wave: the lanes of `written`, a mask. The builder stands at the end of
  /// a block. `look_for_all`: in a way of its own if these are all lanes. The host has loads of what was stored under a
  /// mask wait until that is in its cache; but the code becomes longer.
  void write_rows(const VectorSet& rows, llvm::Value* written, bool look_for_all);

 private:
  /// What a register holds.
  class Holder {
   public:
    llvm::Value* get(Frame& frame) const;
    void set(Frame& frame, llvm::Value* value);

    llvm::Type* type = nullptr;
    llvm::AllocaInst* local = nullptr;  ///< null: `value` is it
    llvm::Value* value = nullptr;
    llvm::Align align;
  };
  /// The holder for `key`, which begins with what `load` yields; that is placed at the end of `once` or of `begin`.
  template <typename Load>
  Holder& beginning_with(std::map<unsigned, Holder>& holders, unsigned key, llvm::Type* type, llvm::Align align,
                         bool once, Load load);

  Holder& row_holder(unsigned key);
  Holder& mask_holder(unsigned reg);
  Holder& word_holder(unsigned reg);
  Holder& scc_holder();
  Holder& scc_slice_holder();

  Frame& frame_;
  llvm::Instruction *once_end_, *begin_end_;
  llvm::Value *first_lane64_, *first_lane_;
  llvm::Value *vgpr_, *agpr_;  ///< the chunk's words of the first row
  const bool branches_;
  std::map<unsigned, Holder> rows_, masks_, words_, scc_, scc_slice_;
  std::map<unsigned, llvm::Value*> whole_rows_;
  std::set<unsigned> rows_set_;
};

}  // namespace Atoll::compiler

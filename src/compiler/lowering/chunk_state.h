// compiler: the registers of one chunk of lanes in a region's translated code.
//
// Registers are values: a row's 16 words as <16 x i32>, the chunk's slice of a lane mask as <16 x i1>, and scalars that
// the region computes per chunk. If the region has branches they are allocas, which LLVM promotes. A register is loaded
// at the region's entry when it is first used. Unused values are removed by LLVM.
#pragma once

#include <map>
#include <set>

#include "compiler/analysis/liveness.h"
#include "compiler/lowering/frame.h"
#include "compiler/lowering/scalar_registers.h"

namespace Atoll::compiler {

/// Number of a VGPR or AGPR in isa::VectorSet.
inline unsigned row_key(const isa::Operand& operand, unsigned word) {
  return operand.reg + word + (operand.kind == isa::OperandKind::agpr ? isa::first_agpr : 0u);
}

class ChunkState final : public ScalarRegisters {
 public:
  /// `once` is a block before the first chunk, `begin` the first block of each chunk; both have terminators.
  /// `first_lane` is the index of the chunk's first lane in the wave, 64 bits, and dominates `begin`. `branches`: the
  /// region has control flow.
  ChunkState(Frame& frame, llvm::Instruction* once_end, llvm::Instruction* begin_end, llvm::Value* first_lane,
             bool branches);

  /// Index of the chunk's first lane: 64 and 32 bits.
  llvm::Value* first_lane64() { return first_lane64_; }
  llvm::Value* first_lane() { return first_lane_; }
  /// Returns the address of the chunk's words in a row of the wave.
  llvm::Value* row_address(unsigned key);

  /// Returns an alloca with all 64 lanes of a row before the first chunk, for registers not yet written by any chunk.
  llvm::Value* whole_row(unsigned key);

  /// Returns the chunk's lanes of a row, by row_key().
  llvm::Value* row(unsigned key);
  void set_row(unsigned key, llvm::Value* value);
  /// Writes the lanes in EXEC only.
  void set_active_lanes(unsigned key, llvm::Value* value);

  /// Returns the chunk's slice of the lane mask in a scalar register pair.
  llvm::Value* mask(unsigned reg);
  void set_mask(unsigned reg, llvm::Value* value);
  /// Returns the slice of a whole 64-bit mask.
  llvm::Value* slice(llvm::Value* whole);
  llvm::Value* exec() { return mask(isa::scalar::exec_lo); }
  /// Returns a slice as the lowest bits of an i64.
  llvm::Value* bits(llvm::Value* slice);
  /// Returns a slice that is non-zero if the chunk's part of SCC is set.
  llvm::Value* scc_slice();
  void set_scc_slice(llvm::Value* value);

  llvm::Value* word(unsigned reg) override;
  void set_word(unsigned reg, llvm::Value* value) override;
  llvm::Value* pair(unsigned reg) override;
  void set_pair(unsigned reg, llvm::Value* value) override;
  llvm::Value* scc() override;
  void set_scc(llvm::Value* value) override;

  /// Stores those of `rows` that were set to the wave, in the lanes of the mask `written`. The insertion point is at a
  /// block's end. `look_for_all`: emits a separate path for full masks, because the host does not forward masked stores
  /// to loads. This makes the code longer.
  void write_rows(const VectorSet& rows, llvm::Value* written, bool look_for_all);

 private:
  /// The value of a register.
  class Holder {
   public:
    llvm::Value* get(Frame& frame) const;
    void set(Frame& frame, llvm::Value* value);

    llvm::Type* type = nullptr;
    llvm::AllocaInst* local = nullptr;  ///< null: `value` is used
    llvm::Value* value = nullptr;
    llvm::Align align;
  };
  /// Returns the holder for `key`, initialised by `load` at the end of `once` or `begin`.
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
  llvm::Value *vgpr_, *agpr_;  ///< the chunk's words of row 0
  const bool branches_;
  std::map<unsigned, Holder> rows_, masks_, words_, scc_, scc_slice_;
  std::map<unsigned, llvm::Value*> whole_rows_;
  std::set<unsigned> rows_set_;
};

}  // namespace Atoll::compiler

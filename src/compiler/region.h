// compiler: regions: vector instructions in a row whose lanes don't meet.
//
// The instructions of a region are not carried out one after the other over the whole wave, but all of them for the
// first chunk of lanes, then all of them for the next: a loop over the chunks, in whose body registers are values
// that stay in host registers. A row is read where the region first needs it and written at its end, under EXEC: in
// between, lanes that EXEC leaves out compute what nobody will see.
//
// Scalar operands are taken when an instruction is added, and scalar instructions that stand between a region's
// vector instructions are carried out before its loop. The translator ends a region where this would change
// anything: a scalar instruction needs a lane mask that the region yields, or EXEC changes.
#pragma once

#include <map>
#include <vector>

#include "compiler/frame.h"
#include "compiler/semantics_bitcode.h"
#include "isa/instruction.h"
#include "semantics/registry.h"

namespace Atoll::compiler {

class Region {
 public:
  Region(Frame& frame, SemanticsBitcode& semantics) : frame_(frame), semantics_(semantics) {}

  /// Whether the instruction's lanes are independent and its operands of the kinds that a region knows.
  static bool takes(const isa::Instruction& instruction);

  /// Adds an instruction that takes() accepts.
  void add(const isa::Instruction& instruction);

  bool empty() const { return items_.empty(); }
  /// Whether a scalar register is a lane mask that the region has yet to yield.
  bool yields(unsigned reg) const { return masks_.contains(reg & ~1u); }

  /// Emits the loop and the results. The builder stands behind it afterwards.
  void end();

 private:
  struct Source {
    llvm::Value* scalar[2] = {nullptr, nullptr};  ///< words of a scalar or constant; null: a row
    const isa::Operand* operand = nullptr;
  };
  struct Item {
    const isa::Instruction* instruction = nullptr;
    llvm::Function* function = nullptr;
    semantics::VectorShape shape;
    Source source[4];
    const isa::Operand* result = nullptr;
    const isa::Operand* mask_result = nullptr;
    llvm::Value* mask_in = nullptr;  ///< 64 bits, taken when the item was added
    int mask_in_of = -1;             ///< or the register whose mask this region makes
  };

  llvm::Value* row(const isa::Operand& operand, unsigned word);
  llvm::Value* source_word(const Item& item, unsigned i, unsigned word);
  void emit(const Item& item);

  Frame& frame_;
  SemanticsBitcode& semantics_;
  std::vector<Item> items_;
  std::map<unsigned, llvm::Value*> masks_;  ///< by register: 64 bits gathered over the chunks (a local)
  // While the body is emitted:
  llvm::Value* offset_ = nullptr;                 ///< of the chunk in a row, bytes
  llvm::Value* first_lane_ = nullptr;             ///< 32 bits
  llvm::Value* active_ = nullptr;                 ///< EXEC of the chunk, 16 bits
  std::map<unsigned, llvm::Value*> rows_;         ///< by register (AGPRs from 256): value of the chunk
  std::map<unsigned, llvm::Value*> chunk_masks_;  ///< by register: 16 bits
  std::vector<unsigned> written_;
};

}  // namespace Atoll::compiler

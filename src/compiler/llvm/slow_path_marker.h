// compiler: the calls that stand for results of operations with rare lanes, until it is decided where those are looked
// for (slow_path.h).
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace Atoll::compiler {

/// How the names of the functions begin that such calls call.
inline constexpr llvm::StringLiteral mark_prefix = "usual_or_careful_",
                                     half_pair_prefix = "usual_or_careful_half_pair_";

class Mark {
 public:
  /// Null if it is none.
  static llvm::CallInst* from(llvm::Value* value);

  explicit Mark(llvm::CallInst* call) : call_(call) {}
  /// Right where no lane is rare.
  llvm::Value* usual() const { return call_->getArgOperand(0); }
  llvm::Value* rare() const { return call_->getArgOperand(1); }
  /// The lanes that matter.
  llvm::Value* active() const { return call_->getArgOperand(2); }
  llvm::Function* careful() const { return llvm::cast<llvm::Function>(call_->getArgOperand(3)); }
  static constexpr unsigned first_operand = 4;
  auto operands() const { return llvm::drop_begin(call_->args(), first_operand); }

  /// Whether the rare lanes are those in which the usual result is a NaN.
  bool is_at_nans() const;
  /// Whether the results are words with two halves each, and rare are those with a half that is a NaN. rare() has no
  /// meaning then.
  bool is_at_half_nans() const;

 private:
  llvm::CallInst* call_;
};

/// Whether this computes in floating point, or chooses lanes: a NaN makes NaNs of its result, or none.
bool is_arithmetic(const llvm::Instruction& instruction);

/// The lanes of these that are in `active`, too.
llvm::Value* lanes_that_matter(llvm::IRBuilder<>& ir, llvm::Value* lanes, llvm::Value* active);
/// The magnitudes of the halves in words, as integers of 16 bits.
llvm::Value* half_magnitudes(llvm::IRBuilder<>& ir, llvm::Value* words);
/// Lanes in which either of two such magnitudes is that of a NaN.
llvm::Value* lanes_with_half_nans(llvm::IRBuilder<>& ir, llvm::Value* magnitudes);
/// Whether any lane is set: 1 bit.
llvm::Value* any_lane(llvm::IRBuilder<>& ir, llvm::Value* lanes);

}  // namespace Atoll::compiler

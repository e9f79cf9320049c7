// compiler: marker calls for results of operations with rare lanes, until their checks are placed (slow_path.h).
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace Atoll::compiler {

/// Prefix of the names of marker functions.
inline constexpr llvm::StringLiteral mark_prefix = "usual_or_careful_",
                                     half_pair_prefix = "usual_or_careful_half_pair_";

class Mark {
 public:
  /// Returns null if the value is not a marker.
  static llvm::CallInst* from(llvm::Value* value);

  explicit Mark(llvm::CallInst* call) : call_(call) {}
  /// The value if no lane is rare.
  llvm::Value* usual() const { return call_->getArgOperand(0); }
  llvm::Value* rare() const { return call_->getArgOperand(1); }
  /// The relevant lanes.
  llvm::Value* active() const { return call_->getArgOperand(2); }
  llvm::Function* careful() const { return llvm::cast<llvm::Function>(call_->getArgOperand(3)); }
  static constexpr unsigned first_operand = 4;
  auto operands() const { return llvm::drop_begin(call_->args(), first_operand); }

  /// Returns whether rare lanes are those whose usual result is a NaN.
  bool is_at_nans() const;
  /// Returns whether results are pairs of halves, and rare lanes those with a NaN half. rare() is then undefined.
  bool is_at_half_nans() const;

 private:
  llvm::CallInst* call_;
};

/// Returns whether this is a floating-point operation or lane selection, through which NaNs propagate.
bool is_arithmetic(const llvm::Instruction& instruction);

/// Returns the intersection of `lanes` and `active`.
llvm::Value* lanes_that_matter(llvm::IRBuilder<>& ir, llvm::Value* lanes, llvm::Value* active);
/// Returns the absolute values of the halves as 16-bit integers.
llvm::Value* half_magnitudes(llvm::IRBuilder<>& ir, llvm::Value* words);
/// Returns the lanes in which either absolute value is that of a NaN.
llvm::Value* lanes_with_half_nans(llvm::IRBuilder<>& ir, llvm::Value* magnitudes);
/// Returns whether any lane is set, as i1.
llvm::Value* any_lane(llvm::IRBuilder<>& ir, llvm::Value* lanes);

}  // namespace Atoll::compiler

// compiler: calls that stand for results (slow_path_marker.h).
#include "compiler/llvm/slow_path_marker.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>

namespace Atoll::compiler {

using llvm::dyn_cast;

llvm::CallInst* Mark::from(llvm::Value* value) {
  auto* call = dyn_cast<llvm::CallInst>(value);
  const llvm::Function* called = call != nullptr ? call->getCalledFunction() : nullptr;
  return called != nullptr && called->getName().starts_with(mark_prefix) ? call : nullptr;
}

bool Mark::is_at_nans() const {
  const auto* comparison = dyn_cast<llvm::FCmpInst>(rare());
  if (comparison == nullptr || comparison->getPredicate() != llvm::CmpInst::FCMP_UNO) return false;
  const llvm::Value *a = comparison->getOperand(0), *b = comparison->getOperand(1);
  return a == usual() && (b == a || llvm::isa<llvm::Constant>(b));
}

bool Mark::is_at_half_nans() const { return call_->getCalledFunction()->getName().starts_with(half_pair_prefix); }

bool is_arithmetic(const llvm::Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
    case llvm::Instruction::FMul:
    case llvm::Instruction::FDiv:
    case llvm::Instruction::FNeg:
    case llvm::Instruction::FPTrunc:
    case llvm::Instruction::FPExt:
    case llvm::Instruction::Select:
      return true;
    case llvm::Instruction::Call: {
      const auto* intrinsic = dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (intrinsic == nullptr) return false;
      switch (intrinsic->getIntrinsicID()) {
        case llvm::Intrinsic::fma:
        case llvm::Intrinsic::fabs:
        case llvm::Intrinsic::sqrt:
          return true;
        default:
          return false;
      }
    }
    default:
      return false;
  }
}

llvm::Value* lanes_that_matter(llvm::IRBuilder<>& ir, llvm::Value* lanes, llvm::Value* active) {
  const auto* constant = dyn_cast<llvm::Constant>(active);
  return constant != nullptr && constant->isAllOnesValue() ? lanes : ir.CreateAnd(lanes, active);
}

llvm::Value* half_magnitudes(llvm::IRBuilder<>& ir, llvm::Value* words) {
  const unsigned count = llvm::cast<llvm::FixedVectorType>(words->getType())->getNumElements();
  auto* halves = llvm::FixedVectorType::get(ir.getInt16Ty(), 2 * count);
  return ir.CreateAnd(ir.CreateBitCast(words, halves), llvm::ConstantInt::get(halves, 0x7FFF));
}

llvm::Value* lanes_with_half_nans(llvm::IRBuilder<>& ir, llvm::Value* magnitudes) {
  auto* halves = llvm::cast<llvm::FixedVectorType>(magnitudes->getType());
  auto* words = llvm::FixedVectorType::get(ir.getInt32Ty(), halves->getNumElements() / 2);
  // The sum reaches the upper bit if the magnitude exceeds that of infinity.
  llvm::Value* sums = ir.CreateAdd(magnitudes, llvm::ConstantInt::get(halves, 0x03FF));
  llvm::Value* upper = ir.CreateAnd(ir.CreateBitCast(sums, words), llvm::ConstantInt::get(words, 0x80008000));
  return ir.CreateICmpNE(upper, llvm::Constant::getNullValue(words));
}

llvm::Value* any_lane(llvm::IRBuilder<>& ir, llvm::Value* lanes) {
  const unsigned count = llvm::cast<llvm::FixedVectorType>(lanes->getType())->getNumElements();
  return ir.CreateICmpNE(ir.CreateBitCast(lanes, ir.getIntNTy(count)), ir.getIntN(count, 0));
}

}  // namespace Atoll::compiler

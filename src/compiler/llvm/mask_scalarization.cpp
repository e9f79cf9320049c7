// compiler: logic of lane masks as words (mask_scalarization.h).
#include "compiler/llvm/mask_scalarization.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace Atoll::compiler {

namespace {

/// The word that a vector of single bits is made from, or null.
llvm::Value* word_of(llvm::Value* mask, llvm::IntegerType* type, const llvm::DataLayout& layout) {
  if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(mask)) {
    return cast->getSrcTy() == type ? cast->getOperand(0) : nullptr;
  }
  auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  if (constant == nullptr) return nullptr;
  auto* word = llvm::ConstantFoldCastOperand(llvm::Instruction::BitCast, constant, type, layout);
  return llvm::dyn_cast_or_null<llvm::ConstantInt>(word);
}

/// If LLVM can analyse the word, it can analyse the lanes made from it.
bool is_computed(const llvm::Value* word) {
  return llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::SelectInst, llvm::FreezeInst, llvm::IntrinsicInst>(word);
}

/// Returns the word with its origin hidden from LLVM.
llvm::Value* hidden(llvm::IRBuilder<>& ir, llvm::Value* word) {
  llvm::Type* type = word->getType();
  auto* unchanged = llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), "", "=r,0", false);
  return ir.CreateCall(unchanged, {word});
}

llvm::FixedVectorType* lanes_type(const llvm::Instruction& instruction) {
  auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
  return lanes != nullptr && lanes->getElementType()->isIntegerTy(1) ? lanes : nullptr;
}

}  // namespace

void scalarize_masks(llvm::Function& function) {
  if (function.isDeclaration()) return;
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  // Operands before what uses them, so that logic of logic is found.
  const llvm::ReversePostOrderTraversal<llvm::Function*> blocks(&function);
  for (llvm::BasicBlock* block : blocks) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      auto* logic = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
      llvm::FixedVectorType* lanes = lanes_type(instruction);
      if (logic == nullptr || lanes == nullptr || !logic->isBitwiseLogicOp()) continue;
      auto* type = llvm::IntegerType::get(function.getContext(), lanes->getNumElements());
      llvm::Value* a = word_of(logic->getOperand(0), type, layout);
      llvm::Value* b = word_of(logic->getOperand(1), type, layout);
      if (a == nullptr || b == nullptr) continue;
      llvm::IRBuilder<> ir(logic);
      logic->replaceAllUsesWith(ir.CreateBitCast(ir.CreateBinOp(logic->getOpcode(), a, b), lanes));
      logic->eraseFromParent();
    }
  }
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
    if (cast == nullptr || lanes_type(*cast) == nullptr || !is_computed(cast->getOperand(0))) continue;
    if (!layout.isLegalInteger(cast->getSrcTy()->getPrimitiveSizeInBits())) continue;  // no register holds it alone
    llvm::IRBuilder<> ir(cast);
    cast->setOperand(0, hidden(ir, cast->getOperand(0)));
  }
}

}  // namespace Atoll::compiler

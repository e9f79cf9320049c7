// compiler: logic of lane masks as words (mask_words.h).
#include "compiler/mask_words.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Module.h>

namespace Atoll::compiler {

namespace {

/// The word that a vector of single bits is made from, or null.
llvm::Value* word_of(llvm::Value* mask, llvm::IntegerType* type, const llvm::DataLayout& layout) {
  if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(mask)) {
    if (cast->getSrcTy() != type) return nullptr;
    auto* hidden = llvm::dyn_cast<llvm::CallInst>(cast->getOperand(0));
    return hidden != nullptr && hidden->isInlineAsm() ? hidden->getArgOperand(0) : cast->getOperand(0);
  }
  auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  if (constant == nullptr) return nullptr;
  auto* word = llvm::ConstantFoldCastOperand(llvm::Instruction::BitCast, constant, type, layout);
  return llvm::dyn_cast_or_null<llvm::ConstantInt>(word);
}

}  // namespace

void use_mask_words(llvm::Function& function) {
  if (function.isDeclaration()) return;
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  // Operands before what uses them, so that logic of logic is found.
  const llvm::ReversePostOrderTraversal<llvm::Function*> blocks(&function);
  for (llvm::BasicBlock* block : blocks) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      auto* logic = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
      auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
      if (logic == nullptr || lanes == nullptr || !lanes->getElementType()->isIntegerTy(1)) continue;
      if (!logic->isBitwiseLogicOp()) continue;
      auto* type = llvm::IntegerType::get(function.getContext(), lanes->getNumElements());
      llvm::Value* a = word_of(logic->getOperand(0), type, layout);
      llvm::Value* b = word_of(logic->getOperand(1), type, layout);
      if (a == nullptr || b == nullptr) continue;
      llvm::IRBuilder<> ir(logic);
      auto* unchanged = llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), "", "=r,0", false);
      llvm::Value* word = ir.CreateCall(unchanged, {ir.CreateBinOp(logic->getOpcode(), a, b)});
      logic->replaceAllUsesWith(ir.CreateBitCast(word, lanes));
      logic->eraseFromParent();
    }
  }
}

}  // namespace Atoll::compiler

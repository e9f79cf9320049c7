// compiler: lane masks on hosts without mask registers (mask_expansion.h).
#include "compiler/llvm/mask_expansion.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace Atoll::compiler {

namespace {

/// A vector of single bits that is made from a word with a bit for each of as many lanes as registers of dwords hold.
bool is_mask_of_word(const llvm::Instruction& instruction) {
  const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
  if (cast == nullptr || !cast->getSrcTy()->isIntegerTy()) return false;
  const auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(cast->getType());
  return lanes != nullptr && lanes->getElementType()->isIntegerTy(1) && lanes->getNumElements() <= 32;
}

llvm::Value* spread(llvm::IRBuilder<>& ir, llvm::Value* word, unsigned lanes) {
  llvm::SmallVector<uint32_t, 32> bits;
  for (unsigned lane = 0; lane < lanes; ++lane) bits.push_back(1u << lane);
  llvm::Constant* own = llvm::ConstantDataVector::get(ir.getContext(), bits);
  llvm::Value* words = ir.CreateVectorSplat(lanes, ir.CreateZExt(word, ir.getInt32Ty()));
  return ir.CreateICmpEQ(ir.CreateAnd(words, own), own);
}

/// Before which instruction a use needs its value.
llvm::Instruction* place_of(const llvm::Use& use) {
  auto* user = llvm::cast<llvm::Instruction>(use.getUser());
  auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
  return phi == nullptr ? user : phi->getIncomingBlock(use)->getTerminator();
}

void expand_mask(llvm::Instruction& mask) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask.getType())->getNumElements();
  llvm::DenseMap<llvm::BasicBlock*, llvm::Instruction*> first;
  for (const llvm::Use& use : mask.uses()) {
    llvm::Instruction* place = place_of(use);
    llvm::Instruction*& earliest = first[place->getParent()];
    if (earliest == nullptr || place->comesBefore(earliest)) earliest = place;
  }
  llvm::DenseMap<llvm::BasicBlock*, llvm::Value*> made;
  for (const auto& [block, place] : first) {
    llvm::IRBuilder<> ir(place);
    made[block] = spread(ir, mask.getOperand(0), lanes);
  }
  for (llvm::Use& use : llvm::make_early_inc_range(mask.uses())) use.set(made[place_of(use)->getParent()]);
  mask.eraseFromParent();
}

}  // namespace

void expand_masks(llvm::Function& function) {
  llvm::SmallVector<llvm::Instruction*, 32> masks;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (is_mask_of_word(instruction)) masks.push_back(&instruction);
  }
  for (llvm::Instruction* mask : masks) expand_mask(*mask);
}

}  // namespace Atoll::compiler

// compiler: choosing bits by a constant (bit_select.h).
#include "compiler/llvm/bit_select.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

namespace Atoll::compiler {

namespace {

using namespace llvm::PatternMatch;

/// Whether a blend of lanes uses the value.
bool is_blended(const llvm::Value& value) {
  return llvm::any_of(value.users(), [](const llvm::User* user) {
    if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(user))
      return select->getCondition()->getType()->isVectorTy();
    return llvm::isa<llvm::BitCastInst>(user) && is_blended(*user);
  });
}

/// Returns the constant from a register whose contents are hidden from LLVM.
llvm::Value* hidden(llvm::IRBuilder<>& ir, llvm::FixedVectorType* type, const llvm::APInt& bits) {
  llvm::Type* element = type->getElementType();
  llvm::IntegerType* word = ir.getIntNTy(std::max(32u, element->getIntegerBitWidth()));
  auto* unchanged = llvm::InlineAsm::get(llvm::FunctionType::get(word, {word}, false), "", "=r,0", false);
  llvm::Value* known = llvm::ConstantInt::get(word, bits.zext(word->getBitWidth()));
  return ir.CreateVectorSplat(type->getNumElements(), ir.CreateTrunc(ir.CreateCall(unchanged, {known}), element));
}

/// The bits of `mask` from `a`, the others from `b`.
llvm::Value* choose(llvm::IRBuilder<>& ir, llvm::FixedVectorType* type, const llvm::APInt& mask, llvm::Value* a,
                    llvm::Value* b) {
  llvm::Value* bits = hidden(ir, type, mask);
  return ir.CreateOr(ir.CreateAnd(a, bits), ir.CreateAnd(b, ir.CreateNot(bits)));
}

llvm::Value* replacement(llvm::Instruction& instruction) {
  llvm::IRBuilder<> ir(&instruction);
  llvm::Value *a = nullptr, *b = nullptr;
  const llvm::APInt *mask = nullptr, *others = nullptr;
  if (auto* copy = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      copy != nullptr && copy->getIntrinsicID() == llvm::Intrinsic::copysign) {
    auto* type = llvm::dyn_cast<llvm::FixedVectorType>(
        llvm::VectorType::getInteger(llvm::cast<llvm::VectorType>(copy->getType())));
    if (type == nullptr) return nullptr;
    const auto sign = llvm::APInt::getSignMask(type->getScalarSizeInBits());
    llvm::Value* chosen = choose(ir, type, sign, ir.CreateBitCast(copy->getArgOperand(1), type),
                                 ir.CreateBitCast(copy->getArgOperand(0), type));
    return ir.CreateBitCast(chosen, copy->getType());
  }
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
  if (type == nullptr || !type->getElementType()->isIntegerTy() || type->getScalarSizeInBits() < 8) return nullptr;
  // "or" of disjoint bits may also stand as "add".
  const bool joined =
      match(&instruction, m_c_Or(m_And(m_Value(a), m_APInt(mask)), m_And(m_Value(b), m_APInt(others)))) ||
      match(&instruction, m_c_Add(m_And(m_Value(a), m_APInt(mask)), m_And(m_Value(b), m_APInt(others))));
  if (joined && *mask == ~*others) return choose(ir, type, *mask, a, b);
  // What the other bits come from may be anything, as a constant or a choice that has been folded.
  if (match(&instruction, m_c_Or(m_And(m_Value(a), m_APInt(mask)), m_Value(b)))) {
    return ir.CreateOr(ir.CreateAnd(a, hidden(ir, type, *mask)), b);
  }
  // ((a ^ b) & mask) ^ b
  if (match(&instruction, m_c_Xor(m_And(m_c_Xor(m_Value(a), m_Value(b)), m_APInt(mask)), m_Deferred(b)))) {
    return choose(ir, type, *mask, a, b);
  }
  if (match(&instruction, m_c_Xor(m_And(m_c_Xor(m_Value(b), m_Value(a)), m_APInt(mask)), m_Deferred(b)))) {
    return choose(ir, type, *mask, a, b);
  }
  return nullptr;
}

}  // namespace

void combine_ternary_logic(llvm::Function& function) {
  if (function.isDeclaration()) return;
  std::vector<llvm::Instruction*> found;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (instruction.getType()->isVectorTy() && is_blended(instruction)) found.push_back(&instruction);
  }
  for (llvm::Instruction* instruction : found) {
    if (llvm::Value* instead = replacement(*instruction)) {
      instruction->replaceAllUsesWith(instead);
      instruction->eraseFromParent();
    }
  }
}

}  // namespace Atoll::compiler

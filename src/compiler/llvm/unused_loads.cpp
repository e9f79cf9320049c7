#include "compiler/llvm/unused_loads.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace Atoll::compiler {

namespace {

constexpr llvm::StringLiteral name = "has_loaded";

bool is_note(const llvm::User& user) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&user);
  return call != nullptr && call->getCalledFunction() != nullptr && call->getCalledFunction()->getName() == name;
}

/// Whether something is done with a value, or with what is computed from it. Loads from addresses that come of it are:
/// if need be, they are held on to themselves.
bool gets_anywhere(llvm::Value* value) {
  llvm::SmallVector<llvm::Value*, 16> to_do{value};
  llvm::SmallPtrSet<llvm::Value*, 16> seen{value};
  while (!to_do.empty()) {
    for (llvm::User* user : to_do.pop_back_val()->users()) {
      if (is_note(*user)) continue;
      auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
      if (instruction == nullptr || instruction->isTerminator() || instruction->mayReadOrWriteMemory()) return true;
      if (seen.insert(instruction).second) to_do.push_back(instruction);
    }
  }
  return false;
}

/// A store that LLVM does not leave out.
void hold_on_to(llvm::CallInst& note) {
  llvm::IRBuilder<> entry(&*note.getFunction()->getEntryBlock().getFirstInsertionPt());
  llvm::IRBuilder<> ir(&note);
  for (llvm::Value* word : note.args()) {
    if (!llvm::isa<llvm::Constant>(word))
      ir.CreateStore(word, entry.CreateAlloca(word->getType()), /*isVolatile=*/true);
  }
}

}  // namespace

void note_loaded(llvm::IRBuilder<>& ir, llvm::ArrayRef<llvm::Value*> words) {
  llvm::Module& module = *ir.GetInsertBlock()->getModule();
  llvm::FunctionCallee note = module.getOrInsertFunction(name, llvm::FunctionType::get(ir.getVoidTy(), true));
  auto* function = llvm::cast<llvm::Function>(note.getCallee());
  function->setDoesNotThrow();
  function->setOnlyAccessesInaccessibleMemory();
  function->addFnAttr(llvm::Attribute::WillReturn);
  ir.CreateCall(note, words);
}

llvm::PreservedAnalyses KeepUnusedLoads::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<llvm::CallInst*, 16> notes;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (is_note(instruction)) notes.push_back(llvm::cast<llvm::CallInst>(&instruction));
  }
  for (llvm::CallInst* note : notes) {
    if (llvm::none_of(note->args(), [](llvm::Use& word) { return gets_anywhere(word.get()); })) hold_on_to(*note);
  }
  for (llvm::CallInst* note : notes) note->eraseFromParent();
  if (notes.empty()) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace Atoll::compiler

// compiler: looks for NaNs after a loop (check_sinking.h).
#include "compiler/llvm/check_sinking.h"

#include <optional>

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "compiler/llvm/slow_path_marker.h"

namespace Atoll::compiler {

namespace {

using llvm::dyn_cast;
using llvm::isa;

/// A result that the next pass of the loop begins with.
struct Carried {
  llvm::CallInst* mark;
  llvm::PHINode* begin;  ///< what a pass begins with
};

class LateLoop {
 public:
  LateLoop(llvm::Loop& loop, const llvm::DominatorTree& dominators) : loop_(loop), dominators_(dominators) {}

  /// Whether there is a look that can be made after the loop.
  bool find();
  void change(LateLooks& looks);

 private:
  using Edge = std::pair<llvm::BasicBlock*, llvm::BasicBlock*>;

  std::optional<Carried> carried_by(llvm::PHINode& begin) const;
  bool stays_nan(llvm::Value* value, const llvm::PHINode* begin, unsigned depth) const;
  bool is_found_at_once(llvm::CallInst& mark) const;
  bool reaches_sums_only(const llvm::Value& value);
  llvm::Value* at_exit(const Carried& carried, const llvm::BasicBlock* exiting) const;

  llvm::Loop& loop_;
  const llvm::DominatorTree& dominators_;
  llvm::SmallVector<Carried, 4> carried_;
  llvm::SmallVector<Edge, 4> exits_;
  llvm::SmallPtrSet<const llvm::Value*, 32> seen_;
};

/// Whether the value is a NaN in all lanes in which `begin` is one.
bool LateLoop::stays_nan(llvm::Value* value, const llvm::PHINode* begin, unsigned depth) const {
  constexpr unsigned most = 8;
  if (value == begin) return true;
  auto* instruction = dyn_cast<llvm::Instruction>(value);
  if (instruction == nullptr || depth == most || !loop_.contains(instruction)) return false;
  if (llvm::CallInst* mark = Mark::from(instruction)) {
    return Mark(mark).is_at_nans() && stays_nan(Mark(mark).usual(), begin, depth + 1);
  }
  if (!is_arithmetic(*instruction) || isa<llvm::SelectInst>(instruction)) return false;
  return llvm::any_of(instruction->operands(), [&](llvm::Use& use) { return stays_nan(use.get(), begin, depth + 1); });
}

std::optional<Carried> LateLoop::carried_by(llvm::PHINode& begin) const {
  llvm::Value* end = begin.getIncomingValueForBlock(loop_.getLoopLatch());
  // Lanes that are left out may keep what they have.
  auto* select = dyn_cast<llvm::SelectInst>(end);
  if (select != nullptr && select->getFalseValue() == &begin) end = select->getTrueValue();
  llvm::CallInst* mark = Mark::from(end);
  if (mark == nullptr || (select != nullptr && select->getCondition() != Mark(mark).active())) return {};
  if (!loop_.contains(mark) || !Mark(mark).is_at_nans()) return {};
  // Lanes that do not matter in all passes may be NaNs at any time.
  if (!loop_.isLoopInvariant(Mark(mark).active()) || !stays_nan(mark, &begin, 0)) return {};
  return Carried{mark, &begin};
}

/// Returns whether another operation that is checked in the iteration is rare wherever this one is a NaN.
bool LateLoop::is_found_at_once(llvm::CallInst& mark) const {
  return llvm::any_of(mark.uses(), [&](const llvm::Use& use) {
    llvm::CallInst* user = Mark::from(use.getUser());
    return user != nullptr && user->getParent() == mark.getParent() && use.getOperandNo() >= Mark::first_operand &&
           !Mark(user).is_at_nans() && Mark(user).active() == Mark(&mark).active();
  });
}

/// Whether nothing in the loop depends on the value but sums and what is computed for them.
bool LateLoop::reaches_sums_only(const llvm::Value& value) {
  if (!seen_.insert(&value).second) return true;
  return llvm::all_of(value.uses(), [&](const llvm::Use& use) {
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    if (!loop_.contains(user)) return true;
    if (isa<llvm::FCmpInst>(user)) {
      return llvm::all_of(user->users(), [](llvm::User* each) { return Mark::from(each) != nullptr; });
    }
    if (llvm::CallInst* mark = Mark::from(user)) {
      return use.getOperandNo() >= Mark::first_operand || is_found_at_once(*mark) || reaches_sums_only(*mark);
    }
    if (const auto* select = dyn_cast<llvm::SelectInst>(user); select != nullptr && select->getCondition() == &value) {
      return false;
    }
    return (is_arithmetic(*user) || isa<llvm::PHINode, llvm::BitCastInst>(user)) && reaches_sums_only(*user);
  });
}

/// What the loop has of the carried result when it is left there; null: that depends.
llvm::Value* LateLoop::at_exit(const Carried& carried, const llvm::BasicBlock* exiting) const {
  const llvm::BasicBlock* block = carried.mark->getParent();
  if (dominators_.dominates(block, exiting)) return carried.mark;
  return dominators_.dominates(exiting, block) ? carried.begin : nullptr;
}

bool LateLoop::find() {
  if (!loop_.isInnermost() || loop_.getLoopLatch() == nullptr || loop_.getLoopPredecessor() == nullptr) return false;
  for (llvm::PHINode& begin : loop_.getHeader()->phis()) {
    if (const auto carried = carried_by(begin)) carried_.push_back(*carried);
  }
  if (carried_.empty()) return false;
  for (llvm::BasicBlock* block : loop_.blocks()) {
    for (llvm::Instruction& instruction : *block) {
      llvm::CallInst* mark = Mark::from(&instruction);
      if (mark == nullptr || !Mark(mark).is_at_nans() || is_found_at_once(*mark)) continue;
      if (!reaches_sums_only(*mark)) return false;
    }
  }
  loop_.getExitEdges(exits_);
  llvm::SmallPtrSet<const llvm::BasicBlock*, 4> exiting;
  for (const auto& [from, to] : exits_) {
    if (!exiting.insert(from).second) return false;
    for (const Carried& each : carried_) {
      if (at_exit(each, from) == nullptr) return false;
    }
  }
  return !exits_.empty();
}

void LateLoop::change(LateLooks& looks) {
  llvm::BasicBlock* head = loop_.getHeader();
  llvm::BasicBlock *before = loop_.getLoopPredecessor(), *latch = loop_.getLoopLatch();
  llvm::LLVMContext& context = head->getContext();
  auto* again = llvm::BasicBlock::Create(context, "again", head->getParent());
  llvm::IRBuilder<> ir(again);
  ir.CreateBr(head);
  for (llvm::PHINode& begin : head->phis()) begin.addIncoming(begin.getIncomingValueForBlock(before), again);
  auto* careful = llvm::PHINode::Create(ir.getInt1Ty(), 3, "", head->begin());
  careful->addIncoming(ir.getFalse(), before);
  careful->addIncoming(careful, latch);
  careful->addIncoming(ir.getTrue(), again);

  llvm::MDNode* weights = llvm::MDBuilder(context).createBranchWeights(1, 1u << 20);
  for (const auto& [from, to] : exits_) {
    llvm::BasicBlock* look = llvm::SplitEdge(from, to);
    ir.SetInsertPoint(look->getTerminator());
    llvm::Value* any = nullptr;
    for (const Carried& each : carried_) {
      llvm::Value* value = at_exit(each, from);
      llvm::Value* nans = lanes_that_matter(ir, ir.CreateFCmpUNO(value, value), Mark(each.mark).active());
      any = any != nullptr ? ir.CreateOr(any, nans) : nans;
    }
    ir.CreateCondBr(ir.CreateAnd(any_lane(ir, any), ir.CreateNot(careful)), again, to, weights);
    look->getTerminator()->eraseFromParent();
  }
  for (const Carried& each : carried_) looks[each.mark] = careful;
}

}  // namespace

LateLooks look_behind_loops(llvm::Function& function) {
  LateLooks looks;
  const auto is_mark = [](llvm::Instruction& instruction) { return Mark::from(&instruction) != nullptr; };
  if (llvm::none_of(function, [&](llvm::BasicBlock& block) { return llvm::any_of(block, is_mark); })) return looks;
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    LateLoop late(*loop, dominators);
    if (late.find()) late.change(looks);
  }
  return looks;
}

}  // namespace Atoll::compiler

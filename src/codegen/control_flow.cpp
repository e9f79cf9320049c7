// codegen: finds the joins and exits of divergent branches.
#include "codegen/control_flow.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace Atoll::codegen {

using support::ErrorKind;
using support::fail;
using support::Result;

namespace {

/// Splits the join so that only blocks that the `if` dominates precede it.
llvm::BasicBlock* own_join(llvm::BasicBlock& head, llvm::BasicBlock& join, llvm::DominatorTree& dominators,
                           llvm::LoopInfo& loops, const llvm::SmallPtrSetImpl<llvm::BasicBlock*>& taken) {
  llvm::SmallVector<llvm::BasicBlock*> inside;
  bool has_others = false;
  for (llvm::BasicBlock* before : llvm::predecessors(&join)) {
    if (dominators.dominates(&head, before)) {
      if (!llvm::is_contained(inside, before)) inside.push_back(before);
    } else {
      has_others = true;
    }
  }
  if (!has_others && !taken.contains(&join) && loops.getLoopFor(&join) == loops.getLoopFor(&head)) return &join;
  return llvm::SplitBlockPredecessors(&join, inside, ".join", &dominators, &loops, nullptr, false);
}

}  // namespace

Result<DivergentBranches> find_divergent_branches(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& uniformity = analyses.getResult<llvm::UniformityInfoAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  llvm::PostDominatorTree post_dominators(function);

  // The branches that are divergent, before any block is split. Inner ones come before those around them.
  llvm::SmallVector<llvm::BasicBlock*> divergent;
  for (llvm::BasicBlock* block : llvm::post_order(&function)) {
    if (block->getTerminator()->getNumSuccessors() == 2 && uniformity.isDivergent(block->getTerminator()))
      divergent.push_back(block);
  }
  DivergentBranches branches;
  llvm::SmallPtrSet<llvm::BasicBlock*, 16> taken;
  for (llvm::BasicBlock* head : divergent) {
    llvm::BasicBlock *first = head->getTerminator()->getSuccessor(0), *second = head->getTerminator()->getSuccessor(1);
    llvm::Loop* loop = loops.getLoopFor(head);
    if (loop != nullptr && loop->isLoopLatch(head)) {
      const bool leaves_on_true = second == loop->getHeader();
      llvm::BasicBlock* out = leaves_on_true ? first : second;
      if (loop->contains(out))
        return fail(ErrorKind::unsupported, "function {}: a divergent latch stays in its loop",
                    function.getName().str());
      llvm::BasicBlock* preheader = loop->getLoopPreheader();
      if (preheader == nullptr)
        return fail(ErrorKind::unsupported, "function {}: a divergent loop has no preheader", function.getName().str());
      llvm::BasicBlock* header = loop->getHeader();
      llvm::BasicBlock* exit = llvm::SplitEdge(head, out, &dominators, &loops, nullptr, ".exit");
      llvm::BasicBlock* next = llvm::SplitEdge(head, header, &dominators, &loops, nullptr, ".next");
      branches.latches[head] = {.next = next, .exit = exit, .preheader = preheader, .leaves_on_true = leaves_on_true};
      continue;
    }
    llvm::BasicBlock *body = nullptr, *join = nullptr;
    if (post_dominators.dominates(second, first))
      body = first, join = second;
    else if (post_dominators.dominates(first, second))
      body = second, join = first;
    else
      return fail(ErrorKind::unsupported, "function {}: the divergent branch of block {} has no join among its targets",
                  function.getName().str(), head->getName().str());
    const bool enters_on_true = body == first;
    join = own_join(*head, *join, dominators, loops, taken);
    if (join == nullptr)
      return fail(ErrorKind::unsupported, "function {}: the join of block {} cannot be split", function.getName().str(),
                  head->getName().str());
    taken.insert(join);
    branches.ifs[head] = {.body = body, .join = join, .enters_on_true = enters_on_true};
  }
  // Critical edges of uniform branches: their phis' copies need a block. An `if` whose body begins with phis, likewise.
  llvm::SmallVector<std::pair<llvm::BasicBlock*, unsigned>> critical;
  for (llvm::BasicBlock& block : function) {
    llvm::Instruction* end = block.getTerminator();
    if (end->getNumSuccessors() < 2 || branches.latches.contains(&block)) continue;
    for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
      const auto at = branches.ifs.find(&block);
      if (at != branches.ifs.end() && end->getSuccessor(i) == at->second.join) continue;
      if (end->getSuccessor(i)->getSinglePredecessor() == nullptr) critical.emplace_back(&block, i);
    }
  }
  for (const auto& [block, successor] : critical) {
    llvm::BasicBlock* to = block->getTerminator()->getSuccessor(successor);
    llvm::BasicBlock* between = llvm::SplitEdge(block, to, &dominators, &loops, nullptr, ".edge");
    if (const auto at = branches.ifs.find(block); at != branches.ifs.end() && at->second.body == to)
      at->second.body = between;
  }
  for (llvm::Loop* loop : loops) llvm::formLCSSARecursively(*loop, dominators, &loops, nullptr);
  // Only the uniformity is out of date: it is computed again for what has been split.
  llvm::PreservedAnalyses kept;
  kept.preserve<llvm::DominatorTreeAnalysis>();
  kept.preserve<llvm::LoopAnalysis>();
  kept.preserve<llvm::TargetIRAnalysis>();
  analyses.invalidate(function, kept);
  return branches;
}

}  // namespace Atoll::codegen

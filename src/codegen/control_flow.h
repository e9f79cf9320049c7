// codegen: divergent control flow, as EXEC is to follow it.
//
// LLVM's StructurizeCFG has made the control flow structured: a divergent branch is either an `if`, one of whose
// successors is its join, or the latch of a loop, one of whose successors is the loop's header. For an `if` the wave
// saves EXEC, takes out the lanes that go to the join, and sets EXEC back at the join. For a loop it saves EXEC before
// the loop, takes out the lanes that leave, and sets it back behind the loop. So that each join and each exit is
// entered from one construct only, blocks are split. Source of the scheme: LLVM's SIAnnotateControlFlow and
// SILowerControlFlow.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/GenericUniformityInfo.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/SSAContext.h>

#include "support/error.h"

namespace Atoll::codegen {

struct DivergentIf {
  llvm::BasicBlock *body = nullptr, *join = nullptr;
  bool enters_on_true = true;  ///< the body
};

struct DivergentLatch {
  llvm::BasicBlock* next = nullptr;  ///< a block of its own on the way back to the header
  llvm::BasicBlock *exit = nullptr, *preheader = nullptr;
  bool leaves_on_true = true;
};

struct DivergentBranches {
  llvm::DenseMap<llvm::BasicBlock*, DivergentIf> ifs;         ///< by the block with the branch
  llvm::DenseMap<llvm::BasicBlock*, DivergentLatch> latches;  ///< likewise
};

/// Splits blocks of a structured function as described, and returns its divergent branches. Ends in LCSSA form, without
/// critical edges but for those from an `if` to its join.
support::Result<DivergentBranches> find_divergent_branches(llvm::Function& function,
                                                           llvm::FunctionAnalysisManager& analyses);

}  // namespace Atoll::codegen

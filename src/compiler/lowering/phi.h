// compiler: joins values of alternative paths.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "compiler/lowering/frame.h"

namespace Atoll::compiler {

/// Joins the paths of an access and the words that each produces.
class PhiBuilder {
 public:
  PhiBuilder(Frame& frame, unsigned words)
      : ir_(frame.ir),
        words_(words),
        join_(llvm::BasicBlock::Create(frame.context, "accessed", frame.ir.GetInsertBlock()->getParent())) {}

  void add_incoming(const std::array<llvm::Value*, 4>& values) {
    ends_.emplace_back(ir_.GetInsertBlock(), values);
    ir_.CreateBr(join_);
  }
  std::array<llvm::Value*, 4> join() {
    ir_.SetInsertPoint(join_);
    std::array<llvm::Value*, 4> joined{};
    for (unsigned word = 0; word < words_; ++word) {
      llvm::PHINode* phi = ir_.CreatePHI(ends_.front().second[word]->getType(), static_cast<unsigned>(ends_.size()));
      for (const auto& [from, values] : ends_) phi->addIncoming(values[word], from);
      joined[word] = phi;
    }
    return joined;
  }

 private:
  llvm::IRBuilder<>& ir_;
  unsigned words_;
  llvm::BasicBlock* join_;
  std::vector<std::pair<llvm::BasicBlock*, std::array<llvm::Value*, 4>>> ends_;
};

}  // namespace Atoll::compiler

// compiler: which code is run often (hotness.h).
#include "compiler/analysis/hotness.h"

#include <algorithm>
#include <map>
#include <vector>

#include <llvm/ADT/SCCIterator.h>

#include "compiler/analysis/liveness.h"
#include "isa/effects.h"

namespace {

/// A block, as LLVM's graph algorithms go through them.
struct Node {
  std::vector<Node*> next;
  const Atoll::engine::Block* block = nullptr;
};

}  // namespace

template <>
struct llvm::GraphTraits<Node*> {
  using NodeRef = Node*;
  using ChildIteratorType = std::vector<Node*>::iterator;
  static NodeRef getEntryNode(Node* node) { return node; }
  static ChildIteratorType child_begin(Node* node) { return node->next.begin(); }
  static ChildIteratorType child_end(Node* node) { return node->next.end(); }
};

namespace Atoll::compiler {

namespace {

/// Some hundred instructions.
constexpr uint64_t short_loop_bytes = 1024;

/// Returns back edges through which waves can reach the branch again. Compilers also place code that runs once before a
/// branch to it.
std::vector<Hotness::BackBranch> find_back_branches(const engine::ControlFlow& flow) {
  std::map<uint64_t, Node> nodes;
  for (const auto& [pc, block] : flow.blocks) nodes[pc].block = &block;
  Node root;
  for (auto& entry : nodes) {
    Node& node = entry.second;
    root.next.push_back(&node);
    const Successors successors = successors_of(*node.block);
    const auto add = [&](uint64_t next) {
      if (const auto found = nodes.find(next); found != nodes.end()) node.next.push_back(&found->second);
    };
    std::ranges::for_each(successors.pcs, add);
    if (successors.anywhere) std::ranges::for_each(flow.entries, add);
  }
  std::vector<Hotness::BackBranch> branches;
  for (auto cycle = llvm::scc_begin(&root); !cycle.isAtEnd(); ++cycle) {
    for (const Node* node : *cycle) {
      if (node->block == nullptr) continue;
      const engine::Located& last = node->block->instructions.back();
      if (!isa::control_of(last.instruction).has_target || last.target() > last.pc) continue;
      const auto target = nodes.find(last.target());
      if (target != nodes.end() && std::ranges::find(*cycle, &target->second) != cycle->end()) {
        branches.push_back({.from = last.pc, .to = last.target()});
      }
    }
  }
  return branches;
}

}  // namespace

Hotness::Hotness(const engine::ControlFlow& flow, bool fast_compile)
    : fast_compile_(fast_compile), back_branches_(find_back_branches(flow)) {}

/// Whether some branch goes back over the block, and not far: a kernel's outermost loop has few rounds.
bool Hotness::is_in_short_loop(uint64_t pc) const {
  return std::ranges::any_of(back_branches_, [&](const BackBranch& branch) {
    return branch.from >= pc && branch.to <= pc && branch.from - branch.to <= short_loop_bytes;
  });
}

Versioning Hotness::versioning(uint64_t pc) const {
  using enum Versioning;
  return is_in_short_loop(pc) ? for_one_loop : fast_compile_ || !back_branches_.empty() ? never : for_addresses;
}

}  // namespace Atoll::compiler

// compiler: which code is run often (hotness.h).
#include "compiler/analysis/hotness.h"

#include <algorithm>

#include "isa/effects.h"

namespace Atoll::compiler {

namespace {

/// Some hundred instructions.
constexpr uint64_t short_loop_bytes = 1024;

bool branches_back(const engine::Block& block) {
  const engine::Located& last = block.instructions.back();
  return isa::control_of(last.instruction).has_target && last.target() <= last.pc;
}

}  // namespace

Hotness::Hotness(const engine::ControlFlow& flow, bool be_brief)
    : flow_(flow),
      be_brief_(be_brief),
      has_loop_(std::ranges::any_of(flow.blocks, [](const auto& block) { return branches_back(block.second); })) {}

/// Whether some branch goes back over the block, and not far: a kernel's outermost loop has few rounds.
bool Hotness::is_in_short_loop(uint64_t pc) const {
  return std::ranges::any_of(flow_.blocks, [&](const auto& block) {
    const engine::Located& last = block.second.instructions.back();
    return branches_back(block.second) && last.pc >= pc && last.target() <= pc &&
           last.pc - last.target() <= short_loop_bytes;
  });
}

Versioning Hotness::versioning(uint64_t pc) const {
  using enum Versioning;
  return is_in_short_loop(pc) ? for_one_loop : be_brief_ || has_loop_ ? never : for_addresses;
}

}  // namespace Atoll::compiler

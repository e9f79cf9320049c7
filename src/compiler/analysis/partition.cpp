// compiler: cutting large code (partition.h).
#include "compiler/analysis/partition.h"

#include <algorithm>
#include <iterator>

#include "isa/effects.h"

namespace Atoll::compiler {

namespace {

using engine::Block;
using engine::ControlFlow;
using engine::Located;

bool has_target(const Located& at) { return isa::control_of(at.instruction).has_target; }

/// For each block: how many branches go back from it or a block after it to one before it.
std::vector<uint64_t> branches_back_over(const ControlFlow& flow) {
  std::vector<uint64_t> addresses;
  addresses.reserve(flow.blocks.size());
  for (const auto& [pc, block] : flow.blocks) addresses.push_back(pc);
  const auto number_of = [&](uint64_t pc) {
    return static_cast<size_t>(std::ranges::lower_bound(addresses, pc) - addresses.begin());
  };
  std::vector<int64_t> change(addresses.size() + 1, 0);
  for (const auto& [pc, block] : flow.blocks) {
    const Located& last = block.instructions.back();
    if (!has_target(last) || last.target() > pc || !flow.blocks.contains(last.target())) continue;
    ++change[number_of(last.target()) + 1];
    --change[number_of(pc) + 1];
  }
  std::vector<uint64_t> counts;
  counts.reserve(addresses.size());
  int64_t count = 0;
  for (size_t i = 0; i < addresses.size(); ++i) counts.push_back(static_cast<uint64_t>(count += change[i]));
  return counts;
}

}  // namespace

std::vector<ControlFlow> cut(const ControlFlow& flow, uint64_t instructions) {
  if (flow.instructions <= 2 * instructions) return {flow};
  const std::vector<uint64_t> back = branches_back_over(flow);
  std::vector<std::pair<uint64_t, const Block*>> blocks;
  blocks.reserve(flow.blocks.size());
  for (const auto& [pc, block] : flow.blocks) blocks.emplace_back(pc, &block);

  std::vector<ControlFlow> parts;
  for (size_t first = 0; first < blocks.size();) {
    // Takes the best place in the second half of the wanted size, the last one if several are equal. If all are inside
    // loops, up to twice the size is allowed for a better place.
    uint64_t size = 0;
    size_t best = first + 1;
    for (size_t next = first; next < blocks.size(); ++next) {
      const bool chosen = best != first + 1;
      if (next > first && size > instructions && chosen && back[best] == 0) break;
      if (next > first && size > 2 * instructions) break;
      const bool is_better = !chosen || (size <= instructions ? back[next] <= back[best] : back[next] < back[best]);
      if (next > first && size >= instructions / 2 && is_better) best = next;
      size += blocks[next].second->instructions.size();
      if (next + 1 == blocks.size() && size <= 2 * instructions) best = blocks.size();
    }
    ControlFlow& part = parts.emplace_back();
    part.mode = flow.mode;
    part.wave_size = flow.wave_size;
    part.instrumentation = flow.instrumentation;
    for (; first < best; ++first) {
      part.blocks.emplace(*flow.blocks.find(blocks[first].first));
      part.instructions += blocks[first].second->instructions.size();
    }
    part.root = part.blocks.begin()->first;
  }

  const auto part_with = [&](uint64_t pc) {
    return std::ranges::find_if(parts, [&](const ControlFlow& part) { return part.blocks.contains(pc); });
  };
  for (const uint64_t pc : flow.entries) {
    if (const auto part = part_with(pc); part != parts.end()) part->entries.insert(pc);
  }
  for (ControlFlow& part : parts) {
    for (const auto& [pc, block] : part.blocks) {
      const Located& last = block.instructions.back();
      for (const uint64_t target : {block.end, has_target(last) ? last.target() : block.end}) {
        if (part.blocks.contains(target)) continue;
        if (const auto other = part_with(target); other != parts.end()) other->entries.insert(target);
      }
    }
  }
  std::erase_if(parts, [](const ControlFlow& part) { return part.entries.empty(); });
  for (ControlFlow& part : parts) part.root = *part.entries.begin();
  return parts;
}

}  // namespace Atoll::compiler

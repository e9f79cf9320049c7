// compiler: printing and checking regions (region_plan.h).
#include "compiler/lowering/region_plan.h"

#include <string_view>

#include <fmt/format.h>

#include "isa/table.h"

namespace Atoll::compiler {

namespace {

std::string_view name_of(MemorySpace space) {
  switch (space) {
    case MemorySpace::global:
      return "global";
    case MemorySpace::lds:
      return "LDS";
    case MemorySpace::scratch:
      return "scratch";
    case MemorySpace::flat:
      return "flat";
    case MemorySpace::buffer:
      return "buffer";
  }
  return {};
}

std::string what_is(const RegionItem& item) {
  if (item.is_matrix) return "matrix, after the loop";
  if (item.removed_branch) return fmt::format("removed branch {}", *item.removed_branch);
  if (item.is_vector) return "VALU";
  if (!item.access) return "varying mask";
  const MemoryOperands& operands = item.access->operands;
  std::string text = fmt::format("{} {}",
                                 operands.is_atomic  ? "atomic,"
                                 : operands.is_store ? "store,"
                                                     : "load,",
                                 name_of(operands.space));
  if (item.is_deferred) text += ", after the loop";
  if (item.address) text += fmt::format(", stride {}", item.stride);
  return text;
}

}  // namespace

std::string print(const RegionPlan& plan) {
  std::string text = fmt::format("region at {:#x}: {} items{}{}\n", plan.items.front().pc, plan.items.size(),
                                 plan.is_versioned ? ", versioned" : "", plan.every_chunk ? ", every chunk" : "");
  for (size_t i = 0; i < plan.items.size(); ++i) {
    const RegionItem& item = plan.items[i];
    text += fmt::format("  {:#8x} {}{:<24} {}\n", item.pc, plan.last_store == i ? "| " : "  ",
                        isa::row_of(*item.instruction).name, what_is(item));
  }
  for (const std::string& fault : faults_of(plan)) text += "  WRONG: " + fault + '\n';
  return text;
}

std::vector<std::string> faults_of(const RegionPlan& plan) {
  std::vector<std::string> faults;
  const auto fault = [&](const RegionItem& item, std::string_view what) {
    faults.push_back(fmt::format("{} at {:#x} {}", isa::row_of(*item.instruction).name, item.pc, what));
  };
  if (plan.last_store && !plan.is_versioned) fault(plan.items[*plan.last_store], "stores after loads in one form");
  unsigned loads = 0, stores = 0;  // shared_spaces() that were
  bool has_deferred = false;
  size_t branches = 0;
  VectorSet matrix_reads, matrix_writes;
  for (size_t i = 0; i < plan.items.size(); ++i) {
    const RegionItem& item = plan.items[i];
    const LaneEffects effects = lane_effects_of(*item.instruction);
    if (item.is_matrix) {
      matrix_reads |= effects.vector_reads;
      matrix_writes |= effects.vector_writes;
      continue;
    }
    if (item.removed_branch && *item.removed_branch != branches++) fault(item, "has the number of another branch");
    // A matrix instruction is executed after the loop, so nothing after it may need or change what it works on.
    if ((effects.vector_reads & matrix_writes).any() ||
        (effects.vector_writes & (matrix_reads | matrix_writes)).any()) {
      fault(item, "works on what a matrix instruction before it does");
    }
    if (!item.access) continue;
    const MemoryOperands& operands = item.access->operands;
    const unsigned spaces = shared_spaces(operands.space);
    if (plan.last_store && i > *plan.last_store) fault(item, "is an access after the last store");
    if (has_deferred && !item.is_deferred && operands.space != MemorySpace::lds) {
      fault(item, "may fail after a store that waits");
    }
    if (item.is_deferred) {
      has_deferred = true;
      stores |= spaces;
      continue;
    }
    // Chunks follow each other, so that one's store would come before another's load of the same memory.
    if ((stores & spaces) != 0) fault(item, "meets a store of another chunk");
    if (operands.stores() && (loads & spaces) != 0 && plan.last_store != i) fault(item, "stores after a load");
    if (operands.loads()) loads |= spaces;
    if (operands.stores()) stores |= spaces;
  }
  if (branches != plan.skipped_by_branch.size())
    faults.emplace_back("the removed branches are not those that are counted");
  return faults;
}

}  // namespace Atoll::compiler

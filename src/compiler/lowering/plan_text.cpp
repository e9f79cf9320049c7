// compiler: the plans of regions as text (plan_text.h).
#include "compiler/lowering/plan_text.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "isa/table.h"

namespace Atoll::compiler {

namespace {

using Lowering = VaryingMasks::Lowering;

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

/// Adds registers of one kind that follow each other: "v3", "v[0:3]".
void add_range(std::string& text, char kind, size_t first, size_t count) {
  if (!text.empty()) text += ' ';
  text += count == 1 ? fmt::format("{}{}", kind, first) : fmt::format("{}[{}:{}]", kind, first, first + count - 1);
}

/// What an access touches, counted from each lane's address.
std::string span_of(const isa::Instruction& instruction, const MemoryOperands& operands, unsigned element) {
  const semantics::MemoryAccess& access = semantics::memory_access(instruction);
  const unsigned first = operands.is_store ? element : 0;
  const unsigned count = operands.is_store ? 1 : access.elements;
  std::string text = fmt::format("{} bytes at {}", access.bytes, offset_of(instruction, operands, first));
  for (unsigned i = 1; i < count; ++i) {
    text += fmt::format(" and {}", offset_of(instruction, operands, first + i));
  }
  return text;
}

std::string what_is(const isa::Instruction& instruction, const MemoryOperands& operands, unsigned element) {
  const std::string_view kind = operands.is_atomic ? "atomic" : operands.is_store ? "store" : "load";
  return fmt::format("{}, {}, {}", kind, name_of(operands.space), span_of(instruction, operands, element));
}

std::string what_is(const RegionItem& item) {
  if (item.is_matrix) return "matrix, after the loop";
  if (item.removed_branch) return fmt::format("removed branch {}", *item.removed_branch);
  if (item.is_vector) return "VALU";
  if (!item.access) return "varying mask";
  std::string text = what_is(*item.instruction, item.access->operands, item.access->element);
  if (item.is_deferred) text += ", after the loop";
  if (item.address) text += fmt::format(", stride {}", item.stride);
  return text;
}

std::string line(uint64_t pc, const isa::Instruction& instruction, bool begins_loop, std::string_view what) {
  return fmt::format("  {:#8x} {}{:<24} {}\n", pc, begins_loop ? "| " : "  ", isa::row_of(instruction).name, what);
}

/// Whatever is executed for lanes reads it.
void leave_out_exec(ScalarSet& scalars, unsigned lane_mask_words) {
  for (const unsigned reg : {isa::scalar::exec_lo, isa::scalar::exec_hi})
    if (is_exec(reg, lane_mask_words)) scalars.reset(reg);
}

/// Which rows and scalars a region reads before it has written all of them, and which rows it has to do with.
struct Registers {
  VectorSet rows_read, rows_held;
  ScalarSet scalars_read;

  explicit Registers(const RegionPlan& plan) {
    VectorSet rows_written;
    for (const RegionItem& item : plan.items) {
      const LaneEffects effects = lane_effects_of(*item.instruction);
      if (item.is_matrix) continue;
      rows_read |= effects.vector_reads & ~rows_written;
      rows_held |= effects.vector_reads | effects.vector_writes;
      if (!item.exec_written) rows_written |= effects.vector_overwrites;
    }
    ScalarSet scalars_written;
    for (const RegionPlan::Step& step : plan.steps) {
      const LaneEffects effects = lane_effects_of(*step.instruction);
      scalars_read |= effects.reads & ~scalars_written;
      scalars_written |= effects.writes;
    }
    leave_out_exec(scalars_read, plan.items.front().instruction->lane_mask_words);
  }
};

std::string print(const ChunkResults& results) {
  std::string text = names_of(results.rows);
  const auto add = [&](std::string_view what, const std::string& name) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", what, name);
  };
  for (const unsigned mask : results.masks) add("mask ", names_of(ScalarSet().set(mask)));
  if (results.gathers_scc) add("", "scc");
  return text.empty() ? "nothing" : text;
}

std::string or_nothing(const std::string& text) { return text.empty() ? "nothing" : text; }

std::string joined(const std::string& a, const std::string& b) { return a.empty() || b.empty() ? a + b : a + ' ' + b; }

/// On what a block's end depends.
std::string print(const BlockEnd& end, const VaryingMasks& state, const LoopRegion& region) {
  const auto way = [&](uint64_t next) {
    if (next == region.entry) return fmt::format("back to {:#x}", next);
    return fmt::format("{}{:#x}", region.contains(next) ? "" : "out to ", next);
  };
  if (end.on == BlockEnd::On::nothing || end.if_zero == end.if_not) return way(end.if_not);
  const std::string_view condition = end.on == BlockEnd::On::scc ? "scc" : end.on == BlockEnd::On::vcc ? "vcc" : "exec";
  return fmt::format("if {} {}, otherwise {}; {}", condition, way(end.if_not), way(end.if_zero),
                     end.parts(state) ? "each chunk decides for itself" : "the same for all chunks");
}

/// Of a block's first instructions, up to the branch.
VaryingMasks state_at_end(const engine::Block& block, VaryingMasks state) {
  for (const engine::Located& at : body_of(block)) {
    if (!changes_no_data(at.instruction)) state.step(at.instruction, state.lowering(at.instruction, /*inside=*/true));
  }
  return state;
}

std::string_view how_in_loop(Lowering lowering) {
  switch (lowering) {
    case Lowering::lanes:
      return "VALU";
    case Lowering::on_varying_masks:
      return "varying mask";
    case Lowering::scalars:
      return "scalar, the same for each chunk";
    default:
      return "";
  }
}

}  // namespace

std::string name_of_scalar(unsigned reg) {
  switch (reg) {
    case isa::scalar::vcc_lo:
      return "vcc_lo";
    case isa::scalar::vcc_hi:
      return "vcc_hi";
    case isa::scalar::m0:
      return "m0";
    case isa::scalar::exec_lo:
      return "exec_lo";
    case isa::scalar::exec_hi:
      return "exec_hi";
    case scc_number:
      return "scc";
    default:
      return fmt::format("{}{}", reg < isa::scalar::vcc_lo ? "s" : "scalar", reg);
  }
}

std::string names_of(const VectorSet& rows) {
  std::string text;
  for (size_t key = 0; key < rows.size();) {
    size_t end = key;
    while (end < rows.size() && rows[end] && (end == key || end != isa::first_agpr)) ++end;
    if (end != key) add_range(text, key < isa::first_agpr ? 'v' : 'a', key % isa::first_agpr, end - key);
    key = std::max(end, key + 1);
  }
  return text;
}

std::string names_of(const ScalarSet& registers) {
  std::string text;
  for (size_t reg = 0; reg < isa::scalar::vcc_lo;) {
    size_t end = reg;
    while (end < isa::scalar::vcc_lo && registers[end]) ++end;
    if (end != reg) add_range(text, 's', reg, end - reg);
    reg = std::max(end, reg + 1);
  }
  for (unsigned reg = isa::scalar::vcc_lo; reg < registers.size(); ++reg) {
    if (registers[reg]) text = joined(text, name_of_scalar(reg));
  }
  return text;
}

std::string print(const RegionPlan& plan) {
  const RegionItem& first = plan.items.front();
  const Registers registers(plan);
  const uint64_t last = std::max(plan.items.back().pc, plan.steps.empty() ? 0 : plan.steps.back().pc);
  std::string text = fmt::format("region at {:#x} to {:#x}: {} items{}{}\n", first.pc, last, plan.items.size(),
                                 plan.is_versioned ? ", versioned" : "", plan.every_chunk ? ", every chunk" : "");
  text +=
      fmt::format("  reads {}\n", or_nothing(joined(names_of(registers.rows_read), names_of(registers.scalars_read))));
  text += fmt::format("  holds {}\n", or_nothing(names_of(registers.rows_held)));
  for (const RegionPlan::Loop& loop : plan.loops) {
    text += fmt::format("  loop over items {} to {} writes {}\n", loop.first, loop.end - 1, print(loop.results));
  }
  if (plan.versioned) text += fmt::format("  or one loop that writes {}\n", print(plan.versioned->results));
  size_t next = 0;
  const auto print_items = [&](size_t end) {
    for (; next < end; ++next) {
      const RegionItem& item = plan.items[next];
      text += line(item.pc, *item.instruction, plan.last_store == next, what_is(item));
    }
  };
  for (const RegionPlan::Step& step : plan.steps) {
    print_items(std::min(step.items_end, plan.items.size()));
    if (step.how == Lowering::scalars) text += line(step.pc, *step.instruction, false, "scalar, before the loop");
  }
  print_items(plan.items.size());
  return text;
}

std::string print(const LoopPlan& plan, const engine::ControlFlow& flow, const Liveness& liveness) {
  const LoopRegion& region = plan.region;
  const Live& before = liveness.before(region.entry);
  ScalarSet scalars_read;
  for (const uint64_t pc : region.blocks) {
    for (const engine::Located& at : flow.blocks.at(pc).instructions)
      scalars_read |= lane_effects_of(at.instruction).reads;
  }
  scalars_read &= before.scalars;
  leave_out_exec(scalars_read, flow.blocks.at(region.entry).instructions.front().instruction.lane_mask_words);
  ScalarSet words;
  for (const unsigned reg : plan.words) words.set(reg);
  words[scc_number] = plan.keeps_scc;

  std::string text = fmt::format("loop region at {:#x}: {} blocks, {} exits{}{}\n", region.entry, region.blocks.size(),
                                 region.exits.size(), region.may_wait ? ", may wait" : "",
                                 region.skips_inactive_chunks ? ", skips inactive chunks" : "");
  const VectorSet rows_read = plan.rows_read & (before.active | before.inactive);
  text += fmt::format("  reads {}\n", or_nothing(joined(names_of(rows_read), names_of(scalars_read))));
  text += fmt::format("  holds {}\n", or_nothing(names_of(plan.rows_read | plan.rows_written)));
  text +=
      fmt::format("  writes {}{}\n", print(plan.results), words.none() ? "" : ", of the last chunk " + names_of(words));
  for (const uint64_t pc : region.blocks) {
    const engine::Block& block = flow.blocks.at(pc);
    VaryingMasks state = region.states.at(pc);
    const BlockEnd end = *end_of(block);
    text += fmt::format("  block {:#x} to {:#x}: {}\n", pc, block.instructions.back().pc,
                        print(end, state_at_end(block, state), region));
    for (const engine::Located& at : body_of(block)) {
      if (changes_no_data(at.instruction)) continue;
      const Lowering how = state.lowering(at.instruction, /*inside=*/true);
      const auto access = memory_operands(at.instruction);
      text += line(at.pc, at.instruction, false,
                   access ? what_is(at.instruction, *access, 0) : std::string(how_in_loop(how)));
      state.step(at.instruction, how);
    }
  }
  return text;
}

}  // namespace Atoll::compiler

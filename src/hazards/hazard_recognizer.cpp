#include "hazards/hazard_recognizer.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <tuple>

#include "hazards/counters.h"

namespace Atoll::hazards {

namespace {

bool is_member(const ClassSet& set, InstructionClass wanted) {
  return wanted != InstructionClass::count && set[static_cast<size_t>(wanted)];
}

bool is_side(const ClassSet& set, const Side& side) { return is_member(set, side.is) && !is_member(set, side.is_not); }

/// Returns the waits of an instruction as EndingWait.
struct Waits {
  std::optional<CounterWaits> counters;
  std::optional<DependencyFields> dependencies;
  bool is_waitcnt_0 = false;

  bool ends(const EndingWait& wait) const {
    const auto is_awaited = [&](memory_model::Counter counter) { return counters && counters->of(counter) == 0; };
    switch (wait.kind) {
      case EndingWait::Kind::none:
        return false;
      case EndingWait::Kind::dependency:
        return dependencies && (*dependencies & wait.fields) == wait.fields;
      case EndingWait::Kind::all_counters:
        return is_waitcnt_0;
      case EndingWait::Kind::stores:
        return is_awaited(memory_model::Counter::store);
      case EndingWait::Kind::scalar_and_lds:
        return is_awaited(memory_model::Counter::scalar);
      case EndingWait::Kind::vector_memory:
        return is_awaited(memory_model::Counter::load);
    }
    return false;
  }
};

std::vector<RegisterRange> ranges_of(const std::vector<uint16_t>& registers) {
  std::vector<RegisterRange> ranges;
  for (const uint16_t reg : registers) {
    if (!ranges.empty() && ranges.back().first + ranges.back().count == reg) {
      ++ranges.back().count;
    } else {
      ranges.push_back({reg, 1});
    }
  }
  return ranges;
}

bool overlap(const std::vector<RegisterRange>& ranges, const RegisterRange& range) {
  return std::ranges::any_of(ranges, [&](const RegisterRange& each) { return each.overlaps(range); });
}

}  // namespace

HazardInfo hazard_info(const isa::Instruction& instruction, const isa::Effects& effects,
                       const target::Processor& processor, unsigned wave_size, bool has_lds_direct) {
  HazardInfo info;
  const ClassSet set = classes_of(instruction, effects);
  const std::span<const Hazard> table = hazard_table();
  Waits waits{.counters = counter_waits(instruction), .dependencies = dependency_wait(instruction)};
  waits.is_waitcnt_0 = instruction.opcode == isa::Opcode::s_waitcnt && instruction.immediate == 0;
  const auto registers = [&](const Side& side) { return registers_in(side.role, instruction, effects, processor); };
  const auto connect = [&](std::vector<HazardInfo::Connection>& to, size_t row, const Side& side) {
    if (!is_side(set, side)) return;
    for (const uint16_t reg : registers(side)) to.push_back({static_cast<uint8_t>(row), reg});
  };
  bool any_overwritten = false;
  for (size_t row = 0; row < table.size(); ++row) {
    const Hazard& hazard = table[row];
    if (!hazard.applies_to(processor, wave_size)) continue;
    const bool is_for_lds_direct =
        hazard.consumer.is == InstructionClass::lds_direct || hazard.consumer.is == InstructionClass::late_lds_direct;
    if (is_for_lds_direct && !has_lds_direct) continue;
    if (hazard.partial_forwarding) {
      info.forwarding_row = static_cast<uint8_t>(row);
    } else if (hazard.producer.is == InstructionClass::count) {
      connect(info.violates, row, hazard.consumer);
    } else {
      connect(info.produces, row, hazard.producer);
      connect(info.consumes, row, hazard.consumer);
    }
    const bool is_ended = std::ranges::any_of(hazard.ended_by, [&](InstructionClass by) { return is_member(set, by); });
    const bool is_awaited = std::ranges::any_of(hazard.waits, [&](const EndingWait& wait) { return waits.ends(wait); });
    info.ends.set(row, is_awaited || (is_ended && !is_member(set, hazard.not_ended_by)));
    any_overwritten |= hazard.overwritten_ends;
  }
  using enum InstructionClass;
  const auto distance = [&](Unit unit, unsigned value) {
    info.distance[static_cast<size_t>(unit)] = static_cast<uint8_t>(value);
  };
  distance(Unit::states, wait_states(instruction));
  distance(Unit::instructions, 1);
  info.is_valu = is_member(set, vector_alu);
  info.is_transcendental = is_member(set, transcendental);
  distance(Unit::valu, info.is_valu ? 1 : 0);
  distance(Unit::transcendentals, info.is_transcendental ? 1 : 0);
  distance(Unit::vector_nops, is_member(set, vector_nop) ? 1 : 0);
  constexpr auto writes_scalars = [](const isa::ScalarSet& writes) {
    for (unsigned reg = 0; reg < isa::scalar::ttmp0; ++reg) {
      if (writes[reg]) return true;
    }
    return false;
  };
  distance(Unit::scalar_writes, is_member(set, alu) && writes_scalars(effects.writes) ? 1 : 0);
  distance(Unit::lds_nops, is_member(set, lds_nop) ? 1 : 0);
  info.resets_lds_nops = !is_member(set, lds_nop);
  info.wait_vdst = instruction.wait_exp;
  if (any_overwritten) {
    if (info.is_valu) info.overwritten_vgprs = registers_in(Role::writes_vgpr, instruction, effects, processor);
    info.overwritten_sgprs = registers_in(Role::writes_sgpr, instruction, effects, processor);
  }
  if (info.forwarding_row != HazardInfo::no_row) {
    info.writes_exec_by_salu = is_member(set, scalar_alu) && effects.writes[isa::scalar::exec_lo];
    if (info.is_valu) {
      for (const RegisterRange& source : named_sources(instruction)) {
        if (std::ranges::find(info.sources, source) == info.sources.end()) info.sources.push_back(source);
      }
      info.results = ranges_of(registers_in(Role::writes_vgpr, instruction, effects, processor));
    }
  }
  return info;
}

const HazardRecognizer::Pending* HazardRecognizer::find(uint8_t row, uint16_t reg) const {
  const auto key = [](const Pending& each) { return std::pair(each.row, each.reg); };
  const auto at = std::ranges::lower_bound(pending_, std::pair(row, reg), {}, key);
  return at != pending_.end() && at->row == row && at->reg == reg ? &*at : nullptr;
}

bool HazardRecognizer::is_in_stage(Stage stage, uint16_t reg) const {
  return std::ranges::any_of(pending_, [&](const Pending& each) {
    const Hazard& hazard = hazard_table()[each.row];
    return hazard.stage == stage && (each.reg == reg || hazard.producer.role == Role::none);
  });
}

std::vector<HazardRecognizer::Violation> HazardRecognizer::step(const HazardInfo& info, uint64_t pc) {
  const std::span<const Hazard> table = hazard_table();
  std::vector<Violation> found;
  const auto lacking = [](const Violation& violation) { return violation.required - violation.distance; };
  const auto add = [&](const Violation& violation) {
    const Remedy& remedy = violation.hazard->remedy;
    const auto same = std::ranges::find_if(found, [&](const Violation& other) {
      return other.hazard->remedy.kind == remedy.kind && other.hazard->remedy.fields == remedy.fields;
    });
    if (same == found.end()) {
      found.push_back(violation);
    } else if (lacking(violation) > lacking(*same)) {
      *same = violation;
    }
  };
  for (const HazardInfo::Connection& each : info.violates) add({.hazard = &table[each.row], .reg = each.reg});
  for (const HazardInfo::Connection& each : info.consumes) {
    const Pending* const pending = find(each.row, each.reg);
    if (pending == nullptr) continue;
    const Hazard& hazard = table[each.row];
    // A wait for VA_VDST cannot count beside the transcendental unit.
    if (hazard.by_wait_vdst && info.wait_vdst <= (pending->distance[1] != 0 ? 0 : pending->distance[0])) continue;
    add({.hazard = &hazard,
         .earlier = pending->pc,
         .reg = each.reg,
         .distance = pending->distance[0],
         .required = hazard.by_wait_vdst ? info.wait_vdst : hazard.limits[0].count});
  }
  if (info.forwarding_row != HazardInfo::no_row) forward(info, pc, found);

  std::vector<Pending> produced;
  for (const HazardInfo::Connection& each : info.produces) {
    const Hazard& hazard = table[each.row];
    if (hazard.after != Stage::none && !is_in_stage(hazard.after, each.reg)) continue;
    Pending made{.row = each.row, .reg = each.reg, .pc = hazard.has_consumer() ? pc : 0};
    if (hazard.by_wait_vdst && info.is_transcendental) made.distance[1] = 1;
    produced.push_back(made);
  }
  for (Pending& each : pending_) {
    const Hazard& hazard = table[each.row];
    for (size_t i = 0; i < each.distance.size(); ++i) {
      const Unit unit = hazard.by_wait_vdst && i == 1 ? Unit::transcendentals : hazard.limits[i].unit;
      if (unit == Unit::lds_nops && info.resets_lds_nops) each.distance[i] = 0;
      const unsigned most = hazard.limits[i].count != 0 ? hazard.limits[i].count : hazard.by_wait_vdst ? 1 : 0;
      each.distance[i] =
          static_cast<uint8_t>(std::min(each.distance[i] + info.distance[static_cast<size_t>(unit)] + 0u, most));
    }
  }
  std::erase_if(pending_, [&](const Pending& each) {
    const Hazard& hazard = table[each.row];
    if (info.ends[each.row]) return true;
    if (hazard.overwritten_ends) {
      const bool is_vector = is_vector_role(hazard.producer.role);
      const std::vector<uint16_t>& overwritten = is_vector ? info.overwritten_vgprs : info.overwritten_sgprs;
      if (std::ranges::find(overwritten, each.reg) != overwritten.end()) return true;
    }
    for (size_t i = 0; i < each.distance.size(); ++i) {
      if (hazard.limits[i].count != 0 && each.distance[i] >= hazard.limits[i].count) return true;
    }
    return std::ranges::any_of(produced,
                               [&](const Pending& made) { return made.row == each.row && made.reg == each.reg; });
  });
  if (!produced.empty()) {
    pending_.insert(pending_.end(), produced.begin(), produced.end());
    std::ranges::sort(pending_, {}, [](const Pending& each) { return std::pair(each.row, each.reg); });
    const auto again = std::ranges::unique(
        pending_, [](const Pending& a, const Pending& b) { return a.row == b.row && a.reg == b.reg; });
    pending_.erase(again.begin(), again.end());
  }
  return found;
}

/// Two VGPRs that VALU instructions wrote, one before and one after a scalar write of EXEC, are read by one VALU
/// instruction: at most two VALU instructions between the first write and EXEC and between EXEC and the second
/// write together, at most four after that. Distances are those of LLVM's fixVALUPartialForwardingHazard.
void HazardRecognizer::forward(const HazardInfo& info, uint64_t pc, std::vector<Violation>& found) {
  constexpr unsigned max_around_exec = 2, max_after = 4, max_valus = 8;
  if (info.is_valu && info.sources.size() > 1) {
    std::vector<RegisterRange> open = info.sources;
    std::optional<unsigned> exec, before, after;
    const Recent* writer = nullptr;
    uint16_t reg = 0;
    unsigned valus = 0;
    for (const Recent& recent : std::views::reverse(recent_)) {
      if (valus > max_valus) break;
      if (recent.info->is_valu) {
        const auto is_written = [&](const RegisterRange& source) { return overlap(recent.info->results, source); };
        if (const auto written = std::ranges::find_if(open, is_written); written != open.end()) {
          if (!exec) {
            if (!after) after = valus;
          } else if (!before) {
            before = valus;
            writer = &recent;
            reg = written->first;
          }
          std::erase_if(open, is_written);
        }
        ++valus;
      } else if (!exec && after) {
        exec = valus;
      }
    }
    if (exec && before && after && *after <= max_after && (*exec - *after - 1) + (*before - *exec) <= max_around_exec) {
      found.push_back({.hazard = &hazard_table()[info.forwarding_row], .earlier = writer->pc, .reg = reg});
    }
  }
  if (info.ends[info.forwarding_row]) recent_.clear();
  if (!info.is_valu && !info.writes_exec_by_salu) return;
  // Writes of EXEC that no write of a VGPR precedes do not matter.
  if (info.writes_exec_by_salu && recent_.empty()) return;
  recent_.push_back({.pc = pc, .info = &info});
  auto valus =
      static_cast<unsigned>(std::ranges::count_if(recent_, [](const Recent& recent) { return recent.info->is_valu; }));
  size_t stale = 0;
  while (stale < recent_.size() && (valus > max_valus + 1 || !recent_[stale].info->is_valu)) {
    if (recent_[stale].info->is_valu) --valus;
    ++stale;
  }
  recent_.erase(recent_.begin(), recent_.begin() + static_cast<ptrdiff_t>(stale));
}

}  // namespace Atoll::hazards

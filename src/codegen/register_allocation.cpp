// codegen: phi elimination, linear scan, and copies as moves.
#include "codegen/register_allocation.h"

#include <algorithm>
#include <map>
#include <optional>

#include "isa/table.h"

namespace Atoll::codegen {

using isa::Opcode;
using support::ErrorKind;
using support::fail;
using support::Result;

void eliminate_phis(MachineFunction& function) {
  for (MachineBlock& block : function.blocks) {
    std::map<BlockNumber, std::pair<std::vector<MachineOperand>, std::vector<MachineOperand>>> copies;
    for (const MachineInstruction& at : block.instructions) {
      if (at.pseudo != Pseudo::phi) break;
      for (size_t i = 1; i + 1 < at.operands.size(); i += 2) {
        auto& [to, from] = copies[at.operands[i + 1].reg];
        to.push_back(at.operands[0]);
        from.push_back(at.operands[i]);
      }
    }
    std::erase_if(block.instructions, [](const auto& at) { return at.pseudo == Pseudo::phi; });
    for (auto& [before, sides] : copies) {
      MachineInstruction copy{
          .pseudo = Pseudo::copy, .definitions = static_cast<uint8_t>(sides.first.size()), .operands = {}};
      copy.operands = std::move(sides.first);
      copy.operands.insert(copy.operands.end(), sides.second.begin(), sides.second.end());
      auto& into = function.blocks[before].instructions;
      const auto end = std::ranges::find_if(into, [](const auto& at) { return at.pseudo == Pseudo::terminators; });
      into.insert(end, std::move(copy));
    }
  }
}

namespace {

struct Range {
  uint32_t begin, end;  ///< [begin, end)
};

struct Interval {
  VirtualRegister reg = 0;
  std::vector<Range> ranges;  ///< sorted, disjoint
};

/// Live intervals: two places for each instruction, the first for what it reads, the second for what it writes.
class LiveIntervals {
 public:
  explicit LiveIntervals(const MachineFunction& function) : function_(function) {
    const size_t count = function.registers.size();
    intervals_.resize(count);
    for (size_t reg = 0; reg < count; ++reg) intervals_[reg].reg = static_cast<VirtualRegister>(reg);
    std::vector<std::vector<bool>> live_in(function.blocks.size(), std::vector<bool>(count));
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t number = function.blocks.size(); number-- > 0;) {
        std::vector<bool> live = live_out(number, live_in);
        const auto& instructions = function.blocks[number].instructions;
        for (size_t i = instructions.size(); i-- > 0;) {
          for_each(instructions[i], true, [&](VirtualRegister reg) { live[reg] = false; });
          for_each(instructions[i], false, [&](VirtualRegister reg) { live[reg] = true; });
        }
        if (live != live_in[number]) {
          live_in[number] = std::move(live);
          changed = true;
        }
      }
    }
    uint32_t begin = 0;
    for (size_t number = 0; number < function.blocks.size(); ++number) {
      const auto& instructions = function.blocks[number].instructions;
      const auto end = begin + 2 * static_cast<uint32_t>(instructions.size());
      std::vector<uint32_t> until(count, 0);  // of what is live: where its range ends
      const std::vector<bool> out = live_out(number, live_in);
      for (size_t reg = 0; reg < count; ++reg)
        if (out[reg]) until[reg] = end;
      for (size_t i = instructions.size(); i-- > 0;) {
        const MachineInstruction& at = instructions[i];
        const uint32_t here = begin + 2 * static_cast<uint32_t>(i);
        // Registers that memory fills must not overlap what the instruction reads.
        const bool is_early = is_memory(at);
        for_each(at, true, [&](VirtualRegister reg) {
          add(reg, {here + (is_early ? 0 : 1), std::max(until[reg], here + 2)});
          until[reg] = 0;
        });
        for_each(at, false, [&](VirtualRegister reg) {
          if (until[reg] == 0) until[reg] = here + 1;
        });
      }
      for (size_t reg = 0; reg < count; ++reg)
        if (until[reg] != 0) add(static_cast<VirtualRegister>(reg), {begin, until[reg]});
      begin = end;
    }
    for (Interval& each : intervals_) normalise(each);
  }

  const std::vector<Interval>& all() const { return intervals_; }

 private:
  static bool is_memory(const MachineInstruction& at) {
    return at.pseudo == Pseudo::none && isa::row(at.opcode).has(isa::flag::memory);
  }
  template <typename Use>
  static void for_each(const MachineInstruction& at, bool definitions, const Use& use) {
    for (size_t i = 0; i < at.operands.size(); ++i)
      if (at.operands[i].is_virtual() && (i < at.definitions) == definitions) use(at.operands[i].reg);
  }
  std::vector<bool> live_out(size_t number, const std::vector<std::vector<bool>>& live_in) const {
    std::vector<bool> out(function_.registers.size());
    for (const BlockNumber next : function_.blocks[number].successors)
      for (size_t reg = 0; reg < out.size(); ++reg)
        if (live_in[next][reg]) out[reg] = true;
    return out;
  }
  void add(VirtualRegister reg, Range range) { intervals_[reg].ranges.push_back(range); }
  static void normalise(Interval& interval) {
    std::ranges::sort(interval.ranges, {}, &Range::begin);
    std::vector<Range> merged;
    for (const Range& each : interval.ranges) {
      if (!merged.empty() && each.begin <= merged.back().end)
        merged.back().end = std::max(merged.back().end, each.end);
      else
        merged.push_back(each);
    }
    interval.ranges = std::move(merged);
  }

  const MachineFunction& function_;
  std::vector<Interval> intervals_;
};

/// The times at which one physical register is taken: ends by begins.
class Occupation {
 public:
  bool is_free(const Interval& interval) const {
    return std::ranges::none_of(interval.ranges, [&](const Range& range) {
      auto at = taken_.lower_bound(range.end);
      return at != taken_.begin() && (--at)->second > range.begin;
    });
  }
  void take(const Interval& interval) {
    for (const Range& each : interval.ranges) taken_[each.begin] = each.end;
  }

 private:
  std::map<uint32_t, uint32_t> taken_;
};

class Allocator {
 public:
  explicit Allocator(MachineFunction& function) : function_(function) {
    files_[0].resize(std::min<unsigned>(function.target.processor->addressable_sgprs, 102));
    files_[1].resize(256);
  }

  Result<void> run() {
    const LiveIntervals live(function_);
    std::vector<const Interval*> order;
    for (const Interval& each : live.all())
      if (!each.ranges.empty()) order.push_back(&each);
    std::ranges::sort(order, [](const Interval* a, const Interval* b) {
      return std::pair(a->ranges.front().begin, a->reg) < std::pair(b->ranges.front().begin, b->reg);
    });
    places_.resize(function_.registers.size());
    planned_.resize(function_.registers.size());
    intervals_ = &live.all();
    find_hints();
    for (const Interval* each : order) {
      const auto place = find(*each);
      const RegisterClass& wanted = function_.registers[each->reg];
      if (!place) {
        return fail(ErrorKind::unsupported,
                    "function {}: more {} are live than {} has, and spilling is not implemented", function_.name,
                    wanted.file == RegisterFile::sgpr ? "SGPRs" : "VGPRs", function_.target.processor->name);
      }
      places_[each->reg] = *place;
      plan(each->reg);
      auto& file = files_[static_cast<size_t>(wanted.file)];
      for (unsigned i = 0; i < wanted.dwords; ++i) file[*place + i].take(*each);
      uint32_t& used = wanted.file == RegisterFile::sgpr ? function_.sgprs : function_.vgprs;
      used = std::max(used, *place + wanted.dwords);
    }
    rewrite();
    return {};
  }

 private:
  bool fits(const Interval& interval, unsigned first) const {
    const RegisterClass& wanted = function_.registers[interval.reg];
    const auto& file = files_[static_cast<size_t>(wanted.file)];
    if (first % wanted.align != 0 || first + wanted.dwords > file.size()) return false;
    for (unsigned i = 0; i < wanted.dwords; ++i)
      if (!file[first + i].is_free(interval)) return false;
    return true;
  }
  /// Returns a place, best one where no copy is needed: beside what a copy connects the register with, if that has a
  /// place or is planned for one; or where it and a tuple that it becomes part of both fit.
  std::optional<unsigned> find(const Interval& interval) const {
    const auto& hints = hints_[interval.reg];
    for (const auto& [other, distance] : hints) {
      const std::optional<unsigned> known = places_[other] ? places_[other] : planned_[other];
      if (!known) continue;
      const int64_t first = int64_t{*known} + distance;
      if (first >= 0 && fits(interval, static_cast<unsigned>(first))) return static_cast<unsigned>(first);
    }
    if (planned_[interval.reg] && fits(interval, *planned_[interval.reg])) return planned_[interval.reg];
    if (fixed_[interval.reg] && fits(interval, *fixed_[interval.reg])) return fixed_[interval.reg];
    const RegisterClass& wanted = function_.registers[interval.reg];
    const auto size = static_cast<unsigned>(files_[static_cast<size_t>(wanted.file)].size());
    for (const auto& [other, distance] : hints) {
      if (places_[other] || function_.registers[other].dwords <= wanted.dwords) continue;
      for (unsigned first = 0; first < size; first += wanted.align) {
        const int64_t whole = int64_t{first} - distance;
        if (whole >= 0 && fits(interval, first) && fits((*intervals_)[other], static_cast<unsigned>(whole)))
          return first;
      }
    }
    for (unsigned first = 0; first < size; first += wanted.align)
      if (fits(interval, first)) return first;
    return std::nullopt;
  }
  /// Keeps places for what copies connect the register with.
  void plan(VirtualRegister reg) {
    for (const auto& [other, distance] : hints_[reg]) {
      const int64_t first = int64_t{*places_[reg]} - distance;
      if (!places_[other] && !planned_[other] && first >= 0) planned_[other] = static_cast<unsigned>(first);
    }
  }
  /// Registers that a copy connects want the same place.
  void find_hints() {
    hints_.resize(function_.registers.size());
    fixed_.resize(function_.registers.size());
    const auto connect = [&](const MachineOperand& to, const MachineOperand& from, int offset) {
      if (!to.is_virtual()) return;
      if (from.is_physical() && to.first == 0) fixed_[to.reg] = from.reg;
      if (!from.is_virtual() || function_.registers[to.reg].file != function_.registers[from.reg].file) return;
      const int distance = from.first - to.first - offset;
      hints_[to.reg].emplace_back(from.reg, distance);
      hints_[from.reg].emplace_back(to.reg, -distance);
    };
    for (const MachineBlock& block : function_.blocks) {
      for (const MachineInstruction& at : block.instructions) {
        if (at.pseudo == Pseudo::copy)
          for (unsigned i = 0; i < at.definitions; ++i) connect(at.operands[i], at.operands[i + at.definitions], 0);
        if (at.pseudo != Pseudo::tuple) continue;
        int offset = 0;
        for (size_t i = 1; i < at.operands.size(); ++i) {
          connect(at.operands[0], at.operands[i], offset);
          offset += std::max<int>(at.operands[i].dwords, 1);
        }
      }
    }
  }
  void rewrite() {
    for (MachineBlock& block : function_.blocks) {
      for (MachineInstruction& at : block.instructions) {
        for (MachineOperand& each : at.operands) {
          if (!each.is_virtual()) continue;
          const bool is_scalar = function_.registers[each.reg].file == RegisterFile::sgpr;
          each.reg = places_[each.reg].value_or(0) + each.first;
          each.first = 0;
          each.kind = is_scalar ? MachineOperand::Kind::sgpr : MachineOperand::Kind::vgpr;
        }
      }
    }
  }

  MachineFunction& function_;
  std::vector<Occupation> files_[2];
  const std::vector<Interval>* intervals_ = nullptr;
  std::vector<std::optional<unsigned>> places_, planned_, fixed_;
  std::vector<std::vector<std::pair<VirtualRegister, int>>> hints_;
};

struct Move {
  MachineOperand to, from;
};

bool is_same(const MachineOperand& a, const MachineOperand& b) { return a.kind == b.kind && a.reg == b.reg; }

/// Puts moves that happen at once one after the other. Cycles are exchanged by exclusive or.
void sequence(std::vector<Move> moves, std::vector<MachineInstruction>& to) {
  std::erase_if(moves, [](const Move& each) { return is_same(each.to, each.from); });
  const auto put = [&](Opcode opcode, MachineOperand result, std::vector<MachineOperand> sources) {
    MachineInstruction made{.opcode = opcode, .definitions = 1, .operands = {result}};
    made.operands.insert(made.operands.end(), sources.begin(), sources.end());
    to.push_back(std::move(made));
  };
  while (!moves.empty()) {
    const auto ready = std::ranges::find_if(moves, [&](const Move& each) {
      return std::ranges::none_of(moves, [&](const Move& other) { return is_same(other.from, each.to); });
    });
    const bool is_cycle = ready == moves.end();
    const Move move = is_cycle ? moves.front() : *ready;
    const bool is_vector = move.to.kind == MachineOperand::Kind::vgpr;
    if (!is_cycle) {
      put(is_vector ? Opcode::v_mov_b32 : Opcode::s_mov_b32, move.to, {move.from});
      moves.erase(ready);
      continue;
    }
    const Opcode exchange = is_vector ? Opcode::v_xor_b32 : Opcode::s_xor_b32;
    put(exchange, move.to, {move.to, move.from});
    put(exchange, move.from, {move.to, move.from});
    put(exchange, move.to, {move.to, move.from});
    moves.erase(moves.begin());
    for (Move& each : moves) {
      if (is_same(each.from, move.to))
        each.from = move.from;
      else if (is_same(each.from, move.from))
        each.from = move.to;
    }
    std::erase_if(moves, [](const Move& each) { return is_same(each.to, each.from); });
  }
}

}  // namespace

Result<void> allocate_registers(MachineFunction& function) { return Allocator(function).run(); }

void expand_copies(MachineFunction& function) {
  for (MachineBlock& block : function.blocks) {
    std::vector<MachineInstruction> expanded;
    for (MachineInstruction& at : block.instructions) {
      if (at.pseudo == Pseudo::none || at.pseudo == Pseudo::address || at.pseudo == Pseudo::cache) {
        expanded.push_back(std::move(at));
        continue;
      }
      std::vector<Move> moves;
      const auto add = [&](const MachineOperand& to, const MachineOperand& from) {
        for (unsigned i = 0; i < std::max<unsigned>(to.dwords, 1); ++i) moves.push_back({to.part(i), from.part(i)});
      };
      if (at.pseudo == Pseudo::copy) {
        for (unsigned i = 0; i < at.definitions; ++i) add(at.operands[i], at.operands[i + at.definitions]);
      } else if (at.pseudo == Pseudo::tuple) {
        unsigned offset = 0;
        for (size_t i = 1; i < at.operands.size(); ++i) {
          const unsigned count = std::max<unsigned>(at.operands[i].dwords, 1);
          add(at.operands[0].part(offset, count), at.operands[i]);
          offset += count;
        }
      }
      sequence(std::move(moves), expanded);
    }
    block.instructions = std::move(expanded);
  }
}

}  // namespace Atoll::codegen

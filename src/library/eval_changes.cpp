#include "library/eval_changes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isa/effects.h"
#include "isa/table.h"
#include "support/half.h"

namespace Atoll::library {

namespace {

using isa::DataType;
using support::half_value;
namespace scalar = isa::scalar;

/// A register, or a pair of them that is one value, before and after.
struct RegisterChange {
  std::string name;
  DataType type = DataType::b32;
  unsigned bits = 32;
  bool per_lane = false;
  struct Lane {
    uint8_t lane;
    uint64_t before, after;
  };
  std::vector<Lane> lanes;  ///< those that differ; of a scalar register, one
};

struct MemoryChange {
  std::string_view name;  ///< "mem", "lds"
  uint64_t address;       ///< of the first dword
  std::vector<uint32_t> dwords;
};

struct Changes {
  std::vector<RegisterChange> registers;
  std::vector<MemoryChange> memory;
  std::vector<std::string> unchanged;
};

bool is_pair(DataType type) {
  switch (type) {
    case DataType::b64:
    case DataType::i64:
    case DataType::u64:
    case DataType::f64:
      return true;
    default:
      return false;
  }
}

/// The elements of a matrix, whose type is in the name: v_mfma_f32_16x16x16_f16. A name that says no type of 32 bits or
/// more is that of packed halves.
DataType matrix_element(std::string_view name) {
  const size_t first = name.find('_', 2);
  const std::string_view type = name.substr(first + 1, name.find('_', first + 1) - first - 1);
  if (type == "f32") return DataType::f32;
  if (type == "f64") return DataType::f64;
  if (type == "i32") return DataType::i32;
  if (type == "f16") return DataType::v2f16;
  if (type == "bf16") return DataType::v2bf16;
  return DataType::b32;
}

std::string scalar_name(unsigned reg) {
  switch (reg) {
    case scalar::vcc_lo:
      return "vcc_lo";
    case scalar::vcc_hi:
      return "vcc_hi";
    case scalar::exec_lo:
      return "exec_lo";
    case scalar::exec_hi:
      return "exec_hi";
    case scalar::m0:
      return "m0";
    case scalar::flat_scratch_lo:
      return "flat_scratch_lo";
    case scalar::flat_scratch_hi:
      return "flat_scratch_hi";
    case scalar::xnack_mask_lo:
      return "xnack_mask_lo";
    case scalar::xnack_mask_hi:
      return "xnack_mask_hi";
    default:
      break;
  }
  if (reg < scalar::vcc_lo) return fmt::format("s{}", reg);
  if (reg < scalar::m0) return fmt::format("ttmp{}", reg - scalar::ttmp0);
  return fmt::format("scalar {}", reg);
}

std::string pair_name(unsigned reg) {
  if (reg == scalar::vcc_lo) return "vcc";
  if (reg == scalar::exec_lo) return "exec";
  if (reg == scalar::flat_scratch_lo) return "flat_scratch";
  if (reg == scalar::xnack_mask_lo) return "xnack_mask";
  if (reg < scalar::vcc_lo) return fmt::format("s[{}:{}]", reg, reg + 1);
  return fmt::format("ttmp[{}:{}]", reg - scalar::ttmp0, reg - scalar::ttmp0 + 1);
}

/// Registers that mean something; null and what nobody can write are not shown.
bool is_shown(unsigned reg) {
  return reg <= scalar::vcc_hi || (reg >= scalar::ttmp0 && reg <= scalar::m0) || reg == scalar::exec_lo ||
         reg == scalar::exec_hi || (reg >= scalar::flat_scratch_lo && reg <= scalar::xnack_mask_hi);
}

void add_vectors(Changes& changes, const WaveSnapshot& before, const WaveSnapshot& after, const RegisterTypes& types,
                 unsigned wave_size) {
  for (unsigned row = 0; row < after.rows.size(); ++row) {
    const auto view = types.vector(row);
    const bool accumulation = row >= isa::first_agpr;
    const unsigned number = accumulation ? row - isa::first_agpr : row;
    const char file = accumulation ? 'a' : 'v';
    RegisterChange change{.name = view.words == 2 ? fmt::format("{}[{}:{}]", file, number, number + 1)
                                                  : fmt::format("{}{}", file, number),
                          .type = view.type,
                          .bits = view.words * 32u,
                          .per_lane = true,
                          .lanes = {}};
    const auto value = [&](const WaveSnapshot& of, unsigned lane) {
      return of.rows[row][lane] | (view.words == 2 ? uint64_t{of.rows[row + 1][lane]} << 32 : 0);
    };
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      const uint64_t old = value(before, lane), now = value(after, lane);
      if (old != now) change.lanes.push_back({static_cast<uint8_t>(lane), old, now});
    }
    if (change.lanes.empty()) {
      if (types.writes_vector(row)) changes.unchanged.push_back(change.name);
    } else {
      changes.registers.push_back(std::move(change));
    }
    row += view.words - 1u;
  }
}

void add_scalars(Changes& changes, const WaveSnapshot& before, const WaveSnapshot& after, const RegisterTypes& types,
                 unsigned wave_size) {
  const auto add = [&](std::string name, DataType type, unsigned bits, uint64_t old, uint64_t now, bool written) {
    if (old != now) {
      changes.registers.push_back(
          {.name = std::move(name), .type = type, .bits = bits, .lanes = {{.lane = 0, .before = old, .after = now}}});
    } else if (written) {
      changes.unchanged.push_back(std::move(name));
    }
  };
  for (unsigned reg = 0; reg + 1 < scalar::null; ++reg) {
    if (!is_shown(reg)) continue;
    auto view = types.scalar(reg);
    const bool mask = reg == scalar::vcc_lo || reg == scalar::exec_lo;
    if (mask && wave_size == 64) view = {.type = DataType::lane_mask, .words = 2};
    if (mask && wave_size == 32) view = {.type = DataType::lane_mask, .words = 1};
    const auto value = [&](const WaveSnapshot& of) {
      return of.scalars[reg] | (view.words == 2 ? uint64_t{of.scalars[reg + 1]} << 32 : 0);
    };
    const bool written = types.writes_scalar(reg) || (view.words == 2 && types.writes_scalar(reg + 1));
    add(view.words == 2 ? pair_name(reg) : scalar_name(reg), view.type, view.words * 32u, value(before), value(after),
        written);
    reg += view.words - 1u;
  }
  add("scc", DataType::none, 1, before.scc ? 1 : 0, after.scc ? 1 : 0, types.writes_scc());
  add("mode", DataType::none, 32, before.mode, after.mode, false);
  add("trapsts", DataType::none, 32, before.trap_status, after.trap_status, false);
}

void add_scratch(Changes& changes, const WaveSnapshot& before, const WaveSnapshot& after, unsigned wave_size) {
  for (size_t first = 0; first < after.scratch.size(); first += wave_size) {
    RegisterChange change{.name = fmt::format("scratch[{:#x}]", first / wave_size * 4), .per_lane = true, .lanes = {}};
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      const uint32_t old = before.scratch[first + lane], now = after.scratch[first + lane];
      if (old != now) change.lanes.push_back({static_cast<uint8_t>(lane), old, now});
    }
    if (!change.lanes.empty()) changes.registers.push_back(std::move(change));
  }
}

/// Dwords that differ, in runs.
void add_bytes(Changes& changes, std::string_view name, uint64_t address, std::span<const uint8_t> before,
               std::span<const uint8_t> after) {
  bool goes_on = false;
  for (size_t at = 0; at + 4 <= after.size(); at += 4) {
    uint32_t now = 0;
    std::memcpy(&now, &after[at], sizeof now);
    const bool differs = std::memcmp(&before[at], &after[at], 4) != 0;
    if (differs && !goes_on) changes.memory.push_back({.name = name, .address = address + at, .dwords = {}});
    if (differs) changes.memory.back().dwords.push_back(now);
    goes_on = differs;
  }
}

Changes find_changes(const WaveSnapshot& before, const WaveSnapshot& after, const RegisterTypes& types,
                     unsigned wave_size) {
  Changes changes;
  add_vectors(changes, before, after, types, wave_size);
  add_scalars(changes, before, after, types, wave_size);
  add_scratch(changes, before, after, wave_size);
  add_bytes(changes, "lds", 0, before.lds, after.lds);
  for (const auto& [address, bytes] : after.memory) {
    add_bytes(changes, "mem", address, before.memory.at(address), bytes);
  }
  return changes;
}

/// Whether bits that may be anything look like a number of single precision.
bool looks_like_float(uint32_t bits) {
  const unsigned exponent = bits >> 23 & 0xFF;
  return exponent > 127 - 34 && exponent < 127 + 34;
}

float brain_value(uint32_t bits) { return std::bit_cast<float>(bits << 16); }

std::vector<uint8_t> lanes_of(uint64_t mask) {
  std::vector<uint8_t> lanes;
  for (; mask != 0; mask &= mask - 1) lanes.push_back(static_cast<uint8_t>(std::countr_zero(mask)));
  return lanes;
}

std::string hexadecimal(uint64_t value, unsigned bits) {
  return bits < 32 ? fmt::format("{}", value) : fmt::format("{:#0{}x}", value, bits / 4 + 2);
}

/// Lanes that are alike, in the order of their first.
std::vector<std::pair<uint64_t, std::vector<uint8_t>>> alike(const RegisterChange& change) {
  std::vector<std::pair<uint64_t, std::vector<uint8_t>>> groups;
  for (const RegisterChange::Lane& lane : change.lanes) {
    const auto same = [&](const auto& group) { return group.first == lane.after; };
    auto found = std::ranges::find_if(groups, same);
    if (found == groups.end()) found = groups.insert(groups.end(), {lane.after, {}});
    found->second.push_back(lane.lane);
  }
  return groups;
}

constexpr std::string_view type_name(DataType type) {
  switch (type) {
    case DataType::b16:
      return "b16";
    case DataType::i16:
      return "i16";
    case DataType::u16:
      return "u16";
    case DataType::f16:
      return "f16";
    case DataType::bf16:
      return "bf16";
    case DataType::i32:
      return "i32";
    case DataType::u32:
      return "u32";
    case DataType::f32:
      return "f32";
    case DataType::b64:
      return "b64";
    case DataType::i64:
      return "i64";
    case DataType::u64:
      return "u64";
    case DataType::f64:
      return "f64";
    case DataType::v2i16:
      return "v2i16";
    case DataType::v2u16:
      return "v2u16";
    case DataType::v2f16:
      return "v2f16";
    case DataType::v2bf16:
      return "v2bf16";
    case DataType::lane_mask:
      return "lane_mask";
    default:
      return "b32";
  }
}

}  // namespace

RegisterTypes::RegisterTypes(std::span<const isa::Instruction> instructions) {
  for (const isa::Instruction& instruction : instructions) {
    const isa::Effects effects = isa::effects_of(instruction);
    for (const uint16_t reg : {scalar::vcc_lo, scalar::exec_lo, scalar::m0}) {
      if (effects.writes.test(reg)) scalars_[reg] = {};
    }
    if (effects.writes.test(isa::scc_number)) scc_ = true;
    for (unsigned i = 0; i < instruction.operand_count; ++i) {
      const bool second_result = instruction.second != isa::Opcode::invalid && i == instruction.second_operands;
      if (i < instruction.destinations || second_result) add(instruction, instruction.operands[i]);
    }
  }
}

void RegisterTypes::add(const isa::Instruction& instruction, const isa::Operand& operand) {
  const bool row = operand.kind == isa::OperandKind::vgpr || operand.kind == isa::OperandKind::agpr;
  if (!row && (operand.kind != isa::OperandKind::scalar || operand.reg >= scalar::null)) return;
  auto& views = row ? vectors_ : scalars_;
  const unsigned first = operand.reg + (operand.kind == isa::OperandKind::agpr ? isa::first_agpr : 0);
  DataType type = operand.type;
  const isa::InstructionRow& of = isa::row_of(instruction);
  if (of.has(isa::flag::matrix) || of.has(isa::flag::wmma)) {
    if (!of.has(isa::flag::memory)) type = matrix_element(of.name);
  }
  if (type == DataType::v2f32) type = DataType::f32;
  const bool pairs = is_pair(type) || (type == DataType::lane_mask && operand.words == 2);
  const bool is_element = pairs || isa::words_of(type) == 1 || type == DataType::lane_mask;
  for (unsigned word = 0; word < operand.words; ++word) {
    const bool begins_pair = pairs && word % 2 == 0 && word + 1 < operand.words;
    // A pair that was in the way is one no more.
    if (first + word > 0) {
      const auto before = views.find(first + word - 1);
      if (before != views.end() && before->second.words == 2) before->second = {};
    }
    views[first + word] = {.type = is_element && (!pairs || begins_pair) ? type : DataType::b32,
                           .words = static_cast<uint8_t>(begins_pair ? 2 : 1)};
    if (begins_pair) views.erase(first + ++word);
  }
}

RegisterTypes::View RegisterTypes::find(const std::map<unsigned, View>& views, unsigned reg) {
  const auto found = views.find(reg);
  return found == views.end() ? View{} : found->second;
}

std::string describe_bits(uint64_t bits, DataType type) {
  const auto word = static_cast<uint32_t>(bits);
  switch (type) {
    case DataType::none:
      return "";
    case DataType::f32:
      return fmt::format("f32 {}", std::bit_cast<float>(word));
    case DataType::f64:
      return fmt::format("f64 {}", std::bit_cast<double>(bits));
    case DataType::i32:
      return fmt::format("i32 {}", static_cast<int32_t>(word));
    case DataType::u32:
      return fmt::format("u32 {}", word);
    case DataType::i64:
      return fmt::format("i64 {}", static_cast<int64_t>(bits));
    case DataType::u64:
    case DataType::b64:
      return fmt::format("u64 {}", bits);
    case DataType::f16:
      if (word >> 16 == 0) return fmt::format("f16 {}", half_value(word));
      [[fallthrough]];
    case DataType::v2f16:
      return fmt::format("f16 {}, {}", half_value(word), half_value(word >> 16));
    case DataType::bf16:
      if (word >> 16 == 0) return fmt::format("bf16 {}", brain_value(word));
      [[fallthrough]];
    case DataType::v2bf16:
      return fmt::format("bf16 {}, {}", brain_value(word), brain_value(word >> 16));
    case DataType::i16:
      if (word >> 16 == 0) return fmt::format("i16 {}", static_cast<int16_t>(word));
      [[fallthrough]];
    case DataType::v2i16:
      return fmt::format("i16 {}, {}", static_cast<int16_t>(word), static_cast<int16_t>(word >> 16));
    case DataType::u16:
      if (word >> 16 == 0) return fmt::format("u16 {}", word);
      [[fallthrough]];
    case DataType::v2u16:
      return fmt::format("u16 {}, {}", word & 0xFFFF, word >> 16);
    case DataType::b16:
      return fmt::format("u16 {}, {}  f16 {}, {}", word & 0xFFFF, word >> 16, half_value(word), half_value(word >> 16));
    case DataType::lane_mask:
      return bits == 0 ? "no lane" : fmt::format("lanes {}", lane_ranges(lanes_of(bits)));
    default:
      break;
  }
  std::string text = fmt::format("u32 {}", word);
  if (static_cast<int32_t>(word) < 0) text += fmt::format("  i32 {}", static_cast<int32_t>(word));
  if (looks_like_float(word)) text += fmt::format("  f32 {}", std::bit_cast<float>(word));
  return text;
}

std::vector<std::string> changes_as_text(const WaveSnapshot& before, const WaveSnapshot& after,
                                         const RegisterTypes& types, unsigned wave_size, bool completed) {
  const Changes changes = find_changes(before, after, types, wave_size);
  std::vector<std::string> lines;
  for (const RegisterChange& change : changes.registers) {
    for (const auto& [value, lanes] : alike(change)) {
      const std::string name = change.per_lane ? fmt::format("{}[{}]", change.name, lane_ranges(lanes)) : change.name;
      std::string line = fmt::format("{} = {}", name, hexadecimal(value, change.bits));
      if (const std::string meaning = describe_bits(value, change.type); !meaning.empty()) line += "  " + meaning;
      lines.push_back(std::move(line));
    }
  }
  constexpr size_t dwords_in_line = 4;
  for (const MemoryChange& change : changes.memory) {
    for (size_t first = 0; first < change.dwords.size(); first += dwords_in_line) {
      const std::span dwords =
          std::span(change.dwords).subspan(first, std::min(dwords_in_line, change.dwords.size() - first));
      std::string line = fmt::format("{}[{:#x}] =", change.name, change.address + first * 4);
      for (const uint32_t dword : dwords) line += fmt::format(" {:#010x}", dword);
      const bool floats =
          std::ranges::all_of(dwords, [](uint32_t dword) { return dword == 0 || looks_like_float(dword); }) &&
          std::ranges::any_of(dwords, looks_like_float);
      line += floats ? "  f32" : "  u32";
      for (const uint32_t dword : dwords) {
        line += floats ? fmt::format(" {}", std::bit_cast<float>(dword)) : fmt::format(" {}", dword);
      }
      lines.push_back(std::move(line));
    }
  }
  if (completed && !changes.unchanged.empty())
    lines.push_back(fmt::format("unchanged: {}", fmt::join(changes.unchanged, ", ")));
  return lines;
}

nlohmann::ordered_json changes_as_json(const WaveSnapshot& before, const WaveSnapshot& after,
                                       const RegisterTypes& types, unsigned wave_size) {
  const Changes changes = find_changes(before, after, types, wave_size);
  auto registers = nlohmann::ordered_json::array(), memory = nlohmann::ordered_json::array();
  for (const RegisterChange& change : changes.registers) {
    nlohmann::ordered_json one{{"name", change.name}, {"type", type_name(change.type)}, {"bits", change.bits}};
    if (change.per_lane) {
      auto& lanes = one["lanes"] = nlohmann::ordered_json::object();
      for (const RegisterChange::Lane& lane : change.lanes) {
        lanes[fmt::format("{}", lane.lane)] = {{"before", fmt::format("{:#x}", lane.before)},
                                               {"after", fmt::format("{:#x}", lane.after)}};
      }
    } else {
      one["before"] = fmt::format("{:#x}", change.lanes[0].before);
      one["after"] = fmt::format("{:#x}", change.lanes[0].after);
    }
    registers.push_back(std::move(one));
  }
  for (const MemoryChange& change : changes.memory) {
    auto dwords = nlohmann::ordered_json::array();
    for (const uint32_t dword : change.dwords) dwords.push_back(dword);
    memory.push_back({{"memory", change.name}, {"address", fmt::format("{:#x}", change.address)}, {"dwords", dwords}});
  }
  return {{"registers", registers}, {"memory", memory}};
}

void add_changes(Evaluation& evaluation, const WaveSnapshot& before, const WaveSnapshot& after,
                 const RegisterTypes& types, unsigned wave_size) {
  Changes changes = find_changes(before, after, types, wave_size);
  for (const RegisterChange& change : changes.registers) {
    Atoll::RegisterChange one{.name = change.name,
                              .type = std::string(type_name(change.type)),
                              .bits = change.bits,
                              .per_lane = change.per_lane,
                              .lanes = {}};
    for (const RegisterChange::Lane& lane : change.lanes) one.lanes.push_back({lane.lane, lane.before, lane.after});
    evaluation.registers.push_back(std::move(one));
  }
  for (MemoryChange& change : changes.memory)
    evaluation.memory.push_back(
        {.memory = std::string(change.name), .address = change.address, .dwords = std::move(change.dwords)});
  evaluation.unchanged = std::move(changes.unchanged);
}

}  // namespace Atoll::library

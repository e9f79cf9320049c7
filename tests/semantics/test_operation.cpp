// Rows of the instruction table that share an operation and types compute the same: each row's function is executed on
// edge values and random ones, and the results compared. The test prints how many rows share each operation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "isa/element_type.h"
#include "isa/table.h"
#include "semantics/registry.h"
#include "semantics/scalar/scalar_float.h"

namespace Atoll::semantics::test {
namespace {

using isa::DataType;
using isa::Element;
using isa::Encoding;
using isa::Field;
using isa::InstructionRow;
using isa::Opcode;
using isa::Operation;

constexpr unsigned lanes = wave_lanes;
using Sources = std::array<std::array<uint64_t, lanes>, 3>;

std::vector<Opcode> all_opcodes() {
  std::vector<Opcode> opcodes;
  for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) opcodes.push_back(static_cast<Opcode>(i));
  return opcodes;
}

std::string_view name_of(Opcode opcode) { return isa::row(opcode).name; }

/// The element types of the sources, in the order of the text; lane masks left out.
std::vector<Element> source_types(const InstructionRow& row) {
  std::vector<Element> types;
  for (const isa::OperandSpec& operand : row.operands) {
    if (operand.field == Field::none || operand.type == DataType::lane_mask) continue;
    if (!isa::writes(row, operand.field, true)) types.push_back(isa::element_of(operand.type));
  }
  if (row.has(isa::flag::reads_dst)) types.push_back(isa::element_of(row.operands[0].type));
  return types;
}

/// What must be equal for two rows to compute the same: operation, parameters, and types in the operation's order.
std::string key_of(const InstructionRow& row, const VectorShape* shape) {
  const isa::Computation& c = row.computes;
  std::vector<Element> types = source_types(row);
  if (c.order == isa::Order::reversed && types.size() > 1) std::swap(types[0], types[1]);
  std::string key = fmt::format("{} {} from {} {} predicate {} part {} rounding {} number {} elements {} d {}",
                                isa::name_of(c.operation), isa::name_of(isa::element_type(row)), isa::name_of(c.from),
                                isa::name_of(c.from2), static_cast<int>(c.predicate), static_cast<int>(c.part),
                                static_cast<int>(c.rounding), c.number, c.elements,
                                isa::name_of(isa::element_of(row.operands[0].type)));
  for (const Element type : types) key += fmt::format(" {}", isa::name_of(type));
  if (shape != nullptr && shape->writes_one_byte) key += " one byte";
  return key;
}

struct Results {
  std::array<uint64_t, lanes> value{};
  uint64_t mask = 0;
};

constexpr uint64_t low_bits(uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

/// One row over a wave. Packed sources have their values in both halves; the low half of the result is taken.
std::optional<Results> execute_vector(Opcode opcode, target::Generation generation, const Sources& sources,
                                      uint64_t mask) {
  const InstructionRow& row = isa::row_on(opcode, generation);
  const VectorShape& shape = vector_function(opcode, generation);
  if (shape.call == nullptr || shape.sources > 3 || shape.mixed_sources || shape.destinations > 1) return std::nullopt;
  const bool reversed = row.computes.order == isa::Order::reversed;
  const bool is_packed = isa::is_packed(row.operands[0].type);
  alignas(64) static Row src[3][4], dst[4];
  VectorCall call{};
  call.exec = ~uint64_t{0};
  const std::vector<Element> types = source_types(row);
  const auto widened = [&](uint64_t value, unsigned source) {
    const unsigned bits = source < types.size() ? isa::bits_of(types[source]) : 32;
    value = low_bits(value, bits);
    return is_packed && bits < 64 ? value | value << bits : value;
  };
  for (unsigned i = 0; i < shape.sources; ++i) {
    const unsigned from = reversed && i < 2 ? 1 - i : i;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const uint64_t value = widened(sources[from][lane], i);
      src[i][0][lane] = static_cast<uint32_t>(value);
      src[i][1][lane] = static_cast<uint32_t>(value >> 32);
    }
    call.src[i] = src[i];
  }
  for (auto& row_of_zeros : dst) std::ranges::fill(row_of_zeros, 0u);
  for (unsigned lane = 0; shape.reads_dst && shape.sources < 3 && lane < lanes; ++lane) {
    const uint64_t old = widened(sources[shape.sources][lane], shape.sources);
    dst[0][lane] = static_cast<uint32_t>(old);
    dst[1][lane] = static_cast<uint32_t>(old >> 32);
  }
  call.dst[0] = dst;
  call.mask_in = mask;
  shape.call(call);
  Results results;
  const unsigned bits = isa::bits_of(isa::element_of(row.operands[0].type));
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (shape.destinations != 0) results.value[lane] = low_bits(dst[0][lane] | uint64_t{dst[1][lane]} << 32, bits);
  }
  if (row.computes.operation == Operation::compare) results.mask = call.mask_out;
  return results;
}

std::optional<Results> execute_scalar(Opcode opcode, const Sources& sources, uint64_t mask) {
  const InstructionRow& row = isa::row(opcode);
  const ScalarFunction function = scalar_function(opcode);
  const bool is_plain =
      row.encoding == Encoding::sop2 || row.encoding == Encoding::sop1 || row.encoding == Encoding::sopc;
  if (function == nullptr || !is_plain || row.computes.exec != isa::ExecUse::no_exec) return std::nullopt;
  if (row.has(isa::flag::reads_dst)) return std::nullopt;
  const bool reversed = row.computes.order == isa::Order::reversed;
  const std::vector<Element> types = source_types(row);
  Results results;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    ScalarCall call{};
    for (unsigned i = 0; i < types.size(); ++i) {
      call.src[i] = low_bits(sources[reversed && i < 2 ? 1 - i : i][lane], std::min(isa::bits_of(types[i]), 64u));
    }
    call.scc = (mask >> lane & 1) != 0;
    function(call);
    if (row.encoding == Encoding::sopc) {
      results.mask |= uint64_t{call.scc} << lane;
    } else {
      results.value[lane] = low_bits(call.dst, isa::bits_of(isa::element_of(row.operands[0].type)));
    }
  }
  return results;
}

/// Edge values of all formats, small numbers, and random bits.
uint64_t number(std::mt19937_64& random) {
  static constexpr uint64_t edges[] = {0,
                                       1,
                                       2,
                                       31,
                                       63,
                                       0x7F,
                                       0x80,
                                       0x7FFF,
                                       0x8000,
                                       0xFFFF,
                                       0x3C00,
                                       0x7C00,
                                       0x3F80'0000,
                                       0x7F80'0000,
                                       0x7FC0'0000,
                                       0x0000'0001'0000'0001,
                                       0x7FFF'FFFF,
                                       0x8000'0000,
                                       0xFFFF'FFFF,
                                       0x3FF0'0000'0000'0000,
                                       0x7FF0'0000'0000'0000,
                                       0x8000'0000'0000'0000,
                                       ~uint64_t{0}};
  switch (random() % 4) {
    case 0:
      return edges[random() % std::size(edges)];
    case 1:
      return random() % 64;
    default:
      return random();
  }
}

constexpr target::Generation generations[] = {
    target::Generation::gfx6,   target::Generation::gfx8,   target::Generation::gfx9,
    target::Generation::gfx90a, target::Generation::gfx950, target::Generation::gfx10_3,
    target::Generation::gfx11,  target::Generation::gfx12,  target::Generation::gfx12_5};

/// gfx950's v_dot2_f32_bf16 adds the accumulator last, its v_dot2c_f32_bf16 first (CDNA4 ISA guide, pseudo-code).
bool adds_in_another_order(Opcode opcode, target::Generation generation) {
  return opcode == Opcode::v_dot2_f32_bf16 && generation == target::Generation::gfx950;
}

TEST(Operations, RowsThatShareOneComputeTheSame) {
  std::set<std::string> compared;
  size_t rows = 0;
  for (const target::Generation generation : generations) {
    struct Member {
      Opcode opcode;
      bool is_scalar;
    };
    std::map<std::string, std::vector<Member>> groups;
    for (const Opcode opcode : all_opcodes()) {
      const InstructionRow& row = isa::row_on(opcode, generation);
      if (adds_in_another_order(opcode, generation) || row.has(isa::flag::memory) ||
          row.opcodes.on(generation).opcode == isa::Opcodes::none)
        continue;
      const VectorShape& shape = vector_function(opcode, generation);
      if (shape.call != nullptr) {
        groups[key_of(row, &shape)].push_back({opcode, false});
      } else if (scalar_function(opcode) != nullptr) {
        groups[key_of(row, nullptr)].push_back({opcode, true});
      }
    }
    for (const auto& [key, members] : groups) {
      if (members.size() < 2) continue;
      std::mt19937_64 random(17);
      for (int turn = 0; turn < 40; ++turn) {
        Sources sources;
        for (auto& source : sources) std::ranges::generate(source, [&] { return number(random); });
        const uint64_t mask = random();
        std::optional<Results> first;
        Opcode first_opcode{};
        for (const Member& member : members) {
          const auto results = member.is_scalar ? execute_scalar(member.opcode, sources, mask)
                                                : execute_vector(member.opcode, generation, sources, mask);
          if (!results) continue;
          if (!first) {
            first = results;
            first_opcode = member.opcode;
            continue;
          }
          if (turn == 0) ++rows;
          compared.insert(key);
          for (unsigned lane = 0; lane < lanes; ++lane) {
            EXPECT_EQ(first->value[lane], results->value[lane])
                << name_of(first_opcode) << " and " << name_of(member.opcode) << " of " << key << ", generation "
                << static_cast<int>(generation)
                << fmt::format(": {:x} {:x} {:x}", sources[0][lane], sources[1][lane], sources[2][lane]);
          }
          ASSERT_EQ(first->mask, results->mask) << name_of(first_opcode) << " and " << name_of(member.opcode);
        }
      }
    }
  }
  std::printf("%zu operations with types, %zu pairs of rows compared\n", compared.size(), rows);
  EXPECT_GT(compared.size(), 40u);
}

TEST(Operations, EachRowHasOne) {
  std::map<std::string_view, unsigned> shares;
  for (const Opcode opcode : all_opcodes()) {
    const isa::Computation& computes = isa::row(opcode).computes;
    EXPECT_NE(computes.operation, Operation::none) << name_of(opcode);
    ++shares[isa::name_of(computes.operation)];
  }
  for (unsigned i = 1; i < static_cast<unsigned>(Operation::count); ++i) {
    EXPECT_TRUE(shares.contains(isa::name_of(static_cast<Operation>(i)))) << "no row has " << i;
  }
  std::vector<std::pair<unsigned, std::string_view>> sorted;
  for (const auto& [name, count] : shares) sorted.emplace_back(count, name);
  std::ranges::sort(sorted, std::greater{});
  for (const auto& [count, name] : sorted) std::printf("%5u %.*s\n", count, static_cast<int>(name.size()), name.data());
}

// Scalar floating-point instructions are executed as one lane of a vector instruction.
TEST(Operations, ScalarFloatsHaveThoseOfTheirLanes) {
  for (const Opcode opcode : all_opcodes()) {
    const Opcode lane = lane_equivalent(opcode);
    if (lane == Opcode::invalid) continue;
    EXPECT_EQ(isa::row(opcode).computes.operation, isa::row(lane).computes.operation) << name_of(opcode);
    EXPECT_EQ(isa::row(opcode).computes.predicate, isa::row(lane).computes.predicate) << name_of(opcode);
  }
}

}  // namespace
}  // namespace Atoll::semantics::test

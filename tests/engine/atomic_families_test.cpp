// Every atomic of LDS, of FLAT, GLOBAL and buffer instructions and of the scalar unit, on each generation that has it:
// with and without result, with some lanes switched off, on words that lanes share and that they do not. What is
// expected is computed here, lane after lane, by what the ISA guides' pseudo-code of each operation says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using test::Machine;
using test::registers;
using test::WaveRunner;

int64_t as_signed(uint64_t value, unsigned bits) { return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits); }
uint64_t all_of(unsigned bits) { return ~uint64_t{0} >> (64 - bits); }
double as_double(uint64_t value, unsigned bits) {
  return bits == 32 ? std::bit_cast<float>(static_cast<uint32_t>(value)) : std::bit_cast<double>(value);
}

/// Values in memory and registers: integers near each other and near the limits, or floats.
enum class Numbers : uint8_t { whole, floats, halves, brains };

uint64_t number(Numbers numbers, unsigned i, unsigned salt, unsigned bits) {
  const unsigned choice = (i * 5 + salt * 3) % 11;
  switch (numbers) {
    case Numbers::whole: {
      constexpr uint64_t edges[] = {0x8000'0000'8000'0000, 0x7FFF'FFFF'7FFF'FFFF, 0, 1, 2, 3, 0xFFFF'FFFF'FFFF'FFFF};
      const uint64_t word = choice < 7 ? edges[choice] : (i * 2654435761u + salt) % 11;
      return word & all_of(bits);
    }
    case Numbers::floats: {
      constexpr double values[] = {1.5,   -2.25, 3.14159274101257324, 1e10, -1e10, 0.0009765625, 1048576, -7,
                                   65504, 0.25,  -3.4028e+37};
      return bits == 32 ? std::bit_cast<uint32_t>(static_cast<float>(values[choice]))
                        : std::bit_cast<uint64_t>(values[choice] * 1.0000001);
    }
    case Numbers::halves: {
      constexpr uint16_t halves[] = {0x3C00, 0xC123, 0x4455, 0x7BFF, 0xB801, 0x2E66,
                                     0x5640, 0xC500, 0x3555, 0x6400, 0xEC01};
      return halves[choice] | uint64_t{halves[(choice + salt + 4) % 11]} << 16;
    }
    case Numbers::brains: {
      constexpr uint16_t brains[] = {0x3F80, 0xC012, 0x4149, 0x4479, 0xBF01, 0x3E33,
                                     0x42C8, 0xC2A5, 0x4B7F, 0x3DCC, 0x7E80};
      return brains[choice] | uint64_t{brains[(choice + salt + 4) % 11]} << 16;
    }
  }
  return 0;
}

/// `a` and `b` are the operands in the order of the registers.
using Apply = uint64_t (*)(uint64_t old, uint64_t a, uint64_t b, unsigned bits);

uint64_t sum_of_floats(uint64_t old, uint64_t a, uint64_t, unsigned bits) {
  if (bits == 64) return std::bit_cast<uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(a));
  return std::bit_cast<uint32_t>(static_cast<float>(as_double(old, 32)) + static_cast<float>(as_double(a, 32)));
}
uint16_t sum_of_halves(uint64_t a, uint64_t b) {
  const auto x = std::bit_cast<_Float16>(static_cast<uint16_t>(a)),
             y = std::bit_cast<_Float16>(static_cast<uint16_t>(b));
  return std::bit_cast<uint16_t>(static_cast<_Float16>(x + y));
}
uint16_t sum_of_brains(uint64_t a, uint64_t b) {
  const double sum = as_double((a & 0xFFFF) << 16, 32) + as_double((b & 0xFFFF) << 16, 32);
  const uint32_t word = std::bit_cast<uint32_t>(static_cast<float>(sum));  // exact: the numbers are near each other
  return static_cast<uint16_t>((word + 0x7FFF + (word >> 16 & 1)) >> 16);
}

constexpr Apply add = [](uint64_t old, uint64_t a, uint64_t, unsigned) { return old + a; };
constexpr Apply sub = [](uint64_t old, uint64_t a, uint64_t, unsigned) { return old - a; };
constexpr Apply rsub = [](uint64_t old, uint64_t a, uint64_t, unsigned) { return a - old; };
constexpr Apply inc = [](uint64_t old, uint64_t a, uint64_t, unsigned) { return old >= a ? 0 : old + 1; };
constexpr Apply dec = [](uint64_t old, uint64_t a, uint64_t, unsigned) { return old == 0 || old > a ? a : old - 1; };
constexpr Apply smin = [](uint64_t old, uint64_t a, uint64_t, unsigned bits) {
  return as_signed(a, bits) < as_signed(old, bits) ? a : old;
};
constexpr Apply smax = [](uint64_t old, uint64_t a, uint64_t, unsigned bits) {
  return as_signed(a, bits) > as_signed(old, bits) ? a : old;
};
constexpr Apply umin = [](uint64_t old, uint64_t a, uint64_t, unsigned) { return std::min(old, a); };
constexpr Apply umax = [](uint64_t old, uint64_t a, uint64_t, unsigned) { return std::max(old, a); };
constexpr Apply and_bits = [](uint64_t old, uint64_t a, uint64_t, unsigned) { return old & a; };
constexpr Apply or_bits = [](uint64_t old, uint64_t a, uint64_t, unsigned) { return old | a; };
constexpr Apply xor_bits = [](uint64_t old, uint64_t a, uint64_t, unsigned) { return old ^ a; };
constexpr Apply swap = [](uint64_t, uint64_t a, uint64_t, unsigned) { return a; };
constexpr Apply masked_or = [](uint64_t old, uint64_t a, uint64_t b, unsigned) { return (old & ~a) | b; };
constexpr Apply stored_if_second = [](uint64_t old, uint64_t a, uint64_t b, unsigned) { return old == b ? a : old; };
constexpr Apply stored_if_first = [](uint64_t old, uint64_t a, uint64_t b, unsigned) { return old == a ? b : old; };
constexpr Apply float_if_second = [](uint64_t old, uint64_t a, uint64_t b, unsigned bits) {
  return as_double(old, bits) == as_double(b, bits) ? a : old;
};
constexpr Apply float_if_first = [](uint64_t old, uint64_t a, uint64_t b, unsigned bits) {
  return as_double(old, bits) == as_double(a, bits) ? b : old;
};
constexpr Apply fmin = [](uint64_t old, uint64_t a, uint64_t, unsigned bits) {
  return as_double(a, bits) < as_double(old, bits) ? a : old;
};
constexpr Apply fmax = [](uint64_t old, uint64_t a, uint64_t, unsigned bits) {
  return as_double(a, bits) > as_double(old, bits) ? a : old;
};
constexpr Apply sub_clamp = [](uint64_t old, uint64_t a, uint64_t, unsigned) { return old < a ? 0 : old - a; };
constexpr Apply cond_sub = [](uint64_t old, uint64_t a, uint64_t, unsigned) { return old >= a ? old - a : old; };
constexpr Apply wrap = [](uint64_t old, uint64_t a, uint64_t b, unsigned) { return old >= a ? old - a : old + b; };
constexpr Apply two_halves = [](uint64_t old, uint64_t a, uint64_t, unsigned) {
  return sum_of_halves(old, a) | uint64_t{sum_of_halves(old >> 16, a >> 16)} << 16;
};
constexpr Apply two_brains = [](uint64_t old, uint64_t a, uint64_t, unsigned) {
  return sum_of_brains(old, a) | uint64_t{sum_of_brains(old >> 16, a >> 16)} << 16;
};

struct Operation {
  std::string_view name;  ///< the row's, without what says where the word is and whether there is a result
  unsigned bits;
  Apply apply;
  unsigned operands = 1;
  Numbers numbers = Numbers::whole;
};

/// FLAT, GLOBAL, buffer and scalar instructions: flat_atomic_NAME ...
constexpr Operation on_memory[] = {
    {"swap", 32, swap},
    {"swap_x2", 64, swap},
    {"cmpswap", 32, stored_if_second, 2},
    {"cmpswap_x2", 64, stored_if_second, 2},
    {"add", 32, add},
    {"add_x2", 64, add},
    {"sub", 32, sub},
    {"sub_x2", 64, sub},
    {"smin", 32, smin},
    {"smin_x2", 64, smin},
    {"umin", 32, umin},
    {"umin_x2", 64, umin},
    {"smax", 32, smax},
    {"smax_x2", 64, smax},
    {"umax", 32, umax},
    {"umax_x2", 64, umax},
    {"and", 32, and_bits},
    {"and_x2", 64, and_bits},
    {"or", 32, or_bits},
    {"or_x2", 64, or_bits},
    {"xor", 32, xor_bits},
    {"xor_x2", 64, xor_bits},
    {"inc", 32, inc},
    {"inc_x2", 64, inc},
    {"dec", 32, dec},
    {"dec_x2", 64, dec},
};
/// Atomics that the scalar unit lacks.
constexpr Operation on_memory_by_lanes[] = {
    {"fcmpswap", 32, float_if_second, 2, Numbers::floats},
    {"fcmpswap_x2", 64, float_if_second, 2, Numbers::floats},
    {"fmin", 32, fmin, 1, Numbers::floats},
    {"fmin_x2", 64, fmin, 1, Numbers::floats},
    {"fmax", 32, fmax, 1, Numbers::floats},
    {"fmax_x2", 64, fmax, 1, Numbers::floats},
    {"add_f32", 32, sum_of_floats, 1, Numbers::floats},
    {"add_f64", 64, sum_of_floats, 1, Numbers::floats},
    {"min_f64", 64, fmin, 1, Numbers::floats},
    {"max_f64", 64, fmax, 1, Numbers::floats},
    {"pk_add_f16", 32, two_halves, 1, Numbers::halves},
    {"pk_add_bf16", 32, two_brains, 1, Numbers::brains},
    {"csub", 32, sub_clamp},
    {"sub_clamp_u32", 32, sub_clamp},
    {"cond_sub_u32", 32, cond_sub},
};

/// LDS atomics: ds_NAME, with "_rtn" before the type.
constexpr Operation on_lds[] = {
    {"add_u32", 32, add},
    {"add_u64", 64, add},
    {"sub_u32", 32, sub},
    {"sub_u64", 64, sub},
    {"rsub_u32", 32, rsub},
    {"rsub_u64", 64, rsub},
    {"inc_u32", 32, inc},
    {"inc_u64", 64, inc},
    {"dec_u32", 32, dec},
    {"dec_u64", 64, dec},
    {"min_i32", 32, smin},
    {"min_i64", 64, smin},
    {"max_i32", 32, smax},
    {"max_i64", 64, smax},
    {"min_u32", 32, umin},
    {"min_u64", 64, umin},
    {"max_u32", 32, umax},
    {"max_u64", 64, umax},
    {"and_b32", 32, and_bits},
    {"and_b64", 64, and_bits},
    {"or_b32", 32, or_bits},
    {"or_b64", 64, or_bits},
    {"xor_b32", 32, xor_bits},
    {"xor_b64", 64, xor_bits},
    {"mskor_b32", 32, masked_or, 2},
    {"mskor_b64", 64, masked_or, 2},
    {"wrxchg_b32", 32, swap},
    {"wrxchg_b64", 64, swap},
    {"cmpst_b32", 32, stored_if_first, 2},
    {"cmpst_b64", 64, stored_if_first, 2},
    {"cmpst_f32", 32, float_if_first, 2, Numbers::floats},
    {"cmpst_f64", 64, float_if_first, 2, Numbers::floats},
    {"cmpstore_b32", 32, stored_if_second, 2},
    {"cmpstore_b64", 64, stored_if_second, 2},
    {"cmpstore_f32", 32, float_if_second, 2, Numbers::floats},
    {"cmpstore_f64", 64, float_if_second, 2, Numbers::floats},
    {"min_f32", 32, fmin, 1, Numbers::floats},
    {"min_f64", 64, fmin, 1, Numbers::floats},
    {"max_f32", 32, fmax, 1, Numbers::floats},
    {"max_f64", 64, fmax, 1, Numbers::floats},
    {"add_f32", 32, sum_of_floats, 1, Numbers::floats},
    {"add_f64", 64, sum_of_floats, 1, Numbers::floats},
    {"pk_add_f16", 32, two_halves, 1, Numbers::halves},
    {"pk_add_bf16", 32, two_brains, 1, Numbers::brains},
    {"wrap_b32", 32, wrap, 2},
    {"cond_sub_u32", 32, cond_sub},
    {"sub_clamp_u32", 32, sub_clamp},
};

// A program has several atomics, each on a place of its own of the memory and with registers of its own. v1 says which
// word of its place is a lane's.
constexpr unsigned slots = 8, words_of_slot = 64, bytes_of_slot = words_of_slot * 8;
constexpr unsigned data_of(unsigned slot) { return 10 + slot * 8; }        ///< first operand
constexpr unsigned second_of(unsigned slot) { return data_of(slot) + 4; }  ///< second one, of DS
constexpr unsigned address_of(unsigned slot) { return 100 + slot * 2; }    ///< of FLAT
constexpr unsigned result_of(unsigned slot) { return 120 + slot * 4; }
constexpr unsigned base_of(unsigned slot) { return 16 + slot * 2; }  ///< SGPRs: of GLOBAL
constexpr unsigned offset_of(unsigned slot) { return 40 + slot; }    ///< of buffers
static_assert(slots * bytes_of_slot <= WaveRunner::lds_bytes);

unsigned word_of(unsigned lane) { return lane % 4 == 3 ? 3 : 63 - lane; }

struct Atomic {
  const Operation* operation;
  bool returns;
  unsigned result;  ///< register, if there is one
  unsigned second;  ///< register
};

/// Programs that consist of a sequence of atomics.
struct Programs {
  std::vector<std::string> sources;
  std::vector<std::vector<Atomic>> atomics;

  unsigned next_slot() {
    if (atomics.empty() || atomics.back().size() == slots) {
      atomics.emplace_back();
      sources.emplace_back();
    }
    return static_cast<unsigned>(atomics.back().size());
  }
  void add(const Atomic& atomic, const std::string& text) {
    atomics.back().push_back(atomic);
    sources.back() += text + "\n";
  }
};

constexpr uint64_t lanes_on = 0xF7FF'FFFE'DFFF'7FF9;
constexpr uint64_t nothing = 0x1234'5678'9ABC'DEF0;

/// `memory`: LDS, or nothing for memory of its own.
void run(const Machine& machine, const Programs& programs, bool in_lds) {
  const target::Processor& processor = *target::find_processor(machine.processor);
  const auto codes = test::assemble_programs(programs.sources, processor, machine.wave_size);
  for (size_t p = 0; p < codes.size(); ++p) {
    SCOPED_TRACE(programs.sources[p]);
    WaveRunner runner(machine.processor, "", machine.wave_size);
    const uint64_t exec = machine.wave_size == 32 ? lanes_on & 0xFFFF'FFFF : lanes_on;
    runner.wave().set_exec(exec);
    std::vector<uint64_t> own(slots * words_of_slot);
    uint8_t* memory = in_lds ? runner.lds() : reinterpret_cast<uint8_t*>(own.data());
    const auto set = [&](unsigned reg, unsigned lane, uint64_t value) {
      runner.v(reg)[lane] = static_cast<uint32_t>(value);
      runner.v(reg + 1)[lane] = static_cast<uint32_t>(value >> 32);
    };
    test::set_buffer(runner, 4, memory, slots * bytes_of_slot);
    for (unsigned slot = 0; slot < slots; ++slot) {
      runner.set_pair(base_of(slot), memory + slot * bytes_of_slot);
      runner.s(offset_of(slot)) = slot * bytes_of_slot;
    }
    const std::vector<Atomic>& atomics = programs.atomics[p];
    for (unsigned slot = 0; slot < atomics.size(); ++slot) {
      const Operation& operation = *atomics[slot].operation;
      for (unsigned i = 0; i < words_of_slot; ++i) {
        const uint64_t value = number(operation.numbers, i, slot, operation.bits);
        std::memcpy(memory + slot * bytes_of_slot + i * 8, &value, 8);
      }
      for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
        runner.v(1)[lane] = word_of(lane) * 8;
        set(address_of(slot), lane, reinterpret_cast<uint64_t>(memory + slot * bytes_of_slot + word_of(lane) * 8));
        set(result_of(slot), lane, nothing);
        set(data_of(slot), lane, number(operation.numbers, lane, slot + 4, operation.bits));
        // Every other time the word that is there, which comparisons are about.
        const unsigned i = lane % 2 == 0 ? word_of(lane) : lane;
        set(atomics[slot].second, lane, number(operation.numbers, i, lane % 2 == 0 ? slot : slot + 1, operation.bits));
        // ds_cmpst compares with the first operand.
        if (operation.apply == stored_if_first || operation.apply == float_if_first) {
          set(data_of(slot), lane, number(operation.numbers, i, lane % 2 == 0 ? slot : slot + 1, operation.bits));
          set(atomics[slot].second, lane, number(operation.numbers, lane, slot + 4, operation.bits));
        }
      }
    }

    std::vector<uint8_t> expected(memory, memory + slots * bytes_of_slot);
    std::vector<std::vector<uint64_t>> results(slots, std::vector<uint64_t>(64));
    for (unsigned slot = 0; slot < atomics.size(); ++slot) {
      const Operation& operation = *atomics[slot].operation;
      const uint64_t all = all_of(operation.bits);
      for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
        const uint64_t before = runner.v64(atomics[slot].result, lane);
        results[slot][lane] = before;
        if ((exec >> lane & 1) == 0) continue;
        uint8_t* place = expected.data() + slot * bytes_of_slot + word_of(lane) * 8;
        uint64_t old = 0;
        std::memcpy(&old, place, operation.bits / 8);
        const uint64_t a = runner.v64(data_of(slot), lane) & all, b = runner.v64(atomics[slot].second, lane) & all;
        const uint64_t updated = operation.apply(old, a, b, operation.bits);
        std::memcpy(place, &updated, operation.bits / 8);
        if (atomics[slot].returns) results[slot][lane] = old | (before & ~all);
      }
    }
    ASSERT_EQ(runner.run_instructions(codes[p]), WaveState::ended);
    for (unsigned slot = 0; slot < atomics.size(); ++slot) {
      for (unsigned i = 0; i < words_of_slot; ++i) {
        uint64_t got, wanted;
        std::memcpy(&got, memory + slot * bytes_of_slot + i * 8, 8);
        std::memcpy(&wanted, expected.data() + slot * bytes_of_slot + i * 8, 8);
        ASSERT_EQ(got, wanted) << atomics[slot].operation->name << " of slot " << slot << ", word " << i;
      }
      for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
        ASSERT_EQ(runner.v64(atomics[slot].result, lane), results[slot][lane])
            << "result of " << atomics[slot].operation->name << " of slot " << slot << ", lane " << lane;
      }
    }
  }
}

class AtomicFamilies : public testing::TestWithParam<Machine> {
 protected:
  const target::Processor& processor = *target::find_processor(GetParam().processor);
};

TEST_P(AtomicFamilies, OfLds) {
  Programs programs;
  for (const Operation& operation : on_lds) {
    for (const bool returns : {false, true}) {
      // The exchange and ds_wrap return always.
      if (!returns && (operation.name.starts_with("wrxchg") || operation.name.starts_with("wrap"))) continue;
      const size_t type = operation.name.rfind('_');
      const std::string row =
          fmt::format("ds_{}{}{}", operation.name.substr(0, type), returns ? "_rtn" : "", operation.name.substr(type));
      const std::string name = test::name_on(processor, row);
      if (name.empty()) continue;
      const unsigned slot = programs.next_slot(), words = operation.bits / 32;
      std::string text = name + " ";
      if (returns) text += registers('v', result_of(slot), words) + ", ";
      text += "v1, " + registers('v', data_of(slot), words);
      if (operation.operands == 2) text += ", " + registers('v', second_of(slot), words);
      programs.add({&operation, returns, result_of(slot), second_of(slot)},
                   text + fmt::format(" offset:{}", slot * bytes_of_slot));
    }
  }
  run(GetParam(), programs, true);
}

TEST_P(AtomicFamilies, OfMemory) {
  Programs programs;
  for (const std::string_view family : {"flat", "global", "buffer"}) {
    std::vector<Operation> operations(std::begin(on_memory), std::end(on_memory));
    operations.insert(operations.end(), std::begin(on_memory_by_lanes), std::end(on_memory_by_lanes));
    for (const Operation& operation : operations) {
      const bool clamps = operation.name == "csub" || operation.name == "sub_clamp_u32";
      if (clamps && (operation.name == "csub") == (family == "flat")) continue;  // each has one of the names
      if (family == "flat" && operation.name == "csub") continue;
      const std::string name = test::name_on(processor, fmt::format("{}_atomic_{}", family, operation.name));
      if (name.empty()) continue;
      const bool fadd = operation.name == "add_f32" || operation.name == "pk_add_f16";
      for (const bool returns : {false, true}) {
        if (returns && fadd && !processor.has(target::Feature::atomic_fadd_rtn_insts)) continue;
        if (!returns && clamps && processor.generation < target::Generation::gfx12) continue;  // never without
        const unsigned slot = programs.next_slot(), words = operation.bits / 32;
        const std::string data = registers('v', data_of(slot), words * operation.operands);
        const unsigned result = family == "buffer" ? data_of(slot) : result_of(slot);
        std::string text = name + " ";
        if (family == "buffer") {
          text += fmt::format("{}, v1, s[4:7], s{} offen", data, offset_of(slot));
        } else {
          if (returns) text += registers('v', result, words) + ", ";
          text += family == "flat" ? fmt::format("{}, {}", registers('v', address_of(slot), 2), data)
                                   : fmt::format("v1, {}, {}", data, registers('s', base_of(slot), 2));
        }
        if (returns) text += test::returning(processor);
        const Operation* kept = std::find_if(std::begin(on_memory), std::end(on_memory),
                                             [&](const Operation& one) { return one.name == operation.name; });
        if (kept == std::end(on_memory)) {
          kept = std::find_if(std::begin(on_memory_by_lanes), std::end(on_memory_by_lanes),
                              [&](const Operation& one) { return one.name == operation.name; });
        }
        programs.add({kept, returns, result, data_of(slot) + words}, text);
      }
    }
  }
  run(GetParam(), programs, false);
}

/// One word for the wave. GFX9 and GFX10.1.
TEST_P(AtomicFamilies, OfTheScalarUnit) {
  std::vector<std::string> sources;
  struct Case {
    const Operation* operation;
    bool returns;
  };
  std::vector<Case> cases;
  for (const std::string_view family : {"s_atomic", "s_buffer_atomic"}) {
    for (const Operation& operation : on_memory) {
      const std::string name = test::name_on(processor, fmt::format("{}_{}", family, operation.name));
      if (name.empty()) continue;
      for (const bool returns : {false, true}) {
        const unsigned words = operation.bits / 32 * operation.operands;
        sources.push_back(fmt::format("{} {}, {}, 0x10{}\ns_waitcnt lgkmcnt(0)", name, registers('s', 48, words),
                                      family == "s_atomic" ? "s[2:3]" : "s[4:7]", returns ? " glc" : ""));
        cases.push_back({&operation, returns});
      }
    }
  }
  if (processor.generation < target::Generation::gfx9 || processor.generation > target::Generation::gfx10) {
    EXPECT_TRUE(sources.empty());
    return;
  }
  ASSERT_FALSE(sources.empty());
  const auto codes = test::assemble_programs(sources, processor, GetParam().wave_size);
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(sources[i]);
    const auto& [operation, returns] = cases[i];
    const unsigned bits = operation->bits, words = bits / 32;
    for (unsigned salt = 0; salt < 4; ++salt) {
      WaveRunner runner(GetParam().processor, "", GetParam().wave_size);
      uint64_t memory[4] = {1, 2, number(Numbers::whole, salt, 1, bits), 4};
      const uint64_t old = memory[2], a = number(Numbers::whole, salt, 5, bits);
      const uint64_t b = salt % 2 == 0 ? old : number(Numbers::whole, salt, 2, bits);
      runner.set_pair(2, memory);
      test::set_buffer(runner, 4, memory, sizeof memory);
      for (unsigned word = 0; word < words; ++word) {
        runner.s(48 + word) = static_cast<uint32_t>(a >> 32 * word);
        if (operation->operands == 2) runner.s(48 + words + word) = static_cast<uint32_t>(b >> 32 * word);
      }
      ASSERT_EQ(runner.run_instructions(codes[i]), WaveState::ended);
      const uint64_t updated = operation->apply(old, a, b, bits) & all_of(bits);
      EXPECT_EQ(memory[2], updated | (old & ~all_of(bits)));
      EXPECT_EQ(memory[1], 2u);
      EXPECT_EQ(memory[3], 4u);
      for (unsigned word = 0; word < words; ++word) {
        EXPECT_EQ(runner.s(48 + word), static_cast<uint32_t>((returns ? old : a) >> 32 * word));
        if (operation->operands == 2) EXPECT_EQ(runner.s(48 + words + word), static_cast<uint32_t>(b >> 32 * word));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, AtomicFamilies, testing::ValuesIn(test::all_machines),
                         [](const auto& info) { return test::name_of_machine(info.param); });

/// DS_*_SRC2 ("Vega" ISA guide, "DS Instructions": the second address is the first and 4 times the offset, of 15 bits
/// with sign): the word there is the operand. Until GFX10.1.
class AtomicsOfTwoWords : public testing::TestWithParam<Machine> {};

TEST_P(AtomicsOfTwoWords, TakeTheOperandFromLds) {
  const target::Processor& processor = *target::find_processor(GetParam().processor);
  constexpr Operation operations[] = {
      {"add_src2_u32", 32, add},
      {"sub_src2_u32", 32, sub},
      {"rsub_src2_u32", 32, rsub},
      {"inc_src2_u32", 32, inc},
      {"dec_src2_u32", 32, dec},
      {"min_src2_i32", 32, smin},
      {"max_src2_i32", 32, smax},
      {"min_src2_u32", 32, umin},
      {"max_src2_u32", 32, umax},
      {"and_src2_b32", 32, and_bits},
      {"or_src2_b32", 32, or_bits},
      {"xor_src2_b32", 32, xor_bits},
      {"write_src2_b32", 32, swap},
      {"add_src2_u64", 64, add},
      {"sub_src2_u64", 64, sub},
      {"rsub_src2_u64", 64, rsub},
      {"inc_src2_u64", 64, inc},
      {"dec_src2_u64", 64, dec},
      {"min_src2_i64", 64, smin},
      {"max_src2_i64", 64, smax},
      {"min_src2_u64", 64, umin},
      {"max_src2_u64", 64, umax},
      {"and_src2_b64", 64, and_bits},
      {"or_src2_b64", 64, or_bits},
      {"xor_src2_b64", 64, xor_bits},
      {"write_src2_b64", 64, swap},
      {"min_src2_f32", 32, fmin, 1, Numbers::floats},
      {"max_src2_f32", 32, fmax, 1, Numbers::floats},
      {"min_src2_f64", 64, fmin, 1, Numbers::floats},
      {"max_src2_f64", 64, fmax, 1, Numbers::floats},
      {"add_src2_f32", 32, sum_of_floats, 1, Numbers::floats},
  };
  // The operand is 2048 bytes further on, or before: an offset of 15 bits, 512 or -512.
  std::vector<std::string> sources;
  std::vector<const Operation*> present;
  for (const Operation& operation : operations) {
    const std::string name = test::name_on(processor, fmt::format("ds_{}", operation.name));
    ASSERT_EQ(name.empty(), operation.name == "add_src2_f32" && processor.generation < target::Generation::gfx8)
        << operation.name;
    if (name.empty()) continue;
    present.push_back(&operation);
    sources.push_back(name + " v1 offset:512");
    sources.push_back(name + " v2 offset:0x7e00");
  }
  const auto codes = test::assemble_programs(sources, processor, GetParam().wave_size);
  for (size_t i = 0; i < sources.size(); ++i) {
    SCOPED_TRACE(sources[i]);
    const Operation& operation = *present[i / 2];
    const bool behind = i % 2 == 0;
    WaveRunner runner(GetParam().processor, "", GetParam().wave_size);
    const uint64_t exec = GetParam().wave_size == 32 ? lanes_on & 0xFFFF'FFFF : lanes_on;
    runner.wave().set_exec(exec);
    std::vector<uint64_t> words(512);
    for (unsigned word = 0; word < 512; ++word)
      words[word] = number(operation.numbers, word, word / 256, operation.bits);
    std::memcpy(runner.lds(), words.data(), 4096);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const unsigned place = 63 - lane;
      runner.v(1)[lane] = place * 8;
      runner.v(2)[lane] = place * 8 + 2048;
      if (lane >= GetParam().wave_size || (exec >> lane & 1) == 0) continue;
      uint64_t& word = words[behind ? place : place + 256];
      const uint64_t all = all_of(operation.bits), operand = words[behind ? place + 256 : place];
      word = (operation.apply(word & all, operand & all, 0, operation.bits) & all) | (word & ~all);
    }
    ASSERT_EQ(runner.run_instructions(codes[i]), WaveState::ended);
    for (unsigned word = 0; word < 512; ++word) {
      uint64_t got;
      std::memcpy(&got, runner.lds() + word * 8, 8);
      ASSERT_EQ(got, words[word]) << "word " << word;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, AtomicsOfTwoWords,
                         testing::Values(Machine{"gfx600", 64}, Machine{"gfx701", 64}, Machine{"gfx803", 64},
                                         Machine{"gfx900", 64}, Machine{"gfx906", 64}, Machine{"gfx908", 64},
                                         Machine{"gfx1010", 32}, Machine{"gfx1010", 64}, Machine{"gfx1012", 32}),
                         [](const auto& info) { return test::name_of_machine(info.param); });

}  // namespace
}  // namespace Atoll

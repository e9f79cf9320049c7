// What moves data between the lanes of a wave and between lanes and scalar registers, on each generation that has it,
// in each wave size, with all, some and none of the lanes: machine code against a model of each instruction, lane by
// lane, after the ISA guides' pseudo-code and text.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using target::Generation;
using test::Machine;
using test::WaveRunner;

using Lanes = std::vector<uint32_t>;

constexpr uint64_t masks[] = {~uint64_t{0},          0x9001'0FF0'8421'7E81, 0x0000'FFFF'FFFF'0000,
                              0xFFFF'FFFE'0000'0000, 0x8000'0000'0000'0000, 0};
uint64_t lanes_of(unsigned wave_size) { return wave_size == 32 ? 0xFFFF'FFFF : ~uint64_t{0}; }
bool is_on(uint64_t exec, unsigned lane) { return (exec >> lane & 1) != 0; }

/// Numbered values in some registers, the same on each call.
Lanes fill(WaveRunner& runner, unsigned reg, uint32_t seed) {
  std::mt19937 random(seed);
  Lanes lanes(64);
  for (unsigned lane = 0; lane < 64; ++lane) runner.v(reg)[lane] = lanes[lane] = static_cast<uint32_t>(random());
  return lanes;
}

WaveState run_again(WaveRunner& runner) {
  runner.wave().pc = runner.code_address();
  runner.wave().state = WaveState::ready;
  return runner.resume();
}

void expect_lanes(WaveRunner& runner, unsigned reg, const Lanes& expected, const std::string& what) {
  for (unsigned lane = 0; lane < runner.wave().wave_size; ++lane) {
    ASSERT_EQ(runner.v(reg)[lane], expected[lane]) << what << ": lane " << lane;
  }
}

/// V_READLANE, V_WRITELANE and V_READFIRSTLANE; lanes' numbers are taken modulo the wave's size, and EXEC has no part
/// in the first two.
TEST(LaneMovementOnEachGeneration, LanesAndScalars) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    WaveRunner runner(machine.processor, "", machine.wave_size);
    // The scalar operand is a register, M0 and a constant.
    const std::string source = R"(
        s_mov_b32 m0, s1
        v_readlane_b32 s10, v1, s0
        v_readlane_b32 s11, v1, m0
        v_readlane_b32 s12, v1, 31
        v_readlane_b32 vcc_hi, v1, 0
        v_readfirstlane_b32 s13, v1
        v_writelane_b32 v2, 23, s0
        v_writelane_b32 v3, -16, m0
        v_writelane_b32 v4, m0, 17
        v_writelane_b32 v5, s5, 0)";
    ASSERT_EQ(runner.run(source), WaveState::ended);
    for (const uint64_t mask : masks) {
      for (const uint32_t lane : {0u, 1u, 31u, 32u, 63u, 64u + 40, 0xFFFF'FFFFu}) {
        std::vector<Lanes> v;
        v.reserve(6);
        for (unsigned reg = 0; reg < 6; ++reg) v.push_back(fill(runner, reg, reg + 1));
        const uint64_t exec = mask & lanes_of(machine.wave_size);
        runner.wave().set_exec(mask);
        runner.s(0) = lane;
        runner.s(1) = lane ^ 5;
        runner.s(5) = 0xABCD0000 + lane;
        ASSERT_EQ(run_again(runner), WaveState::ended);
        const unsigned first = lane % machine.wave_size, second = (lane ^ 5) % machine.wave_size;
        EXPECT_EQ(runner.s(10), v[1][first]);
        EXPECT_EQ(runner.s(11), v[1][second]);
        EXPECT_EQ(runner.s(12), v[1][31]);
        EXPECT_EQ(runner.wave().scalar[isa::scalar::vcc_hi], v[1][0]);
        EXPECT_EQ(runner.s(13), v[1][exec == 0 ? 0 : static_cast<unsigned>(std::countr_zero(exec))]);
        v[2][first] = 23;
        v[3][second] = 0xFFFF'FFF0;
        v[4][17] = lane ^ 5;
        v[5][0] = 0xABCD0000 + lane;
        for (unsigned reg = 0; reg < 6; ++reg) expect_lanes(runner, reg, v[reg], fmt::format("v{}", reg));
      }
    }
  }
}

TEST(LaneMovementOnEachGeneration, RegistersChangePlaces) {
  for (const Machine& machine : test::machines_from_gfx9) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    const bool halves = !test::name_on(processor, "v_swap_b16").empty();
    WaveRunner runner(machine.processor, "", machine.wave_size);
    ASSERT_EQ(runner.run(std::string("v_swap_b32 v1, v2\nv_swap_b32 v3, v3\n") +
                         (halves ? "v_swap_b16 v4.h, v5.l\nv_swap_b16 v6.l, v7.l\nv_swap_b16 v8.l, v8.h" : "")),
              WaveState::ended);
    for (const uint64_t exec : masks) {
      std::vector<Lanes> v;
      v.reserve(9);
      for (unsigned reg = 0; reg < 9; ++reg) v.push_back(fill(runner, reg, reg + 1));
      runner.wave().set_exec(exec);
      ASSERT_EQ(run_again(runner), WaveState::ended);
      for (unsigned lane = 0; lane < 64; ++lane) {
        if (!is_on(exec, lane)) continue;
        std::swap(v[1][lane], v[2][lane]);
        if (!halves) continue;
        const uint32_t four = v[4][lane], six = v[6][lane];
        v[4][lane] = (four & 0xFFFF) | v[5][lane] << 16;
        v[5][lane] = (v[5][lane] & 0xFFFF'0000) | four >> 16;
        v[6][lane] = (six & 0xFFFF'0000) | (v[7][lane] & 0xFFFF);
        v[7][lane] = (v[7][lane] & 0xFFFF'0000) | (six & 0xFFFF);
        v[8][lane] = v[8][lane] >> 16 | v[8][lane] << 16;
      }
      for (unsigned reg = 0; reg < 9; ++reg) expect_lanes(runner, reg, v[reg], fmt::format("v{}", reg));
    }
  }
}

/// "CDNA" ISA guides, V_ACCVGPR_READ, _WRITE and _MOV.
TEST(LaneMovementOnEachGeneration, AccumulationRegisters) {
  unsigned machines = 0;
  for (const Machine& machine : test::machines) {
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (test::name_on(processor, "v_accvgpr_read_b32").empty()) continue;
    SCOPED_TRACE(test::name_of_machine(machine));
    ++machines;
    const bool move = !test::name_on(processor, "v_accvgpr_mov_b32").empty();
    WaveRunner runner(machine.processor, "", machine.wave_size);
    ASSERT_EQ(runner.run(std::string("v_accvgpr_write_b32 a3, v1\nv_accvgpr_write_b32 a4, 1.0\n"
                                     "v_accvgpr_read_b32 v2, a5\n") +
                         (move ? "v_accvgpr_mov_b32 a6, a7" : "")),
              WaveState::ended);
    for (const uint64_t exec : masks) {
      const Lanes one = fill(runner, 1, 1), two = fill(runner, 2, 2);
      for (unsigned reg = 3; reg < 8; ++reg) {
        for (unsigned lane = 0; lane < 64; ++lane) runner.a(reg)[lane] = reg * 1000 + lane;
      }
      runner.wave().set_exec(exec);
      ASSERT_EQ(run_again(runner), WaveState::ended);
      for (unsigned lane = 0; lane < 64; ++lane) {
        const bool on = is_on(exec, lane);
        EXPECT_EQ(runner.a(3)[lane], on ? one[lane] : 3000 + lane);
        EXPECT_EQ(runner.a(4)[lane], on ? 0x3F80'0000 : 4000 + lane);
        EXPECT_EQ(runner.v(2)[lane], on ? 5000 + lane : two[lane]);
        EXPECT_EQ(runner.a(6)[lane], on && move ? 7000 + lane : 6000 + lane);
      }
    }
  }
  test::expect_machines(machines, 4);
}

/// A move within the wave: the lane that each lane reads (-1: none), and what becomes of lanes without a source.
struct Move {
  std::string text;  ///< with {0} for the number of the register that it writes
  std::function<int(unsigned lane)> from;
  uint64_t enabled = ~uint64_t{0};
  bool zero_invalid = false, fetch_inactive = false;
  bool adds = false;  ///< v2 to what is moved
};

/// Runs all moves of v1, each to a register of its own, from several states of EXEC. V3 has the lanes' selects.
void check_moves(const Machine& machine, const std::vector<Move>& moves, const Lanes& selects,
                 const char* before = "") {
  constexpr unsigned first = 10;
  ASSERT_LT(moves.size(), 246u);
  std::string source = before;
  for (unsigned i = 0; i < moves.size(); ++i) source += fmt::format(fmt::runtime(moves[i].text), first + i) + "\n";
  WaveRunner runner(machine.processor, "", machine.wave_size);
  ASSERT_EQ(runner.run(source), WaveState::ended);
  for (const uint64_t exec : masks) {
    const Lanes values = fill(runner, 1, 1), others = fill(runner, 2, 2);
    std::ranges::copy(selects, runner.v(3));
    std::vector<Lanes> expected;
    expected.reserve(moves.size());
    for (unsigned i = 0; i < moves.size(); ++i) expected.push_back(fill(runner, first + i, first + i));
    runner.wave().set_exec(exec);
    ASSERT_EQ(run_again(runner), WaveState::ended);
    for (unsigned i = 0; i < moves.size(); ++i) {
      const Move& move = moves[i];
      for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
        if (!is_on(exec & move.enabled, lane)) continue;
        const int from = move.from(lane);
        ASSERT_LT(from, static_cast<int>(machine.wave_size));
        const bool valid = from >= 0 && (move.fetch_inactive || is_on(exec, static_cast<unsigned>(from)));
        if (!valid && !move.zero_invalid) continue;
        expected[i][lane] = (valid ? values[static_cast<unsigned>(from)] : 0) + (move.adds ? others[lane] : 0);
      }
      expect_lanes(runner, first + i, expected[i], fmt::format("{}, EXEC {:#x}", move.text, exec));
    }
  }
}

/// DPP16 controls as LLVM writes them, with the generations that have them ("DPP" in the ISA guides), and DPP8.
TEST(LaneMovementOnEachGeneration, DataParallelPrimitives) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    const bool is_gfx8 = processor.generation == Generation::gfx8;
    if (processor.generation < Generation::gfx8) continue;
    const bool is_gfx9 = processor.generation < Generation::gfx10;
    const bool has_new_broadcast = is_gfx9 && processor.generation >= Generation::gfx90a;
    struct Control {
      std::string text;
      std::function<int(unsigned lane)> from;
    };
    const auto in_row = [](unsigned lane, int column) -> int {
      return column < 0 || column > 15 ? -1 : static_cast<int>(lane / 16 * 16) + column;
    };
    std::vector<Control> controls;
    for (const unsigned pattern : {0x1Bu, 0xB1u, 0xE4u, 0x00u, 0x9Cu}) {
      controls.push_back(
          {fmt::format("quad_perm:[{},{},{},{}]", pattern & 3, pattern >> 2 & 3, pattern >> 4 & 3, pattern >> 6),
           [=](unsigned lane) { return static_cast<int>(lane / 4 * 4 + (pattern >> 2 * (lane % 4) & 3)); }});
    }
    for (const int by : {1, 6, 15}) {
      const auto column = [](unsigned lane) { return static_cast<int>(lane % 16); };
      controls.push_back(
          {fmt::format("row_shl:{}", by), [=](unsigned lane) { return in_row(lane, column(lane) + by); }});
      controls.push_back(
          {fmt::format("row_shr:{}", by), [=](unsigned lane) { return in_row(lane, column(lane) - by); }});
      controls.push_back(
          {fmt::format("row_ror:{}", by), [=](unsigned lane) { return in_row(lane, (column(lane) + 16 - by) % 16); }});
    }
    controls.push_back({"row_mirror", [=](unsigned lane) { return in_row(lane, 15 - static_cast<int>(lane % 16)); }});
    controls.push_back({"row_half_mirror", [](unsigned lane) { return static_cast<int>(lane ^ 7); }});
    if (is_gfx9) {
      controls.push_back({"wave_shl:1", [](unsigned lane) { return lane == 63 ? -1 : static_cast<int>(lane) + 1; }});
      controls.push_back({"wave_rol:1", [](unsigned lane) { return static_cast<int>((lane + 1) % 64); }});
      controls.push_back({"wave_shr:1", [](unsigned lane) { return static_cast<int>(lane) - 1; }});
      controls.push_back({"wave_ror:1", [](unsigned lane) { return static_cast<int>((lane + 63) % 64); }});
      // Lanes before the first row that is broadcast keep their own value, as rocWMMA's tests expect.
      controls.push_back(
          {"row_bcast:15", [](unsigned lane) { return static_cast<int>(lane < 16 ? lane : lane / 16 * 16 - 1); }});
      controls.push_back({"row_bcast:31", [](unsigned lane) { return static_cast<int>(lane < 32 ? lane : 31); }});
    }
    for (const int number : {0, 6, 15}) {
      if (!is_gfx9 || has_new_broadcast) {
        controls.push_back({fmt::format("{}:{}", is_gfx9 ? "row_newbcast" : "row_share", number),
                            [=](unsigned lane) { return in_row(lane, number); }});
      }
      if (!is_gfx9) {
        controls.push_back({fmt::format("row_xmask:{}", number),
                            [=](unsigned lane) { return in_row(lane, static_cast<int>(lane % 16) ^ number); }});
      }
    }
    struct Variant {
      unsigned rows, banks;
      bool zero, fetch;
    };
    std::vector<Variant> variants = {
        {0xF, 0xF, false, false}, {0xF, 0xF, true, false}, {0xA, 0x6, false, false}, {0x5, 0x9, true, false}};
    if (!is_gfx9) variants.push_back({0x7, 0xD, false, true});
    // Of GFX8 every sum has a carry.
    const std::string add = is_gfx8 ? "v_add_u32" : test::name_on(processor, "v_add_u32");
    std::vector<Move> moves;
    for (const Variant& variant : variants) {
      for (const Control& control : controls) {
        const unsigned form = static_cast<unsigned>(moves.size()) % 3;
        const bool long_form = form == 2 && processor.generation >= Generation::gfx11;
        Move move{.text = {}, .from = control.from, .zero_invalid = variant.zero, .fetch_inactive = variant.fetch};
        move.adds = form != 0;
        move.text = form == 0
                        ? "v_mov_b32_dpp v{0}, v1"
                        : add + (long_form ? "_e64_dpp" : "_dpp") + (is_gfx8 ? " v{0}, vcc, v1, v2" : " v{0}, v1, v2");
        move.text += fmt::format(" {} row_mask:{:#x} bank_mask:{:#x}{}{}", control.text, variant.rows, variant.banks,
                                 variant.zero ? " bound_ctrl:1" : "", variant.fetch ? " fi:1" : "");
        move.enabled = 0;
        for (unsigned lane = 0; lane < 64; ++lane) {
          const bool enabled = (variant.rows >> lane / 16 & 1) != 0 && (variant.banks >> lane % 16 / 4 & 1) != 0;
          move.enabled |= uint64_t{enabled} << lane;
        }
        moves.push_back(move);
      }
    }
    if (!is_gfx9) {
      // DPP8 reads 0 from lanes that are off.
      for (const std::array<unsigned, 8>& s :
           {std::array{7u, 6u, 5u, 4u, 3u, 2u, 1u, 0u}, {3u, 3u, 0u, 7u, 1u, 4u, 2u, 6u}}) {
        for (const bool fetch : {false, true}) {
          moves.push_back({.text = fmt::format("v_mov_b32_dpp v{{0}}, v1 dpp8:[{},{},{},{},{},{},{},{}]{}", s[0], s[1],
                                               s[2], s[3], s[4], s[5], s[6], s[7], fetch ? " fi:1" : ""),
                           .from = [=](unsigned lane) { return static_cast<int>(lane / 8 * 8 + s[lane % 8]); },
                           .zero_invalid = true,
                           .fetch_inactive = fetch});
        }
      }
    }
    check_moves(machine, moves, Lanes(64));
  }
}

/// V_PERMLANE16, V_PERMLANEX16, those of GFX12 with a select for each lane, V_PERMLANE64. The modifiers are LLVM's
/// llvm.amdgcn.permlane16: op_sel[0] fetches from lanes that are off, op_sel[1] makes the others 0.
TEST(LaneMovementOnEachGeneration, PermutationsOfRows) {
  unsigned machines = 0;
  for (const Machine& machine : test::machines) {
    const target::Processor& processor = *target::find_processor(machine.processor);
    if (test::name_on(processor, "v_permlane16_b32").empty()) continue;
    SCOPED_TRACE(test::name_of_machine(machine));
    ++machines;
    const uint64_t scalar_selects = 0x0F1E'2D3C'4B5A'6978;
    std::mt19937 random(9);
    Lanes selects(64);
    for (uint32_t& lane : selects) lane = static_cast<uint32_t>(random());
    std::vector<Move> moves;
    for (const bool crossed : {false, true}) {
      for (const bool lanes : {false, true}) {
        const std::string name =
            test::name_on(processor, fmt::format("v_permlane{}16{}_b32", crossed ? "x" : "", lanes ? "_var" : ""));
        if (name.empty()) continue;
        for (const bool fetch : {false, true}) {
          for (const bool zero : {false, true}) {
            const auto from = [=](unsigned lane) {
              const unsigned select = lanes ? selects[lane] : static_cast<unsigned>(scalar_selects >> 4 * (lane % 16));
              return static_cast<int>((lane / 16 ^ (crossed ? 1u : 0u)) * 16 + (select & 15));
            };
            moves.push_back({.text = fmt::format("{} v{{0}}, v1, {} op_sel:[{},{}]", name, lanes ? "v3" : "s0, s1",
                                                 fetch ? 1 : 0, zero ? 1 : 0),
                             .from = from,
                             .zero_invalid = zero,
                             .fetch_inactive = fetch});
          }
        }
      }
    }
    if (!test::name_on(processor, "v_permlane64_b32").empty()) {
      // In waves of 32 lanes it does nothing.
      moves.push_back(
          {.text = "v_permlane64_b32 v{0}, v1",
           .from = [&](unsigned lane) { return machine.wave_size == 32 ? -1 : static_cast<int>(lane ^ 32); },
           .fetch_inactive = true});
    }
    check_moves(machine, moves, selects, "s_mov_b32 s0, 0x4B5A6978\ns_mov_b32 s1, 0x0F1E2D3C\n");
  }
  test::expect_machines(machines, 14);
}

/// DS_SWIZZLE: bit masks, quads, rotations, FFT order.
TEST(LaneMovementOnEachGeneration, Swizzles) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    std::vector<Move> moves;
    // With masks for AND, OR and XOR of the lane's number within 32.
    for (const unsigned offset : {0x041Fu, 0x0000u, 0x7C1Fu, 0x2A95u, 0x0C18u, 0x03E0u}) {
      moves.push_back(
          {.text = fmt::format("ds_swizzle_b32 v{{0}}, v1 offset:{:#x}", offset), .from = [=](unsigned lane) {
             const unsigned within = ((lane & 31 & offset) | (offset >> 5 & 31)) ^ (offset >> 10 & 31);
             return static_cast<int>((lane & 32) | within);
           }});
    }
    for (const unsigned pattern : {0x1Bu, 0x4Eu, 0xFFu}) {
      moves.push_back(
          {.text = fmt::format("ds_swizzle_b32 v{{0}}, v1 offset:{:#x}", 0x8000 | pattern),
           .from = [=](unsigned lane) { return static_cast<int>(lane / 4 * 4 + (pattern >> 2 * (lane % 4) & 3)); }});
    }
    // Not on GFX9 are FFT order and rotation in LLVM's text, but the instruction is the same: "Vega" and "RDNA" ISA
    // guides.
    for (const unsigned amount : {1u, 11u, 31u}) {
      for (const bool right : {false, true}) {
        for (const unsigned kept : {0u, 24u}) {
          moves.push_back({.text = fmt::format("ds_swizzle_b32 v{{0}}, v1 offset:{:#x}",
                                               0xC000 | (right ? 0x400 : 0) | amount << 5 | kept),
                           .from = [=](unsigned lane) {
                             const unsigned moved = right ? lane + 64 - amount : lane + amount;
                             return static_cast<int>((lane & 32) | (lane & kept) | (moved & 31 & ~kept));
                           }});
        }
      }
    }
    for (const unsigned mask : {0u, 16u, 24u, 31u}) {
      moves.push_back(
          {.text = fmt::format("ds_swizzle_b32 v{{0}}, v1 offset:{:#x}", 0xE000 | mask), .from = [=](unsigned lane) {
             unsigned reversed = 0;
             for (unsigned bit = 0; bit < 5; ++bit) reversed |= (lane >> bit & 1) << (4 - bit);
             return static_cast<int>(reversed >> std::popcount(mask) | (lane & mask) | (lane & 32));
           }});
    }
    for (Move& move : moves) move.zero_invalid = true;
    check_moves(machine, moves, Lanes(64));
  }
}

/// DS_PERMUTE, DS_BPERMUTE, DS_BPERMUTE_FI. In waves of 64 lanes, those of GFX10 and GFX11 stay within each half.
TEST(LaneMovementOnEachGeneration, PermutationsByAddress) {
  for (const Machine& machine : test::machines) {
    SCOPED_TRACE(test::name_of_machine(machine));
    const target::Processor& processor = *target::find_processor(machine.processor);
    EXPECT_EQ(test::name_on(processor, "ds_bpermute_b32").empty(), processor.generation < Generation::gfx8);
    if (processor.generation < Generation::gfx8) continue;
    const bool by_halves = processor.generation >= Generation::gfx10 && processor.generation < Generation::gfx12;
    const unsigned reach = by_halves ? 32 : machine.wave_size;
    const bool fetches = !test::name_on(processor, "ds_bpermute_fi_b32").empty();
    std::mt19937 random(4);
    Lanes addresses(64);
    for (unsigned lane = 0; lane < 64; ++lane) {
      addresses[lane] = lane % 5 == 0 ? static_cast<uint32_t>(random()) : static_cast<uint32_t>(random()) % 64 * 4;
    }
    const auto other = [=](unsigned lane, unsigned offset) {
      return (addresses[lane] + offset) / 4 % reach + lane / reach * reach;
    };
    std::vector<Move> pulls;
    for (const unsigned offset : {0u, 8u, 252u, 0xFFFFu}) {
      for (const bool fetch : {false, true}) {
        if (fetch && !fetches) continue;
        pulls.push_back({.text = fmt::format("ds_bpermute_{}b32 v{{0}}, v3, v1 offset:{}", fetch ? "fi_" : "", offset),
                         .from = [=](unsigned lane) { return static_cast<int>(other(lane, offset)); },
                         .zero_invalid = true,
                         .fetch_inactive = fetch});
      }
    }
    check_moves(machine, pulls, addresses);

    WaveRunner runner(machine.processor, "", machine.wave_size);
    ASSERT_EQ(runner.run("ds_permute_b32 v4, v3, v1 offset:8"), WaveState::ended);
    for (const uint64_t exec : masks) {
      const Lanes values = fill(runner, 1, 1);
      Lanes expected = fill(runner, 4, 4), pushed(64);
      std::ranges::copy(addresses, runner.v(3));
      runner.wave().set_exec(exec);
      ASSERT_EQ(run_again(runner), WaveState::ended);
      for (unsigned lane = 0; lane < machine.wave_size; ++lane) {  // the highest sender wins
        if (is_on(exec, lane)) pushed[other(lane, 8)] = values[lane];
      }
      for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
        if (is_on(exec, lane)) expected[lane] = pushed[lane];
      }
      expect_lanes(runner, 4, expected, fmt::format("ds_permute_b32, EXEC {:#x}", exec));
    }
  }
}

}  // namespace
}  // namespace Atoll

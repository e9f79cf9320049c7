// Waves that translated code begins by itself where others have ended: each must find what it would have found if it
// had been begun by the machine. What they store is compared with what follows from their place in the grid.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "compiler/driver/compile.h"
#include "compiler/llvm/host_code.h"
#include "engine/compiled/compiled_run.h"
#include "engine/compiled/host_code.h"
#include "engine/compiled/translation.h"
#include "engine/interpreter/code_cache.h"
#include "engine/interpreter/global_wave_sync.h"
#include "engine/wave_runner.h"
#include "jit_context.h"
#include "target/processor.h"

namespace Atoll::test {
namespace {

using machine::Wave;
using machine::WaveBatch;

constexpr uint32_t waves_of_a_group = 3, lanes_of_the_last = 40;

/// Work-groups of three waves, the last one not full. v0 begins with the work-item's number in its work-group, v1 with
/// twice that; s[0:1] with an address, s2 with the work-group's number.
struct Grid : WaveBatch {
  explicit Grid(uint32_t count) : groups(count) {
    for (uint32_t wave = 0; wave < waves_of_a_group; ++wave) {
      for (uint32_t lane = 0; lane < 64; ++lane) {
        rows[wave].row[0][lane] = wave * 64 + lane;
        rows[wave].row[1][lane] = 2 * (wave * 64 + lane);
      }
    }
    exec = ~uint64_t{0};
    last_exec = (uint64_t{1} << lanes_of_the_last) - 1;
    first_rows = rows;
    scalars = start;
    begin_work_group = [](WaveBatch& series) { return static_cast<Grid&>(series).next(); };
  }
  bool next() {
    if (group + 1 == groups) return false;
    ++group;
    start[2] = group;
    waves_left = waves_of_a_group;
    return true;
  }
  void begin(Wave& wave) {
    waves_left = waves_of_a_group - 1;
    std::memcpy(wave.scalar, start, sizeof start);
    std::memcpy(wave.vgpr, rows[0].row, sizeof rows[0].row);
    wave.set_exec(exec);
    wave.scc = false;
    wave.index = 0;
  }
  uint32_t groups, group = 0;
  uint32_t start[isa::scalar::count]{};
  alignas(64) machine::FirstRows rows[waves_of_a_group]{};
};

class Series : public testing::Test {
 protected:
  /// Runs all waves of the grid by one call, unless `limit` ends it before. The last one ends at the end of the code.
  void run(const std::string& source, uint32_t groups, uint64_t limit = 1'000'000) {
    const std::string_view name = target.processor->name;
    const std::vector<uint8_t> code = assemble(source + "\ns_endpgm", name, target.wave_size);
    const auto base = reinterpret_cast<uint64_t>(code.data());
    WaveRunner runner(name, "interpreter", target.wave_size);
    Wave& wave = runner.wave();
    const auto flow = engine::follow(base, {.floats = wave.float_mode}, base, base + code.size(), target);
    ASSERT_TRUE(flow) << flow.error().message;
    const auto request =
        engine::TranslationRequest::parse(engine::TranslationRequest::serialise(target, *flow, base, 0));
    ASSERT_TRUE(request) << request.error().message;
    auto host = compiler::HostCompiler::create();
    ASSERT_TRUE(host) << host.error().message;
    auto translated = compiler::compile(*request, **host, [] { return true; });
    ASSERT_TRUE(translated) << translated.error().message;
    ASSERT_EQ(translated->helper_pcs.size(), 0u);
    const engine::JitContext context = make_jit_context(base, nullptr);
    const auto placed = engine::HostCode::place(*std::move(translated));
    ASSERT_TRUE(placed) << placed.error().message;
    const auto& entries = (*placed)->translated().entries;
    const auto entry = std::ranges::find(entries, 0u, &engine::EntryPoint::pc);
    ASSERT_NE(entry, entries.end());

    Grid grid(groups);
    result.assign(groups * waves_of_a_group * 64, 0);
    const auto address = reinterpret_cast<uint64_t>(result.data());
    std::memcpy(grid.start, &address, sizeof address);
    grid.start[isa::scalar::exec_hi] = exec_hi;
    grid.begin(wave);
    engine::CodeCache cache(target);
    engine::GlobalWaveSync sync;
    engine::Run& run = engine::compiled_run_of_thread().run;
    engine::begin_run(run, wave, limit, cache, sync);
    run.series = &grid;
    EXPECT_EQ(engine::enter((*placed)->function(*entry), &wave, &run, entry->number, &context),
              engine::ExitReason::stops);
    run.series = nullptr;
    EXPECT_EQ(wave.state, machine::WaveState::ended);
    EXPECT_EQ(wave.pc, base + code.size());
    last = {grid.group, wave.index};
    instructions = run.instructions;
  }
  /// What the work-item has stored.
  uint32_t stored(uint32_t group, uint32_t item) const { return result[group * waves_of_a_group * 64 + item]; }

  target::Target target{*target::find_processor("gfx90a")};
  uint32_t exec_hi = 0;  ///< with which waves of 32 lanes begin
  std::vector<uint32_t> result;
  std::pair<uint32_t, uint32_t> last;  ///< the work-group and wave that ran last
  uint64_t instructions = 0;
};

constexpr uint32_t items_of_a_group = 64 * (waves_of_a_group - 1) + lanes_of_the_last;

TEST_F(Series, EachWaveBeginsAsTheFirstDoes) {
  // All that waves begin with is overwritten. v5 and VCC are read before they are written: they begin with zeros.
  run(R"(
    s_cselect_b32 s9, 100, 7
    s_cmp_eq_u32 s2, s2
    v_cmp_gt_u32 s[6:7], 20, v0
    v_addc_co_u32 v6, s[6:7], v0, v1, vcc
    s_mul_i32 s3, s2, 192
    v_add_u32 v2, s3, v0
    v_lshlrev_b32 v2, 2, v2
    v_cmp_gt_u32 vcc, 90, v0
    s_and_saveexec_b64 s[4:5], vcc
    v_add_u32 v5, v5, v6
    s_mov_b64 exec, s[4:5]
    v_add_u32 v5, s9, v5
    v_add_u32 v5, s2, v5
    global_store_dword v2, v5, s[0:1]
    v_mov_b32 v0, 77
    v_mov_b32 v1, 78
    s_mov_b64 s[0:1], 0
    s_mov_b32 s2, 99
    s_mov_b64 exec, 1)",
      10);
  for (uint32_t group = 0; group < 10; ++group) {
    for (uint32_t item = 0; item < waves_of_a_group * 64; ++item) {
      const uint32_t sum = item < 90 ? 3 * item : 0;
      const uint32_t expected = item < items_of_a_group ? sum + 7 + group : 0;
      EXPECT_EQ(stored(group, item), expected) << "work-group " << group << ", work-item " << item;
    }
  }
  EXPECT_EQ(last, std::pair(9u, waves_of_a_group - 1));
  EXPECT_EQ(instructions, 10u * waves_of_a_group * 20);
}

TEST_F(Series, WavesOf32LanesBeginWithTheirExecHi) {
  target = target::Target(*target::find_processor("gfx1030")).with_wave_size(32);
  exec_hi = 9;
  run(R"(
    s_mul_i32 s3, s2, 192
    v_add_nc_u32 v2, s3, v0
    v_lshlrev_b32 v2, 2, v2
    v_mov_b32 v3, exec_hi
    global_store_dword v2, v3, s[0:1]
    s_mov_b32 exec_hi, 5)",
      4);
  for (uint32_t group = 0; group < 4; ++group) {
    for (uint32_t wave = 0; wave < waves_of_a_group; ++wave)
      EXPECT_EQ(stored(group, 64 * wave), 9u) << "work-group " << group << ", wave " << wave;
  }
}

TEST_F(Series, EndsWhenHalfOfTheInstructionsAreUsedUp) {
  run("global_store_dword v1, v0, s[0:1]\ns_nop 0\ns_nop 0", 10, 32);
  EXPECT_EQ(instructions, 16u);
  EXPECT_EQ(last, std::pair(1u, 0u));
}

TEST_F(Series, WavesMayEndInSeveralPlaces) {
  run(R"(
    s_mul_i32 s3, s2, 192
    v_add_u32 v2, s3, v0
    v_lshlrev_b32 v2, 2, v2
    s_and_b32 s4, s2, 1
    s_cbranch_scc1 odd
    global_store_dword v2, v1, s[0:1]
    s_endpgm
  odd:
    global_store_dword v2, v0, s[0:1])",
      4);
  for (uint32_t group = 0; group < 4; ++group) {
    for (uint32_t item = 0; item < items_of_a_group; ++item) {
      EXPECT_EQ(stored(group, item), group % 2 == 1 ? item : 2 * item);
    }
  }
}

}  // namespace
}  // namespace Atoll::test

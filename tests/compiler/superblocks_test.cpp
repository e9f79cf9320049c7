// Translated code against the interpreter: branches over code that does nothing without lanes, which are left out, and
// stores that wait until the loop over the chunks is done.
#include "compiler/analysis/superblocks.h"

#include <cstdio>
#include <sstream>

#include "comparison.h"

namespace Atoll::test {
namespace {

constexpr uint64_t lane_masks[] = {~uint64_t{0}, 0, 0x0000'0000'FFFF'0000, 0x00FF'FFFF'0F0F'1234};

/// A loop, so that what is outside of it is not run often, and is to be short rather than quick.
const std::string a_loop = "s_movk_i32 s9, 3\nagain:\n s_sub_u32 s9, s9, 1\n s_cbranch_scc0 again\n s_mov_b32 s9, 0\n";

/// How many branches the superblocks of a plan are without.
size_t removed_branches(const std::string& plan) {
  size_t sum = 0;
  std::istringstream lines(plan);
  for (std::string line; std::getline(lines, line);) {
    unsigned long pc = 0, blocks = 0, branches = 0;
    if (std::sscanf(line.c_str(), "superblock at 0x%lx: %lu blocks, %lu branches removed", &pc, &blocks, &branches) ==
        3)
      sum += branches;
  }
  return sum;
}

/// Runs the code with different lanes: in v1 is what the code's conditions look at. `left_out`: how many branches
/// must not be there any more.
void check(const std::string& source, size_t removed, const std::function<void(WaveRunner&)>& setup = {}) {
  for (const uint64_t exec : lane_masks) {
    for (const uint32_t values : {0u, 1u, 64u}) {
      Comparison comparison(a_loop + source);
      comparison
          .with([&](WaveRunner& runner) {
            runner.wave().set_exec(exec);
            for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = values == 0 ? 0 : lane * 7 % 64 % values;
            if (setup) setup(runner);
          })
          .run();
      EXPECT_EQ(removed_branches(comparison.plan()), removed) << source;
      // The interpreter executes one instruction more, which ends the wave.
      EXPECT_EQ(comparison.instructions() + 1, comparison.expected().wave().instructions) << source;
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(LeftOutBranches, ConditionsAndTheirOthers) {
  check(R"(
    v_cmp_lt_u32 vcc, 3, v1
    s_and_saveexec_b64 s[4:5], vcc
    s_cbranch_execz over
    v_add_u32 v2, v2, v1
    v_cmp_eq_u32 vcc, 5, v1
    v_cndmask_b32 v3, v2, v1, vcc
  over:
    s_or_b64 exec, exec, s[4:5]
    v_add_u32 v4, v2, v3
    s_mov_b64 vcc, 0)",
        1);
  check(R"(
    v_cmp_lt_u32 vcc, 3, v1
    s_and_saveexec_b64 s[4:5], vcc
    s_xor_b64 s[4:5], exec, s[4:5]
    s_cbranch_execz otherwise
    v_add_u32 v2, v2, v1
    s_mul_i32 s9, s4, 5
    v_mul_lo_u32 v3, v3, s6
  otherwise:
    s_or_saveexec_b64 s[4:5], s[4:5]
    s_xor_b64 exec, exec, s[4:5]
    s_cbranch_execz both
    v_sub_u32 v2, v2, v1
    v_mov_b32 v8, v6
  both:
    s_or_b64 exec, exec, s[4:5]
    s_mov_b32 s9, 0
    v_add_u32 v4, v4, v2)",
        2);
}

TEST(LeftOutBranches, OneInAnother) {
  check(R"(
    v_cmp_lt_u32 vcc, 3, v1
    s_and_saveexec_b64 s[4:5], vcc
    s_cbranch_execz over
    v_add_u32 v2, v2, v1
    v_cmp_lt_u32 vcc, 30, v1
    s_and_saveexec_b64 s[6:7], vcc
    s_cbranch_execz within
    v_add_u32 v3, v2, v1
    v_xor_b32 v2, v3, v2
  within:
    s_or_b64 exec, exec, s[6:7]
    v_add_u32 v5, v2, v1
    v_cmp_lt_u32 vcc, 61, v1
    s_and_saveexec_b64 s[8:9], vcc
    s_cbranch_execz over
    v_add_u32 v5, v5, v1
  over:
    s_or_b64 exec, exec, s[4:5]
    v_add_u32 v4, v2, v5
    s_mov_b64 vcc, 0
    s_mov_b64 s[6:7], 0
    s_mov_b64 s[8:9], 0)",
        3);
}

// As clang compiles bench/kernels.cl, stencil: s[6:7] is what it was where EXEC has no lanes, though it is written.
TEST(LeftOutBranches, MasksThatAreAsBefore) {
  check(R"(
    s_mov_b64 s[6:7], -1
    v_cmp_lt_u32 vcc, 3, v1
    s_and_saveexec_b64 s[4:5], vcc
    s_cbranch_execz over
    v_cmp_gt_u32 vcc, 40, v1
    s_and_saveexec_b64 s[0:1], vcc
    s_cbranch_execz within
    s_lshl_b64 s[6:7], s[12:13], 2
    v_add_u32 v2, s6, v2
    s_xor_b64 s[6:7], exec, -1
  within:
    s_or_b64 exec, exec, s[0:1]
    s_and_b64 s[2:3], s[6:7], exec
  over:
    s_or_b64 exec, exec, s[4:5]
    s_and_saveexec_b64 s[0:1], s[6:7]
    v_add_u32 v3, v2, v3
    s_or_b64 exec, exec, s[0:1]
    s_mov_b64 vcc, 0
    s_mov_b64 s[2:3], 0)",
        2);
}

TEST(LeftOutBranches, NotWhereTheCodeMatters) {
  const auto around = [](const std::string& code, const std::string& after) {
    return "v_cmp_lt_u32 vcc, 3, v1\n s_and_saveexec_b64 s[4:5], vcc\n s_cbranch_execz over\n v_add_u32 v2, v2, v1\n" +
           code + "\nover:\n s_or_b64 exec, exec, s[4:5]\n v_add_u32 v4, v2, v3\n s_mov_b64 vcc, 0\n" + after;
  };
  check(around("s_add_u32 s9, s9, 1", "v_add_u32 v4, s9, v4"), 0);
  check(around("s_not_b64 s[8:9], s[8:9]", "v_cndmask_b32 v4, v4, v1, s[8:9]"), 0);
  check(around("s_mov_b64 exec, -1\n v_add_u32 v3, 1, v3\n s_mov_b64 exec, 0", ""), 0);
  check(around("s_not_b64 exec, exec", ""), 0);
  check(around("v_writelane_b32 v3, 1, 2", ""), 0);
  check(around("v_readfirstlane_b32 s9, v3", "v_add_u32 v4, s9, v4"), 0);
  check(around("s_cmp_eq_u32 s9, s9", "s_cselect_b32 s8, 1, 0"), 1);  // s_or_b64 writes SCC, too
}

TEST(LeftOutBranches, NothingIsLoadedWithoutLanes) {
  static const uint32_t numbers[64] = {1, 2, 3};
  const std::string source = R"(
    v_cmp_lt_u32 vcc, 3, v1
    s_and_saveexec_b64 s[4:5], vcc
    s_cbranch_execz over
    %
    v_add_u32 v2, v2, v1
  over:
    s_or_b64 exec, exec, s[4:5]
    v_add_u32 v4, v2, v3
    s_mov_b64 vcc, 0
    s_mov_b64 s[8:9], 0)";
  const auto with = [&](const std::string& code) {
    std::string all = source;
    return all.replace(all.find('%'), 1, code);
  };
  check(with("global_load_dword v3, v[6:7], off\n s_waitcnt vmcnt(0)"), 1, [](WaveRunner& runner) {
    // Good where the condition holds.
    for (unsigned lane = 0; lane < 64; ++lane) {
      const uint64_t address = runner.v(1)[lane] > 3 ? reinterpret_cast<uint64_t>(numbers + lane) : 8;
      runner.v(6)[lane] = static_cast<uint32_t>(address);
      runner.v(7)[lane] = static_cast<uint32_t>(address >> 32);
    }
  });
  check(with("s_load_dword s8, s[10:11], 0x0\n s_waitcnt lgkmcnt(0)"), 0, [](WaveRunner& runner) {
    bool any = false;
    for (unsigned lane = 0; lane < 64; ++lane) {
      any |= runner.v(1)[lane] > 3 && (runner.wave().exec() >> lane & 1) != 0;
    }
    runner.set_pair(10, any ? static_cast<const void*>(numbers) : nullptr);
  });
}

// Lanes store where lanes of other chunks do, and change all that stores depend on afterwards.
TEST(DeferredStores, KeepTheirOrder) {
  const auto lds = [](WaveRunner& runner) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      runner.v(0)[lane] = lane;
      runner.v(10)[lane] = lane * 4;
      runner.v(11)[lane] = (63 - lane) * 4;
      runner.v(12)[lane] = lane % 16 * 4;
      runner.v(13)[lane] = lane == 33 ? 0x10000 : lane * 8;
    }
  };
  check(R"(
    ds_read_b32 v20, v10
    ds_write_b32 v10, v2
    ds_write_b32 v11, v3 offset:16
    v_add_u32 v3, v3, v1
    ds_write_b32 v12, v3
    v_add_u32 v12, 4, v12
    v_cmp_lt_u32 vcc, 20, v1
    s_and_saveexec_b64 s[4:5], vcc
    s_cbranch_execz over
    ds_write2_b32 v12, v2, v3 offset0:1 offset1:3
    v_mov_b32 v2, v1
    ds_write_b16 v13, v2 offset:2
    ds_write_b64 v13, v[2:3]
    ds_write_b8_d16_hi v13, v4 offset:5
    v_mov_b32 v13, 0
    s_nop 0
  over:
    s_or_b64 exec, exec, s[4:5]
    ds_write_b96 v11, v[2:4] offset:64
    v_mov_b32 v2, 0
    v_mov_b32 v11, v10
    s_waitcnt lgkmcnt(0)
    ds_read_b64 v[14:15], v11
    ds_read_b128 v[16:19], v11 offset:64
    ds_read_b128 v[24:27], v11 offset:192
    s_waitcnt lgkmcnt(0)
    s_mov_b64 vcc, 0)",
        1, lds);
}

TEST(DeferredStores, ToMemory) {
  static std::vector<uint32_t> memories[2];  // the waves take turns
  static unsigned number = 0;
  const auto setup = [](WaveRunner& runner) {
    std::vector<uint32_t>& memory = memories[number++ % 2];
    memory.assign(1024, 7);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const auto set = [&](unsigned reg, uint64_t index) {
        const auto address = reinterpret_cast<uint64_t>(memory.data() + index);
        runner.v(reg)[lane] = static_cast<uint32_t>(address);
        runner.v(reg + 1)[lane] = static_cast<uint32_t>(address >> 32);
      };
      set(10, lane);
      set(12, 63 - lane);
      runner.v(14)[lane] = lane % 16 * 4;
    }
    runner.set_pair(20, memory.data());
  };
  check(R"(
    global_load_dword v5, v[10:11], off
    s_waitcnt vmcnt(0)
    global_store_dword v[10:11], v2, off
    v_add_u32 v2, v2, v5
    global_store_dword v[12:13], v2, off offset:16
    global_store_dwordx2 v14, v[2:3], s[20:21] offset:64
    v_mov_b32 v14, v1
    v_cmp_lt_u32 vcc, 20, v1
    s_and_saveexec_b64 s[4:5], vcc
    s_cbranch_execz over
    global_store_byte v[12:13], v3, off offset:1
    v_mov_b32 v12, v10
    v_mov_b32 v13, v11
    global_store_dwordx3 v[12:13], v[2:4], off offset:256
  over:
    s_or_b64 exec, exec, s[4:5]
    s_mov_b64 exec, -1
    global_load_dwordx4 v[16:19], v[10:11], off
    global_load_dwordx4 v[24:27], v[10:11], off offset:256
    s_waitcnt vmcnt(0)
    v_mov_b32 v10, 0
    v_mov_b32 v11, 0
    v_mov_b32 v12, 0
    v_mov_b32 v13, 0
    s_mov_b64 s[20:21], 0
    s_mov_b64 vcc, 0)",
        1, setup);
}

}  // namespace
}  // namespace Atoll::test

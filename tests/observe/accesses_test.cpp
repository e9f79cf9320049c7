// What an observer is told of accesses: addresses are worked out here from the instruction's definition.
#include <numeric>

#include "machine/memory/memory.h"
#include "observe/recorder.h"

namespace Atoll::test {
namespace {

using machine::Space;

const std::vector<std::string> directives = {"next_free_vgpr 16", "next_free_sgpr 32", "group_segment_fixed_size 1024",
                                             "user_sgpr_kernarg_segment_ptr 1"};

struct Accesses : testing::TestWithParam<Way> {
  Recorder recorder{{.accesses = !GetParam().odd}, {.filtered_accesses = GetParam().odd}};
  machine::Memory memory;  // kernels may touch nothing else
  uint64_t base = memory.allocate(8192, 0, "words and arguments").value_or(0);
  uint64_t* arguments = reinterpret_cast<uint64_t*>(base + 4096);

  Accesses() { *arguments = base; }

  /// Of the kernel after its first access, which loads the pointer.
  const RecordedAccess& only() {
    EXPECT_EQ(recorder.accesses.size(), 2U);
    return recorder.accesses.back();
  }
  void run(const char* gpu, const std::string& text, uint32_t items = 64) {
    run_observed(recorder, gpu, directives,
                 "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n" + text + "\ns_endpgm", items, items,
                 arguments, 0, GetParam().engine);
  }
  static std::vector<uint64_t> from(uint64_t begin, uint64_t step, size_t count) {
    std::vector<uint64_t> addresses(count);
    for (size_t i = 0; i < count; ++i) addresses[i] = begin + i * step;
    return addresses;
  }
};

TEST_P(Accesses, AScalarLoadIsTheWaves) {
  run("gfx900", "s_load_dwordx4 s[8:11], s[4:5], 0x10");
  ASSERT_EQ(recorder.accesses.size(), 2U);
  const RecordedAccess& arguments_load = recorder.accesses[0];
  EXPECT_EQ(arguments_load.addresses, from(reinterpret_cast<uint64_t>(arguments), 0, 1));
  EXPECT_EQ(arguments_load.bytes, 8U);
  const RecordedAccess& access = only();
  EXPECT_TRUE(access.is_scalar && access.reads && !access.writes);
  EXPECT_EQ(access.bytes, 16U);
  EXPECT_EQ(access.lanes, 1U);
  EXPECT_EQ(access.addresses, from(base + 16, 0, 1));
}

TEST_P(Accesses, AGlobalStoreHasAnAddressForEachLaneOfExec) {
  run("gfx900", "v_lshlrev_b32 v1, 3, v0\ns_mov_b64 exec, 0xf0\nglobal_store_dwordx2 v1, v[2:3], s[4:5] offset:16");
  const RecordedAccess& access = only();
  EXPECT_EQ(access.space, Space::global);
  EXPECT_TRUE(access.writes && !access.reads && !access.is_atomic && !access.is_scalar);
  EXPECT_EQ(access.bytes, 8U);
  EXPECT_EQ(access.lanes, 0xF0U);
  EXPECT_EQ(access.addresses, from(base + 16 + 4 * 8, 8, 4));
}

TEST_P(Accesses, AnAtomicReadsAndWrites) {
  run("gfx900", "v_lshlrev_b32 v1, 2, v0\nglobal_atomic_add v1, v2, s[4:5]");
  const RecordedAccess& access = only();
  EXPECT_TRUE(access.is_atomic && access.reads && access.writes);
  EXPECT_EQ(access.bytes, 4U);
  EXPECT_EQ(access.addresses, from(base, 4, 64));
}

TEST_P(Accesses, NothingIsToldOfAnInstructionThatNoLaneExecutes) {
  run("gfx900", "s_mov_b64 exec, 0\nglobal_store_dword v1, v2, s[4:5]");
  EXPECT_EQ(recorder.accesses.size(), 1U);
}

TEST_P(Accesses, InLdsAreOffsets) {
  run("gfx900", "s_mov_b32 m0, -1\nv_lshlrev_b32 v1, 2, v0\nds_write2_b32 v1, v2, v3 offset0:1 offset1:64");
  if (GetParam().odd) {  // inside of LDS they are not
    EXPECT_EQ(recorder.accesses.size(), 1U);
    return;
  }
  ASSERT_EQ(recorder.accesses.size(), 3U);
  for (size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(recorder.accesses[i].space, Space::lds);
    EXPECT_TRUE(recorder.accesses[i].writes);
    EXPECT_EQ(recorder.accesses[i].bytes, 4U);
  }
  EXPECT_EQ(recorder.accesses[1].addresses, from(4, 4, 64));
  EXPECT_EQ(recorder.accesses[2].addresses, from(256, 4, 64));
}

TEST_P(Accesses, InLdsMayLieBeyond) {
  // From lane 32 on, past its 1024 bytes.
  run("gfx900", "s_mov_b32 m0, -1\nv_lshlrev_b32 v1, 2, v0\nds_read_b32 v2, v1 offset:896\ns_waitcnt lgkmcnt(0)");
  const RecordedAccess& access = only();
  EXPECT_EQ(access.space, Space::lds);
  const std::vector<uint64_t> all = from(896, 4, 64);
  EXPECT_EQ(access.addresses, GetParam().odd ? from(896 + 128, 4, 32) : all);
}

TEST_P(Accesses, WhatABufferKeepsOutIsNone) {
  // 100 bytes: 25 lanes are inside.
  run("gfx900",
      "s_mov_b32 s6, 100\ns_mov_b32 s7, 0x00024fac\nv_lshlrev_b32 v1, 2, v0\n"
      "buffer_load_dword v2, v1, s[4:7], 0 offen");
  const RecordedAccess& access = only();
  EXPECT_EQ(access.space, Space::global);
  EXPECT_EQ(access.lanes, (uint64_t{1} << 25) - 1);
  EXPECT_EQ(access.addresses, from(base, 4, 25));
}

TEST_P(Accesses, FlatAddressesAreToldBySpace) {
  // Lanes 0 to 31 go to memory, the others to LDS.
  run("gfx900",
      "s_mov_b64 s[8:9], src_shared_base\nv_lshlrev_b32 v3, 2, v0\nv_mov_b32 v1, s4\nv_mov_b32 v2, s5\n"
      "v_add_co_u32 v1, vcc, v1, v3\nv_addc_co_u32 v2, vcc, 0, v2, vcc\ns_mov_b32 exec_lo, 0\n"
      "v_mov_b32 v1, v3\nv_mov_b32 v2, s9\ns_mov_b64 exec, -1\nflat_load_dword v4, v[1:2]\ns_waitcnt vmcnt(0) "
      "lgkmcnt(0)");
  ASSERT_EQ(recorder.accesses.size(), 3U);
  EXPECT_EQ(recorder.accesses[1].space, Space::global);
  EXPECT_EQ(recorder.accesses[1].addresses, from(base, 4, 32));
  EXPECT_EQ(recorder.accesses[2].space, Space::lds);
  EXPECT_EQ(recorder.accesses[2].addresses, from(128, 4, 32));
}

TEST_P(Accesses, ScratchHasPrivateAddresses) {
  run_observed(recorder, "gfx942",
               {"next_free_vgpr 16", "next_free_sgpr 32", "private_segment_fixed_size 64", "enable_private_segment 1"},
               "v_mov_b32 v1, 8\nscratch_store_dwordx2 v1, v[2:3], off offset:16\ns_endpgm", 64, 64, nullptr, 64,
               GetParam().engine);
  ASSERT_EQ(recorder.accesses.size(), 1U);
  EXPECT_EQ(recorder.accesses[0].space, Space::scratch);
  EXPECT_EQ(recorder.accesses[0].bytes, 8U);
  EXPECT_EQ(recorder.accesses[0].addresses, from(24, 0, 64));
}

TEST_P(Accesses, WavesOf32LanesHaveSoMany) {
  run_observed(
      recorder, "gfx1100",
      {"next_free_vgpr 16", "next_free_sgpr 32", "user_sgpr_kernarg_segment_ptr 1", "wavefront_size32 1"},
      "s_load_b64 s[4:5], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 1, v0\ns_waitcnt lgkmcnt(0)\n"
      "global_load_u16 v2, v1, s[4:5]\ns_endpgm",
      32, 32, arguments, 0, GetParam().engine);
  const RecordedAccess& access = only();
  EXPECT_EQ(access.lanes, 0xFFFFFFFFU);
  EXPECT_EQ(access.bytes, 2U);
  EXPECT_EQ(access.addresses, from(base, 2, 32));
}

INSTANTIATE_TEST_SUITE_P(Ways, Accesses, testing::ValuesIn(ways),
                         [](const auto& way) { return std::string(way.param.name); });

/// Runs loads and stores in a loop by both engines, which have to report the same accesses in the same order.
/// Translated code records loads (engine/compiled/load_records.h), an interpreted wave reports each one as it comes. A
/// barrier after each body ends its region. All bodies are one kernel: to start a GPU and a compiler for each of them
/// took a hundred times as long as its instructions.
void expect_same_accesses(const std::vector<std::string>& bodies) {
  std::string body;
  for (const std::string& each : bodies) body += each + "\ns_mov_b64 exec, -1\ns_barrier\n";
  machine::Memory memory;
  const uint64_t base = memory.allocate(64 << 10, 0, "words and arguments").value_or(0);
  const auto arguments = reinterpret_cast<uint64_t*>(base + (60 << 10));
  *arguments = base + (16 << 10);
  const std::string text =
      "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_mov_b32 m0, -1\nv_lshlrev_b32 v1, 2, v0\ns_movk_i32 s6, 4\n"
      "s_waitcnt lgkmcnt(0)\nv_mov_b32 v3, s5\nagain:\nv_add_co_u32 v2, vcc, s4, v1\n"
      "v_addc_co_u32 v3, vcc, 0, v3, vcc\n" +
      body +
      "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_u32 v1, 0x104, v1\ns_add_i32 s6, s6, -1\n"
      "s_cmp_lg_u32 s6, 0\ns_cbranch_scc1 again\ns_endpgm";
  Recorder interpreted({.accesses = true}), compiled({.accesses = true});
  run_observed(interpreted, "gfx900", directives, text, 64, 64, arguments, 0, "interpreter");
  run_observed(compiled, "gfx900", directives, text, 64, 64, arguments, 0, "compiled");
  ASSERT_EQ(compiled.accesses.size(), interpreted.accesses.size());
  ASSERT_GT(interpreted.accesses.size(), 4U * bodies.size());
  const uint64_t code = interpreted.accesses[0].pc, compiled_code = compiled.accesses[0].pc;
  for (size_t i = 0; i < interpreted.accesses.size(); ++i) {
    const RecordedAccess &expected = interpreted.accesses[i], &access = compiled.accesses[i];
    SCOPED_TRACE(fmt::format("access {}, {:#x} bytes behind the first", i, expected.pc - code));
    EXPECT_EQ(access.pc - compiled_code, expected.pc - code);
    EXPECT_EQ(access.space, expected.space);
    EXPECT_EQ(access.reads, expected.reads);
    EXPECT_EQ(access.writes, expected.writes);
    EXPECT_EQ(access.is_scalar, expected.is_scalar);
    EXPECT_EQ(access.bytes, expected.bytes);
    EXPECT_EQ(access.lanes, expected.lanes);
    EXPECT_EQ(access.addresses, expected.addresses);
    EXPECT_EQ(access.follows, expected.follows);
    EXPECT_EQ(access.repeats, expected.repeats);
  }
}

TEST(RecordedLoads, AreThoseOfTheInterpreter) {
  std::vector<std::string> bodies{
      "global_load_dword v4, v1, s[4:5]",
      "global_load_dword v4, v[2:3], off",
      "global_load_dword v4, v[2:3], off offset:1",  // unaligned
      "global_load_dwordx2 v[4:5], v[2:3], off",     // lanes overlap
      "v_lshlrev_b32 v6, 2, v1\nglobal_load_dwordx4 v[8:11], v6, s[4:5]\nglobal_load_ushort v7, v6, s[4:5]\n"
      "global_load_ubyte v7, v1, s[4:5] offset:3",                                       // sizes side by side
      "v_mov_b32 v6, 64\nglobal_load_dword v4, v6, s[4:5]",                              // stride 0
      "v_mov_b32 v6, 0\nglobal_load_dword v4, v6, s[4:5]\nds_read_b32 v5, v6 offset:8",  // likewise
      "v_sub_u32 v6, 0x2000, v1\nglobal_load_dword v4, v6, s[4:5]",                      // a stride below 0
      "v_xor_b32 v6, 20, v1\nglobal_load_dword v4, v6, s[4:5]",                          // a gather
      "s_mov_b64 exec, 0x70\nglobal_load_dword v4, v1, s[4:5]\nds_read_b32 v5, v1",
      "s_mov_b32 exec_lo, 0xf0f00ff0\ns_mov_b32 exec_hi, 0x10000\nglobal_load_dword v4, v1, s[4:5]\n"
      "v_mov_b32 v6, 4\nds_read_b32 v5, v6",
      "s_mov_b64 exec, 0\nglobal_load_dword v4, v1, s[4:5]\ns_mov_b64 exec, -1\nds_read_b32 v5, v1",
      "ds_read2_b32 v[4:5], v1 offset1:16\nds_read_b64 v[6:7], v1 offset:8\nds_read_u16 v8, v1",
      "ds_read_b32 v4, v1 offset:640",  // beyond LDS, in part
      // In the order of the program: scalar loads, stores and atomics between.
      "global_load_dword v4, v1, s[4:5]\ns_load_dword s8, s[4:5], 0x2\nds_read_b32 v5, v1\n"
      "global_store_dword v1, v4, s[4:5]\nglobal_load_dword v6, v1, s[4:5] offset:4\n"
      "ds_add_u32 v1, v4\nds_read_b32 v7, v1\nds_write_b32 v1, v7",
      "v_cmp_gt_u32 vcc, 20, v0\ns_and_saveexec_b64 s[8:9], vcc\nglobal_load_dword v4, v1, s[4:5]\n"
      "s_mov_b64 exec, s[8:9]\nglobal_load_dword v4, v1, s[4:5] offset:8",
  };
  // More than a loop over the chunks has records for.
  std::string many;
  for (unsigned i = 0; i < 40; ++i) {
    many += fmt::format("ds_read2_b32 v[4:5], v1 offset0:{} offset1:{}\n", i, i + 50);
    if (i % 3 == 0) many += fmt::format("global_load_dword v6, v1, s[4:5] offset:{}\n", 4 * i);
  }
  bodies.push_back(many);
  expect_same_accesses(bodies);
}

/// Stores to 64 KiB, 256 bytes at a time.
TEST(InlineAccessFilter, OfWhatIsOrdinaryIsAskedOnce) {
  machine::Memory memory;
  constexpr uint64_t size = 64 << 10;
  const uint64_t base = memory.allocate(size + 4096, 0, "words and arguments").value_or(0);
  const auto arguments = reinterpret_cast<uint64_t*>(base + size);
  *arguments = base;
  const auto stores = [&](Recorder& recorder) {
    run_observed(recorder, "gfx900", directives,
                 "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_movk_i32 s6, 0x100\n"
                 "s_waitcnt lgkmcnt(0)\nagain:\nglobal_store_dword v1, v2, s[4:5]\n"
                 "v_add_u32 v1, 0x100, v1\ns_add_i32 s6, s6, -1\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 again\ns_endpgm",
                 64, 64, arguments, 0, "compiled");
  };
  Recorder all({}, {.filtered_accesses = true});
  all.ordinary = {.begin = base, .end = base + size + 8};
  stores(all);
  EXPECT_TRUE(all.accesses.empty());
  EXPECT_LE(all.asked, 2U);  // of the load and of the store

  Recorder but_the_last({}, {.filtered_accesses = true});
  but_the_last.ordinary = {.begin = base, .end = base + size - 4};
  stores(but_the_last);
  ASSERT_EQ(but_the_last.accesses.size(), 2U);
  EXPECT_TRUE(but_the_last.accesses[0].is_scalar);
  // Those of the same 16 lanes are told together.
  EXPECT_EQ(but_the_last.accesses[1].addresses.back(), base + size - 4);
  EXPECT_EQ(but_the_last.accesses[1].lanes, 0xFFFF'0000'0000'0000U);
}

}  // namespace
}  // namespace Atoll::test

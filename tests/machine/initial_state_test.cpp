// The registers with which waves start, for kernels that LLVM's assembler made. Each expectation is written out
// from the user guide's tables: "SGPR Register Set Up Order", "VGPR Register Set Up Order", "Flat Scratch".
#include "machine/wave/initial_state.h"
#include "isa/effects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "fixture.h"

namespace Atoll::machine {
namespace {

/// What the engine finds when it first sees a wave.
struct Seen {
  uint32_t group[3]{}, index = 0;
  std::vector<uint32_t> scalar;
  std::vector<std::vector<uint32_t>> vgpr;  ///< all rows
  std::vector<std::vector<uint32_t>> agpr;
  uint64_t pc = 0, exec = 0;
  uint32_t mode = 0;
  semantics::FloatMode float_mode;
  uint64_t scratch = 0;
  uint32_t scratch_bytes_per_lane = 0, lds_bytes = 0, sgprs = 0;
  bool lds_zero = true;
  std::vector<uint8_t> packet;  ///< where the dispatch pointer points
  uint64_t packet_address = 0, queue_address = 0;
};

Seen look(const Wave& wave) {
  Seen seen;
  std::ranges::copy(wave.work_group->id, seen.group);
  seen.index = wave.index;
  seen.scalar.assign(std::begin(wave.scalar), std::end(wave.scalar));
  for (unsigned i = 0; i < wave.vgprs; ++i) seen.vgpr.emplace_back(std::begin(wave.vgpr[i]), std::end(wave.vgpr[i]));
  for (unsigned i = 0; i < wave.agprs; ++i) seen.agpr.emplace_back(std::begin(wave.agpr[i]), std::end(wave.agpr[i]));
  seen.pc = wave.pc;
  seen.exec = wave.exec();
  seen.mode = wave.mode;
  seen.float_mode = wave.float_mode;
  seen.scratch = reinterpret_cast<uint64_t>(wave.scratch);
  seen.scratch_bytes_per_lane = wave.scratch_bytes_per_lane;
  seen.lds_bytes = wave.work_group->lds_bytes;
  seen.sgprs = wave.sgprs;
  const uint8_t* lds = wave.work_group->lds;
  seen.lds_zero = std::all_of(lds, lds + seen.lds_bytes, [](uint8_t byte) { return byte == 0; });
  const Dispatch& dispatch = *wave.work_group->dispatch;
  seen.packet_address = dispatch.launch.packet.address;  // 0 if the kernel does not enable it
  const auto* packet = reinterpret_cast<const uint8_t*>(seen.packet_address);
  if (packet != nullptr) seen.packet.assign(packet, packet + dispatch.launch.packet.size);
  seen.queue_address = dispatch.submission.queue_address;
  return seen;
}

/// Launches the kernel and returns the waves in order of work-group and wave. Every wave scribbles over its registers
/// and LDS, so that state left over from one work-group would show in the next.
std::vector<Seen> run(const std::string& processor, const std::vector<std::string>& directives,
                      std::array<uint32_t, 3> grid, std::array<uint16_t, 3> group,
                      const std::function<void(aql::KernelDispatchPacket&)>& change = {},
                      const std::string& metadata = "", const LiveInRegisters* needed = nullptr) {
  std::vector<Seen> waves;
  std::mutex mutex;
  const auto gpu = test::make_gpu(
      processor,
      [&](Wave& wave, uint64_t) {
        Seen seen = look(wave);
        std::memset(wave.vgpr, 0x5A, sizeof(Row) * (wave.vgprs + wave.agprs));
        std::memset(wave.scalar, 0x5A, sizeof wave.scalar);
        if (wave.work_group->lds_bytes != 0 && wave.index == wave.work_group->waves.size() - 1) {
          std::memset(wave.work_group->lds, 0xA5, wave.work_group->lds_bytes);
        }
        const std::lock_guard lock(mutex);
        waves.push_back(std::move(seen));
        return WaveState::ended;
      },
      {}, needed);
  const auto code = test::load(*gpu, test::assemble_kernel(processor, directives, "s_endpgm", metadata));
  auto packet = test::packet_for(*code, grid, group);
  if (change) change(packet);
  const auto ran = gpu->run(packet);
  EXPECT_TRUE(ran) << ran.error().message;
  const auto key = [](const Seen& s) { return std::tuple{s.group[2], s.group[1], s.group[0], s.index}; };
  std::ranges::sort(waves, {}, key);
  return waves;
}

const std::vector<std::string> registers{"next_free_vgpr 12", "next_free_sgpr 40"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), registers.begin(), registers.end());
  return more;
}

uint64_t pair(const Seen& wave, unsigned reg) { return wave.scalar[reg] | uint64_t{wave.scalar[reg + 1]} << 32; }

TEST(InitialState, EverySgprInOrderUntilGfx90a) {
  for (const char* processor :
       {"gfx701", "gfx803", "gfx810", "gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx90c"}) {
    SCOPED_TRACE(processor);
    // All user SGPRs: 4 + 2 + 2 + 2 + 2 + 2 + 1 = 15.
    const auto waves =
        run(processor,
            with({"private_segment_fixed_size 100", "user_sgpr_private_segment_buffer 1", "user_sgpr_dispatch_ptr 1",
                  "user_sgpr_queue_ptr 1", "user_sgpr_kernarg_segment_ptr 1", "user_sgpr_dispatch_id 1",
                  "user_sgpr_flat_scratch_init 1", "user_sgpr_private_segment_size 1",
                  "system_sgpr_private_segment_wavefront_offset 1", "system_sgpr_workgroup_id_x 1",
                  "system_sgpr_workgroup_id_y 1", "system_sgpr_workgroup_id_z 1", "system_sgpr_workgroup_info 1"}),
            {256, 2, 3}, {128, 1, 1}, [](auto& packet) { packet.kernarg_address = 0x1234'5678'9ABC; });
    ASSERT_EQ(waves.size(), 2u * 2 * 3 * 2);
    const target::Generation generation = target::find_processor(processor)->generation;
    const bool is_before_gfx9 = generation < target::Generation::gfx9;
    for (const Seen& wave : waves) {
      const uint64_t base = wave.scalar[0] | uint64_t{wave.scalar[1] & 0xFFFF} << 32;
      const uint32_t offset = wave.scalar[19];
      EXPECT_EQ(wave.scalar[1] >> 16, 0x8000u) << "stride 0, swizzled";
      EXPECT_GE(wave.scalar[2], 2 * 64 * 100u) << "at least as many bytes as two waves' scratch";
      EXPECT_EQ(wave.scalar[3] >> 21 & 3, 3u) << "index stride 64";
      EXPECT_EQ(wave.scalar[3] >> 23 & 1, 1u) << "adds the lane id";
      const uint32_t data_format = generation < target::Generation::gfx8 ? 4 : 0;
      EXPECT_EQ(wave.scalar[3] >> 15 & 0xF, data_format) << "dwords, or upper stride bits";
      EXPECT_EQ(wave.scalar[3] >> 19 & 3, is_before_gfx9 ? 1u : 0u) << "elements of 4 bytes";
      EXPECT_EQ(wave.scalar[3] >> 30, 0u) << "a buffer";
      EXPECT_EQ(pair(wave, 4), wave.packet_address);
      EXPECT_EQ(pair(wave, 6), wave.queue_address);
      EXPECT_EQ(pair(wave, 8), 0x1234'5678'9ABCu);
      EXPECT_EQ(pair(wave, 10), 0u) << "the GPU's first dispatch";
      if (is_before_gfx9) {
        EXPECT_EQ(wave.scalar[12], 0u) << "scratch begins where the hardware's base of it is";
        EXPECT_EQ(wave.scalar[13], 100u);
      } else {
        EXPECT_EQ(pair(wave, 12), base);
      }
      EXPECT_EQ(wave.scalar[14], 100u);
      EXPECT_EQ(wave.scalar[15], wave.group[0]);
      EXPECT_EQ(wave.scalar[16], wave.group[1]);
      EXPECT_EQ(wave.scalar[17], wave.group[2]);
      EXPECT_EQ(wave.scalar[18], (wave.index == 0 ? 0x8000'0000u : 0u) | 2u);
      EXPECT_EQ(base + offset, wave.scratch);
      EXPECT_EQ(offset, wave.index * 7168u) << "100 bytes of 64 lanes, in units of 1024 bytes";
      EXPECT_EQ(pair(wave, isa::scalar::flat_scratch_lo), 0u) << "the kernel's own to set";
    }
  }
}

TEST(InitialState, DisabledRegistersLeaveNoGap) {
  const auto waves = run("gfx90a",
                         with({"user_sgpr_queue_ptr 1", "user_sgpr_dispatch_id 1", "system_sgpr_workgroup_id_x 0",
                               "system_sgpr_workgroup_id_z 1"}),
                         {1, 1, 3}, {1, 1, 1});
  ASSERT_EQ(waves.size(), 3u);
  for (const Seen& wave : waves) {
    EXPECT_EQ(pair(wave, 0), wave.queue_address);
    EXPECT_EQ(pair(wave, 2), 0u);
    EXPECT_EQ(wave.scalar[4], wave.group[2]);
    EXPECT_EQ(wave.scalar[5], 0u);
  }
}

TEST(InitialState, TheDispatchPointerPointsToThePacket) {
  aql::KernelDispatchPacket sent{};
  const auto waves = run("gfx906", with({"user_sgpr_dispatch_ptr 1"}), {70, 1, 1}, {64, 1, 1}, [&](auto& packet) {
    packet.reserved2 = 0x1122334455667788;
    sent = packet;
  });
  for (const Seen& wave : waves) {
    EXPECT_EQ(pair(wave, 0), wave.packet_address);
    EXPECT_EQ(wave.packet_address % 64, 0u);
    EXPECT_EQ(std::memcmp(wave.packet.data(), &sent, sizeof sent), 0);
  }
}

TEST(InitialState, ArchitectedFlatScratchIsSetOnGfx942) {
  const auto waves = run("gfx942",
                         with({"private_segment_fixed_size 64", "enable_private_segment 1",
                               "user_sgpr_kernarg_segment_ptr 1", "system_sgpr_workgroup_id_x 1"}),
                         {192, 1, 1}, {192, 1, 1}, [](auto& packet) { packet.kernarg_address = 0x4000; });
  ASSERT_EQ(waves.size(), 3u);
  for (const Seen& wave : waves) {
    EXPECT_NE(wave.scratch, 0u);
    EXPECT_EQ(pair(wave, isa::scalar::flat_scratch_lo), wave.scratch);
    EXPECT_EQ(wave.scratch - waves[0].scratch, wave.index * 4096u);
    EXPECT_EQ(pair(wave, 0), 0x4000u);
    EXPECT_EQ(wave.scalar[2], 0u) << "work-group id x";
    EXPECT_EQ(wave.scalar[3], 0u) << "no scratch wave offset";
  }
}

TEST(InitialState, KernelArgumentsArePreloaded) {
  std::vector<uint32_t> arguments(16);
  std::iota(arguments.begin(), arguments.end(), 100);
  for (const char* processor : {"gfx90a", "gfx942"}) {
    const auto change = [&](auto& packet) { packet.kernarg_address = reinterpret_cast<uint64_t>(arguments.data()); };
    const auto plain =
        run(processor, with({"user_sgpr_kernarg_segment_ptr 1", "kernarg_size 64"}), {1, 1, 1}, {1, 1, 1}, change);
    const auto waves = run(processor,
                           with({"user_sgpr_kernarg_segment_ptr 1", "user_sgpr_kernarg_preload_length 5",
                                 "user_sgpr_kernarg_preload_offset 2", "kernarg_size 64"}),
                           {1, 1, 1}, {1, 1, 1}, change);
    ASSERT_EQ(waves.size(), 1u);
    for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(waves[0].scalar[2 + i], 102 + i);
    EXPECT_EQ(waves[0].scalar[7], 0u) << "work-group id x";
    // The 256 bytes at the entry that do the same for older firmware are skipped.
    EXPECT_EQ(waves[0].pc % 256, 0u);
    EXPECT_EQ(waves[0].pc & 0xFFF, (plain[0].pc & 0xFFF) + 256);
  }
}

TEST(InitialState, WorkItemIdsHaveARegisterEachBeforeGfx90a) {
  for (unsigned ids = 0; ids <= 2; ++ids) {
    const auto waves = run("gfx908", with({"system_vgpr_workitem_id " + std::to_string(ids)}), {5, 6, 7}, {5, 6, 7});
    ASSERT_EQ(waves.size(), 4u);  // 210 work-items
    for (const Seen& wave : waves) {
      for (unsigned lane = 0; lane < 64; ++lane) {
        const unsigned item = wave.index * 64 + lane;
        if (item >= 210) continue;
        EXPECT_EQ(wave.vgpr[0][lane], item % 5);
        EXPECT_EQ(wave.vgpr[1][lane], ids >= 1 ? item / 5 % 6 : 0);
        EXPECT_EQ(wave.vgpr[2][lane], ids >= 2 ? item / 30 : 0);
      }
    }
    EXPECT_EQ(waves[3].exec, (uint64_t{1} << (210 - 192)) - 1);
    EXPECT_EQ(waves[2].exec, ~uint64_t{0});
  }
}

TEST(InitialState, WorkItemIdsArePackedFromGfx90aOn) {
  for (const char* processor : {"gfx90a", "gfx942"}) {
    for (unsigned ids = 0; ids <= 2; ++ids) {
      const auto waves = run(processor, with({"system_vgpr_workitem_id " + std::to_string(ids), "accum_offset 12"}),
                             {4, 8, 3}, {4, 8, 3});
      ASSERT_EQ(waves.size(), 2u);
      for (const Seen& wave : waves) {
        for (unsigned lane = 0; lane < 64; ++lane) {
          const unsigned item = wave.index * 64 + lane;
          if (item >= 96) continue;
          const unsigned y = ids >= 1 ? item / 4 % 8 : 0;
          const unsigned z = ids >= 2 ? item / 32 : 0;
          EXPECT_EQ(wave.vgpr[0][lane], item % 4 | y << 10 | z << 20);
        }
      }
    }
  }
}

TEST(InitialState, WorkGroupsAtTheGridsEdgeArePartial) {
  // 10 x 5 x 3 work-items in work-groups of 4 x 4 x 2: the last ones have 2, 1 and 1 in each dimension.
  const auto waves =
      run("gfx900", with({"system_vgpr_workitem_id 2", "system_sgpr_workgroup_info 1"}), {10, 5, 3}, {4, 4, 2});
  ASSERT_EQ(waves.size(), 3u * 2 * 2);
  unsigned items = 0;
  for (const Seen& wave : waves) {
    const unsigned width = wave.group[0] == 2 ? 2 : 4;
    const unsigned height = wave.group[1] == 1 ? 1 : 4;
    const unsigned depth = wave.group[2] == 1 ? 1 : 2;
    const unsigned count = width * height * depth;
    EXPECT_EQ(wave.exec, (uint64_t{1} << count) - 1);
    for (unsigned lane = 0; lane < count; ++lane) {
      EXPECT_EQ(wave.vgpr[0][lane], lane % width);
      EXPECT_EQ(wave.vgpr[1][lane], lane / width % height);
      EXPECT_EQ(wave.vgpr[2][lane], lane / width / height);
    }
    EXPECT_EQ(wave.scalar[1], 0x8000'0001u) << "work-group info after the id: first of one wave";
    items += count;
  }
  EXPECT_EQ(items, 150u);
}

TEST(InitialState, APartialWorkGroupHasFewerWaves) {
  const auto waves = run("gfx900", with({}), {1024 + 65, 1, 1}, {1024, 1, 1});
  ASSERT_EQ(waves.size(), 16u + 2);
  EXPECT_EQ(waves[16].exec, ~uint64_t{0});
  EXPECT_EQ(waves[17].exec, 1u);
  EXPECT_EQ(waves[17].vgpr[0][0], 64u);
}

TEST(InitialState, RegistersAndLdsStartAtZero) {
  const auto waves = run("gfx90a", with({"accum_offset 8", "group_segment_fixed_size 512"}), {640, 1, 1}, {64, 1, 1},
                         [](auto& packet) { packet.group_segment_size = 1536; });
  ASSERT_EQ(waves.size(), 10u);
  for (const Seen& wave : waves) {
    ASSERT_EQ(wave.vgpr.size(), 8u);
    ASSERT_EQ(wave.agpr.size(), 8u) << "12 registers, in blocks of 8";
    const std::vector<uint32_t> zeros(64);
    for (unsigned i = 1; i < 8; ++i) EXPECT_EQ(wave.vgpr[i], zeros);
    for (const auto& row : wave.agpr) EXPECT_EQ(row, zeros);
    EXPECT_EQ(wave.lds_bytes, 1536u);
    EXPECT_TRUE(wave.lds_zero);
  }
}

TEST(InitialState, WhatTheEngineNeedsIsThere) {
  const LiveInRegisters needed{.rows = {0, 3, isa::first_agpr + 1, isa::first_agpr + 44}, .scalars = 11};
  const auto waves = run(
      "gfx90a",
      with({"accum_offset 8", "user_sgpr_dispatch_ptr 1", "user_sgpr_kernarg_segment_ptr 1",
            "system_sgpr_workgroup_id_x 1"}),
      {640, 1, 1}, {64, 1, 1}, [](auto& packet) { packet.kernarg_address = 0x1234'5678'9ABC; }, "", &needed);
  ASSERT_EQ(waves.size(), 10u);
  const std::vector<uint32_t> zeros(64);
  for (const Seen& wave : waves) {
    for (uint32_t lane = 0; lane < 64; ++lane) EXPECT_EQ(wave.vgpr[0][lane], lane);
    EXPECT_EQ(wave.vgpr[3], zeros);
    EXPECT_EQ(wave.agpr[1], zeros);
    EXPECT_EQ(pair(wave, 0), wave.packet_address);
    EXPECT_EQ(pair(wave, 2), 0x1234'5678'9ABC);
    EXPECT_EQ(wave.scalar[4], wave.group[0]);
    for (unsigned i = 5; i < 11; ++i) EXPECT_EQ(wave.scalar[i], 0u);
    EXPECT_EQ(wave.exec, ~uint64_t{0});
  }
}

/// Metadata that says how many VGPRs (gfx90a: and AGPRs) the kernel uses.
std::string metadata_with(unsigned vgprs) {
  return ".amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:\n  - .name: k\n    .symbol: k.kd\n"
         "    .kernarg_segment_size: 0\n    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 0\n"
         "    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n    .sgpr_count: 8\n"
         "    .max_flat_workgroup_size: 1024\n    .vgpr_count: " +
         std::to_string(vgprs) + "\n.end_amdgpu_metadata";
}

TEST(InitialState, AllRegistersThatAKernelNamesStartAtZero) {
  struct Case {
    const char* processor;
    std::vector<std::string> directives;
    unsigned said, vgprs, agprs;  ///< by the metadata; what must be zero
  };
  const Case cases[] = {
      {"gfx900", {"next_free_vgpr 6", "next_free_sgpr 8"}, 6, 6, 0},
      {"gfx900", {"next_free_vgpr 14", "next_free_sgpr 8"}, 9, 16, 0},  // the metadata disagrees with the descriptor
      {"gfx90a", {"next_free_vgpr 10", "next_free_sgpr 8", "accum_offset 12"}, 10, 10, 0},
      {"gfx90a", {"next_free_vgpr 13", "next_free_sgpr 8", "accum_offset 8"}, 13, 8, 8},
      {"gfx90a", {"next_free_vgpr 13", "next_free_sgpr 8", "accum_offset 8"}, 6, 8, 8},
  };
  for (const Case& c : cases) {
    const auto waves = run(c.processor, c.directives, {1024, 1, 1}, {128, 1, 1}, {}, metadata_with(c.said));
    ASSERT_EQ(waves.size(), 16u);
    const std::vector<uint32_t> zeros(64);
    for (const Seen& wave : waves) {
      ASSERT_GE(wave.vgpr.size(), c.vgprs);
      ASSERT_GE(wave.agpr.size(), c.agprs);
      for (unsigned i = 1; i < c.vgprs; ++i) EXPECT_EQ(wave.vgpr[i], zeros) << c.processor << " v" << i;
      for (unsigned i = 0; i < c.agprs; ++i) EXPECT_EQ(wave.agpr[i], zeros) << c.processor << " a" << i;
    }
  }
}

TEST(InitialState, ModeComesFromTheDescriptor) {
  const auto waves = run("gfx900",
                         with({"float_round_mode_32 1", "float_round_mode_16_64 3", "float_denorm_mode_32 0",
                               "float_denorm_mode_16_64 2", "dx10_clamp 0", "ieee_mode 1"}),
                         {1, 1, 1}, {1, 1, 1});
  ASSERT_EQ(waves.size(), 1u);
  EXPECT_EQ(waves[0].mode & 0x3FF, 1u | 3u << 2 | 0u << 4 | 2u << 6 | 0u << 8 | 1u << 9);
  EXPECT_EQ(waves[0].float_mode.round32, semantics::Round::plus_infinity);
  EXPECT_EQ(waves[0].float_mode.round16_64, semantics::Round::toward_zero);
  EXPECT_EQ(waves[0].float_mode.denormals32, semantics::Denormals::flush_in_out);
  EXPECT_EQ(waves[0].float_mode.denormals16_64, semantics::Denormals::allow_out);  // FLUSH_SRC: sources only
  EXPECT_FALSE(waves[0].float_mode.dx10_clamp);
  EXPECT_TRUE(waves[0].float_mode.ieee);
}

TEST(InitialState, ScratchOfEveryResidentWaveIsItsOwn) {
  const auto waves = run("gfx900", with({"private_segment_fixed_size 16", "uses_dynamic_stack 1"}), {256, 1, 1},
                         {256, 1, 1}, [](auto& packet) { packet.private_segment_size = 40000; });
  ASSERT_EQ(waves.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(waves[i].scratch_bytes_per_lane, 40000u);
    EXPECT_EQ(waves[i].scratch - waves[0].scratch, i * 64 * 40000u);
  }
  const auto dynamic =
      run("gfx900", with({"private_segment_fixed_size 16", "uses_dynamic_stack 1"}), {1, 1, 1}, {1, 1, 1});
  EXPECT_GE(dynamic[0].scratch_bytes_per_lane, 16384u) << "room for a stack whose depth nobody knows";
}

}  // namespace
}  // namespace Atoll::machine

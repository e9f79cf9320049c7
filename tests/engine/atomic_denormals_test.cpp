// Denormals in float atomics, by the instruction's path, on each GPU: LLVM 22 makes an atomic addition of atomicrmw
// fadd in code that keeps denormals where the GPU does (memory-atomic-fadd-f32-denormal-support). The rest is as the
// CDNA3 and RDNA3 ISA guides say ("Denormal (Subnormal) Handling", "Float Memory Atomics").
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"
#include "machine/memory/memory.h"

namespace Atoll::test {
namespace {

using machine::WaveState;

constexpr uint32_t tiny = 0x0000'0003, smaller = 0x8000'0001, sum = 0x0000'0002;
constexpr uint32_t flushing_mode = 0x300, keeping_mode = 0x3F0;

struct Gpu {
  const char* name;
  unsigned wave_size;
  bool sums_keep;
  bool has_flat = true, has_buffer = true;
};
void PrintTo(const Gpu& gpu, std::ostream* out) { *out << gpu.name; }

class AtomicDenormals : public testing::TestWithParam<Gpu> {
 protected:
  /// Returns memory or LDS at the place of `before` after `code` in a mode, with v2 or v[2:3] as the address
  /// and v4 as the data.
  uint32_t after(const std::string& code, uint32_t mode, uint32_t before, uint32_t data, bool on_lds,
                 bool is_flat = false) {
    const Gpu& gpu = GetParam();
    WaveRunner runner(gpu.name, "", gpu.wave_size);
    runner.wave().mode = mode;
    runner.wave().float_mode = machine::float_mode_of(mode, *target::find_processor(gpu.name));
    std::vector<uint32_t> memory(16, before);
    std::memcpy(runner.lds(), &before, 4);
    const uint64_t address =
        on_lds && is_flat ? uint64_t{machine::shared_aperture_hi} << 32 : reinterpret_cast<uint64_t>(memory.data());
    if (!on_lds || is_flat) {
      runner.set_rows(2, [&](unsigned) { return address; });
    }
    set_buffer(runner, 4, memory.data(), 64);
    std::ranges::fill(runner.v(4), data);
    runner.wave().set_exec(1);
    EXPECT_EQ(runner.run(code), WaveState::ended) << code;
    uint32_t result = memory[0];
    if (on_lds) std::memcpy(&result, runner.lds(), 4);
    return result;
  }
};

TEST_P(AtomicDenormals, SumsOnMemoryKeepThemWhereCompilersRelyOnIt) {
  const Gpu& gpu = GetParam();
  std::vector<std::string> codes = {"global_atomic_add_f32 v[2:3], v4, off"};
  if (gpu.has_flat) codes.emplace_back("flat_atomic_add_f32 v[2:3], v4");
  if (gpu.has_buffer) codes.emplace_back("buffer_atomic_add_f32 v4, off, s[4:7], 0");
  const bool is_gfx12 = std::string_view(gpu.name).starts_with("gfx12");
  if (is_gfx12 && gpu.has_buffer) codes.back() = "buffer_atomic_add_f32 v4, off, s[4:7], null";
  for (const std::string& code : codes) {
    for (const uint32_t mode : {flushing_mode, keeping_mode}) {
      EXPECT_EQ(after(code, mode, tiny, smaller, false), gpu.sums_keep ? sum : 0) << code;
    }
  }
}

TEST_P(AtomicDenormals, SumsOnLdsFollowMode) {
  const Gpu& gpu = GetParam();
  EXPECT_EQ(after("ds_add_f32 v2, v4", keeping_mode, tiny, smaller, true), sum);
  EXPECT_EQ(after("ds_add_f32 v2, v4", flushing_mode, tiny, smaller, true), 0u);
  if (!gpu.has_flat) return;
  EXPECT_EQ(after("flat_atomic_add_f32 v[2:3], v4", keeping_mode, tiny, smaller, true, true), sum);
  EXPECT_EQ(after("flat_atomic_add_f32 v[2:3], v4", flushing_mode, tiny, smaller, true, true), 0u);
}

TEST_P(AtomicDenormals, MinimaAreNeverFlushed) {
  const bool is_new = std::string_view(GetParam().name).starts_with("gfx12");
  const std::string minimum = is_new ? "ds_min_num_f32 v2, v4" : "ds_min_f32 v2, v4";
  EXPECT_EQ(after(minimum, keeping_mode, tiny, smaller, true), smaller);
  EXPECT_EQ(after(minimum, flushing_mode, tiny, std::bit_cast<uint32_t>(1.0f), true), tiny);
}

INSTANTIATE_TEST_SUITE_P(On, AtomicDenormals,
                         testing::Values(Gpu{"gfx908", 64, false, false}, Gpu{"gfx90a", 64, false, false},
                                         Gpu{"gfx942", 64, true}, Gpu{"gfx950", 64, true}, Gpu{"gfx1100", 32, true},
                                         Gpu{"gfx1150", 32, true}, Gpu{"gfx1201", 32, true}, Gpu{"gfx1250", 32, true}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace Atoll::test

// A kernel whose atomics the compiler turns into scans over the wave (wave_atomics.c): the old values that the lanes
// get must be those of some order of the lanes, and for the scans that is the lanes' own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "atoll/atoll.h"
#include "support/command.h"

namespace Atoll::test {
namespace {

constexpr unsigned lanes = 64, outputs = 16, cells = 32;

/// One atomic of the kernel: which output has its old values, which lanes do it, and what it computes.
struct Atomic {
  unsigned output;
  unsigned condition;  ///< the input's bit that a lane must have set, or 64
  unsigned bits;
  uint64_t initial, final;
  std::function<uint64_t(uint64_t old, uint64_t input)> compute;
};

void check(const Atomic& atomic, const std::vector<uint64_t>& in, const std::vector<uint64_t>& out) {
  SCOPED_TRACE(fmt::format("output {}", atomic.output));
  const uint64_t mask = ~uint64_t{0} >> (64 - atomic.bits);
  uint64_t value = atomic.initial;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const uint64_t seen = out[lane * outputs + atomic.output];
    if (atomic.condition < 64 && (in[lane] >> atomic.condition & 1) == 0) {
      ASSERT_EQ(seen, 0) << "lane " << lane << " took no part";
      continue;
    }
    ASSERT_EQ(seen, value) << "lane " << lane;
    value = atomic.compute(value, in[lane] & mask) & mask;
  }
  ASSERT_EQ(atomic.final, value) << "in the end";
}

void check_kernel(const std::string& processor, const std::string& optimisation, const std::string& strategy) {
  SCOPED_TRACE(fmt::format("{} {} {}", processor, optimisation, strategy));
  const auto file = std::filesystem::temp_directory_path() /
                    fmt::format("atoll-atomics-{}-{}{}-{}.co", getpid(), processor, optimisation, strategy);
  const auto run =
      run_command(fmt::format("clang-22 -target amdgcn-amd-amdhsa -mcpu={} -nogpulib {} -fvisibility=protected -mllvm "
                              "-amdgpu-atomic-optimizer-strategy={} {}/wave_atomics.c -o {} 2>&1",
                              processor, optimisation, strategy, ATOLL_DIFFERENTIAL, file.string()));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const auto gpu = Gpu::create(processor, {.timeout_seconds = 600});
  ASSERT_TRUE(gpu.has_value()) << gpu.error().message;
  const auto code = gpu->load_file(file);
  std::filesystem::remove(file);
  ASSERT_TRUE(code.has_value()) << code.error().message;
  const auto in_buffer = gpu->allocate<uint64_t>(lanes), out_buffer = gpu->allocate<uint64_t>(lanes * outputs),
             longs_buffer = gpu->allocate<uint64_t>(cells);
  const auto words_buffer = gpu->allocate<uint32_t>(cells);
  ASSERT_TRUE(in_buffer && out_buffer && longs_buffer && words_buffer);

  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937_64 random(seed);
    for (uint64_t& value : in_buffer->span()) value = random();
    for (uint32_t& value : words_buffer->span()) value = static_cast<uint32_t>(random());
    for (uint64_t& value : longs_buffer->span()) value = random();
    std::ranges::fill(out_buffer->span(), 0);
    const auto in = in_buffer->read(), longs = longs_buffer->read();
    const auto words = words_buffer->read();
    const auto launched = gpu->launch(*code, "atomics", {.grid = {lanes}, .block = {lanes}}, *in_buffer, *out_buffer,
                                      *words_buffer, *longs_buffer);
    ASSERT_TRUE(launched.has_value()) << launched.error().message;
    const auto out = out_buffer->read(), longs_after = longs_buffer->read();
    const auto after = words_buffer->read();

    const auto add = [](uint64_t old, uint64_t x) { return old + x; };
    const auto exclusive_or = [](uint64_t old, uint64_t x) { return old ^ x; };
    const auto maximum = [](uint64_t old, uint64_t x) { return std::max(old, x); };
    const Atomic atomics[] = {
        {0, 40, 32, words[0], after[0], add},
        {1, 64, 32, words[1], after[1], [](uint64_t old, uint64_t x) { return old - x; }},
        {2, 41, 32, words[2], after[2], [](uint64_t old, uint64_t x) { return old | x; }},
        {3, 64, 32, words[3], after[3], [](uint64_t old, uint64_t x) { return old & x; }},
        {4, 64, 32, words[4], after[4], exclusive_or},
        {5, 64, 32, words[5], after[5], maximum},
        {6, 42, 32, words[6], after[6],
         [](uint64_t old, uint64_t x) { return static_cast<int32_t>(x) < static_cast<int32_t>(old) ? x : old; }},
        {7, 64, 64, longs[0], longs_after[0], add},
        {8, 64, 32, words[0], after[16], add},
        {9, 43, 64, longs[0], longs_after[16], add},
        {10, 64, 32, words[1], after[17], exclusive_or},
        {11, 64, 32, words[2], after[18], maximum},
        {12, 64, 32, words[7], after[7], [](uint64_t old, uint64_t) { return old + 5; }},
        {13, 44, 32, words[8], after[8], [](uint64_t old, uint64_t) { return old + 3; }},
    };
    for (const Atomic& atomic : atomics) check(atomic, in, out);
    std::vector<uint64_t> sums(longs.begin() + 1, longs.begin() + 5);
    for (const uint64_t input : in) sums[input >> 3 & 3] += input >> 9;
    EXPECT_EQ(std::vector<uint64_t>(longs_after.begin() + 1, longs_after.begin() + 5), sums);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(WaveAtomics, GiveEachLaneTheOldValueOfItsTurn) {
  for (const char* processor : {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"}) {
    check_kernel(processor, "-O2", "DPP");
    check_kernel(processor, "-O2", "Iterative");
  }
  check_kernel("gfx906", "-O0", "None");
}

}  // namespace
}  // namespace Atoll::test

// Asynchronous copies, plain and of rectangles, and their times.
#include <numeric>

#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

using HsaCopy = HsaTest;

TEST_F(HsaCopy, CopiesWaitForTheirDependencies) {
  constexpr size_t count = 1 << 20;  // large enough to be left to the copy thread
  auto* source = allocate<uint32_t>(system_pools[0], count);
  auto* destination = allocate<uint32_t>(gpu_pools[0], count);
  std::iota(source, source + count, 1U);
  const hsa_signal_t first = make_signal(1), second = make_signal(1), done = make_signal(1), other = make_signal(1);
  const hsa_signal_t dependencies[] = {first, second};
  ASSERT_EQ(hsa_amd_memory_async_copy(destination, gpu, source, cpu, count * sizeof(uint32_t), 2, dependencies, done),
            HSA_STATUS_SUCCESS);
  // A copy behind it that waits for nothing is not held up.
  auto* aside = allocate<uint32_t>(gpu_pools[0], count);
  ASSERT_EQ(hsa_amd_memory_async_copy(aside, gpu, source, cpu, count * sizeof(uint32_t), 0, nullptr, other),
            HSA_STATUS_SUCCESS);
  await_zero(other);
  EXPECT_EQ(aside[count - 1], count);
  EXPECT_EQ(hsa_signal_load_relaxed(done), 1);
  EXPECT_EQ(destination[count - 1], 0U);
  hsa_signal_store_relaxed(second, 0);
  hsa_signal_store_relaxed(first, 0);
  await_zero(done);
  EXPECT_TRUE(std::equal(source, source + count, destination));

  hsa_amd_profiling_async_copy_time_t time{};
  ASSERT_EQ(hsa_amd_profiling_get_async_copy_time(done, &time), HSA_STATUS_SUCCESS);
  uint64_t now = 0;
  ASSERT_EQ(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now), HSA_STATUS_SUCCESS);
  EXPECT_GT(time.start, 0U);
  EXPECT_GE(time.end, time.start);
  EXPECT_LE(time.end, now);
  for (const hsa_signal_t signal : {first, second, done, other}) {
    EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
  }
}

TEST_F(HsaCopy, RectanglesKeepToTheirPitchesAndSlices) {
  // A box of 12 bytes by 3 rows by 2 layers, from (4, 1, 1) in one array to (8, 2, 0) in another.
  constexpr size_t source_pitch = 20, source_slice = source_pitch * 5;
  constexpr size_t destination_pitch = 24, destination_slice = destination_pitch * 6;
  auto* source = allocate<uint8_t>(system_pools[0], source_slice * 3);
  auto* destination = allocate<uint8_t>(gpu_pools[0], destination_slice * 2);
  for (size_t i = 0; i < source_slice * 3; ++i) source[i] = static_cast<uint8_t>(i % 251 + 1);
  std::vector<uint8_t> expected(destination_slice * 2);
  for (size_t z = 0; z < 2; ++z) {
    for (size_t y = 0; y < 3; ++y) {
      for (size_t x = 0; x < 12; ++x) {
        expected[z * destination_slice + (y + 2) * destination_pitch + x + 8] =
            source[(z + 1) * source_slice + (y + 1) * source_pitch + x + 4];
      }
    }
  }
  const hsa_pitched_ptr_t from{source, source_pitch, source_slice},
      to{destination, destination_pitch, destination_slice};
  const hsa_dim3_t from_offset{4, 1, 1}, to_offset{8, 2, 0}, range{12, 3, 2};
  const hsa_signal_t done = make_signal(1);
  ASSERT_EQ(hsa_amd_memory_async_copy_rect(&to, &to_offset, &from, &from_offset, &range, gpu, hsaHostToDevice, 0,
                                           nullptr, done),
            HSA_STATUS_SUCCESS);
  await_zero(done);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), destination));
  EXPECT_EQ(hsa_amd_memory_async_copy_rect(&to, &to_offset, &from, &from_offset, &range, cpu, hsaHostToDevice, 0,
                                           nullptr, done),
            HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
}

TEST_F(HsaCopy, BadArgumentsAreRefused) {
  auto* memory = allocate<uint8_t>(gpu_pools[0], 16);
  const hsa_signal_t done = make_signal(1);
  EXPECT_EQ(hsa_amd_memory_async_copy(nullptr, gpu, memory, gpu, 4, 0, nullptr, done),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_memory_async_copy(memory, gpu, memory + 8, gpu, 4, 1, nullptr, done),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_memory_async_copy(memory, {5}, memory + 8, gpu, 4, 0, nullptr, done),
            HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_amd_memory_async_copy(memory, gpu, memory + 8, gpu, 4, 0, nullptr, {0}),
            HSA_STATUS_ERROR_INVALID_SIGNAL);
  EXPECT_EQ(hsa_signal_load_relaxed(done), 1);
  EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
}

}  // namespace

// Asynchronous copies, plain and of rectangles, and their times.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <numeric>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/runtime.h"
#include "support/command.h"

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
  // A copy after it that waits for nothing is not held up.
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

TEST_F(HsaCopy, EveryEngineCopies) {
  uint32_t engines = 0, more = 0, mask = 0, preferred = 1;
  ASSERT_EQ(hsa_agent_get_info(gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_NUM_SDMA_ENG), &engines),
            HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_agent_get_info(gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG), &more),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(engines, 2U);  // gfx90a has five: two and three for links between GPUs
  EXPECT_EQ(more, 3U);
  ASSERT_EQ(hsa_amd_memory_copy_engine_status(gpu, cpu, &mask), HSA_STATUS_SUCCESS);
  EXPECT_EQ(mask, 0b11111U);
  EXPECT_EQ(hsa_amd_memory_get_preferred_copy_engine(cpu, gpu, &preferred), HSA_STATUS_SUCCESS);
  EXPECT_EQ(preferred & ~mask, 0U);
  EXPECT_EQ(hsa_amd_memory_copy_engine_status(gpu, gpu, &mask), HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_amd_memory_copy_engine_status(gpu, cpu, nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);

  auto* source = allocate<uint32_t>(system_pools[0], 64);
  auto* destination = allocate<uint32_t>(gpu_pools[0], 64);
  const hsa_signal_t done = make_signal(0);
  const auto copy = [&](uint32_t engine) {
    return hsa_amd_memory_async_copy_on_engine(destination, gpu, source, cpu, 256, 0, nullptr, done,
                                               static_cast<hsa_amd_sdma_engine_id_t>(engine), false);
  };
  for (uint32_t engine = 1; engine <= 16; engine *= 2) {
    std::fill_n(source, 64, engine);
    hsa_signal_store_relaxed(done, 1);
    ASSERT_EQ(copy(engine), HSA_STATUS_SUCCESS);
    await_zero(done);
    EXPECT_EQ(destination[63], engine);
  }
  for (const uint32_t wrong : {0U, 3U, 32U}) EXPECT_EQ(copy(wrong), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(source), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(destination), HSA_STATUS_SUCCESS);
}

// hsa_ext_amd.h: the completion signal becomes negative when the copy fails.
TEST_F(HsaCopy, CopiesOfMemoryThatIsNotThereFail) {
  auto* here = allocate<uint8_t>(gpu_pools[0], 1 << 20);
  auto* nowhere = reinterpret_cast<uint8_t*>(0x1000);
  for (const size_t size : {size_t{16}, size_t{1} << 20}) {  // at once, and on the copy thread
    for (const bool read : {true, false}) {
      const hsa_signal_t done = make_signal(1);
      ASSERT_EQ(
          hsa_amd_memory_async_copy(read ? here : nowhere, gpu, read ? nowhere : here, cpu, size, 0, nullptr, done),
          HSA_STATUS_SUCCESS);
      EXPECT_LT(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 10'000'000'000, HSA_WAIT_STATE_BLOCKED), 0);
      EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
    }
  }
  const hsa_signal_t done = make_signal(1);
  const hsa_pitched_ptr_t from{nowhere, 64, 64}, to{here, 64, 64};
  const hsa_dim3_t offset{}, range{16, 1, 1};
  ASSERT_EQ(
      hsa_amd_memory_async_copy_rect(&to, &offset, &from, &offset, &range, gpu, hsaHostToDevice, 0, nullptr, done),
      HSA_STATUS_SUCCESS);
  EXPECT_LT(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 10'000'000'000, HSA_WAIT_STATE_BLOCKED), 0);
  EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_memory_copy(here, nowhere, 16), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_memory_copy(nowhere, here, 16), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_memory_pool_free(here), HSA_STATUS_SUCCESS);
}

TEST_F(HsaCopy, TheRuntimeFindsTheAgentsItself) {
  auto* source = allocate<uint32_t>(system_pools[0], 1);
  auto* destination = allocate<uint32_t>(gpu_pools[0], 1);
  *source = 5;
  const hsa_signal_t done = make_signal(1);
  ASSERT_EQ(hsa_amd_memory_async_copy(destination, {0}, source, {0}, 4, 0, nullptr, done), HSA_STATUS_SUCCESS);
  await_zero(done);
  EXPECT_EQ(*destination, 5U);
  EXPECT_EQ(hsa_amd_memory_async_copy(destination, {42}, source, cpu, 4, 0, nullptr, done),
            HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(source), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(destination), HSA_STATUS_SUCCESS);
}

TEST_F(HsaCopy, FilesAreReadAndWritten) {
  auto* memory = allocate<uint8_t>(gpu_pools[0], 10'000);
  std::iota(memory, memory + 10'000, uint8_t{0});
  const TemporaryDirectory directory;
  hsa_amd_ais_file_handle_t file{};
  file.fd = open((directory / "data").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(file.fd, 0);
  uint64_t copied = 0;
  int32_t error = -1;
  ASSERT_EQ(hsa_amd_ais_file_write(file, memory + 1, 9'000, 100, &copied, &error), HSA_STATUS_SUCCESS);
  EXPECT_EQ(copied, 9'000U);
  EXPECT_EQ(error, 0);
  const std::vector<uint8_t> written = read_bytes(directory / "data");
  ASSERT_EQ(written.size(), 9'100U);
  EXPECT_EQ(written[99], 0U);
  EXPECT_TRUE(std::equal(memory + 1, memory + 9'001, written.begin() + 100));
  // The file ends before the request does.
  ASSERT_EQ(hsa_amd_ais_file_read(file, memory, 1'000, 9'000, &copied, &error), HSA_STATUS_SUCCESS);
  EXPECT_EQ(copied, 100U);
  EXPECT_TRUE(std::equal(memory, memory + 100, written.begin() + 9'000));
  EXPECT_EQ(memory[100], 100U);

  EXPECT_EQ(hsa_amd_ais_file_read(file, memory, 20'000, 0, &copied, &error), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_ais_file_read(file, nullptr, 1, 0, &copied, &error), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_ais_file_write(file, memory, 0, 0, &copied, &error), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  close(file.fd);
  EXPECT_EQ(hsa_amd_ais_file_write(file, memory, 1, 0, &copied, &error), HSA_STATUS_ERROR);
  EXPECT_EQ(error, EBADF);
  EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
}

TEST_F(HsaCopy, TheLogTellsOfWhatItIsAskedAbout) {
  auto* memory = allocate<uint8_t>(gpu_pools[0], 64);
  const hsa_signal_t done = make_signal(9);
  const TemporaryDirectory directory;
  std::FILE* file = std::fopen((directory / "log").c_str(), "w");
  ASSERT_NE(file, nullptr);
  const auto copy = [&](size_t size) {
    EXPECT_EQ(hsa_amd_memory_async_copy(memory, gpu, memory + 32, gpu, size, 0, nullptr, done), HSA_STATUS_SUCCESS);
  };
  uint8_t kinds[8] = {1 << HSA_AMD_LOG_FLAG_INFO};
  ASSERT_EQ(hsa_amd_enable_logging(kinds, file), HSA_STATUS_SUCCESS);
  copy(11);
  kinds[0] = 1 << HSA_AMD_LOG_FLAG_SDMA;
  ASSERT_EQ(hsa_amd_enable_logging(kinds, file), HSA_STATUS_SUCCESS);
  copy(22);
  kinds[0] = 0;
  ASSERT_EQ(hsa_amd_enable_logging(kinds, nullptr), HSA_STATUS_SUCCESS);
  copy(23);
  std::fclose(file);
  const std::vector<uint8_t> bytes = read_bytes(directory / "log");
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_EQ(text.find("copy of 11"), std::string::npos);
  EXPECT_NE(text.find("copy of 22 bytes"), std::string::npos);
  EXPECT_EQ(text.find("copy of 23"), std::string::npos);
  EXPECT_EQ(hsa_amd_enable_logging(nullptr, nullptr), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_amd_memory_pool_free(memory), HSA_STATUS_SUCCESS);
}

}  // namespace

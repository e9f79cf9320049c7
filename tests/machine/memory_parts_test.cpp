// Memory of several GPUs: what of it each may touch.
#include "machine/memory/address_partitions.h"

#include <gtest/gtest.h>

#include <vector>

#include "machine/memory/memory.h"

namespace Atoll::machine {
namespace {

constexpr uint64_t page = 4096;

/// Of the process's addresses that GPUs may touch: under the thread sanitizer there are few.
uint64_t range_bytes() { return ~AddressRange::of_process().bounds().outside + 1; }
constexpr uint64_t enough_for_parts = uint64_t{16} << 40;

uint64_t memory_of(Memory& memory, unsigned gpu) {
  return memory.allocate(page, 0, "memory of a GPU", 0, Memory::Pages::small, gpu).value();
}

TEST(AddressPartitions, EachGpuTouchesItsOwnAndWhatIsEverybodys) {
  if (range_bytes() < enough_for_parts) GTEST_SKIP() << "has a smaller range";
  for (const unsigned gpus : {1u, 2u, 3u, 4u, 5u, 8u, 20u, 64u}) {
    Memory memory(gpus);
    std::vector<uint64_t> own;
    for (unsigned gpu = 0; gpu < gpus; ++gpu) own.push_back(memory_of(memory, gpu));
    const uint64_t shared = memory.allocate(page, 0, "everybody's").value();
    for (unsigned gpu = 0; gpu < gpus; ++gpu) {
      const AddressBounds bounds = memory.bounds(gpu);
      EXPECT_TRUE(bounds.hold(shared));
      EXPECT_TRUE(bounds.hold(shared + page - 1));
      EXPECT_FALSE(bounds.hold(0x1000));
      for (unsigned other = 0; other < gpus; ++other)
        EXPECT_EQ(bounds.hold(own[other]), other == gpu) << gpu << " and " << other << " of " << gpus;
      // As compiled code looks at several.
      const uint64_t both = own[gpu] - bounds.base | (shared - bounds.base);
      EXPECT_EQ(both & bounds.outside, 0u);
    }
  }
}

TEST(AddressPartitions, AccessIsGivenAndTakenBack) {
  for (const unsigned gpus : {2u, 8u}) {
    Memory memory(gpus);
    const uint64_t first = memory_of(memory, 0), second = memory_of(memory, 1);
    memory.allow(1, 0);
    memory.allow(1, 0);
    EXPECT_TRUE(memory.bounds(1).hold(first));
    EXPECT_TRUE(memory.bounds(1).hold(second));
    EXPECT_FALSE(memory.bounds(0).hold(second));
    memory.disallow(1, 0);
    EXPECT_TRUE(memory.bounds(1).hold(first));
    memory.disallow(1, 0);
    EXPECT_FALSE(memory.bounds(1).hold(first));
  }
}

// As a scheduler has for scratch.
TEST(AddressPartitions, MemoryOfOneGpuBesideChangesNothing) {
  Memory memory(2), beside;
  const uint64_t own = memory_of(memory, 0), scratch = beside.allocate(page, 0, "scratch").value();
  EXPECT_FALSE(memory.bounds(1).hold(own));
  EXPECT_TRUE(memory.bounds(0).hold(scratch));
  EXPECT_TRUE(memory.bounds(1).hold(scratch));
  EXPECT_TRUE(beside.bounds().hold(scratch));
}

TEST(AddressPartitions, WhatHasNoRoomInAPartEndsKeepingThemApart) {
  if (range_bytes() < enough_for_parts) GTEST_SKIP() << "has a smaller range";
  {
    Memory memory(2);
    const uint64_t own = memory_of(memory, 0);
    EXPECT_FALSE(memory.bounds(1).hold(own));
    const uint64_t large = memory.reserve(uint64_t{6} << 40, 0, 0, "more than a part").value();
    for (const unsigned gpu : {0u, 1u})
      for (const uint64_t address : {own, large}) EXPECT_TRUE(memory.bounds(gpu).hold(address));
    EXPECT_TRUE(memory.free(large));
  }
  Memory next(2);
  EXPECT_FALSE(next.bounds(1).hold(memory_of(next, 0)));
}

}  // namespace
}  // namespace Atoll::machine

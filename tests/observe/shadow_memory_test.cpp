// What the init checker keeps of memory.
#include "observe/shadow/shadow_memory.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace {

using Atoll::observe::ShadowMemory;

std::vector<uint8_t> read(const ShadowMemory& memory, uint64_t address, size_t bytes) {
  std::vector<uint8_t> undefined(bytes, 0x55);
  memory.read(address, undefined.data(), bytes);
  return undefined;
}

TEST(ShadowMemory, OnlyWhatIsAllocatedAndNotWrittenIsUndefined) {
  ShadowMemory memory([] {});
  memory.add({.begin = 0x10000, .size = 10000, .function = "hipMalloc", .stack = {}});
  EXPECT_EQ(read(memory, 0x10000 - 2, 4), (std::vector<uint8_t>{0, 0, 0xFF, 0xFF}));
  EXPECT_EQ(read(memory, 0x10000 + 9998, 4), (std::vector<uint8_t>{0xFF, 0xFF, 0, 0}));
  memory.write(0x10000 + 4094, nullptr, 4);  // over the border of two pages
  EXPECT_EQ(read(memory, 0x10000 + 4092, 8), (std::vector<uint8_t>{0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF}));
  const uint8_t partly[] = {0x0F, 0};
  memory.write(0x10000 + 8000, partly, 2);
  EXPECT_EQ(read(memory, 0x10000 + 7999, 4), (std::vector<uint8_t>{0xFF, 0x0F, 0, 0xFF}));
  EXPECT_EQ(memory.count(0x10000, 10000).undefined, 10000u - 4 - 1);
  EXPECT_EQ(memory.count(0x10000 + 4094, 4).undefined, 0u);
  memory.remove(0x10000);
  EXPECT_EQ(read(memory, 0x10000, 2), (std::vector<uint8_t>{0, 0}));
}

TEST(ShadowMemory, CopiesWhatIsKnown) {
  ShadowMemory memory([] {});
  memory.add({.begin = 0x10000, .size = 8192, .function = {}, .stack = {}});
  memory.add({.begin = 0x20000, .size = 8192, .function = {}, .stack = {}});
  memory.write(0x10000, nullptr, 4100);
  memory.copy(0x20001, 0x10000, 8000);
  EXPECT_EQ(memory.count(0x20001, 4100).undefined, 0u);
  EXPECT_EQ(memory.count(0x20001 + 4100, 3900).undefined, 3900u);
  EXPECT_EQ(read(memory, 0x20000, 1)[0], 0xFF);
  memory.copy(0x20001, 0x90000, 8000);  // from memory of which nothing is known
  EXPECT_EQ(memory.count(0x20001, 8000).undefined, 0u);
}

TEST(ShadowMemory, KnowsAllocationsAfterTheyAreGone) {
  ShadowMemory memory([] {});
  memory.add({.begin = 0x10000, .size = 16, .function = "first", .stack = {}});
  const uint32_t first = memory.number_at(0x1000F);
  memory.add({.begin = 0x10000, .size = 32, .function = "second", .stack = {}});
  ASSERT_NE(first, 0u);
  ASSERT_TRUE(memory.allocation(first));
  EXPECT_EQ(memory.allocation(first)->function, "first");
  EXPECT_EQ(memory.allocation(memory.number_at(0x10010))->function, "second");
  EXPECT_EQ(memory.number_at(0x10020), 0u);
}

TEST(ShadowMemory, TellsWhatIsWrittenAroundAnAccess) {
  ShadowMemory memory([] {});
  memory.add({.begin = 0x10000, .size = 4 * ShadowMemory::page_bytes, .function = {}, .stack = {}});
  EXPECT_FALSE(memory.written_around(0x10000, 4).is_written);
  // A part of a page: no more than was asked for.
  memory.write(0x10000 + 16, nullptr, 64);
  const auto part = memory.written_around(0x10000 + 20, 60);
  EXPECT_TRUE(part.is_written);
  EXPECT_EQ(part.begin, part.end);
  EXPECT_FALSE(memory.written_around(0x10000 + 20, 61).is_written);
  // Whole pages, be they written at once or bit by bit.
  memory.write(0x10000 + ShadowMemory::page_bytes, nullptr, ShadowMemory::page_bytes);
  for (uint64_t at = 2 * ShadowMemory::page_bytes; at < 3 * ShadowMemory::page_bytes; at += 64) {
    memory.write(0x10000 + at, nullptr, 64);
  }
  const auto whole = memory.written_around(0x10000 + ShadowMemory::page_bytes + 100, 4);
  EXPECT_TRUE(whole.is_written);
  EXPECT_EQ(whole.begin, 0x10000 + ShadowMemory::page_bytes);
  EXPECT_EQ(whole.end, 0x10000 + 3 * ShadowMemory::page_bytes);
  const uint8_t undefined = 0x80;
  memory.write(0x10000 + ShadowMemory::page_bytes + 200, &undefined, 1);
  EXPECT_TRUE(memory.written_around(0x10000 + ShadowMemory::page_bytes + 100, 100).is_written);
  EXPECT_FALSE(memory.written_around(0x10000 + ShadowMemory::page_bytes + 100, 101).is_written);
  // Of memory that nothing is known of, all between what is known.
  memory.add({.begin = 0x90000, .size = 16, .function = {}, .stack = {}});
  const auto between = memory.written_around(0x50000, 8);
  EXPECT_TRUE(between.is_written);
  EXPECT_EQ(between.begin, 0x10000 + 4 * ShadowMemory::page_bytes);
  EXPECT_EQ(between.end, 0x90000u);
  EXPECT_FALSE(memory.written_around(0x90000 - 4, 8).is_written);
}

}  // namespace

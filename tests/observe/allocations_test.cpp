// The books of allocations: bounds to the byte, and what is remembered of freed memory.
#include <gtest/gtest.h>

#include "observe/shadow/allocations.h"

namespace Atoll::test {
namespace {

using observe::Allocations;
using observe::Block;

Block block(uint64_t begin, uint64_t size, uint64_t reserved) {
  Block made;
  made.begin = begin;
  made.size = size;
  made.reserved = reserved;
  return made;
}

TEST(Allocations, BoundsAreThoseAskedFor) {
  Allocations allocations;
  allocations.add(block(0x1000, 100, 0x1000));
  EXPECT_TRUE(allocations.is_live(0x1000, 0x1064));
  EXPECT_TRUE(allocations.is_live(0x1060, 0x1064));
  EXPECT_FALSE(allocations.is_live(0x1060, 0x1065));
  EXPECT_FALSE(allocations.is_live(0xFFF, 0x1001));
  EXPECT_FALSE(allocations.is_live(0x1001, 0x1000));
  ASSERT_TRUE(allocations.find(0x1FFF));
  EXPECT_FALSE(allocations.find(0x2000));
}

TEST(Allocations, FreedMemoryIsKeptAndKnown) {
  int released = 0;
  {
    Allocations allocations;
    allocations.add(block(0x1000, 100, 0x1000));
    EXPECT_TRUE(allocations.is_live(0x1000, 0x1001));
    EXPECT_TRUE(allocations.free(0x1000, "free", {}, [&] { ++released; }));
    EXPECT_FALSE(allocations.is_live(0x1000, 0x1001));  // though this thread has just asked
    ASSERT_TRUE(allocations.find(0x1000));
    EXPECT_TRUE(allocations.find(0x1000)->is_free);
    EXPECT_FALSE(allocations.free(0x1000, "free", {}, [&] { released += 100; }));
    EXPECT_FALSE(allocations.free(0x9000, "free", {}, [&] { released += 100; }));
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Allocations, MemoryFreedInAStreamIsThatOfEarlierPackets) {
  Allocations allocations;
  allocations.add(block(0x1000, 100, 0x1000));
  EXPECT_TRUE(allocations.is_live(0x1000, 0x1064));
  EXPECT_TRUE(allocations.free_in_stream(0x1000, "hipFreeAsync", {}, {{0x77, 5}}));
  EXPECT_FALSE(allocations.free_in_stream(0x1010, "hipFreeAsync", {}, {}));
  EXPECT_FALSE(allocations.is_live(0x1000, 0x1064));
  const std::optional<Block> freed = allocations.find(0x1000);
  ASSERT_TRUE(freed && freed->freed_after);
  EXPECT_FALSE(freed->is_free);
  EXPECT_EQ(freed->freed_after->at(0x77), 5U);
  // The pool gives it out again, with another size.
  EXPECT_TRUE(allocations.reuse(0x1000, 200, "hipMallocAsync", {}));
  EXPECT_TRUE(allocations.is_live(0x1000, 0x10C8));
  EXPECT_FALSE(allocations.is_live(0x1000, 0x10C9));
  EXPECT_FALSE(allocations.reuse(0x1000, 0x2000, "hipMallocAsync", {}));
}

TEST(Allocations, SuballocationsTakeThePlaceOfOneAnotherOnly) {
  Allocations allocations;
  allocations.add(block(0x1000, 0x100, 0x1000));
  allocations.add_suballocation(block(0x1800, 0x10, 0x100));
  EXPECT_EQ(allocations.find(0x1800)->begin, 0x1000U);
  allocations.add_suballocation(block(0x8000, 100, 0x100));
  EXPECT_TRUE(allocations.is_live(0x8000, 0x8064));
  EXPECT_FALSE(allocations.is_live(0x8000, 0x8065));
  EXPECT_TRUE(allocations.free_in_stream(0x8000, "hipFreeAsync", {}, {{0x77, 5}}));
  EXPECT_TRUE(allocations.find(0x8000)->freed_after);
  ASSERT_EQ(allocations.live().size(), 1U);
  EXPECT_EQ(allocations.live()[0].begin, 0x1000U);
  // The pool divides the same memory anew.
  allocations.add_suballocation(block(0x7F00, 0x1000, 0x1000));
  EXPECT_EQ(allocations.find(0x8000)->begin, 0x7F00U);
  EXPECT_FALSE(allocations.find(0x8000)->freed_after);
}

TEST(Allocations, TheOldestGoWhenTooMuchIsKept) {
  std::vector<int> released;
  Allocations allocations;
  constexpr uint64_t size = Allocations::max_kept / 2;
  for (int i = 0; i < 4; ++i) {
    const uint64_t begin = (static_cast<uint64_t>(i) + 1) << 40;
    allocations.add(block(begin, size, size));
    allocations.free(begin, "free", {}, [&released, i] { released.push_back(i); });
  }
  EXPECT_EQ(released, (std::vector<int>{0, 1}));
  // Of those that are gone it is still known that they were there, until somebody else has the addresses.
  EXPECT_TRUE(allocations.find(uint64_t{1} << 40)->is_free);
  allocations.add(block(uint64_t{1} << 40, 16, 4096));
  EXPECT_FALSE(allocations.find(uint64_t{1} << 40)->is_free);
  EXPECT_TRUE(allocations.is_live(uint64_t{1} << 40, (uint64_t{1} << 40) + 16));
}

TEST(Allocations, TheNearestIsWithinReach) {
  Allocations allocations;
  allocations.add(block(0x10000, 0x100, 0x1000));
  allocations.add(block(0x20000, 0x100, 0x1000));
  EXPECT_EQ(allocations.nearest(0x10200, 0x1000)->begin, 0x10000U);
  EXPECT_EQ(allocations.nearest(0x1FFF0, 0x1000)->begin, 0x20000U);
  EXPECT_FALSE(allocations.nearest(0x18000, 0x1000));
}

}  // namespace
}  // namespace Atoll::test

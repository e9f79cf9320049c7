// Guest memory: what the host's kernel says about it, and who owns what.
#include "machine/memory/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "machine/report/fault_guard.h"

namespace Atoll::machine {
namespace {

using testing::HasSubstr;

TEST(Memory, IsZeroedWritableAndAligned) {
  Memory memory;
  for (const uint64_t alignment : {uint64_t{0}, uint64_t{1}, uint64_t{4096}, uint64_t{1} << 16, uint64_t{1} << 21}) {
    const auto address = memory.allocate(10000, alignment, "block");
    ASSERT_TRUE(address) << address.error().message;
    EXPECT_EQ(*address % std::max<uint64_t>(alignment, 4096), 0u);
    auto* bytes = reinterpret_cast<uint8_t*>(*address);
    EXPECT_TRUE(std::all_of(bytes, bytes + 10000, [](uint8_t byte) { return byte == 0; }));
    std::memset(bytes, 0xAB, 10000);
  }
  EXPECT_EQ(memory.allocated_bytes(), 50000u);
}

TEST(Memory, HasAnInaccessiblePageBehindIt) {
  Memory memory;
  const uint64_t address = memory.allocate(3 * 4096, 0, "block").value();
  install_fault_guard();
  uint32_t word = 1;
  EXPECT_TRUE(read_guest(&word, address + 3 * 4096 - 4, 4));
  EXPECT_EQ(word, 0u);
  EXPECT_FALSE(read_guest(&word, address + 3 * 4096, 4));
}

TEST(Memory, IsGoneOnceFreed) {
  Memory memory;
  install_fault_guard();
  const uint64_t address = memory.allocate(4096, 0, "block").value();
  ASSERT_TRUE(memory.free(address));
  uint32_t word = 0;
  EXPECT_FALSE(read_guest(&word, address, 4));
  EXPECT_FALSE(memory.find(address));
  EXPECT_EQ(memory.allocated_bytes(), 0u);
  EXPECT_THAT(memory.free(address).error().message, HasSubstr("no allocation"));
}

TEST(Memory, MoreThanTheHostHasCanBeAllocated) {
  Memory memory;
  const uint64_t size = uint64_t{1} << 42;
  const auto address = memory.allocate(size, 0, "huge");
  ASSERT_TRUE(address) << address.error().message;
  *reinterpret_cast<uint64_t*>(*address + size - 8) = 7;
}

TEST(Memory, RefusesWhatMakesNoSense) {
  Memory memory;
  EXPECT_EQ(memory.allocate(0, 0, "nothing").error().kind, support::ErrorKind::invalid_argument);
  EXPECT_EQ(memory.allocate(16, 48, "odd").error().kind, support::ErrorKind::invalid_argument);
  EXPECT_EQ(memory.allocate(uint64_t{1} << 60, 0, "all").error().kind, support::ErrorKind::out_of_resources);
  EXPECT_EQ(memory.allocate(UINT64_MAX, 0, "all").error().kind, support::ErrorKind::out_of_resources);
}

TEST(Memory, FindsWhatHoldsAnAddressAndWhatIsNearest) {
  Memory memory;
  const uint64_t a = memory.allocate(4096, uint64_t{1} << 30, "first", 1).value();
  const uint64_t b = memory.allocate(4096, uint64_t{1} << 30, "second", 2).value();
  for (const auto& [address, name, owner] : {std::tuple{a, "first", 1u}, std::tuple{b, "second", 2u}}) {
    for (const uint64_t offset : {0u, 1u, 4095u}) {
      const auto found = memory.find(address + offset);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->purpose, name);
      EXPECT_EQ(found->owner, owner);
    }
    EXPECT_FALSE(memory.find(address + 4096));
    EXPECT_FALSE(memory.find(address - 1));
    EXPECT_EQ(memory.nearest(address + 5000)->purpose, name);
    EXPECT_EQ(memory.nearest(address - 8)->purpose, name);
  }
  EXPECT_EQ(memory.nearest(0)->address, std::min(a, b));
  EXPECT_EQ(memory.nearest(UINT64_MAX)->address, std::max(a, b));
  EXPECT_FALSE(Memory().nearest(5));
}

}  // namespace
}  // namespace Atoll::machine

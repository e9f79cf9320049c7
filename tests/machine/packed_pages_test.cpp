// Many small allocations within few of the host's mappings.
#include "machine/memory/suballocator.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <string>

#include "machine/memory/memory.h"
#include "machine/report/fault_guard.h"

namespace Atoll::machine {
namespace {

constexpr uint64_t page = 4096;

size_t mappings_of_process() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

bool is_readable(uint64_t address) {
  install_fault_guard();
  uint8_t byte;
  return read_guest(&byte, address, 1);
}

/// Whether the host has guard pages without mappings (MADV_GUARD_INSTALL, Linux 6.13).
bool host_has_guards() {
  void* memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool has = madvise(memory, page, 102) == 0;
  munmap(memory, page);
  return has;
}

/// A block of the pages' own, with guards and without.
class PackedPagesTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    block = map_block();
    EXPECT_FALSE(pages.take(page)) << "there is no block yet";
    ASSERT_TRUE(pages.add_block(block));
  }
  static uint64_t map_block() {
    return reinterpret_cast<uint64_t>(
        mmap(nullptr, Suballocator::block_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  static uint8_t* at(uint64_t address) { return reinterpret_cast<uint8_t*>(address); }
  bool has_guards() const { return GetParam() && host_has_guards(); }

  Suballocator pages{GetParam()};
  uint64_t block = 0;
};

INSTANTIATE_TEST_SUITE_P(Hosts, PackedPagesTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "WithGuards" : "WithoutGuards"; });

TEST_P(PackedPagesTest, WhatIsTakenIsZeroedAndItsOwn) {
  std::mt19937 random(1);
  std::map<uint64_t, uint64_t> taken;
  for (int round = 0; round < 4000; ++round) {
    if (random() % 3 != 0 || taken.empty()) {
      const uint64_t bytes = (random() % 5 + 1) * page;
      const auto address = pages.take(bytes);
      ASSERT_TRUE(address);
      const auto above = taken.lower_bound(*address);
      EXPECT_TRUE(above == taken.end() || above->first >= *address + bytes);
      EXPECT_TRUE(above == taken.begin() || std::prev(above)->first + std::prev(above)->second <= *address);
      for (const uint64_t offset : {uint64_t{0}, bytes - 1}) {
        EXPECT_EQ(*at(*address + offset), 0);
        *at(*address + offset) = 1;
      }
      taken[*address] = bytes;
    } else {
      const auto gone = std::next(taken.begin(), static_cast<ptrdiff_t>(random() % taken.size()));
      const auto empty = pages.give_back(gone->first, gone->second, false);
      taken.erase(gone);
      EXPECT_EQ(empty.has_value(), taken.empty());
      if (empty) ASSERT_TRUE(pages.add_block(block));
    }
    ASSERT_EQ(pages.count(), taken.size());
  }
}

TEST_P(PackedPagesTest, WhatIsFreeCannotBeAccessed) {
  const auto first = pages.take(2 * page), second = pages.take(page);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(is_readable(*first + 2 * page - 1));
  if (has_guards()) EXPECT_FALSE(is_readable(*first + 2 * page)) << "the page after an allocation";
  EXPECT_FALSE(is_readable(block + Suballocator::block_bytes - 1));
  EXPECT_FALSE(pages.give_back(*first, 2 * page, false));
  EXPECT_FALSE(is_readable(*first));
  EXPECT_FALSE(is_readable(*first + page));
  EXPECT_TRUE(is_readable(*second));
  const auto again = pages.take(2 * page);
  EXPECT_EQ(again, first) << "the smallest run that has room";
  EXPECT_TRUE(is_readable(*again));
}

TEST_P(PackedPagesTest, BlocksFillUpAndBecomeEmpty) {
  const uint64_t next = map_block();
  std::vector<std::pair<uint64_t, uint64_t>> all;
  for (const uint64_t bytes : {Suballocator::largest, page}) {
    while (const auto address = pages.take(bytes)) all.emplace_back(*address, bytes);
    EXPECT_GE(all.size(), Suballocator::block_bytes / Suballocator::largest - 1);
  }
  ASSERT_TRUE(pages.add_block(next));
  const auto other = pages.take(page);
  ASSERT_TRUE(other);
  EXPECT_LT(*other - next, Suballocator::block_bytes);
  std::optional<Suballocator::Block> empty;
  for (const auto& [address, bytes] : all) {
    EXPECT_FALSE(empty);
    empty = pages.give_back(address, bytes, false);
  }
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->address, block);
  empty = pages.give_back(*other, page, false);
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->address, next);
  munmap(at(next), Suballocator::block_bytes);
}

TEST_P(PackedPagesTest, WhatWasReplacedIsPrivateMemoryAgain) {
  const auto taken = pages.take(page);
  ASSERT_TRUE(taken);
  mmap(at(*taken), page, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  EXPECT_TRUE(pages.give_back(*taken, page, true));
  EXPECT_FALSE(is_readable(*taken));
}

// Linux refuses the 65,530th mapping.
TEST(Memory, MoreCanBeAllocatedThanTheHostHasMappings) {
  Memory memory;
  const size_t before = mappings_of_process(), count = 5 * max_with_own_mappings();
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < count; ++i) {
    const auto address = memory.allocate(page, 0, "small");
    ASSERT_TRUE(address) << i << ": " << address.error().message;
    addresses.push_back(*address);
    *reinterpret_cast<size_t*>(*address) = i;
  }
  EXPECT_LT(mappings_of_process() - before, 2 * max_with_own_mappings() + 100);
  EXPECT_EQ(std::set(addresses.begin(), addresses.end()).size(), count);
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(*reinterpret_cast<size_t*>(addresses[i]), i);
  const auto found = memory.find(addresses.back() + page - 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->address, addresses.back());
  // The last ones are shared and freed like any.
  ASSERT_TRUE(memory.share(addresses.back(), "shared"));
  EXPECT_EQ(*reinterpret_cast<size_t*>(addresses.back()), count - 1);
  for (const uint64_t address : addresses) ASSERT_TRUE(memory.free(address));
  EXPECT_EQ(memory.allocated_bytes(), 0U);
  for (const uint64_t address : {addresses.front(), addresses.back()}) EXPECT_FALSE(is_readable(address));
  EXPECT_LT(mappings_of_process(), before + 100);
}

}  // namespace
}  // namespace Atoll::machine

// Memory of the race checker's cells: where objects lie, when they are destroyed, and how many page faults they take.
#include "observe/race/cell_arena.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "observe/race/access_history.h"

namespace Atoll::test {
namespace {

using observe::AccessHistory;
using observe::Cell;
using observe::CellArena;
using observe::CellBlock;
using observe::HugePages;
using observe::InArena;

struct Counted {
  explicit Counted(std::shared_ptr<int> shared) : value(std::move(shared)) {}
  std::shared_ptr<int> value;
  std::array<uint8_t, 1000> more{};
};

TEST(CellArena, DestroysObjectsAndHandsTheirMemoryOutAgain) {
  HugePages memory;
  CellArena arena;
  arena.begin(memory);
  const auto value = std::make_shared<int>(1);
  std::vector<const Counted*> first;
  {
    std::vector<InArena<Counted>> objects;
    for (int i = 0; i < 100; ++i) objects.push_back(arena.make<Counted>(value));
    for (const auto& object : objects) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(object.get()) % alignof(Counted), 0U);
      first.push_back(object.get());
    }
    EXPECT_EQ(value.use_count(), 101);
  }
  EXPECT_EQ(value.use_count(), 1);
  arena.rewind();
  std::vector<InArena<Counted>> objects;
  for (int i = 0; i < 100; ++i) {
    objects.push_back(arena.make<Counted>(value));
    EXPECT_EQ(objects.back().get(), first[i]);
  }
}

TEST(CellArena, HasItsOwnPartOfSharedMemory) {
  HugePages memory;
  std::array<CellArena, 3> arenas;
  for (CellArena& arena : arenas) arena.begin(memory);
  using Block = std::array<uint8_t, CellArena::block_bytes / 2>;
  std::vector<InArena<Block>> objects;
  // More than one region.
  for (size_t i = 0; i < 3 * HugePages::region_bytes / sizeof(Block); ++i) {
    objects.push_back(arenas[i % arenas.size()].make<Block>());
    objects.back()->fill(static_cast<uint8_t>(i));
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    EXPECT_EQ(objects[i]->front(), static_cast<uint8_t>(i));
    EXPECT_EQ(objects[i]->back(), static_cast<uint8_t>(i));
  }
}

TEST(CellArena, ThrowsWhereARegionIsTooSmall) {
  HugePages memory;
  EXPECT_THROW(memory.take(HugePages::region_bytes + 1), std::bad_alloc);
}

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

TEST(CellArena, TakesFewPageFaultsForShiftedReads) {
  HugePages probe;
  volatile std::byte* const touched = probe.take(HugePages::page_bytes);
  const long before_probe = page_faults();
  for (size_t i = 0; i < HugePages::page_bytes; i += 4096) touched[i] = std::byte{1};
  if (page_faults() - before_probe > 8) GTEST_SKIP() << "the host has no huge pages to give";

  // Each 256 bytes are read by two waves, which begin at their second dword.
  AccessHistory history;
  const long before = page_faults();
  constexpr uint64_t pages = 4096, first_page = 16;
  for (uint64_t page = first_page; page < first_page + pages; ++page) {
    AccessHistory::Part& part = history.part(page);
    for (CellBlock& block : part.page(page)) {
      const auto read = [](Cell& cell, uint32_t, uint32_t) { cell.add_read({.when = {1, 1}}); };
      block.visit(part.arena(), 0, 4, std::nullopt, read);
      block.visit(part.arena(), 4, CellBlock::bytes, 0, read);
    }
  }
  // 28 MiB of cells took more than 6,900 faults from malloc.
  EXPECT_LT(page_faults() - before, 700);
}

}  // namespace
}  // namespace Atoll::test

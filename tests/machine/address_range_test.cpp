// The range of addresses that guest memory is in: what is taken and given back, and what the host says of the rest.
#include "machine/memory/address_range.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>

#include "machine/memory/memory.h"
#include "machine/report/fault_guard.h"

namespace Atoll::machine {
namespace {

constexpr uint64_t page = 4096, gibibyte = uint64_t{1} << 30;
constexpr uint64_t everything = 64 * gibibyte - AddressRange::edge;  ///< that a range of 64 GiB gives out

bool open(uint64_t address, uint64_t bytes) {
  return mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE) == 0;
}

bool is_accessible(uint64_t address) {
  uint8_t byte = 0;
  return read_guest(&byte, address, 1);
}

TEST(AddressRange, HasBordersThatUpperHalvesTell) {
  const AddressRange range(64 * gibibyte);
  const AddressBounds bounds = range.bounds();
  EXPECT_EQ(bounds.base % (4 * gibibyte), 0u);
  const uint64_t size = ~bounds.outside + 1;
  EXPECT_EQ(size & (size - 1), 0u);
  EXPECT_GE(size, 4 * gibibyte);
  EXPECT_FALSE(bounds.are_everything());
  EXPECT_TRUE(AddressBounds{}.are_everything());
  EXPECT_TRUE(AddressBounds{}.hold(0));
}

TEST(AddressRange, GivesOutWhatIsFarFromItsEnds) {
  AddressRange range(64 * gibibyte);
  const AddressBounds bounds = range.bounds();
  const auto all = range.take(everything, page);
  ASSERT_TRUE(all);
  EXPECT_FALSE(range.take(page, page));
  EXPECT_EQ(*all - bounds.base, AddressRange::edge);
  EXPECT_EQ(*all + everything, bounds.base + ~bounds.outside + 1);
  // What is a little past the bounds is nobody's either, nor can it become anybody's.
  const uint64_t end = bounds.base + ~bounds.outside + 1;
  install_fault_guard();
  for (const uint64_t address : {bounds.base - AddressRange::edge, bounds.base - page, bounds.base, end,
                                 end + 4 * gibibyte, end + AddressRange::edge - page}) {
    EXPECT_FALSE(is_accessible(address)) << address;
    EXPECT_EQ(mmap(reinterpret_cast<void*>(address), page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                   -1, 0),
              MAP_FAILED);
  }
}

TEST(AddressRange, UsesAgainWhatIsGivenBackAndNoneOfItRemains) {
  AddressRange range(64 * gibibyte);
  install_fault_guard();
  const uint64_t first = range.take(3 * page, page).value(), second = range.take(2 * page, page).value();
  ASSERT_TRUE(open(first, 2 * page));
  *reinterpret_cast<uint8_t*>(first) = 1;
  range.give_back(first, 3 * page);
  EXPECT_FALSE(is_accessible(first));
  EXPECT_EQ(range.take(3 * page, page).value(), first);  // the gap is the smallest with room
  ASSERT_TRUE(open(first, page));
  EXPECT_EQ(*reinterpret_cast<uint8_t*>(first), 0);
  range.give_back(first, 3 * page);
  range.give_back(second, 2 * page);
  EXPECT_TRUE(range.take(everything, page));
}

TEST(AddressRange, TakesFreeAddressesByWish) {
  AddressRange range(64 * gibibyte);
  const uint64_t first = range.take(page, page).value(), wish = first + 16 * page;
  EXPECT_TRUE(range.take_at(wish, 2 * page));
  EXPECT_FALSE(range.take_at(wish + page, page));
  EXPECT_FALSE(range.take_at(first, page));
  EXPECT_FALSE(range.take_at(wish - page, 2 * page));
  EXPECT_FALSE(range.take_at(range.bounds().base, page));  // the edge
  EXPECT_FALSE(range.take_at(0x1000'0000, page));
  range.give_back(wish, 2 * page);
  EXPECT_TRUE(range.take_at(wish + page, page));
}

TEST(AddressRange, AlignsAndNeverOverlaps) {
  AddressRange range(64 * gibibyte);
  std::mt19937 random(1);
  std::map<uint64_t, uint64_t> taken;
  for (unsigned i = 0; i < 2000; ++i) {
    if (random() % 3 == 0 && !taken.empty()) {
      const auto gone = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      range.give_back(gone->first, gone->second);
      taken.erase(gone);
      continue;
    }
    const uint64_t bytes = page * (1 + random() % 64), alignment = page << random() % 10;
    const auto address = range.take(bytes, alignment);
    ASSERT_TRUE(address);
    EXPECT_EQ(*address % alignment, 0u);
    const auto above = taken.lower_bound(*address);
    EXPECT_TRUE(above == taken.end() || *address + bytes <= above->first);
    EXPECT_TRUE(above == taken.begin() || std::prev(above)->first + std::prev(above)->second <= *address);
    taken[*address] = bytes;
  }
  for (const auto& [address, bytes] : taken) range.give_back(address, bytes);
  EXPECT_TRUE(range.take(everything, page));
}

TEST(AddressRange, IsDividedAndMadeOneAgain) {
  AddressRange range(256 * gibibyte);
  const uint64_t begin = range.bounds().base, whole = 256 * gibibyte, part = 64 * gibibyte;
  const uint64_t early = range.take(2 * page, page).value(), late = begin + 2 * part - page;
  ASSERT_TRUE(range.take_at(late, 2 * page));  // across a border that divide() would need
  EXPECT_FALSE(range.divide(4));
  EXPECT_EQ(range.parts(), 1u);
  range.give_back(late, 2 * page);
  ASSERT_TRUE(range.divide(4));
  EXPECT_EQ(range.parts(), 4u);
  for (unsigned i = 0; i < 4; ++i) {
    const uint64_t address = range.take(page, page, i).value();
    EXPECT_EQ((address - begin) / part, i);
    EXPECT_GE(address - begin - i * part, AddressRange::edge);
    range.give_back(address, page);
  }
  EXPECT_TRUE(range.take(part - AddressRange::edge, page, 3).has_value());
  EXPECT_FALSE(range.take(page, page, 3));
  EXPECT_FALSE(range.take(part, page, 2));
  EXPECT_FALSE(range.take_at(begin + 2 * part + AddressRange::edge, page));  // not of the first part
  range.give_back(begin + 3 * part + AddressRange::edge, part - AddressRange::edge);
  range.give_back(early, 2 * page);
  const uint64_t third = range.take(page, page, 2).value();
  EXPECT_FALSE(range.divide(2));  // has memory of what was another part
  range.give_back(third, page);
  EXPECT_TRUE(range.divide(4));
  EXPECT_FALSE(range.divide(16));  // too small, and so it is one
  EXPECT_EQ(range.parts(), 1u);
  EXPECT_TRUE(range.take(whole - AddressRange::edge, page));  // nothing is lost
}

TEST(AddressRange, SeveralAreApart) {
  const AddressRange one(64 * gibibyte), other(64 * gibibyte);
  EXPECT_FALSE(one.bounds().hold(other.bounds().base));
  EXPECT_FALSE(other.bounds().hold(one.bounds().base));
}

TEST(AddressRange, AProcessWithFewAddressesHasNone) {
  const pid_t child = fork();
  if (child == 0) {
    uint64_t pages = 0;  // that the process has, those of the range of its Memory among them
    if (!(std::ifstream("/proc/self/statm") >> pages)) _exit(5);
    const uint64_t most = pages * page + 32 * gibibyte;
    const rlimit limit{.rlim_cur = most, .rlim_max = most};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    AddressRange range(UINT64_MAX);
    if (!range.bounds().are_everything()) _exit(3);
    const auto address = range.take(3 * page, 64 * page);
    if (!address || *address % (64 * page) != 0 || !open(*address, 2 * page)) _exit(4);
    *reinterpret_cast<uint8_t*>(*address) = 1;
    range.give_back(*address, 3 * page);
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(AddressRange, AForkedChildGoesOnWithItsParents) {
  Memory memory;
  const uint64_t before = memory.allocate(page, 0, "of the parent").value();
  *reinterpret_cast<uint8_t*>(before) = 7;
  const pid_t child = fork();
  if (child == 0) {
    const auto address = memory.allocate(page, 0, "of the child");
    if (!address || !AddressRange::of_process().bounds().hold(*address)) _exit(2);
    *reinterpret_cast<uint8_t*>(*address) = 1;
    _exit(*reinterpret_cast<uint8_t*>(before) == 7 && *address != before ? 0 : 3);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(AddressRange, AllMemoryIsInIt) {
  Memory memory;
  const AddressBounds bounds = AddressRange::of_process().bounds();
  const auto file = MemoryFile::create("atoll test", page);
  ASSERT_TRUE(file);
  for (const auto& address :
       {memory.allocate(page, 0, "small"), memory.allocate(64 << 20, 0, "large"),
        memory.reserve(page, 0, 0x7000'0000'0000, "reserved"), memory.map(*file, page, "mapped"), memory.take_slot()}) {
    ASSERT_TRUE(address);
    EXPECT_TRUE(bounds.hold(*address));
  }
  EXPECT_EQ(memory.bounds().base, bounds.base);
  memory.add_outside();
  EXPECT_TRUE(memory.bounds().are_everything());
  memory.remove_outside();
  EXPECT_FALSE(memory.bounds().are_everything());
}

}  // namespace
}  // namespace Atoll::machine

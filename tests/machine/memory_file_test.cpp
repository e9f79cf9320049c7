// Memory files: how private pages become a file's and private again, those of the heap included.
#include "machine/memory/memory_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace Atoll::machine {
namespace {

/// The pages that the C library's allocator takes a process's first thread's blocks from (proc(5): "[heap]").
struct Pages {
  uint64_t begin = 0, end = 0;
};
Pages heap() {
  std::ifstream maps("/proc/self/maps");
  Pages pages;
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with("[heap]")) continue;
    char* rest = nullptr;
    pages.begin = std::strtoull(line.c_str(), &rest, 16);
    pages.end = std::strtoull(rest + 1, nullptr, 16);
  }
  return pages;
}

/// Moves the heap into a file and back, and ends the process: 0 when each block kept what it held, and the file got
/// it. The heap is held meanwhile, so that this waits for itself where it takes memory from it.
[[noreturn]] void move_heap_into_file_and_back() {
  alarm(20);
  // Blocks below the size that gets a mapping of its own, with room among them for more.
  constexpr size_t words = 8192, count = 32;
  std::vector<std::unique_ptr<std::vector<uint64_t>>> blocks;
  for (uint64_t i = 0; i < count; ++i) blocks.push_back(std::make_unique<std::vector<uint64_t>>(words, i + 1));
  for (size_t i = 0; i < count; i += 2) blocks[i].reset();
  const auto kept = [&] {
    for (uint64_t i = 1; i < count; i += 2)
      if (std::ranges::count(*blocks[i], i + 1) != words) return false;
    return true;
  };

  const Pages pages = heap();
  const auto last = reinterpret_cast<uint64_t>(blocks.back()->data());
  if (last < pages.begin || last >= pages.end) _exit(2);
  const auto file = MemoryFile::create("heap", pages.end - pages.begin);
  if (!file || !move_into_file(pages.begin, pages.end, **file, 0)) _exit(3);
  uint64_t word = 0;
  if (!kept() || pread((*file)->descriptor(), &word, sizeof word, static_cast<off_t>(last - pages.begin)) != 8 ||
      word != count)
    _exit(4);
  blocks.back()->front() = 7;  // the pages are the file's, not a copy of it
  if (pread((*file)->descriptor(), &word, sizeof word, static_cast<off_t>(last - pages.begin)) != 8 || word != 7)
    _exit(5);
  blocks.back()->front() = count;
  make_private(pages.begin, pages.end);
  if (!kept()) _exit(6);
  blocks.back()->front() = 9;
  if (pread((*file)->descriptor(), &word, sizeof word, static_cast<off_t>(last - pages.begin)) != 8 || word != count)
    _exit(7);
  _exit(0);
}

TEST(MemoryFileDeathTest, TakesTheHeapWithoutWaitingForItself) {
  const std::unique_ptr<int[]> block(new int[100]);
  const auto address = reinterpret_cast<uint64_t>(block.get());
  if (const Pages pages = heap(); address < pages.begin || address >= pages.end)
    GTEST_SKIP() << "the allocator does not use the process's heap";
  EXPECT_EXIT(move_heap_into_file_and_back(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace Atoll::machine

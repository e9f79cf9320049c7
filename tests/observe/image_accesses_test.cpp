// What an observer is told of loads and stores of images: the elements that there are.
#include "machine/memory/memory.h"
#include "observe/recorder.h"

namespace Atoll::test {
namespace {

TEST(ImageAccesses, AreThoseOfTheElementsThatThereAre) {
  Recorder recorder{{.accesses = true}};
  machine::Memory memory;
  const uint64_t base = memory.allocate(8192, 0, "an image and arguments").value_or(0);
  *reinterpret_cast<uint64_t*>(base + 4096) = base;
  // 64 unsigned numbers in a row; the last 8 lanes are outside, and so are all of the next row.
  run_observed(recorder, "gfx900", {"next_free_vgpr 16", "next_free_sgpr 32", "user_sgpr_kernarg_segment_ptr 1"}, R"(
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    s_lshr_b64 s[8:9], s[4:5], 8
    s_or_b32 s9, s9, 0x10400000
    s_mov_b32 s10, 63
    s_mov_b32 s11, 0x90000fac
    s_mov_b32 s12, 0x7e000
    s_mov_b32 s13, 0
    s_mov_b64 s[14:15], 0
    v_add_u32 v0, 8, v0
    v_mov_b32 v1, 0
    image_store v2, v[0:1], s[8:15] dmask:0x1 unorm
    image_load v2, v[0:1], s[8:15] dmask:0x1 unorm
    v_mov_b32 v1, 1
    image_store v2, v[0:1], s[8:15] dmask:0x1 unorm
    s_endpgm)",
               64, 64, reinterpret_cast<void*>(base + 4096));
  ASSERT_EQ(recorder.accesses.size(), 3U);  // the first is that of the pointer
  std::vector<uint64_t> elements;
  for (uint64_t lane = 0; lane < 56; ++lane) elements.push_back(base + 32 + lane * 4);
  for (const size_t i : {1U, 2U}) {
    const RecordedAccess& access = recorder.accesses[i];
    EXPECT_EQ(access.space, machine::Space::global);
    EXPECT_EQ(access.writes, i == 1);
    EXPECT_EQ(access.reads, i == 2);
    EXPECT_FALSE(access.is_atomic);
    EXPECT_EQ(access.bytes, 4U);
    EXPECT_EQ(access.addresses, elements);
  }
}

}  // namespace
}  // namespace Atoll::test

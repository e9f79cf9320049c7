// What a GPU may touch: kernels with addresses of the host's, by every kind of access, fault where the access is, and
// leave the memory as it was; with the whole process allowed (xnack on), they do what they say.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "engine/wave_runner.h"
#include "machine/guest_vector.h"
#include "support/parameter_name.h"

namespace Atoll::test {
namespace {

using machine::WaveState;

constexpr unsigned words = 256;

/// The address of an element: of lane 0 in v[2:3] and s[0:1], of the others by v1; a buffer from there on in s[8:11].
struct Access {
  const char* source;
  bool writes = false, is_scalar = false;
  const char* processor = "gfx90a";
};
void PrintTo(const Access& access, std::ostream* out) { *out << access.processor << " " << access.source; }
constexpr Access accesses[] = {
    {"global_load_dword v4, v[2:3], off"},
    {"global_load_dwordx4 v[4:7], v[2:3], off"},
    {"global_load_ubyte v4, v[2:3], off"},
    {"global_load_dword v4, v1, s[0:1]"},
    {"global_load_dword v4, v[2:3], off", false, false, "gfx1030"},
    {"global_store_dword v[2:3], v5, off", true},
    {"global_store_dwordx2 v[2:3], v[6:7], off", true},
    {"global_store_byte v[2:3], v5, off", true},
    {"global_store_dword v1, v5, s[0:1]", true},
    {"global_atomic_add v[2:3], v5, off", true},
    {"global_atomic_add v4, v1, v5, s[0:1] glc", true},
    {"flat_load_dword v4, v[2:3]"},
    {"flat_store_dword v[2:3], v5", true},
    {"flat_atomic_add v[2:3], v5", true},
    {"buffer_load_dword v4, v1, s[8:11], 0 offen"},
    {"buffer_load_dword v4, off, s[8:11], 0"},
    {"buffer_store_dword v5, v1, s[8:11], 0 offen", true},
    {"buffer_atomic_add v5, v1, s[8:11], 0 offen", true},
    {"buffer_load_format_x v4, v1, s[8:11], 0 offen"},
    {"buffer_load_dword v1, s[8:11], 0 offen lds"},
    {"global_load_lds_dword v[2:3], off", false, false, "gfx942"},
    {"s_load_dword s20, s[0:1], 0x0", false, true},
    {"s_load_dwordx4 s[20:23], s[0:1], 0x0", false, true},
    {"s_buffer_load_dword s20, s[8:11], 0x0", false, true},
    {"s_store_dword s20, s[0:1], 0x0", true, true, "gfx906"},
    {"s_atomic_add s20, s[0:1], 0x0", true, true, "gfx906"},
};

/// A wave whose GPU may touch guest memory alone.
class BoundRunner : public WaveRunner {
 public:
  explicit BoundRunner(const char* processor = "gfx90a") : WaveRunner(processor) {
    group().bounds = machine::AddressRange::of_process().bounds();
    for (unsigned lane = 0; lane < 64; ++lane) v(5)[lane] = v(6)[lane] = v(7)[lane] = 0xABCD0000 + lane;
    s(20) = 77;
  }
  /// Lanes' elements after each other from `address` on.
  void point_to(uint64_t address) {
    set_rows(2, [&](unsigned lane) { return address + lane * 16; });
    for (unsigned lane = 0; lane < 64; ++lane) v(1)[lane] = lane * 16;
    wave().set_scalar64(0, address);
    s(8) = static_cast<uint32_t>(address);
    s(9) = static_cast<uint32_t>(address >> 32);
    s(10) = words * 4;
    s(11) = 0x24FAC;  // DST_SEL x, y, z, w; NUM_FORMAT uint; DATA_FORMAT 32
  }
};

uint32_t global_words[words];

/// Memory of the program's own, by its kinds.
struct HostMemory {
  std::vector<uint32_t> heap = std::vector<uint32_t>(words);
  uint32_t* file = nullptr;
  HostMemory() {
    std::string name = "/tmp/atoll-bounds-XXXXXX";
    const int descriptor = mkstemp(name.data());
    unlink(name.c_str());
    EXPECT_EQ(ftruncate(descriptor, words * 4), 0);
    file = static_cast<uint32_t*>(mmap(nullptr, words * 4, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    close(descriptor);
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory() { munmap(file, words * 4); }
};

class BoundsOf : public testing::TestWithParam<Access> {};

TEST_P(BoundsOf, HostMemoryIsNotTouched) {
  const Access& access = GetParam();
  HostMemory host;
  uint32_t stack[words];
  for (uint32_t* memory : {stack, host.heap.data(), host.file, global_words}) {
    std::iota(memory, memory + words, 1);
    const std::vector<uint32_t> before(memory, memory + words);
    BoundRunner runner(access.processor);
    runner.point_to(reinterpret_cast<uint64_t>(memory));
    const auto fault = runner.run_into_fault(access.source);
    ASSERT_TRUE(fault) << access.source;
    EXPECT_TRUE(fault->address_known);
    EXPECT_EQ(fault->address, reinterpret_cast<uint64_t>(memory)) << access.source;
    EXPECT_EQ(fault->is_write, access.writes) << access.source;
    EXPECT_EQ(runner.wave().pc, runner.code_address()) << access.source;
    EXPECT_TRUE(std::equal(before.begin(), before.end(), memory)) << access.source;
  }
}

TEST_P(BoundsOf, GuestMemoryIsAllowedAndAllIsWithXnack) {
  const Access& access = GetParam();
  GuestVector<uint32_t> guest(words);
  std::vector<uint32_t> host(words);
  for (const bool in_guest : {true, false}) {
    uint32_t* memory = in_guest ? guest.data() : host.data();
    std::iota(memory, memory + words, 1);
    const std::vector<uint32_t> before(memory, memory + words);
    BoundRunner runner(access.processor);
    if (!in_guest) runner.group().bounds = {};
    runner.point_to(reinterpret_cast<uint64_t>(memory));
    EXPECT_FALSE(runner.run_into_fault(access.source)) << access.source;
    EXPECT_EQ(runner.wave().state, WaveState::ended) << access.source;
    EXPECT_EQ(std::equal(before.begin(), before.end(), memory), !access.writes) << access.source;
  }
}

TEST_P(BoundsOf, OneLaneIsEnough) {
  const Access& access = GetParam();
  if (access.is_scalar || std::string(access.source).find("v[2:3]") == std::string::npos) return;
  GuestVector<uint32_t> guest(words);
  std::vector<uint32_t> host(words, 5);
  for (const unsigned wrong : {0u, 1u, 17u, 63u}) {
    BoundRunner runner(access.processor);
    runner.point_to(reinterpret_cast<uint64_t>(guest.data()));
    const auto address = reinterpret_cast<uint64_t>(&host[16]);
    runner.v(2)[wrong] = static_cast<uint32_t>(address);
    runner.v(3)[wrong] = static_cast<uint32_t>(address >> 32);
    const auto fault = runner.run_into_fault(access.source);
    ASSERT_TRUE(fault) << access.source << " lane " << wrong;
    EXPECT_EQ(fault->address, address) << access.source << " lane " << wrong;
    EXPECT_EQ(host, std::vector<uint32_t>(words, 5));
    // Nor is it touched by a lane that is off.
    BoundRunner other(access.processor);
    other.point_to(reinterpret_cast<uint64_t>(guest.data()));
    other.v(2)[wrong] = static_cast<uint32_t>(address);
    other.v(3)[wrong] = static_cast<uint32_t>(address >> 32);
    other.wave().set_exec(~(uint64_t{1} << wrong) & other.wave().exec());
    EXPECT_FALSE(other.run_into_fault(access.source)) << access.source << " lane " << wrong;
  }
}

TEST_P(BoundsOf, WithoutLanesAddressesMeanNothing) {
  const Access& access = GetParam();
  if (access.is_scalar) return;
  BoundRunner runner(access.processor);
  uint32_t stack[words];
  runner.point_to(reinterpret_cast<uint64_t>(stack));
  runner.wave().set_exec(0);
  EXPECT_FALSE(runner.run_into_fault(access.source)) << access.source;
}

INSTANTIATE_TEST_SUITE_P(Accesses, BoundsOf, testing::ValuesIn(accesses), test::NamedByParameter());

TEST(GuestBounds, AnEmptyBufferMayBeAnywhere) {
  for (const char* source : {"buffer_load_dword v4, v1, s[8:11], 0 offen",
                             "buffer_store_dword v5, v1, s[8:11], 0 offen", "s_buffer_load_dword s20, s[8:11], 0x0"}) {
    BoundRunner runner;
    runner.point_to(0);
    runner.s(10) = 0;
    EXPECT_FALSE(runner.run_into_fault(source)) << source;
    EXPECT_EQ(runner.wave().state, WaveState::ended);
  }
}

TEST(GuestBounds, WhatIsFreedIsNotThere) {
  uint64_t address = 0;
  {
    const GuestVector<uint32_t> gone(words);
    address = reinterpret_cast<uint64_t>(gone.data());
  }
  BoundRunner runner;
  runner.point_to(address);
  const auto fault = runner.run_into_fault("global_load_dword v4, v[2:3], off");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->address, address);
}

TEST(GuestBounds, OffsetsOf32BitsReachNobodyElse) {
  GuestVector<uint32_t> guest(words);
  BoundRunner runner;
  runner.point_to(reinterpret_cast<uint64_t>(guest.data()));
  for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = ~3u - lane * 4;
  EXPECT_TRUE(runner.run_into_fault("global_store_dword v1, v5, s[0:1]"));
}

/// In loops the addresses are looked at when they are done; and what stores come after them are not made.
TEST(GuestBounds, LoopsThatLoadFromTheHostFault) {
  GuestVector<uint32_t> guest(64);
  std::vector<uint32_t> host(64 * 64, 1);
  for (const bool in_bounds : {false, true}) {
    BoundRunner runner;
    if (in_bounds) runner.group().bounds = {};
    const auto address = reinterpret_cast<uint64_t>(host.data());
    runner.set_rows(2, [&](unsigned lane) { return address + lane * 4; });
    runner.wave().set_scalar64(0, reinterpret_cast<uint64_t>(guest.data()));
    for (unsigned lane = 0; lane < 64; ++lane) runner.v(1)[lane] = lane * 4;
    const auto fault = runner.run_into_fault(R"(
      v_mov_b32 v6, 0
      s_movk_i32 s4, 64
    again:
      global_load_dword v4, v[2:3], off
      v_add_co_u32 v2, vcc, 0x100, v2
      v_addc_co_u32 v3, vcc, 0, v3, vcc
      s_waitcnt vmcnt(0)
      v_add_u32 v6, v6, v4
      s_sub_u32 s4, s4, 1
      s_cmp_lg_u32 s4, 0
      s_cbranch_scc1 again
      global_store_dword v1, v6, s[0:1])");
    EXPECT_EQ(fault.has_value(), !in_bounds);
    if (fault) {
      EXPECT_EQ(fault->address, address);
    }
    EXPECT_EQ(guest, GuestVector<uint32_t>(64, in_bounds ? 64 : 0));
  }
}

TEST(GuestBounds, LoopsThatLeaveTheirMemoryFaultWhereTheyDo) {
  GuestVector<uint32_t> guest(4096);
  BoundRunner runner;
  runner.point_to(reinterpret_cast<uint64_t>(guest.data()));
  const auto fault = runner.run_into_fault(R"(
      s_movk_i32 s4, 1000
    again:
      s_load_dword s6, s[0:1], 0x0
      s_add_u32 s0, s0, 64
      s_addc_u32 s1, s1, 0
      s_waitcnt lgkmcnt(0)
      s_sub_u32 s4, s4, 1
      s_cmp_lg_u32 s4, 0
      s_cbranch_scc1 again)");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->address, reinterpret_cast<uint64_t>(guest.data()) + 4096 * 4);
}

/// It would wait for ever.
TEST(GuestBounds, LoopsThatWaitForTheHostFault) {
  std::vector<uint32_t> host(64);
  BoundRunner runner;
  const auto address = reinterpret_cast<uint64_t>(host.data());
  runner.set_rows(2, [&](unsigned lane) { return address + lane * 4; });
  std::optional<machine::HostFault> fault;
  runner.wave().set_exec(1);
  fault = runner.run_into_fault(R"(
    again:
      global_load_dword v4, v[2:3], off glc
      s_waitcnt vmcnt(0)
      v_cmp_eq_u32 vcc, 0, v4
      s_and_b64 vcc, exec, vcc
      s_cbranch_vccnz again)");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->address, address);
}

/// One of a wave's later chunks faults: the chunks before it have completed.
TEST(GuestBounds, LaterChunksAreTracedWithTheirOwnLanes) {
  GuestVector<uint32_t> guest(64, 3);
  std::vector<uint32_t> host(64, 3);
  BoundRunner runner;
  runner.set_rows(2, [&](unsigned lane) { return reinterpret_cast<uint64_t>(lane < 32 ? &guest[lane] : &host[lane]); });
  const auto fault = runner.run_into_fault(
      "global_load_dword v4, v[2:3], off\nv_add_u32 v4, v4, 1\n"
      "global_store_dword v[2:3], v4, off");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->address, reinterpret_cast<uint64_t>(&host[32]));
  EXPECT_FALSE(fault->is_write);
  EXPECT_EQ(host, std::vector<uint32_t>(64, 3));
}

}  // namespace
}  // namespace Atoll::test

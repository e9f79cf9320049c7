// Bad accesses of kernels: caught, described, and kept apart from the program's own signals.
#include "machine/report/fault_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <thread>

#include "fixture.h"

namespace Atoll::machine {
namespace {

using support::ErrorKind;
using testing::HasSubstr;
using testing::Not;

void* unmapped_page() {
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(page, MAP_FAILED);
  return page;
}

TEST(FaultGuard, TellsAddressAndDirection) {
  install_fault_guard();
  auto* page = static_cast<volatile uint32_t*>(unmapped_page());
  HostFault fault;
  EXPECT_FALSE(guarded(fault, [&] { page[5] = 1; }));
  EXPECT_EQ(fault.address, reinterpret_cast<uint64_t>(page + 5));
  EXPECT_TRUE(fault.address_known);
  EXPECT_TRUE(fault.is_write);
  EXPECT_FALSE(guarded(fault, [&] { static_cast<void>(page[7]); }));
  EXPECT_EQ(fault.address, reinterpret_cast<uint64_t>(page + 7));
  EXPECT_FALSE(fault.is_write);
  munmap(const_cast<uint32_t*>(page), 4096);
}

TEST(FaultGuard, AddressesThatAreNotCanonicalAreUnknown) {
  install_fault_guard();
  auto* nowhere = reinterpret_cast<volatile uint32_t*>(uint64_t{0x1234'0000'0000'0000});
  HostFault fault;
  EXPECT_FALSE(guarded(fault, [&] { static_cast<void>(*nowhere); }));
  EXPECT_FALSE(fault.address_known);
}

TEST(FaultGuard, GuardsNestAndEndWithTheirBlock) {
  install_fault_guard();
  auto* page = static_cast<volatile uint32_t*>(unmapped_page());
  HostFault outer, inner;
  bool after_inner = false;
  EXPECT_FALSE(guarded(outer, [&] {
    EXPECT_FALSE(guarded(inner, [&] { page[1] = 1; }));
    after_inner = true;
    page[2] = 1;
  }));
  EXPECT_TRUE(after_inner);
  EXPECT_EQ(inner.address, reinterpret_cast<uint64_t>(page + 1));
  EXPECT_EQ(outer.address, reinterpret_cast<uint64_t>(page + 2));
  munmap(const_cast<uint32_t*>(page), 4096);
}

TEST(FaultGuard, ManyFaultsInManyThreads) {
  install_fault_guard();
  auto* page = static_cast<volatile uint32_t*>(unmapped_page());
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([page, t] {
      for (int i = 0; i < 200; ++i) {
        HostFault fault;
        EXPECT_FALSE(guarded(fault, [&] { page[t] = 1; }));
        EXPECT_EQ(fault.address, reinterpret_cast<uint64_t>(page + t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  munmap(const_cast<uint32_t*>(page), 4096);
}

// Handlers of a program that Atoll is loaded into.
sigjmp_buf program_resumes;
int first_calls, second_calls;
struct sigaction kept_by_second;

void first_handler(int) {
  ++first_calls;
  siglongjmp(program_resumes, 1);
}

void second_handler(int signal, siginfo_t* info, void* context) {
  ++second_calls;
  // Gives it on to what it found installed, which was Atoll's.
  kept_by_second.sa_sigaction(signal, info, context);
}

void touch(volatile uint32_t* page) {
  if (sigsetjmp(program_resumes, 1) == 0) *page = 1;
}

TEST(FaultGuard, TheProgramsHandlersGetTheProgramsFaults) {
  auto* page = static_cast<volatile uint32_t*>(unmapped_page());
  struct sigaction before_test{};
  sigaction(SIGSEGV, nullptr, &before_test);

  struct sigaction first{};
  first.sa_handler = first_handler;
  first.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &first, nullptr);
  install_fault_guard();
  touch(page);
  EXPECT_EQ(first_calls, 1);

  // A later handler that calls the one it replaced, which is the guard's; the guard goes in front again.
  struct sigaction second{};
  second.sa_sigaction = second_handler;
  second.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &second, &kept_by_second);
  install_fault_guard();
  touch(page);
  EXPECT_EQ(second_calls, 1);
  EXPECT_EQ(first_calls, 2);
  touch(page);
  EXPECT_EQ(second_calls, 2);
  EXPECT_EQ(first_calls, 3);

  // And guarded code is still the guard's.
  HostFault fault;
  EXPECT_FALSE(guarded(fault, [&] { *page = 1; }));
  EXPECT_EQ(second_calls, 2);
  munmap(const_cast<uint32_t*>(page), 4096);
  install_fault_guard();
}

TEST(FaultGuardDeathTest, WithoutAHandlerTheProcessDiesAsItWould) {
  EXPECT_DEATH(
      {
        struct sigaction plain{};
        plain.sa_handler = SIG_DFL;
        sigaction(SIGSEGV, &plain, nullptr);
        install_fault_guard();
        *static_cast<volatile uint32_t*>(unmapped_page()) = 1;
      },
      "");
}

/// Runs `k` of gfx900 with `body`, whose first instruction the engine does for the given lanes as `access` says.
class FaultReports : public testing::Test {
 protected:
  support::Result<KernelStatistics> run(const std::string& body, std::function<void(Wave&)> access) {
    code.reset();  // before its GPU
    gpu = test::make_gpu("gfx900", [access = std::move(access)](Wave& wave, uint64_t) {
      if (wave.work_group->id[0] == 2 && wave.index == 1) access(wave);
      return WaveState::ended;
    });
    code = test::load(*gpu, test::assemble_kernel("gfx900", {"next_free_vgpr 8", "next_free_sgpr 16"}, body));
    return gpu->run(test::packet_for(*code, {128 * 4, 2, 1}, {64, 2, 1}));
  }
  std::unique_ptr<Gpu> gpu;
  std::shared_ptr<LoadedCode> code;
};

TEST_F(FaultReports, NameEverythingAboutABadStore) {
  uint64_t buffer = 0;
  const auto result = run("global_store_dword v[2:3], v1, off offset:16\ns_endpgm", [&](Wave& wave) {
    if (buffer == 0) buffer = wave.work_group->dispatch->gpu->memory().allocate(4096, 0, "test buffer").value();
    for (unsigned lane = 0; lane < 64; ++lane) {
      // Lane 9 is the first whose address lies after the buffer.
      const uint64_t address = buffer + (lane < 9 ? lane * 4 : 4096 + lane * 4);
      wave.vgpr[2][lane] = static_cast<uint32_t>(address);
      wave.vgpr[3][lane] = static_cast<uint32_t>(address >> 32);
    }
    for (unsigned lane = 63; lane < 64; --lane) {  // the host meets the last lane first
      const uint64_t address = wave.vgpr[2][lane] | uint64_t{wave.vgpr[3][lane]} << 32;
      *reinterpret_cast<volatile uint32_t*>(address + 16) = 1;
    }
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::memory_fault);
  const std::string& text = result.error().message;
  EXPECT_THAT(text, HasSubstr(fmt::format("kernel 'k' wrote to {:#x}, which is not mapped", buffer + 4096 + 36 + 16)));
  EXPECT_THAT(text, HasSubstr("global_store_dword v[2:3], v1, off offset:16"));
  EXPECT_THAT(text, HasSubstr(fmt::format("52 bytes past the end of test buffer (4096 bytes at {:#x})", buffer)));
  EXPECT_THAT(text, HasSubstr("work-group   (2, 0, 0), wave 1"));
  EXPECT_THAT(text, HasSubstr("work-item    (9, 1, 0), lane 9"));
}

TEST_F(FaultReports, FindTheLaneOfAnAddressThatTheHostDoesNotSay) {
  const auto result = run("global_load_dword v1, v2, s[4:5]\ns_endpgm", [&](Wave& wave) {
    wave.set_scalar64(4, 0x4242'0000'0000'0000);
    for (unsigned lane = 0; lane < 64; ++lane) wave.vgpr[2][lane] = lane * 8;
    wave.set_exec(0xF0);
    *reinterpret_cast<volatile uint32_t*>(wave.scalar64(4) + 4 * 8);
  });
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("read from 0x4242000000000020"));
  EXPECT_THAT(result.error().message, HasSubstr("no possible address"));
  EXPECT_THAT(result.error().message, HasSubstr("lane 4"));
}

TEST_F(FaultReports, StoresToAddressesThatTheHostDoesNotSayAreWrites) {
  const auto result = run("global_store_dword v2, v1, s[4:5]\ns_endpgm", [&](Wave& wave) {
    wave.set_scalar64(4, 0x4242'0000'0000'0000);
    for (unsigned lane = 0; lane < 64; ++lane) wave.vgpr[2][lane] = lane * 8;
    *reinterpret_cast<volatile uint32_t*>(wave.scalar64(4)) = 1;
  });
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("kernel 'k' wrote to 0x4242000000000000"));
}

/// What the engine found wrong is not that the memory is missing.
TEST_F(FaultReports, UnalignedAtomicsAreCalledThat) {
  gpu = test::make_gpu("gfx900", [](Wave& wave, uint64_t) {
    wave.fault = std::make_unique<Fault>(Fault{.kind = Fault::Kind::memory,
                                               .pc = wave.pc,
                                               .address = 0x1002,
                                               .is_write = true,
                                               .lane = 3,
                                               .what = "an atomic of 4 bytes must be aligned to them"});
    return WaveState::faulted;
  });
  code = test::load(*gpu, test::assemble_kernel("gfx900", {"next_free_vgpr 8", "next_free_sgpr 16"},
                                                "global_atomic_add v[0:1], v2, off\ns_endpgm"));
  const auto result = gpu->run(test::packet_for(*code, {64, 1, 1}, {64, 1, 1}));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("kernel 'k' wrote to 0x1002: an atomic of 4 bytes must be aligned"));
  EXPECT_THAT(result.error().message, Not(HasSubstr("not mapped")));
  EXPECT_THAT(result.error().message, HasSubstr("work-item    (3, 0, 0), lane 3"));
}

TEST_F(FaultReports, OtherTrapsAreNotCalledAborts) {
  const auto trap = [&](const char* what) {
    code.reset();  // before its GPU
    gpu = test::make_gpu("gfx900", [what](Wave& wave, uint64_t) {
      wave.fault = std::make_unique<Fault>(Fault{.kind = Fault::Kind::abort, .pc = wave.pc, .what = what});
      return WaveState::faulted;
    });
    code = test::load(*gpu,
                      test::assemble_kernel("gfx900", {"next_free_vgpr 8", "next_free_sgpr 16"}, "s_trap 1\ns_endpgm"));
    const auto result = gpu->run(test::packet_for(*code, {64, 1, 1}, {64, 1, 1}));
    return result ? std::string() : result.error().message;
  };
  EXPECT_THAT(trap("s_trap 1: no trap handler has this number"),
              testing::StartsWith("kernel 'k' stopped: s_trap 1: no trap handler has this number\n"));
  EXPECT_THAT(trap("s_trap 2 (the kernel called abort)"),
              testing::StartsWith("kernel 'k' aborted itself (s_trap 2)\n"));
}

TEST_F(FaultReports, AWildCallIsSaidToComeFromItsPlace) {
  gpu = test::make_gpu("gfx900", [](Wave& wave, uint64_t) {
    wave.set_scalar64(4, 0x7000);
    wave.set_scalar64(30, wave.pc + 4 + 4);  // after the call, which is the second instruction
    wave.pc = 0x7000;
    wave.fault = std::make_unique<Fault>(Fault{.kind = Fault::Kind::instruction_fetch, .pc = wave.pc});
    return WaveState::faulted;
  });
  code = test::load(*gpu, test::assemble_kernel("gfx900", {"next_free_vgpr 8", "next_free_sgpr 32"},
                                                "s_nop 0\ns_swappc_b64 s[30:31], s[4:5]\ns_endpgm"));
  const auto result = gpu->run(test::packet_for(*code, {64, 1, 1}, {64, 1, 1}));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("jumped to 0x7000, where there is no code"));
  const uint64_t call = code->base() + code->code_object().functions.at(0).value + 4;
  EXPECT_THAT(result.error().message,
              HasSubstr(fmt::format("reached by   s_swappc_b64 s[30:31], s[4:5]  (at {:#x})", call)));
}

/// One of four waves never comes to the barrier, and one has ended.
TEST(HangReports, SayWhereEveryWaveIs) {
  const auto gpu = test::make_gpu("gfx900",
                                  [](Wave& wave, uint64_t) {
                                    if (wave.index == 1) return WaveState::ready;
                                    if (wave.index == 3) return WaveState::ended;
                                    wave.pc = wave.work_group->dispatch->kernel->entry + 4;  // behind the barrier
                                    return WaveState::at_barrier;
                                  },
                                  {.threads = 1, .kernel_timeout = std::chrono::milliseconds(20)});
  const auto code = test::load(
      *gpu, test::assemble_kernel("gfx900", {"next_free_vgpr 8", "next_free_sgpr 16"}, "s_barrier\ns_endpgm"));
  const auto result = gpu->run(test::packet_for(*code, {256, 1, 1}, {256, 1, 1}));
  ASSERT_FALSE(result);
  const uint64_t entry = code->base() + code->code_object().functions.at(0).value;
  const std::string& text = result.error().message;
  EXPECT_THAT(text, HasSubstr(fmt::format("waves 0, 2 wait at the barrier: s_barrier  (at {:#x})", entry)));
  EXPECT_THAT(text, HasSubstr(fmt::format("wave 1 runs: s_barrier  (at {:#x})", entry)));
  EXPECT_THAT(text, HasSubstr("1 wave has ended"));
}

TEST_F(FaultReports, SayNullPointer) {
  const auto result = run("s_load_dword s0, s[2:3], 0x8\ns_endpgm", [&](Wave&) {
    auto* volatile null = reinterpret_cast<volatile uint32_t*>(8);
    static_cast<void>(*null);
  });
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("read from 0x8"));
  EXPECT_THAT(result.error().message, HasSubstr("null pointer"));
  EXPECT_THAT(result.error().message, HasSubstr("s_load_dword s0, s[2:3], 0x8"));
}

TEST_F(FaultReports, ArgumentsThatAreNotThereAreAnError) {
  gpu = test::make_gpu("gfx90a", [](Wave&, uint64_t) { return WaveState::ended; });
  code = test::load(*gpu, test::assemble_kernel("gfx90a", {"next_free_vgpr 8", "next_free_sgpr 16", "accum_offset 8",
                                                           "user_sgpr_kernarg_segment_ptr 1",
                                                           "user_sgpr_kernarg_preload_length 2", "kernarg_size 8"}));
  auto packet = test::packet_for(*code, {64, 1, 1}, {64, 1, 1});
  packet.kernarg_address = 0x10;
  const auto result = gpu->run(packet);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::memory_fault);
  EXPECT_THAT(result.error().message, HasSubstr("0x10"));
}

TEST_F(FaultReports, NameFunctionAndSourceLine) {
  const test::TemporaryDirectory directory;
  test::write_file(directory / "lines.cl",
                   "__attribute__((noinline)) void deep(global int *p) {\n"
                   "  p[3] = 1;\n"
                   "}\n"
                   "kernel void k(global int *p) { deep(p); }\n");
  const auto compiled = test::run_command("cd " + directory.path().string() +
                                          " && clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx900 -nogpulib -O1 -g "
                                          "-cl-std=CL2.0 lines.cl -o lines.co 2>&1");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  uint64_t deep = 0;
  gpu = test::make_gpu("gfx900", [&](Wave& wave, uint64_t) {
    wave.pc = deep;
    wave.fault = std::make_unique<Fault>(Fault{.kind = Fault::Kind::abort, .pc = wave.pc});
    return WaveState::faulted;
  });
  code = test::load(*gpu, test::read_bytes(directory / "lines.co"));
  const auto& functions = code->code_object().functions;
  const auto found = std::ranges::find(functions, "deep", &object::Symbol::name);
  ASSERT_NE(found, functions.end());
  deep = code->base() + found->value + found->size - 4;  // s_setpc_b64, which belongs to the function's last line
  const auto result = gpu->run(test::packet_for(*code, {1, 1, 1}, {1, 1, 1}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::aborted);
  EXPECT_THAT(result.error().message, HasSubstr("s_setpc_b64"));
  EXPECT_THAT(result.error().message, HasSubstr("function     deep"));
  EXPECT_THAT(result.error().message, HasSubstr("lines.cl:3:1"));
}

// A line of ROCm's headers says little to their user: the call of it does.
TEST_F(FaultReports, NameTheLineOfTheUserWhereCodeOfAHeaderWasInlined) {
  const test::TemporaryDirectory directory;
  test::write_file(directory / "lines.cl",
                   "#line 900 \"/opt/rocm/include/hip/amd_detail/atomic.h\"\n"
                   "static inline void add(global int *p) { __builtin_trap(); }\n"
                   "#line 7 \"user.cl\"\n"
                   "kernel void k(global int *p) { add(p); }\n");
  const auto compiled = test::run_command("cd " + directory.path().string() +
                                          " && clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx900 -nogpulib -O2 -g "
                                          "-cl-std=CL2.0 lines.cl -o lines.co 2>&1");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  gpu = test::make_gpu("gfx900", [&](Wave& wave, uint64_t) {
    constexpr uint32_t s_trap_2 = 0xBF920002;
    while (*reinterpret_cast<const uint32_t*>(wave.pc) != s_trap_2) wave.pc += 4;
    wave.fault = std::make_unique<Fault>(Fault{.kind = Fault::Kind::abort, .pc = wave.pc});
    return WaveState::faulted;
  });
  code = test::load(*gpu, test::read_bytes(directory / "lines.co"));
  const auto result = gpu->run(test::packet_for(*code, {1, 1, 1}, {1, 1, 1}));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("user.cl:7:32"));
  EXPECT_THAT(result.error().message, testing::Not(HasSubstr("atomic.h")));
}

}  // namespace
}  // namespace Atoll::machine

// Code objects for the tests, compiled by clang from OpenCL C.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "support/command.h"

namespace Atoll::test {

/// Compiles for gfx90a, or another target, with undefined symbols left for the loader, and returns the bytes; empty
/// (and a failed test) when clang refuses.
inline std::vector<uint8_t> compile_kernels(const std::string& source, const std::string& target = "gfx90a") {
  const TemporaryDirectory directory;
  write_file(directory / "kernels.cl", source);
  const CommandResult run = run_command(
      fmt::format("{} -target amdgcn-amd-amdhsa -mcpu={} -mcode-object-version=4 -nogpulib -O2 -cl-std=CL2.0 -w "
                  "-Wl,--unresolved-symbols=ignore-all {} "
                  "-o {} 2>&1",
                  ATOLL_COMPILER, target, directory / "kernels.cl", directory / "kernels.co"));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  return read_bytes(directory / "kernels.co");
}

/// Kernels that add to memory, count in a variable, store where they are told, trap, and tell the compute unit that
/// they are on; and two variables.
inline constexpr const char* test_kernels = R"(
__global int counter __attribute__((visibility("default"))) = 5;
__constant int table[4] __attribute__((visibility("default"))) = {10, 20, 30, 40};
int id() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
}
__kernel void add(__global int *data, int value) { data[id()] += value + table[id() % 4]; }
__kernel void bump(void) { counter += 1; }
__kernel void stray(__global int *nowhere) { *nowhere = 1; }
__kernel void trap(void) { __builtin_trap(); }
__kernel void where(__global int *unit) { unit[id()] = __builtin_amdgcn_s_getreg(7 << 11 | 8 << 6 | 4); }  // HW_ID
)";

}  // namespace Atoll::test

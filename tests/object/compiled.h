// Code objects to test with: one OpenCL C source that has a bit of everything that a reader meets, compiled by the
// given clang.
#pragma once

#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/command.h"

namespace Atoll::test {

/// Kernels with arguments of several kinds, LDS, a required work-group size; program variables, one of which holds
/// the address of another, so that there is something to relocate.
inline constexpr const char* kernels_source = R"(
__attribute__((visibility("default"))) __constant int table[3] = {3, 1, 4};
__global float total;
__global float *where_total_is = &total;

__kernel void scale(__global float *data, float factor, int count) {
  size_t i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  if (i < count) data[i] *= factor + table[i % 3];
}

__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void tile(__global float *data, __local float *dynamic) {
  __local float fixed[256];
  fixed[__builtin_amdgcn_workitem_id_x()] = data[__builtin_amdgcn_workitem_id_y()] + dynamic[3];
  __builtin_amdgcn_s_barrier();
  *where_total_is += fixed[255 - __builtin_amdgcn_workitem_id_x()];
}
)";

/// `target` may have settings, "gfx90a:xnack-". `options` as clang takes them: "-c" to stop before linking.
inline void compile_code_object(const std::string& compiler, int version, const std::string& target,
                                const std::string& path, const std::string& options = "") {
  write_file(path + ".cl", kernels_source);
  const auto run = run_command(
      fmt::format("{} -target amdgcn-amd-amdhsa -mcpu={} -mcode-object-version={} -nogpulib -O2 -cl-std=CL2.0 -w "
                  " -cl-kernel-arg-info {} {}.cl -o {} 2>&1",
                  compiler, target, version, options, path, path));
  ASSERT_EQ(run.exit_code, 0) << run.output;
}

/// The same as if it were compiled for gfx1310, of which there is no GPU, and which no compiler knows.
inline void compile_code_object_of_gfx1310(const std::string& path) {
  compile_code_object("clang-15", 4, "gfx1030", path);
  std::vector<uint8_t> file = read_bytes(path);
  ASSERT_GE(file.size(), sizeof(Elf64_Ehdr));
  constexpr uint8_t processor = 0x50;  // EF_AMDGPU_MACH_AMDGCN_GFX1310
  file[offsetof(Elf64_Ehdr, e_flags)] = processor;
  write_file(path, {file.begin(), file.end()});
}

}  // namespace Atoll::test

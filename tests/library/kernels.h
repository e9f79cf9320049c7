// The kernels that the tests of the library and of `atoll launch` run, and their compilation.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "support/command.h"

namespace Atoll::test {

inline constexpr const char* launch_kernels = R"(
__attribute__((visibility("default"))) __global int launches;

kernel void scale(global float* data, float factor, int count) {
  uint i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  if (i < count) data[i] *= factor;
  if (i == 0) __atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);  // some launches run at the same time
}

// What each work-item sees of its place.
kernel void places(global uint* out) {
  uint x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(), z = __builtin_amdgcn_workitem_id_z();
  uint gx = __builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y(),
       gz = __builtin_amdgcn_workgroup_id_z();
  uint sx = __builtin_amdgcn_workgroup_size_x(), sy = __builtin_amdgcn_workgroup_size_y(),
       sz = __builtin_amdgcn_workgroup_size_z();
  uint nx = __builtin_amdgcn_grid_size_x(), ny = __builtin_amdgcn_grid_size_y();
  uint gridx = x + gx * 4, gridy = y + gy * 3, gridz = z + gz * 2;
  out[gridx + nx * (gridy + ny * gridz)] = sx | sy << 8 | sz << 16 | (gx + gy + gz) << 24;
}

// Reverses each work-group's part through LDS, of which the first pointer's part is not touched.
kernel void reverse(global int* data, local int* other, local int* part) {
  uint i = __builtin_amdgcn_workitem_id_x(), base = __builtin_amdgcn_workgroup_id_x() * 64;
  other[i] = -1;
  part[i] = data[base + i];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  data[base + i] = part[63 - i];
}

typedef struct { int a; double b; char c; } Mixed;
kernel void mixed(global double* out, char c, short s, long l, double d, Mixed m) {
  out[0] = c; out[1] = s; out[2] = l; out[3] = d; out[4] = m.a; out[5] = m.b; out[6] = m.c;
}

kernel __attribute__((reqd_work_group_size(8, 4, 1))) void fixed(global int* out) {
  out[__builtin_amdgcn_workitem_id_x() + 8 * __builtin_amdgcn_workitem_id_y()] = 1;
}

kernel void stray(global int* out) { out[1 << 28] = 1; }
kernel void forever(global volatile int* out) { while (*out == 0) {} }
)";

inline void compile_kernels(const std::string& compiler, int version, const std::string& target,
                            const std::string& path) {
  write_file(path + ".cl", launch_kernels);
  const auto run = run_command(
      fmt::format("{} -target amdgcn-amd-amdhsa -mcpu={} -mcode-object-version={} -nogpulib -O2 -g -cl-std=CL2.0 -w "
                  "-cl-kernel-arg-info {}.cl -o {} 2>&1",
                  compiler, target, version, path, path));
  ASSERT_EQ(run.exit_code, 0) << run.output;
}

}  // namespace Atoll::test

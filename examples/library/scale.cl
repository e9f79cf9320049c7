// A kernel for scale.cpp, scale.c and scale.py. For an MI250X:
//
//   clang -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O2 -g -cl-kernel-arg-info scale.cl -o scale.co
kernel void scale(global float* data, float factor, int count) {
  int i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  if (i < count) data[i] *= factor;
}

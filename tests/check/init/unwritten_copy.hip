// An uninitialized value is copied, added to, and then decides a branch.
#include "unwritten.h"

__global__ void move(const int* from, int* to) { to[threadIdx.x] = from[threadIdx.x] + 5; }

__global__ void choose(const int* in, int* out) {
  if (in[threadIdx.x] > 100) atomicAdd(out, 1);  // FINDING: init branch
}

void run(bool mended) {
  int *first = unwritten<int>(64), *second = unwritten<int>(64), *third = unwritten<int>(64), *out = allocate<int>(1);
  if (mended) HIP(hipMemset(first, 0, 64 * sizeof(int)));
  HIP(hipMemcpy(second, first, 64 * sizeof(int), hipMemcpyDeviceToDevice));
  move<<<1, 64>>>(second, third);
  choose<<<1, 64>>>(third, out);
  finish();
  for (int* memory : {first, second, third, out}) HIP(hipFree(memory));
}

// All lanes index past a structure that is passed by value: into hidden arguments, which the compiler adds.
#include "../case.h"

struct Table {
  int values[8];
};

__global__ void look_up(int* out, Table table, int first) {
  out[threadIdx.x] = table.values[(threadIdx.x & 7) + first];  // FINDING: memory arguments-out-of-bounds
}

void run(bool mended) {
  int* out = allocate<int>(64);
  look_up<<<1, 64>>>(out, Table{{1, 2, 3, 4, 5, 6, 7, 8}}, mended ? 0 : 10);
  finish();
  HIP(hipFree(out));
}

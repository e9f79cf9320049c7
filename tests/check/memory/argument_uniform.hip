// A work-group reads an element past an array in a structure that is passed by value: all its lanes the same one.
#include "../case.h"

struct Table {
  int values[8];
};

__global__ void look_up(int* out, Table table, int first) {
  out[threadIdx.x] = table.values[blockIdx.x + first];  // FINDING: memory arguments-out-of-bounds
}

void run(bool mended) {
  int* out = allocate<int>(64);
  look_up<<<2, 64>>>(out, Table{{1, 2, 3, 4, 5, 6, 7, 8}}, mended ? 3 : 7);
  finish();
  HIP(hipFree(out));
}

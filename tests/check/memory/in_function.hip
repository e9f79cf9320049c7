// The mistake is in a function that the kernel calls, and a pointer to a structure leads there.
#include "../case.h"

struct Table {
  int* entries;
  int size;
};

__device__ __attribute__((noinline)) void put(const Table* table, int index, int value) {
  table->entries[index] = value;  // FINDING: memory out-of-bounds
}

__global__ void fill(const Table* table) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < table->size) put(table, i, i);
}

void run(bool mended) {
  const Table table{allocate<int>(50), mended ? 50 : 60};
  Table* on_gpu = allocate<Table>(1);
  HIP(hipMemcpy(on_gpu, &table, sizeof table, hipMemcpyHostToDevice));
  fill<<<1, 64>>>(on_gpu);
  finish();
  HIP(hipFree(table.entries));
  HIP(hipFree(on_gpu));
}

// One kernel writes one member of a structure, the next looks at the other.
#include "unwritten.h"

struct Item {
  int key, is_used;
};

__global__ void set_keys(Item* items, bool mended) {
  items[threadIdx.x].key = static_cast<int>(threadIdx.x);
  if (mended) items[threadIdx.x].is_used = 1;
}

__global__ void sum(const Item* items, int* out) {
  if (items[threadIdx.x].is_used != 0) atomicAdd(out, items[threadIdx.x].key);  // FINDING: init branch
}

void run(bool mended) {
  Item* items = unwritten<Item>(64);
  int* out = allocate<int>(1);
  set_keys<<<1, 64>>>(items, mended);
  sum<<<1, 64>>>(items, out);
  finish();
  HIP(hipFree(items));
  HIP(hipFree(out));
}

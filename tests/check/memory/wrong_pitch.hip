// Rows are taken to be as long as the pitch says, of an array without padding.
#include "../case.h"

__global__ void clear(float* image, int width, int height, int pitch) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(blockIdx.x);
  if (x < width && y < height) image[y * pitch + x] = 0;  // FINDING: memory out-of-bounds
}

void run(bool mended) {
  constexpr int width = 60, height = 32;
  float* image = allocate<float>(width * height);
  clear<<<height, 64>>>(image, width, height, mended ? width : 64);
  finish();
  HIP(hipFree(image));
}

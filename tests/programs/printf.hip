// printf on the device, through the host call buffer: the conversions, strings, many lanes of many waves at once, and
// what printf gives back. (Strings are padded within 7 characters only: HIP 5.2 takes a padded string's width for its
// size in the buffer.) The test driver looks for the lines below on standard output.
#include "check.h"

namespace {

__global__ void conversions(int* results) {
  results[0] = printf("int %d, unsigned %u, hex %#x, char %c, percent %%\n", -42, 3000000000u, 0xbeefu, 'q');
  results[1] = printf("long %lld, %llx, real %.3f %e %g\n", -1234567890123456789ll, 0xfedcba9876543210ull, 3.14159,
                      -2.5e-300, 1e6);
  results[2] =
      printf("string [%s] [%7s] [%-6s] pointer %p\n", "text", "right", "left", reinterpret_cast<void*>(0x1234));
  results[3] = printf("no arguments\n");
  results[4] = printf("width [%8d] [%-8d] [%08.3f] [%*d]\n", 17, 17, 2.5, 6, 99);
}

// Seven arguments need more than one packet of the host call buffer.
__global__ void lines() {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3 == 0) printf("line %u of block %u: %d %d %d %f %s\n", i, unsigned{blockIdx.x}, 1, 2, 3, i * 0.5, "end");
}

}  // namespace

int main() {
  const check::Device<int> results(5);
  conversions<<<1, 1>>>(results.get());
  check::finish();
  check::equal("what printf returns", results.read(), {60, 77, 48, 13, 48});
  lines<<<4, 96>>>();
  check::finish();
  return check::result();
}

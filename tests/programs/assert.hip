// A device assertion that fails: a message on standard error, and the program is aborted.
#include "check.h"

#undef NDEBUG
#include <cassert>

namespace {

__global__ void positive(const int* values) { assert(values[threadIdx.x] > 0); }

}  // namespace

int main() {
  std::vector<int> values(64, 1);
  const check::Device<int> good(values);
  positive<<<1, 64>>>(good.get());
  check::finish();
  std::printf("the first launch passed\n");
  std::fflush(stdout);

  values[13] = -1;
  const check::Device<int> bad(values);
  positive<<<1, 64>>>(bad.get());
  const hipError_t error = hipDeviceSynchronize();  // before HIP 7 the program ends here
  std::printf("hipDeviceSynchronize: %s\n", hipGetErrorName(error));
  return error == hipSuccess ? 0 : 3;
}

// abort() on the device ends the program by SIGABRT.
#include "check.h"

namespace {

__global__ void give_up(int limit) {
  if (static_cast<int>(threadIdx.x) > limit) abort();
}

}  // namespace

int main() {
  give_up<<<1, 64>>>(100);
  check::finish();
  std::printf("the first launch passed\n");
  std::fflush(stdout);

  give_up<<<1, 64>>>(10);
  const hipError_t error = hipDeviceSynchronize();  // before HIP 7 the program ends here
  std::printf("hipDeviceSynchronize: %s\n", hipGetErrorName(error));
  return error == hipSuccess ? 0 : 3;
}

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
  (void)hipDeviceSynchronize();
  std::printf("not reached\n");
  return 0;
}

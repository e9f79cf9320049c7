// Hardware floating-point atomics on each kind of memory that HIP allocates. On fine-grained memory gfx90a drops them:
// memory keeps its value, and the lane gets 0 (ROCm documentation, "Hardware atomics operation support"). On gfx942 and
// later they are done.
#include <string>

#include "check.h"

namespace {

// The device function has the instruction where the GPU has one, and else an atomic by compare-and-swap.
__global__ void add(double* sum, double* old) {
  const double before = unsafeAtomicAdd(sum, 2.0);
  if (threadIdx.x == 0) *old = before;
}

void check_kind(const char* what, double* memory, bool is_dropped) {
  double now = 5;
  HIP(hipMemcpy(memory, &now, sizeof now, hipMemcpyDefault));
  const check::Device<double> old(1);
  add<<<1, 1>>>(memory, old.get());
  check::finish();
  HIP(hipMemcpy(&now, memory, sizeof now, hipMemcpyDefault));
  check::equal((std::string(what) + ": memory").c_str(), now, is_dropped ? 5.0 : 7.0);
  check::equal((std::string(what) + ": the value returned").c_str(), old.read()[0], is_dropped ? 0.0 : 5.0);
}

}  // namespace

int main() {
  hipDeviceProp_t properties{};
  HIP(hipGetDeviceProperties(&properties, 0));
  const bool drops = std::string(properties.gcnArchName).compare(0, 6, "gfx90a") == 0;
  void* memory = nullptr;
  HIP(hipHostMalloc(&memory, sizeof(double), hipHostMallocCoherent));
  check_kind("coherent host memory", static_cast<double*>(memory), drops);
  HIP(hipHostFree(memory));
  HIP(hipHostMalloc(&memory, sizeof(double), hipHostMallocNonCoherent));
  check_kind("non-coherent host memory", static_cast<double*>(memory), false);
  HIP(hipHostFree(memory));
  HIP(hipMallocManaged(&memory, 4096));
  check_kind("managed memory", static_cast<double*>(memory), drops);
  HIP(hipMemAdvise(memory, 4096, hipMemAdviseSetCoarseGrain, 0));
  check_kind("managed memory, advised to be coarse-grained", static_cast<double*>(memory), false);
  HIP(hipFree(memory));
  HIP(hipExtMallocWithFlags(&memory, sizeof(double), hipDeviceMallocFinegrained));
  check_kind("fine-grained device memory", static_cast<double*>(memory), drops);
  HIP(hipFree(memory));
  HIP(hipExtMallocWithFlags(&memory, sizeof(double), hipDeviceMallocDefault));
  check_kind("device memory", static_cast<double*>(memory), false);
  HIP(hipFree(memory));
  return check::result();
}

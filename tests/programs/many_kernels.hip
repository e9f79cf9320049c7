// 10,000 small kernels in a row, each of which depends on the one before.
#include "check.h"

namespace {

__global__ void step(uint64_t* value, uint64_t amount) { *value = *value * 3 + amount; }

}  // namespace

int main() {
  const check::Device<uint64_t> value(1);
  uint64_t want = 0;
  for (uint64_t i = 0; i < 10000; ++i) {
    step<<<1, 1>>>(value.get(), i);
    want = want * 3 + i;
  }
  check::finish();
  check::equal("10,000 kernels", value.read(), {want});
  return check::result();
}

// Work-groups that wait for one another make progress, even when there are far more of them than host threads: a chain
// in which each waits for the next, and a barrier made of atomics.
#include "check.h"

namespace {

// Work-group i waits for work-group i + 1, which starts later.
__global__ void chain(int* turns) {
  if (threadIdx.x == 0) {
    if (blockIdx.x + 1 < gridDim.x) {
      while (__hip_atomic_load(&turns[blockIdx.x + 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {
      }
    }
    const int value = blockIdx.x + 1 < gridDim.x ? turns[blockIdx.x + 1] + 1 : 1;
    __hip_atomic_store(&turns[blockIdx.x], value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  }
}

__global__ void barrier(int* arrived, int* sum) {
  for (int round = 1; round <= 4; ++round) {
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(arrived, 1);
      while (__hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) <
             round * static_cast<int>(gridDim.x)) {
        __builtin_amdgcn_s_sleep(8);
      }
    }
    __syncthreads();
    atomicAdd(sum, round);
  }
}

// Waves of one work-group that wait for one another outside any barrier.
__global__ void relay(int* baton) {
  const int wave = static_cast<int>(threadIdx.x) / 64, waves = static_cast<int>(blockDim.x) / 64;
  if (threadIdx.x % 64 == 0) {
    for (int lap = 0; lap < 10; ++lap) {
      while (__hip_atomic_load(baton, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) !=
             lap * waves + waves - 1 - wave) {
      }
      __hip_atomic_fetch_add(baton, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
    }
  }
}

}  // namespace

int main() {
  constexpr int groups = 40;
  const check::Device<int> turns(groups), arrived(1), sum(1), baton(1);
  chain<<<groups, 64>>>(turns.get());
  barrier<<<groups, 128>>>(arrived.get(), sum.get());
  relay<<<1, 512>>>(baton.get());
  check::finish();
  std::vector<int> want(groups);
  for (int i = 0; i < groups; ++i) want[i] = groups - i;
  check::equal("chain", turns.read(), want);
  check::equal("barrier", sum.read(), {groups * 128 * 10});
  check::equal("relay", baton.read(), {80});
  return check::result();
}

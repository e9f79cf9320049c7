// Sums, scans and histograms: trees in LDS, shuffles within a wave, a last work-group that finishes the work of all
// others, and bins counted by atomics.
#include "check.h"

namespace {

// A tree in LDS over a work-group of any power of two.
template <typename T>
__global__ void reduce_tree(const T* in, T* sums, int count) {
  extern __shared__ unsigned char memory[];
  T* partial = reinterpret_cast<T*>(memory);
  const int lane = static_cast<int>(threadIdx.x);
  T sum = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x) + lane; i < count; i += gridDim.x * blockDim.x) sum += in[i];
  partial[lane] = sum;
  __syncthreads();
  for (int width = static_cast<int>(blockDim.x) / 2; width > 0; width /= 2) {
    if (lane < width) partial[lane] += partial[lane + width];
    __syncthreads();
  }
  if (lane == 0) sums[blockIdx.x] = partial[0];
}

template <typename T>
void check_tree(const char* what) {
  constexpr int count = 20011, blocks = 5;
  std::vector<T> in(count);
  T want = 0;
  for (int i = 0; i < count; ++i) want += in[i] = static_cast<T>(i % 1000 - 300);
  for (const int block : {32, 64, 256, 1024}) {
    const check::Device<T> device_in(in), sums(blocks);
    reduce_tree<T><<<blocks, block, block * sizeof(T)>>>(device_in.get(), sums.get(), count);
    check::finish();
    T got = 0;
    for (const T sum : sums.read()) got += sum;
    check::equal(what, got, want);
  }
}

// Each wave by shuffles; the work-group that comes last adds up what the others left in global memory.
__device__ unsigned int finished_blocks;

__device__ int wave_sum(int value) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) value += __shfl_down(value, offset);
  return value;
}

__global__ void reduce_last_block(const int* in, volatile int* sums, int* total, int count) {
  __shared__ int wave_sums[16];
  __shared__ bool last;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = wave_sum(i < static_cast<unsigned>(count) ? in[i] : 0);
  if (threadIdx.x % warpSize == 0) wave_sums[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    int block_sum = 0;
    for (unsigned wave = 0; wave < blockDim.x / warpSize; ++wave) block_sum += wave_sums[wave];
    sums[blockIdx.x] = block_sum;
    __threadfence();
    last = atomicAdd(&finished_blocks, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int all = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) all += sums[block];
    *total = all;
    finished_blocks = 0;
  }
}

void check_last_block() {
  constexpr int count = 30000, block = 256, blocks = (count + block - 1) / block;
  std::vector<int> in(count);
  int want = 0;
  for (int i = 0; i < count; ++i) want += in[i] = i * 13 % 997;
  const check::Device<int> device_in(in), sums(blocks), total(1);
  for (int round = 0; round < 3; ++round) {
    reduce_last_block<<<blocks, block>>>(device_in.get(), sums.get(), total.get(), count);
    check::finish();
    check::equal("last block", total.read(), {want});
  }
}

// Inclusive scan of a work-group (Hillis and Steele 1986), and a second pass over the blocks' sums.
__global__ void scan_block(const uint32_t* in, uint32_t* out, uint32_t* sums, int count) {
  __shared__ uint32_t buffer[2][512];
  const int lane = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x * blockDim.x) + lane;
  int current = 0;
  buffer[0][lane] = i < count ? in[i] : 0;
  __syncthreads();
  for (int offset = 1; offset < static_cast<int>(blockDim.x); offset *= 2) {
    buffer[1 - current][lane] = buffer[current][lane] + (lane >= offset ? buffer[current][lane - offset] : 0);
    current = 1 - current;
    __syncthreads();
  }
  if (i < count) out[i] = buffer[current][lane];
  if (sums != nullptr && lane == static_cast<int>(blockDim.x) - 1) sums[blockIdx.x] = buffer[current][lane];
}

__global__ void add_block_sums(uint32_t* out, const uint32_t* scanned_sums, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (blockIdx.x > 0 && i < count) out[i] += scanned_sums[blockIdx.x - 1];
}

void check_scan() {
  constexpr int count = 50000, block = 512, blocks = (count + block - 1) / block;
  std::vector<uint32_t> in(count), want(count);
  uint32_t sum = 0;
  for (int i = 0; i < count; ++i) want[i] = sum += in[i] = static_cast<uint32_t>(i) * 2654435761u;
  const check::Device<uint32_t> device_in(in), out(count), sums(blocks), scanned(blocks);
  scan_block<<<blocks, block>>>(device_in.get(), out.get(), sums.get(), count);
  scan_block<<<1, block>>>(sums.get(), scanned.get(), nullptr, blocks);
  add_block_sums<<<blocks, block>>>(out.get(), scanned.get(), count);
  check::finish();
  check::equal("scan", out.read(), want);
}

__global__ void histogram_shared(const uint8_t* in, uint32_t* bins, int count) {
  __shared__ uint32_t local[256];
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) local[bin] = 0;
  __syncthreads();
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[in[i]], 1);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {
    if (local[bin] != 0) atomicAdd(&bins[bin], local[bin]);
  }
}

__global__ void histogram_global(const uint8_t* in, uint32_t* bins, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) atomicAdd(&bins[in[i]], 1);
}

void check_histograms() {
  constexpr int count = 40000;
  std::vector<uint8_t> in(count);
  std::vector<uint32_t> want(256);
  check::Random random(42);
  for (uint8_t& value : in) {
    value = static_cast<uint8_t>(random.next() & random.next());  // uneven on purpose
    ++want[value];
  }
  const check::Device<uint8_t> device_in(in);
  const check::Device<uint32_t> shared_bins(256), global_bins(256);
  histogram_shared<<<6, 320>>>(device_in.get(), shared_bins.get(), count);
  histogram_global<<<(count + 255) / 256, 256>>>(device_in.get(), global_bins.get(), count);
  check::finish();
  check::equal("histogram in LDS", shared_bins.read(), want);
  check::equal("histogram in global memory", global_bins.read(), want);
}

}  // namespace

int main() {
  check_tree<int>("int");
  check_tree<uint64_t>("uint64_t");
  check_tree<float>("float");
  check_tree<double>("double");
  check_last_block();
  check_scan();
  check_histograms();
  return check::result();
}

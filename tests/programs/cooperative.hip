// A cooperative launch: all work-groups meet at a barrier of the whole grid, again and again, and see each other's
// stores; also groups within a work-group by cooperative_groups.
#include "check.h"
// Needs what hip_runtime.h, included by check.h, declares.
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

namespace {

// Each round every work-item adds up what its two neighbours, in other work-groups at the edges, had before.
__global__ void rounds(int* first, int* second, int count, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  int *in = first, *out = second;
  for (int round = 0; round < rounds; ++round) {
    for (int i = static_cast<int>(grid.thread_rank()); i < count; i += static_cast<int>(grid.size())) {
      out[i] = (in[(i + 1) % count] + in[(i + count - 1) % count] + i) % 10007;
    }
    grid.sync();
    int* other = in;
    in = out;
    out = other;
  }
}

void check_grid_barrier() {
  int supported = 0;
  HIP(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, 0));
  EXPECT(supported == 1);
  int count = 1000, round_count = 12;
  std::vector<int> values(count), next(count);
  for (int i = 0; i < count; ++i) values[i] = i * 37 % 1009;
  const check::Device<int> first(values), second(count);
  int *first_pointer = first.get(), *second_pointer = second.get();
  void* arguments[] = {&first_pointer, &second_pointer, &count, &round_count};
  int per_unit = 0;
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, rounds, 128, 0));
  EXPECT(per_unit >= 1);
  HIP(hipLaunchCooperativeKernel(reinterpret_cast<void*>(rounds), dim3(8), dim3(128), arguments, 0, nullptr));
  check::finish();
  for (int round = 0; round < round_count; ++round) {
    for (int i = 0; i < count; ++i) next[i] = (values[(i + 1) % count] + values[(i + count - 1) % count] + i) % 10007;
    values.swap(next);
  }
  check::equal("grid barrier", first.read(), values);
}

__global__ void tiles(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  int sum = static_cast<int>(block.thread_rank());
  for (int offset = 8; offset > 0; offset /= 2) sum += tile.shfl_down(sum, offset);
  block.sync();
  out[block.thread_rank()] = tile.thread_rank() == 0 ? sum : -static_cast<int>(tile.size());
}

void check_tiles() {
  const check::Device<int> out(128);
  tiles<<<1, 128>>>(out.get());
  check::finish();
  std::vector<int> want(128, -16);
  for (int start = 0; start < 128; start += 16) want[start] = 16 * start + 120;
  check::equal("tiles", out.read(), want);
}

}  // namespace

int main() {
  check_grid_barrier();
  check_tiles();
  return check::result();
}

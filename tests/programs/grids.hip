// Two- and three-dimensional grids: every work-item exists once, and knows its place and the sizes around it.
#include "check.h"

namespace {

// What one work-item sees of itself.
struct Place {
  uint32_t thread[3], block[3], block_size[3], grid_size[3];
  uint32_t visits;
};

__global__ void visit(Place* places) {
  const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t y = blockIdx.y * blockDim.y + threadIdx.y;
  const uint32_t z = blockIdx.z * blockDim.z + threadIdx.z;
  const uint32_t width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
  Place& place = places[(static_cast<size_t>(z) * height + y) * width + x];
  const dim3 values[4] = {threadIdx, blockIdx, blockDim, gridDim};
  uint32_t* fields[4] = {place.thread, place.block, place.block_size, place.grid_size};
  for (int i = 0; i < 4; ++i) {
    fields[i][0] = values[i].x;
    fields[i][1] = values[i].y;
    fields[i][2] = values[i].z;
  }
  atomicAdd(&place.visits, 1);
}

void check_grid(dim3 grid, dim3 block) {
  const uint32_t width = grid.x * block.x, height = grid.y * block.y, depth = grid.z * block.z;
  const check::Device<Place> places(static_cast<size_t>(width) * height * depth);
  visit<<<grid, block>>>(places.get());
  check::finish();
  std::vector<uint32_t> got, want;
  size_t i = 0;
  const std::vector<Place> read = places.read();
  for (uint32_t z = 0; z < depth; ++z) {
    for (uint32_t y = 0; y < height; ++y) {
      for (uint32_t x = 0; x < width; ++x, ++i) {
        const Place& place = read[i];
        for (const auto* field : {place.thread, place.block, place.block_size, place.grid_size}) {
          got.insert(got.end(), field, field + 3);
        }
        got.push_back(place.visits);
        want.insert(want.end(), {x % block.x, y % block.y, z % block.z,  //
                                 x / block.x, y / block.y, z / block.z,  //
                                 block.x, block.y, block.z, grid.x, grid.y, grid.z, 1});
      }
    }
  }
  char what[100];
  std::snprintf(what, sizeof what, "grid %ux%ux%u, block %ux%ux%u", grid.x, grid.y, grid.z, block.x, block.y, block.z);
  check::equal(what, got, want);
}

// An image filter reads its neighbours in two dimensions.
__global__ void blur(const float* in, float* out, int width, int height) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      sum += in[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
    }
  }
  out[y * width + x] = sum / 9.0f;
}

void check_blur() {
  constexpr int width = 101, height = 53;
  std::vector<float> image(width * height), want(image.size());
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i * 7919 % 256);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float sum = 0;  // integers below 2^24: exact in any order
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          sum += image[std::min(std::max(y + dy, 0), height - 1) * width + std::min(std::max(x + dx, 0), width - 1)];
        }
      }
      want[y * width + x] = sum / 9.0f;
    }
  }
  const check::Device<float> in(image), out(image.size());
  blur<<<dim3((width + 15) / 16, (height + 7) / 8), dim3(16, 8)>>>(in.get(), out.get(), width, height);
  check::finish();
  const std::vector<float> got = out.read();
  for (size_t i = 0; i < got.size(); ++i) {
    // Division of float is within 1 ulp by default in HIP.
    if (check::ulps(got[i], want[i]) > 1) {
      check::failed("blur", static_cast<int>(i), check::text(got[i]) + " instead of " + check::text(want[i]));
    }
  }
}

}  // namespace

int main() {
  check_grid({1, 1, 1}, {1, 1, 1});
  check_grid({5, 3, 1}, {16, 16, 1});
  check_grid({3, 4, 5}, {4, 3, 2});
  check_grid({2, 3, 1}, {7, 13, 1});
  check_grid({1, 2, 3}, {1, 1, 100});
  check_grid({2, 1, 2}, {32, 32, 1});
  check_grid({1, 2, 1}, {16, 8, 8});
  check_grid({1, 2, 1}, {1, 1024, 1});
  check_grid({2000, 1, 1}, {3, 1, 1});
  check_blur();
  return check::result();
}

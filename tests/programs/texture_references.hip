// Texture references, which are global variables that the host binds to memory: to linear memory, to pitched memory and
// to arrays, with filters and address modes of their own. HIP 7 has them no more.
#include "check.h"

#pragma clang diagnostic ignored "-Wdeprecated-declarations"

// HIP looks for them by name among the symbols of the code.
texture<float, hipTextureType1D, hipReadModeElementType> linear;
texture<float, hipTextureType2D, hipReadModeElementType> pitched;
texture<float, hipTextureType2D, hipReadModeElementType> filtered;
texture<unsigned char, hipTextureType2D, hipReadModeNormalizedFloat> bytes;

namespace {

constexpr int width = 64, height = 24;

__global__ void fetch(float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex1Dfetch(linear, i);
}
__global__ void read_pitched(float* out) {
  out[blockIdx.x * width + threadIdx.x] = tex2D(pitched, threadIdx.x + 0.5F, blockIdx.x + 0.5F);
}
/// Between elements and one element to the right, over the edge too.
__global__ void read_filtered(float* out) {
  out[blockIdx.x * width + threadIdx.x] = tex2D(filtered, threadIdx.x + 1.5F, blockIdx.x + 1.0F);
}
__global__ void read_bytes(float* out) {
  out[blockIdx.x * width + threadIdx.x] = tex2D(bytes, threadIdx.x + 0.5F, blockIdx.x + 0.5F);
}

std::vector<float> values() {
  std::vector<float> result;
  for (int i = 0; i < width * height; ++i) result.push_back(static_cast<float>(i * 7 % 1024));
  return result;
}

void linear_memory() {
  const std::vector<float> expected = values();
  const check::Device<float> memory(expected), out(expected.size());
  size_t offset = 1;
  HIP(hipBindTexture(&offset, linear, memory.get(), hipCreateChannelDesc<float>(), expected.size() * sizeof(float)));
  check::equal("the offset of linear memory", offset, size_t{0});
  fetch<<<width * height / 64, 64>>>(out.get(), width * height);
  check::finish();
  check::equal("linear memory", out.read(), expected);
  HIP(hipUnbindTexture(linear));
}

void pitched_memory() {
  const std::vector<float> expected = values();
  const check::Device<float> out(expected.size());
  float* memory = nullptr;
  size_t pitch = 0, offset = 1;
  HIP(hipMallocPitch(reinterpret_cast<void**>(&memory), &pitch, width * sizeof(float), height));
  HIP(hipMemcpy2D(memory, pitch, expected.data(), width * sizeof(float), width * sizeof(float), height,
                  hipMemcpyHostToDevice));
  HIP(hipBindTexture2D(&offset, pitched, memory, hipCreateChannelDesc<float>(), width, height, pitch));
  read_pitched<<<height, width>>>(out.get());
  check::finish();
  check::equal("pitched memory", out.read(), expected);
  HIP(hipUnbindTexture(pitched));
  HIP(hipFree(memory));
}

void arrays() {
  const std::vector<float> elements = values();
  const check::Device<float> out(elements.size());
  const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
  hipArray* array = nullptr;
  HIP(hipMallocArray(&array, &format, width, height, 0));
  HIP(hipMemcpy2DToArray(array, 0, 0, elements.data(), width * sizeof(float), width * sizeof(float), height,
                         hipMemcpyHostToDevice));
  filtered.filterMode = hipFilterModeLinear;
  filtered.addressMode[0] = filtered.addressMode[1] = hipAddressModeClamp;
  filtered.normalized = 0;
  HIP(hipBindTextureToArray(filtered, array, format));
  read_filtered<<<height, width>>>(out.get());
  check::finish();
  std::vector<float> expected;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int right = x + 1 < width ? x + 1 : x, below = y + 1 < height ? y + 1 : y;
      expected.push_back((elements[y * width + right] + elements[below * width + right]) / 2);
    }
  }
  check::equal("an array between its rows", out.read(), expected);
  HIP(hipUnbindTexture(filtered));
  HIP(hipFreeArray(array));
}

void normalized_bytes() {
  std::vector<unsigned char> elements;
  for (int i = 0; i < width * height; ++i) elements.push_back(static_cast<unsigned char>(i * 5));
  const check::Device<float> out(elements.size());
  const hipChannelFormatDesc format = hipCreateChannelDesc<unsigned char>();
  hipArray* array = nullptr;
  HIP(hipMallocArray(&array, &format, width, height, 0));
  HIP(hipMemcpy2DToArray(array, 0, 0, elements.data(), width, width, height, hipMemcpyHostToDevice));
  HIP(hipBindTextureToArray(bytes, array, format));
  read_bytes<<<height, width>>>(out.get());
  check::finish();
  std::vector<float> expected;
  for (const unsigned char element : elements) expected.push_back(static_cast<float>(element) / 255);
  check::equal("bytes as fractions", out.read(), expected);
  HIP(hipUnbindTexture(bytes));
  HIP(hipFreeArray(array));
}

}  // namespace

int main() {
  linear_memory();
  pitched_memory();
  arrays();
  normalized_bytes();
  return check::result();
}

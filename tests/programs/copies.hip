// Copies and fills: to, from and on the device, synchronous and asynchronous, in one, two and three dimensions, with
// offsets and pitches that are not aligned.
#include "check.h"

namespace {

std::vector<uint8_t> noise(size_t count, uint64_t seed) {
  std::vector<uint8_t> bytes(count);
  check::Random random(seed);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
  return bytes;
}

void check_one_dimension(hipStream_t stream) {
  for (const size_t size : {1u, 3u, 64u, 1000u, 4096u, 65537u, 5u << 20}) {
    const std::vector<uint8_t> in = noise(size + 16, size);
    std::vector<uint8_t> back(size, 0);
    const check::Device<uint8_t> first(size + 16), second(size + 16);
    HIP(hipMemcpy(first.get() + 3, in.data() + 1, size, hipMemcpyHostToDevice));
    HIP(hipMemcpy(second.get() + 5, first.get() + 3, size, hipMemcpyDeviceToDevice));
    HIP(hipMemcpy(back.data(), second.get() + 5, size, hipMemcpyDeviceToHost));
    check::equal("hipMemcpy", back, std::vector<uint8_t>(in.begin() + 1, in.begin() + 1 + size));

    HIP(hipMemcpyAsync(first.get() + 1, in.data() + 7, size, hipMemcpyDefault, stream));
    HIP(hipMemcpyAsync(second.get(), first.get() + 1, size, hipMemcpyDefault, stream));
    HIP(hipMemcpyAsync(back.data(), second.get(), size, hipMemcpyDefault, stream));
    HIP(hipStreamSynchronize(stream));
    check::equal("hipMemcpyAsync", back, std::vector<uint8_t>(in.begin() + 7, in.begin() + 7 + size));
  }
  std::vector<uint8_t> from{1, 2, 3}, to(3);
  HIP(hipMemcpy(to.data(), from.data(), 3, hipMemcpyHostToHost));
  check::equal("host to host", to, from);
  HIP(hipMemcpy(to.data(), from.data(), 0, hipMemcpyHostToHost));
}

// Rectangles out of one pitched image into another.
void check_two_dimensions(hipStream_t stream) {
  constexpr size_t width = 37, height = 21, pitch_in = 50, pitch_out = 64;
  const std::vector<uint8_t> in = noise(pitch_in * height, 2);
  void* device = nullptr;
  size_t pitch = 0;
  HIP(hipMallocPitch(&device, &pitch, width, height));
  EXPECT(pitch >= width);
  for (const bool async : {false, true}) {
    const check::Device<uint8_t> other(pitch_out * height);
    std::vector<uint8_t> back(pitch_out * height, 0xee), want(back);
    for (size_t y = 0; y < height; ++y) std::memcpy(&want[y * pitch_out], &in[y * pitch_in], width);
    if (async) {
      HIP(hipMemcpy2DAsync(device, pitch, in.data(), pitch_in, width, height, hipMemcpyHostToDevice, stream));
      HIP(hipMemcpy2DAsync(other.get(), pitch_out, device, pitch, width, height, hipMemcpyDeviceToDevice, stream));
      HIP(hipMemcpy2DAsync(back.data(), pitch_out, other.get(), pitch_out, width, height, hipMemcpyDeviceToHost,
                           stream));
      HIP(hipStreamSynchronize(stream));
    } else {
      HIP(hipMemcpy2D(device, pitch, in.data(), pitch_in, width, height, hipMemcpyHostToDevice));
      HIP(hipMemcpy2D(other.get(), pitch_out, device, pitch, width, height, hipMemcpyDeviceToDevice));
      HIP(hipMemcpy2D(back.data(), pitch_out, other.get(), pitch_out, width, height, hipMemcpyDeviceToHost));
    }
    check::equal(async ? "hipMemcpy2DAsync" : "hipMemcpy2D", back, want);
  }
  HIP(hipFree(device));
}

// A box out of the middle of a volume, to the device, on the device, and back.
void check_three_dimensions(hipStream_t stream) {
  constexpr size_t width = 24, height = 10, depth = 7;  // of the volume, in bytes and rows and slices
  constexpr size_t box[3] = {13, 6, 4};
  const std::vector<uint8_t> in = noise(width * height * depth, 3);
  hipPitchedPtr first, second;
  HIP(hipMalloc3D(&first, make_hipExtent(width, height, depth)));
  HIP(hipMalloc3D(&second, make_hipExtent(width, height, depth)));
  HIP(hipMemset3D(second, 0x5a, make_hipExtent(width, height, depth)));

  std::vector<uint8_t> back(in.size(), 0xee), want(in.size(), 0x5a);
  for (size_t z = 0; z < box[2]; ++z) {
    for (size_t y = 0; y < box[1]; ++y) {
      std::memcpy(&want[((z + 1) * height + y + 3) * width + 5], &in[((z + 2) * height + y + 1) * width + 8], box[0]);
    }
  }

  hipMemcpy3DParms whole_in{}, middle{}, whole_out{};
  whole_in.srcPtr = make_hipPitchedPtr(const_cast<uint8_t*>(in.data()), width, width, height);
  whole_in.dstPtr = first;
  whole_in.extent = make_hipExtent(width, height, depth);
  whole_in.kind = hipMemcpyHostToDevice;
  middle.srcPtr = first;
  middle.srcPos = make_hipPos(8, 1, 2);
  middle.dstPtr = second;
  middle.dstPos = make_hipPos(5, 3, 1);
  middle.extent = make_hipExtent(box[0], box[1], box[2]);
  middle.kind = hipMemcpyDeviceToDevice;
  whole_out.srcPtr = second;
  whole_out.dstPtr = make_hipPitchedPtr(back.data(), width, width, height);
  whole_out.extent = make_hipExtent(width, height, depth);
  whole_out.kind = hipMemcpyDeviceToHost;

  HIP(hipMemcpy3D(&whole_in));
  HIP(hipMemcpy3D(&middle));
  HIP(hipMemcpy3D(&whole_out));
  check::equal("hipMemcpy3D", back, want);

  std::fill(back.begin(), back.end(), 0xee);
  HIP(hipMemset3DAsync(second, 0x5a, make_hipExtent(width, height, depth), stream));
  HIP(hipMemcpy3DAsync(&whole_in, stream));
  HIP(hipMemcpy3DAsync(&middle, stream));
  HIP(hipMemcpy3DAsync(&whole_out, stream));
  HIP(hipStreamSynchronize(stream));
  check::equal("hipMemcpy3DAsync", back, want);
  HIP(hipFree(first.ptr));
  HIP(hipFree(second.ptr));
}

template <typename T>
std::vector<uint8_t> filled(size_t size, size_t offset, size_t count, T value) {
  std::vector<uint8_t> bytes(size, 0);
  for (size_t i = 0; i < count; ++i) std::memcpy(&bytes[offset + i * sizeof(T)], &value, sizeof value);
  return bytes;
}

void check_fills(hipStream_t stream) {
  // None so short that it ends before the next multiple of 8: HIP 5.2 then miscounts and fills gigabytes.
  for (const size_t count : {16u, 35u, 1001u, 70000u}) {
    const size_t size = 4 * count + 32;
    const auto device_pointer = [](const check::Device<uint8_t>& memory, size_t offset) {
      return reinterpret_cast<hipDeviceptr_t>(memory.get() + offset);
    };
    {
      const check::Device<uint8_t> memory(size);
      HIP(hipMemset(memory.get() + 3, 0xab, count));
      check::equal("hipMemset", memory.read(), filled<uint8_t>(size, 3, count, 0xab));
    }
    {
      const check::Device<uint8_t> memory(size);
      HIP(hipMemsetAsync(memory.get() + 1, 0x17, 4 * count, stream));
      HIP(hipStreamSynchronize(stream));
      check::equal("hipMemsetAsync", memory.read(), filled<uint8_t>(size, 1, 4 * count, 0x17));
    }
    {
      const check::Device<uint8_t> memory(size);
      HIP(hipMemsetD16(device_pointer(memory, 6), 0x1234, count));
      HIP(hipDeviceSynchronize());
      check::equal("hipMemsetD16", memory.read(), filled<uint16_t>(size, 6, count, 0x1234));
    }
    {
      const check::Device<uint8_t> memory(size);
      HIP(hipMemsetD32Async(device_pointer(memory, 8), 0x789abcde, count, stream));
      HIP(hipStreamSynchronize(stream));
      check::equal("hipMemsetD32Async", memory.read(), filled<uint32_t>(size, 8, count, 0x789abcde));
    }
  }
  const check::Device<uint8_t> image(64 * 8);
  HIP(hipMemset2D(image.get() + 2, 64, 0x3c, 40, 8));
  std::vector<uint8_t> want(64 * 8, 0);
  for (size_t y = 0; y < 8; ++y) std::fill_n(want.begin() + y * 64 + 2, 40, 0x3c);
  check::equal("hipMemset2D", image.read(), want);
}

// Copies in one stream are in order with the kernels around them.
__global__ void increment(int* values) { ++values[blockIdx.x * blockDim.x + threadIdx.x]; }

void check_order(hipStream_t stream) {
  constexpr int count = 4096;
  const check::Device<int> first(count), second(count);
  int* pinned = nullptr;
  HIP(hipHostMalloc(&pinned, count * sizeof(int)));
  for (int i = 0; i < count; ++i) pinned[i] = i;
  HIP(hipMemcpyAsync(first.get(), pinned, count * sizeof(int), hipMemcpyHostToDevice, stream));
  for (int round = 0; round < 10; ++round) {
    increment<<<count / 256, 256, 0, stream>>>(first.get());
    HIP(hipMemcpyAsync(second.get(), first.get(), count * sizeof(int), hipMemcpyDeviceToDevice, stream));
    increment<<<count / 256, 256, 0, stream>>>(second.get());
    HIP(hipMemcpyAsync(first.get(), second.get(), count * sizeof(int), hipMemcpyDeviceToDevice, stream));
  }
  HIP(hipMemcpyAsync(pinned, first.get(), count * sizeof(int), hipMemcpyDeviceToHost, stream));
  HIP(hipStreamSynchronize(stream));
  std::vector<int> want(count);
  for (int i = 0; i < count; ++i) want[i] = i + 20;
  check::equal("order with kernels", std::vector<int>(pinned, pinned + count), want);
  HIP(hipHostFree(pinned));
}

void check_bad_arguments() {
  const check::Device<uint8_t> memory(16);
  uint8_t host[16];
  EXPECT(hipMemcpy(nullptr, host, 16, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  EXPECT(hipMemcpy2D(memory.get(), 4, host, 8, 8, 1, hipMemcpyHostToDevice) != hipSuccess);
  EXPECT(hipFree(host) == hipErrorInvalidValue);
  void* none = nullptr;
  EXPECT(hipMalloc(&none, size_t{1} << 60) == hipErrorOutOfMemory);
  (void)hipGetLastError();
}

}  // namespace

int main() {
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  check_one_dimension(stream);
  check_two_dimensions(stream);
  check_three_dimensions(stream);
  check_fills(stream);
  check_order(stream);
  check_bad_arguments();
  HIP(hipStreamDestroy(stream));
  return check::result();
}

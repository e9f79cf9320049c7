// Several devices: what each is, kernels on each, copies between them, kernels that use another's memory, streams and
// events across devices, managed and host memory for all. It is told how many devices there are to be.
#include "check.h"

#include <set>
#include <string>

__device__ int calls;  // HIP 5.2 does not find variables of an unnamed namespace

namespace {

constexpr int count = 10'000;

__global__ void fill(int* out, int value) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = i * value;
}

__global__ void add(const int* from, int* to, int value) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) to[i] += from[i] + value;
}

__global__ void call() { calls += 1; }

constexpr int groups = (count + 255) / 256;

std::vector<int> multiples(int of, int plus = 0) {
  std::vector<int> values(count);
  for (int i = 0; i < count; ++i) values[i] = i * of + plus;
  return values;
}

// Each is another device, and each has memory of its own.
void check_devices(int devices) {
  std::set<std::string> places, uuids;
  for (int d = 0; d < devices; ++d) {
    HIP(hipSetDevice(d));
    int current = -1;
    HIP(hipGetDevice(&current));
    EXPECT(current == d);
    char place[32] = {};
    HIP(hipDeviceGetPCIBusId(place, sizeof place, d));
    places.insert(place);
    int found = -1;
    HIP(hipDeviceGetByPCIBusId(&found, place));
    EXPECT(found == d);
    hipUUID uuid{};
    HIP(hipDeviceGetUuid(&uuid, d));
    uuids.insert(std::string(uuid.bytes, sizeof uuid.bytes));
    const check::Device<int> memory(1000);
    hipPointerAttribute_t attributes{};
    HIP(hipPointerGetAttributes(&attributes, memory.get()));
    EXPECT(attributes.device == d);
  }
  EXPECT(places.size() == static_cast<size_t>(devices));
  EXPECT(uuids.size() == static_cast<size_t>(devices));
}

// A module's variables are each device's own.
void check_variables(int devices) {
  for (int d = 0; d < devices; ++d) {
    HIP(hipSetDevice(d));
    for (int i = 0; i <= d; ++i) call<<<1, 1>>>();
    check::finish();
  }
  for (int d = 0; d < devices; ++d) {
    HIP(hipSetDevice(d));
    int value = -1;
    HIP(hipMemcpyFromSymbol(&value, HIP_SYMBOL(calls), sizeof value));
    EXPECT(value == d + 1);
  }
}

// A ring: each device's memory comes from the one before.
void check_copies(int devices) {
  std::vector<int*> memory(devices);
  for (int d = 0; d < devices; ++d) {
    HIP(hipSetDevice(d));
    HIP(hipMalloc(&memory[d], 2 * count * sizeof(int)));
    fill<<<groups, 256>>>(memory[d], d + 1);
    check::finish();
  }
  for (int d = 0; d < devices; ++d) {
    const int from = (d + 1) % devices;
    HIP(hipMemcpyPeer(memory[d] + count, d, memory[from], from, count * sizeof(int)));
  }
  for (int d = 0; d < devices; ++d) {
    HIP(hipSetDevice(d));
    std::vector<int> got(count);
    HIP(hipMemcpy(got.data(), memory[d] + count, count * sizeof(int), hipMemcpyDefault));
    check::equal("from the next device", got, multiples((d + 1) % devices + 1));
    HIP(hipFree(memory[d]));
  }
}

// Kernels of one device with memory of another, once it may.
void check_access(int devices) {
  for (int d = 0; d < devices; ++d) {
    for (int peer = 0; peer < devices; ++peer) {
      int possible = -1;
      HIP(hipDeviceCanAccessPeer(&possible, d, peer));
      EXPECT(possible == (peer == d ? 0 : 1));
      if (peer == d) continue;
      HIP(hipSetDevice(d));
      HIP(hipDeviceEnablePeerAccess(peer, 0));
      EXPECT(hipDeviceEnablePeerAccess(peer, 0) == hipErrorPeerAccessAlreadyEnabled);
      (void)hipGetLastError();
      uint32_t link = 0, hops = 0;
      HIP(hipExtGetLinkTypeAndHopCount(d, peer, &link, &hops));
      EXPECT(hops == 1 || hops == 2);
    }
  }
  HIP(hipSetDevice(0));
  const check::Device<int> sum(count);
  for (int d = 0; d < devices; ++d) {
    HIP(hipSetDevice(d));
    const check::Device<int> own(count);
    fill<<<groups, 256>>>(own.get(), 1 << d);
    add<<<groups, 256>>>(own.get(), sum.get(), d);  // writes the first device's
    check::finish();
  }
  HIP(hipSetDevice(0));
  check::equal("written by all", sum.read(), multiples((1 << devices) - 1, devices * (devices - 1) / 2));
  for (int peer = 1; peer < devices; ++peer) HIP(hipDeviceDisablePeerAccess(peer));
}

// A chain of streams, each of another device, which wait for each other by events, without the host.
void check_events(int devices) {
  HIP(hipSetDevice(0));
  int* memory = nullptr;
  HIP(hipHostMalloc(&memory, count * sizeof(int), hipHostMallocPortable));
  std::vector<hipStream_t> streams(devices);
  std::vector<hipEvent_t> done(devices);
  for (int d = 0; d < devices; ++d) {
    HIP(hipSetDevice(d));
    HIP(hipStreamCreateWithFlags(&streams[d], hipStreamNonBlocking));
    HIP(hipEventCreateWithFlags(&done[d], hipEventDisableTiming));
  }
  HIP(hipSetDevice(0));
  fill<<<groups, 256, 0, streams[0]>>>(memory, 1);
  HIP(hipEventRecord(done[0], streams[0]));
  for (int d = 1; d < devices; ++d) {
    HIP(hipSetDevice(d));
    HIP(hipStreamWaitEvent(streams[d], done[d - 1], 0));
    add<<<groups, 256, 0, streams[d]>>>(memory, memory, d);  // doubles, and adds
    HIP(hipEventRecord(done[d], streams[d]));
  }
  HIP(hipEventSynchronize(done[devices - 1]));
  int plus = 0;
  for (int d = 1; d < devices; ++d) plus = 2 * plus + d;
  check::equal("one after the other", std::vector<int>(memory, memory + count), multiples(1 << (devices - 1), plus));
  for (int d = 0; d < devices; ++d) {
    HIP(hipSetDevice(d));
    HIP(hipStreamDestroy(streams[d]));
    HIP(hipEventDestroy(done[d]));
  }
  HIP(hipHostFree(memory));
}

// Copies between devices in a stream, with kernels of both before and after.
void check_asynchronous_copies(int devices) {
  for (int d = 1; d < devices; ++d) {
    HIP(hipSetDevice(d));
    const check::Device<int> there(count);
    HIP(hipSetDevice(0));
    const check::Device<int> here(count);
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    fill<<<groups, 256, 0, stream>>>(here.get(), 5);
    HIP(hipMemcpyPeerAsync(there.get(), d, here.get(), 0, count * sizeof(int), stream));
    HIP(hipMemcpyPeerAsync(here.get(), 0, there.get(), d, count * sizeof(int), stream));
    add<<<groups, 256, 0, stream>>>(here.get(), here.get(), d);
    HIP(hipStreamSynchronize(stream));
    check::equal("there", there.read(), multiples(5));
    check::equal("and back", here.read(), multiples(10, d));
    HIP(hipStreamDestroy(stream));
  }
}

// All devices at once, each in threads of its own.
void check_managed(int devices) {
  int* memory = nullptr;
  HIP(hipMallocManaged(&memory, static_cast<size_t>(devices) * count * sizeof(int)));
  for (int d = 0; d < devices; ++d) {
    HIP(hipSetDevice(d));
    fill<<<groups, 256>>>(memory + d * count, d + 3);
  }
  for (int d = 0; d < devices; ++d) {
    HIP(hipSetDevice(d));
    check::finish();
  }
  for (int d = 0; d < devices; ++d)
    check::equal("managed", std::vector<int>(memory + d * count, memory + (d + 1) * count), multiples(d + 3));
  HIP(hipFree(memory));
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  HIP(hipGetDeviceCount(&devices));
  EXPECT(argc == 2 && devices == std::atoi(argv[1]));
  EXPECT(hipSetDevice(devices) == hipErrorInvalidDevice);
  (void)hipGetLastError();
  check_devices(devices);
  check_variables(devices);
  check_copies(devices);
  check_access(devices);
  check_events(devices);
  check_asynchronous_copies(devices);
  check_managed(devices);
  return check::result();
}

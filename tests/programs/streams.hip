// Streams and events: order within a stream, waits between streams, elapsed times that make sense, callbacks, and
// priorities.
#include <atomic>
#include <chrono>

#include "check.h"

namespace {

__global__ void append(int* log, int* length, int value) {
  if (threadIdx.x == 0) log[(*length)++] = value;
}

__global__ void work(float* values, int rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = values[i];
  for (int round = 0; round < rounds; ++round) x = fmaf(x, 0.999f, 0.001f);
  values[i] = x;
}

void check_order() {
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  const check::Device<int> log(100), length(1);
  std::vector<int> want;
  for (int i = 0; i < 100; ++i) {
    append<<<1, 64, 0, stream>>>(log.get(), length.get(), i);
    want.push_back(i);
  }
  HIP(hipStreamSynchronize(stream));
  HIP(hipStreamQuery(stream));
  check::equal("order in a stream", log.read(), want);
  HIP(hipStreamDestroy(stream));
}

void check_waits_between_streams() {
  hipStream_t first, second;
  HIP(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  HIP(hipStreamCreateWithPriority(&second, hipStreamNonBlocking, 0));
  hipEvent_t half_way, done;
  HIP(hipEventCreateWithFlags(&half_way, hipEventDisableTiming));
  HIP(hipEventCreateWithFlags(&done, hipEventDisableTiming));
  const check::Device<int> log(40), length(1);
  const check::Device<float> values(64);
  std::vector<int> want;
  for (int round = 0; round < 20; ++round) {
    work<<<1, 64, 0, first>>>(values.get(), 500);
    append<<<1, 64, 0, first>>>(log.get(), length.get(), 2 * round);
    HIP(hipEventRecord(half_way, first));
    HIP(hipStreamWaitEvent(second, half_way, 0));
    append<<<1, 64, 0, second>>>(log.get(), length.get(), 2 * round + 1);
    HIP(hipEventRecord(done, second));
    HIP(hipStreamWaitEvent(first, done, 0));
    want.insert(want.end(), {2 * round, 2 * round + 1});
  }
  HIP(hipEventSynchronize(done));
  HIP(hipDeviceSynchronize());
  check::equal("order between streams", log.read(), want);
  HIP(hipEventDestroy(half_way));
  HIP(hipEventDestroy(done));
  HIP(hipStreamDestroy(first));
  HIP(hipStreamDestroy(second));
}

// The time between two events is positive, no longer than the host saw, and the parts do not exceed the whole.
void check_times() {
  hipEvent_t start, middle, end;
  HIP(hipEventCreate(&start));
  HIP(hipEventCreate(&middle));
  HIP(hipEventCreate(&end));
  const check::Device<float> values(4096);
  work<<<16, 256>>>(values.get(), 1);
  HIP(hipDeviceSynchronize());
  const auto host_start = std::chrono::steady_clock::now();
  HIP(hipEventRecord(start));
  work<<<16, 256>>>(values.get(), 100);
  HIP(hipEventRecord(middle));
  work<<<16, 256>>>(values.get(), 2000);
  HIP(hipEventRecord(end));
  HIP(hipEventSynchronize(end));
  HIP(hipEventQuery(end));
  const double host_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - host_start).count();
  float first = -1, second = -1, whole = -1;
  HIP(hipEventElapsedTime(&first, start, middle));
  HIP(hipEventElapsedTime(&second, middle, end));
  HIP(hipEventElapsedTime(&whole, start, end));
  std::printf("first %.3f ms, second %.3f ms, whole %.3f ms, host %.3f ms\n", first, second, whole, host_ms);
  EXPECT(first > 0 && second > 0 && whole > 0);
  EXPECT(first + second <= whole * 1.05f + 0.05f);
  EXPECT(whole <= host_ms + 1);
  HIP(hipEventDestroy(start));
  HIP(hipEventDestroy(middle));
  HIP(hipEventDestroy(end));
}

// A callback runs on the host after what stands before it in the stream, and what follows waits for it.
struct Seen {
  const int* pinned;
  std::atomic<int> value{-1};
  std::atomic<int> calls{0};
};

void stream_callback(hipStream_t, hipError_t status, void* data) {
  auto* seen = static_cast<Seen*>(data);
  if (status == hipSuccess) seen->value = *seen->pinned;
  ++seen->calls;
}

__global__ void store(int* place, int value) { *place = value; }

void check_callbacks() {
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  int* pinned = nullptr;
  HIP(hipHostMalloc(&pinned, sizeof(int)));
  *pinned = 0;
  Seen seen{pinned};
  for (int round = 1; round <= 5; ++round) {
    store<<<1, 1, 0, stream>>>(pinned, round);
    HIP(hipStreamAddCallback(stream, stream_callback, &seen, 0));
    HIP(hipStreamSynchronize(stream));
    EXPECT(seen.calls == round);
    EXPECT(seen.value == round);
  }
  Seen later{pinned};
  store<<<1, 1, 0, stream>>>(pinned, 99);
  HIP(hipStreamAddCallback(stream, stream_callback, &later, 0));
  store<<<1, 1, 0, stream>>>(pinned, 100);
  HIP(hipStreamSynchronize(stream));
  EXPECT(later.calls == 1);
  EXPECT(later.value == 99);
  EXPECT(*pinned == 100);
  HIP(hipHostFree(pinned));
  HIP(hipStreamDestroy(stream));
}

}  // namespace

int main() {
  check_order();
  check_waits_between_streams();
  check_times();
  check_callbacks();
  return check::result();
}

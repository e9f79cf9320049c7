// Managed memory: allocated, advised, prefetched and asked about; host and device take turns, and meet in it while a
// kernel runs; a managed variable and a linked list.
#include "check.h"

// In no unnamed namespace: HIP 5.2 does not find such a variable.
__managed__ int managed_total = 5;

namespace {

constexpr int kCount = 100'000;
constexpr size_t kBytes = kCount * sizeof(int);

__global__ void scale(int* values, int factor) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kCount) values[i] *= factor;
}

__global__ void sum(const int* values) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kCount) atomicAdd(&managed_total, values[i] % 7);
}

int* allocate(unsigned flags = hipMemAttachGlobal) {
  int* values = nullptr;
  HIP(hipMallocManaged(&values, kBytes, flags));
  for (int i = 0; i < kCount; ++i) values[i] = i;
  return values;
}

void launch(int* values, int factor, hipStream_t stream = nullptr) {
  scale<<<(kCount + 255) / 256, 256, 0, stream>>>(values, factor);
  HIP(hipGetLastError());
}

void expect_multiples(const char* what, const int* values, int factor) {
  std::vector<int> want(kCount);
  for (int i = 0; i < kCount; ++i) want[i] = i * factor;
  check::equal(what, std::vector<int>(values, values + kCount), want);
}

void check_turns() {
  int* values = allocate();
  launch(values, 3);
  HIP(hipDeviceSynchronize());
  expect_multiples("the device's turn", values, 3);
  for (int i = 0; i < kCount; ++i) values[i] = i * 5;
  launch(values, 2);
  HIP(hipDeviceSynchronize());
  expect_multiples("both took turns", values, 10);
  managed_total = 11;
  sum<<<(kCount + 255) / 256, 256>>>(values);
  check::finish();
  int want = 11;
  for (int i = 0; i < kCount; ++i) want += i * 10 % 7;
  check::equal("managed variable", int{managed_total}, want);
  HIP(hipFree(values));
}

void check_copies() {
  int* values = allocate();
  const check::Device<int> device(kCount);
  HIP(hipMemcpy(device.get(), values, kBytes, hipMemcpyDefault));
  HIP(hipMemset(values, 0, kBytes));
  HIP(hipDeviceSynchronize());
  EXPECT(values[kCount - 1] == 0);
  HIP(hipMemcpy(values, device.get(), kBytes, hipMemcpyDefault));
  expect_multiples("copied there and back", values, 1);
  HIP(hipFree(values));
}

void check_advice() {
  int* values = allocate();
  int device = 0;
  HIP(hipGetDevice(&device));
  HIP(hipMemAdvise(values, kBytes, hipMemAdviseSetReadMostly, device));
  int read_mostly = 0;
  HIP(hipMemRangeGetAttribute(&read_mostly, sizeof read_mostly, hipMemRangeAttributeReadMostly, values, kBytes));
  EXPECT(read_mostly == 1);
  HIP(hipMemAdvise(values, kBytes, hipMemAdviseUnsetReadMostly, device));
  HIP(hipMemRangeGetAttribute(&read_mostly, sizeof read_mostly, hipMemRangeAttributeReadMostly, values, kBytes));
  EXPECT(read_mostly == 0);

  HIP(hipMemAdvise(values, kBytes, hipMemAdviseSetPreferredLocation, device));
  int preferred = -5;
  HIP(hipMemRangeGetAttribute(&preferred, sizeof preferred, hipMemRangeAttributePreferredLocation, values, kBytes));
  EXPECT(preferred == device);
  HIP(hipMemAdvise(values, kBytes, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
  HIP(hipMemRangeGetAttribute(&preferred, sizeof preferred, hipMemRangeAttributePreferredLocation, values, kBytes));
  EXPECT(preferred == hipCpuDeviceId);

  HIP(hipMemAdvise(values, kBytes, hipMemAdviseSetAccessedBy, device));
  int accessed_by[4] = {-5, -5, -5, -5};
  HIP(hipMemRangeGetAttribute(accessed_by, sizeof accessed_by, hipMemRangeAttributeAccessedBy, values, kBytes));
  EXPECT(accessed_by[0] == device);

  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  HIP(hipMemPrefetchAsync(values, kBytes, device, stream));
  launch(values, 7, stream);
  HIP(hipMemPrefetchAsync(values, kBytes, hipCpuDeviceId, stream));
  HIP(hipStreamSynchronize(stream));
  int last = -5;
  HIP(hipMemRangeGetAttribute(&last, sizeof last, hipMemRangeAttributeLastPrefetchLocation, values, kBytes));
  EXPECT(last == hipCpuDeviceId);
  expect_multiples("prefetched there and back", values, 7);
  HIP(hipStreamDestroy(stream));
  HIP(hipFree(values));

  std::vector<int> ordinary(1000);
  EXPECT(hipMemAdvise(nullptr, 100, hipMemAdviseSetReadMostly, device) != hipSuccess);
  (void)hipGetLastError();
}

void check_attributes() {
  int supported = 0;
  HIP(hipDeviceGetAttribute(&supported, hipDeviceAttributeManagedMemory, 0));
  EXPECT(supported == 1);
  int* values = allocate(hipMemAttachHost);
  hipPointerAttribute_t attributes{};
  HIP(hipPointerGetAttributes(&attributes, values + 10));
  EXPECT(attributes.isManaged == 1);
  HIP(hipFree(values));
}

// Nodes that the host links and the device walks along, each an allocation of its own.
struct Node {
  int value;
  Node* next;
};

__global__ void walk(Node* node, int* count) {
  while (node != nullptr) {
    *count += node->value;
    node->value = -node->value;
    node = node->next;
  }
}

void check_list() {
  Node* head = nullptr;
  for (int i = 1; i <= 100; ++i) {
    Node* node = nullptr;
    HIP(hipMallocManaged(&node, sizeof(Node)));
    *node = {i, head};
    head = node;
  }
  int* count = nullptr;
  HIP(hipMallocManaged(&count, sizeof(int)));
  *count = 0;
  walk<<<1, 1>>>(head, count);
  check::finish();
  check::equal("list", *count, 5050);
  for (int i = 100; head != nullptr; --i) {
    EXPECT(head->value == -i);
    Node* next = head->next;
    HIP(hipFree(head));
    head = next;
  }
  HIP(hipFree(count));
}

}  // namespace

int main() {
  check_turns();
  check_copies();
  check_advice();
  check_attributes();
  check_list();
  return check::result();
}

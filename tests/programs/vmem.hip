// Virtual memory: addresses reserved apart from memory, memory mapped at them, with rights of its own, at two
// addresses, in growing pieces; memory exported to a descriptor and imported from it.
#include "check.h"

#include <unistd.h>

namespace {

hipMemAllocationProp on_device(hipMemAllocationHandleType handles) {
  hipMemAllocationProp properties{};
  properties.type = hipMemAllocationTypePinned;
  properties.requestedHandleType = handles;
  properties.location.type = hipMemLocationTypeDevice;
  properties.location.id = 0;
  return properties;
}

__global__ void fill(int* values, size_t count, int start) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = start + static_cast<int>(i);
}

void launch(int* values, size_t count, int start) {
  fill<<<static_cast<unsigned>((count + 255) / 256), 256>>>(values, count, start);
  check::finish();
}

void expect_ramp(const char* what, const int* device, size_t count, int start) {
  std::vector<int> values(count), want(count);
  HIP(hipMemcpy(values.data(), device, count * sizeof(int), hipMemcpyDeviceToHost));
  for (size_t i = 0; i < count; ++i) want[i] = start + static_cast<int>(i);
  check::equal(what, values, want);
}

size_t granularity() {
  const hipMemAllocationProp properties = on_device(hipMemHandleTypeNone);
  size_t least = 0, best = 0;
  HIP(hipMemGetAllocationGranularity(&least, &properties, hipMemAllocationGranularityMinimum));
  HIP(hipMemGetAllocationGranularity(&best, &properties, hipMemAllocationGranularityRecommended));
  EXPECT(least > 0 && (least & (least - 1)) == 0);
  EXPECT(best >= least && best % least == 0);
  return best;
}

hipMemAccessDesc access(hipMemAccessFlags flags) {
  hipMemAccessDesc description{};
  description.location.type = hipMemLocationTypeDevice;
  description.location.id = 0;
  description.flags = flags;
  return description;
}

hipMemGenericAllocationHandle_t create(size_t size, hipMemAllocationHandleType handles = hipMemHandleTypeNone) {
  const hipMemAllocationProp properties = on_device(handles);
  hipMemGenericAllocationHandle_t memory{};
  HIP(hipMemCreate(&memory, size, &properties, 0));
  return memory;
}

int* reserve(size_t size, size_t alignment = 0) {
  void* address = nullptr;
  HIP(hipMemAddressReserve(&address, size, alignment, nullptr, 0));
  EXPECT(alignment == 0 || reinterpret_cast<uintptr_t>(address) % alignment == 0);
  return static_cast<int*>(address);
}

void map(int* address, size_t size, hipMemGenericAllocationHandle_t memory) {
  HIP(hipMemMap(address, size, 0, memory, 0));
  const hipMemAccessDesc read_write = access(hipMemAccessFlagsProtReadWrite);
  HIP(hipMemSetAccess(address, size, &read_write, 1));
}

// An array that grows without moving: piece after piece of memory behind the same addresses.
void check_growth(size_t piece) {
  constexpr int kPieces = 4;
  const size_t count = piece / sizeof(int);
  int* address = reserve(kPieces * piece, 2 * piece);
  std::vector<hipMemGenericAllocationHandle_t> memory;
  for (int i = 1; i <= kPieces; ++i) {
    memory.push_back(create(piece));
    map(address + (i - 1) * count, piece, memory.back());
    launch(address, i * count, i);
    expect_ramp("grown", address, i * count, i);
  }
  unsigned long long flags = 0;
  hipMemLocation device{};
  device.type = hipMemLocationTypeDevice;
  HIP(hipMemGetAccess(&flags, &device, address));
  EXPECT(flags == hipMemAccessFlagsProtReadWrite);

  hipMemGenericAllocationHandle_t retained{};
  HIP(hipMemRetainAllocationHandle(&retained, address + count));
  EXPECT(retained == memory[1]);
  HIP(hipMemRelease(retained));
  hipMemAllocationProp properties{};
  HIP(hipMemGetAllocationPropertiesFromHandle(&properties, memory[0]));
  EXPECT(properties.location.type == hipMemLocationTypeDevice && properties.location.id == 0);

  for (int i = 0; i < kPieces; ++i) {
    HIP(hipMemUnmap(address + i * count, piece));
    HIP(hipMemRelease(memory[i]));
  }
  HIP(hipMemAddressFree(address, kPieces * piece));
}

// The same memory at two addresses, and other memory at the same address.
void check_aliases(size_t size) {
  const size_t count = size / sizeof(int);
  const hipMemGenericAllocationHandle_t first = create(size), second = create(size);
  int *here = reserve(size), *there = reserve(size);
  map(here, size, first);
  map(there, size, first);
  launch(here, count, 10);
  expect_ramp("the other address", there, count, 10);
  HIP(hipMemUnmap(there, size));
  map(there, size, second);
  launch(there, count, 20);
  expect_ramp("other memory at the address", there, count, 20);
  expect_ramp("the first is as it was", here, count, 10);
  // Memory outlives its handle as long as it is mapped, and its mapping as long as it has a handle.
  HIP(hipMemRelease(second));
  HIP(hipMemUnmap(here, size));
  expect_ramp("without its handle", there, count, 20);
  map(here, size, first);
  expect_ramp("mapped again", here, count, 10);
  HIP(hipMemUnmap(here, size));
  HIP(hipMemUnmap(there, size));
  HIP(hipMemRelease(first));
  HIP(hipMemAddressFree(here, size));
  HIP(hipMemAddressFree(there, size));
}

void check_sharing(size_t size) {
  const size_t count = size / sizeof(int);
  const hipMemGenericAllocationHandle_t memory = create(size, hipMemHandleTypePosixFileDescriptor);
  int* address = reserve(size);
  map(address, size, memory);
  launch(address, count, 30);
  int descriptor = -1;
  HIP(hipMemExportToShareableHandle(&descriptor, memory, hipMemHandleTypePosixFileDescriptor, 0));
  EXPECT(descriptor >= 0);
  hipMemGenericAllocationHandle_t imported{};
#if HIP_VERSION >= 70000000
  void* const handle = reinterpret_cast<void*>(static_cast<intptr_t>(descriptor));
#else
  void* const handle = &descriptor;
#endif
  HIP(hipMemImportFromShareableHandle(&imported, handle, hipMemHandleTypePosixFileDescriptor));
  int* again = reserve(size);
  map(again, size, imported);
  expect_ramp("imported", again, count, 30);
  launch(again, count, 40);
  expect_ramp("written through the import", address, count, 40);
  HIP(hipMemUnmap(again, size));
  HIP(hipMemUnmap(address, size));
  HIP(hipMemRelease(imported));
  HIP(hipMemRelease(memory));
  HIP(hipMemAddressFree(again, size));
  HIP(hipMemAddressFree(address, size));
  (void)close(descriptor);
}

void check_mistakes(size_t size) {
  void* address = nullptr;
  EXPECT(hipMemAddressReserve(&address, 0, 0, nullptr, 0) != hipSuccess);
  EXPECT(hipMemAddressReserve(nullptr, size, 0, nullptr, 0) != hipSuccess);
  const hipMemAllocationProp properties = on_device(hipMemHandleTypeNone);
  hipMemGenericAllocationHandle_t memory{};
  EXPECT(hipMemCreate(&memory, size + 1, &properties, 0) != hipSuccess);
  EXPECT(hipMemCreate(nullptr, size, &properties, 0) != hipSuccess);
  (void)hipGetLastError();
}

}  // namespace

int main() {
  int supported = 0;
  HIP(hipDeviceGetAttribute(&supported, hipDeviceAttributeVirtualMemoryManagementSupported, 0));
  EXPECT(supported == 1);
  const size_t size = granularity();
  check_growth(size);
  // HIP 6 remembers one address for each memory: it follows a freed one as the program ends if there were two.
  if (HIP_VERSION < 60000000 || HIP_VERSION >= 70000000) check_aliases(size);
  check_sharing(size);
  check_mistakes(size);
  return check::result();
}

// What the HIP programs have in common: HIP calls that must succeed, and device memory as a value; comparisons are in
// compare.h.
#pragma once

#include <hip/hip_runtime.h>

#include "compare.h"

/// Ends the program when a HIP call fails.
#define HIP(call)                                                                                      \
  do {                                                                                                 \
    const hipError_t hip_status = (call);                                                              \
    if (hip_status != hipSuccess) {                                                                    \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorName(hip_status)); \
      std::exit(1);                                                                                    \
    }                                                                                                  \
  } while (false)

namespace check {

/// Device memory that goes away with its scope.
template <typename T>
class Device {
 public:
  explicit Device(size_t count) : count_(count) {
    HIP(hipMalloc(&data_, count * sizeof(T)));
    HIP(hipMemset(data_, 0, count * sizeof(T)));
    HIP(hipStreamSynchronize(nullptr));  // streams that do not wait for the null stream may use it at once
  }
  explicit Device(const std::vector<T>& values) : count_(values.size()) {
    HIP(hipMalloc(&data_, count_ * sizeof(T)));
    HIP(hipMemcpy(data_, values.data(), count_ * sizeof(T), hipMemcpyHostToDevice));
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { (void)hipFree(data_); }

  T* get() const { return data_; }
  size_t count() const { return count_; }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    HIP(hipMemcpy(values.data(), data_, count_ * sizeof(T), hipMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

/// Ends the program when the last launch, or what ran since, failed.
inline void finish() {
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());
}

}  // namespace check

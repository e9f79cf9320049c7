// A GPU as a ROCm program sees it: plain HSA, as a HIP runtime would use it. Programs with it are linked against the
// system's HSA runtime and run under `atoll run`.
#pragma once

#include <hsa/hsa.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace Atoll::bench {

/// Ends the benchmark where a call of HSA's has failed.
void check(hsa_status_t status, std::string_view what);

/// The first GPU with a queue and a code object. hsa_init() comes before it.
class HsaProgram {
 public:
  explicit HsaProgram(const char* code_object);
  HsaProgram(const HsaProgram&) = delete;
  HsaProgram& operator=(const HsaProgram&) = delete;
  ~HsaProgram();

  struct Kernel {
    uint64_t object = 0;
    uint32_t private_bytes = 0, group_bytes = 0;
  };
  Kernel kernel(const std::string& name) const;

  hsa_agent_t gpu() const { return gpu_; }
  /// Memory of the GPU's that the host writes, too.
  void* allocate(size_t bytes) const;
  /// Puts a dispatch into the queue and rings its doorbell; `done` is decremented when it ends.
  void dispatch(const Kernel& kernel, std::array<uint32_t, 2> grid, std::array<uint16_t, 2> group, void* arguments,
                hsa_signal_t done) const;

 private:
  hsa_agent_t gpu_{};
  hsa_executable_t executable_{};
  hsa_queue_t* queue_ = nullptr;
};

/// Until a signal is 0.
void wait(hsa_signal_t done);

}  // namespace Atoll::bench

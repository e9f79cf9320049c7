// hsa: attributes of ordinary memory that the GPUs share (shared virtual memory, HIP's managed memory). All memory
// is equally near to Atoll's GPUs, so they are remembered and answered, and change nothing but which memory of the
// program's own GPUs may touch with xnack off, and its grain (machine/memory/memory_grain.h). That ends when the
// program unmaps it, which the driver library reports (driver_presence.cpp). Source: hsa_ext_amd.h,
// hsa_amd_svm_attributes_set.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace Atoll::hsa {

struct SvmAttributes {
  uint64_t global_flag = HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED;  ///< as the kernel driver has it at first: coherent
  bool read_only = false, hive_local = false, read_mostly = false, gpu_exec = false;
  uint64_t migration_granularity = 9;  ///< log2 of pages; the driver's default is 2 MiB
  uint64_t preferred_location = 0;     ///< an agent's handle, or 0
  uint64_t prefetch_location = 0;
  std::map<uint64_t, uint64_t> access;  ///< by agent's handle, what was said of it
  uint64_t access_of(uint64_t agent) const {
    const auto said = access.find(agent);
    return said != access.end() ? said->second : uint64_t{HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE};
  }
  bool operator==(const SvmAttributes&) const = default;
};

/// Attributes by page range. Ranges that were never set have the defaults.
class SvmRanges {
 public:
  void change(uint64_t begin, uint64_t end, const std::function<void(SvmAttributes&)>& change);
  /// The attributes of every piece of [begin, end).
  std::vector<SvmAttributes> pieces(uint64_t begin, uint64_t end) const;
  /// The range around an address of which something was said, as begin and end.
  std::optional<std::pair<uint64_t, uint64_t>> find(uint64_t address) const;

  /// GPUs have been given the program's memory from `begin` to `end`. False: they had some of it before.
  bool give(uint64_t begin, uint64_t end);
  /// The program unmaps memory: nothing is said of it any more. Returns where that begins which GPUs had been given and
  /// which goes whole.
  std::vector<uint64_t> forget(uint64_t begin, uint64_t end);

 private:
  struct Piece {
    uint64_t end;
    SvmAttributes attributes;
  };
  void split(uint64_t at);  ///< with mutex_ held

  mutable std::mutex mutex_;
  std::map<uint64_t, Piece> pieces_;    ///< by begin; they don't overlap
  std::map<uint64_t, uint64_t> given_;  ///< ends by begins
};

}  // namespace Atoll::hsa

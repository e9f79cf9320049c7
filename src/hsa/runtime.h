// hsa: the HSA runtime API on top of machine, built as libhsa-runtime64.so.1. A file per subject holds the public
// functions of that subject (signal.cpp the hsa_signal_* functions, ...); they are thin: what a GPU does is machine's.
//
// This file: the Runtime, made by the first hsa_init and gone with the last hsa_shut_down: the GPU, the agents and
// pools, and the books that are kept of queues, executables and memory. A process that ends without hsa_shut_down
// leaves it in place, so that destructors of the program's libraries may still call in.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "hsa/agent.h"
#include "hsa/api_names.h"
#include "hsa/async_events.h"
#include "hsa/configuration.h"
#include "hsa/copy.h"
#include "hsa/executable.h"
#include "hsa/fault.h"
#include "hsa/images.h"
#include "hsa/memory.h"
#include "hsa/memory_pool.h"
#include "hsa/queue.h"
#include "hsa/svm.h"
#include "hsa/virtual_memory.h"
#include "machine/gpu.h"

namespace Atoll::hsa {

class Runtime {
 public:
  /// Reference counting of hsa_init and hsa_shut_down.
  static hsa_status_t acquire();
  static hsa_status_t release();
  /// The runtime, or null before the first hsa_init.
  static Runtime* get();

  Runtime(const Configuration& configuration, std::unique_ptr<machine::Gpu> gpu);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  machine::Gpu& gpu() { return *gpu_; }

  const Agent cpu_agent, gpu_agent;
  /// The agent of a handle, or null.
  const Agent* find_agent(hsa_agent_t handle) const;

  // The CPU's pools in the order in which ROCr lists them, then the GPU's.
  Pool system_fine, system_kernarg, system_coarse, local_coarse, local_fine, group;
  std::vector<Pool*> pools_of(const Agent& agent);
  /// The pool of a handle, or null. Regions are pools.
  Pool* find_pool(uint64_t handle);

  MemoryRecords memory;
  VirtualMemory virtual_memory;
  /// What is known of the memory at an address, wherever it comes from.
  std::optional<MemoryRecord> find_memory(const void* pointer) const;
  SvmRanges svm;
  Images images;
  AsyncEvents events;
  CopyEngine copies;
  Queues queues;
  Executables executables;
  FaultDelivery faults;
  const ComputeUnitMask compute_units;     ///< that queues may use
  std::atomic<uint64_t> scratch_limit{0};  ///< what hsa_amd_agent_set_async_scratch_limit said last
  bool coherent = true;                    ///< what hsa_amd_coherency_set_type said last

 private:
  std::unique_ptr<machine::Gpu> gpu_;
};

/// hsa_init has been called, and hsa_shut_down not as often.
inline bool is_initialized() { return Runtime::get() != nullptr; }

}  // namespace Atoll::hsa

// hsa: the HSA runtime API on top of machine, built as libhsa-runtime64.so.1. A file per subject holds the public
// functions of that subject (signal.cpp the hsa_signal_* functions, ...); they are thin: what a GPU does is machine's.
//
// This file: the Runtime, made by the first hsa_init and gone with the last hsa_shut_down: the agents with their GPUs
// and pools, and the books that are kept of queues, executables and memory. A process that ends without hsa_shut_down
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
#include "hsa/code/executable.h"
#include "hsa/fault.h"
#include "hsa/image/images.h"
#include "hsa/interface/api_names.h"
#include "hsa/memory/copy.h"
#include "hsa/memory/memory.h"
#include "hsa/memory/memory_pool.h"
#include "hsa/memory/svm.h"
#include "hsa/memory/virtual_memory.h"
#include "hsa/queue/async_events.h"
#include "hsa/queue/queue.h"
#include "machine/host.h"
#include "observe/checkers.h"

namespace Atoll::hsa {

class Runtime {
 public:
  /// Reference counting of hsa_init and hsa_shut_down.
  static hsa_status_t acquire();
  static hsa_status_t release();
  /// The runtime, or null before the first hsa_init.
  static Runtime* get();

  /// `checkers` may be null.
  Runtime(std::shared_ptr<machine::Host> host, std::unique_ptr<observe::Checkers> checkers,
          std::vector<std::unique_ptr<GpuAgent>> gpus);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

 private:
  const std::shared_ptr<machine::Host> host_;  // before what uses it

 public:
  const std::unique_ptr<observe::Checkers> checkers;  ///< which watch the GPUs and what is told of memory; null: none
  CpuAgent cpu_agent;
  const std::vector<std::unique_ptr<GpuAgent>> gpu_agents;
  const std::vector<Agent*> agents;  ///< all of them, the CPU's first
  /// The agent of a handle, or null.
  Agent* find_agent(hsa_agent_t handle) const;
  /// The same when it is a GPU's.
  GpuAgent* find_gpu(hsa_agent_t handle) const;
  /// The pool of a handle, or null. Regions are pools.
  Pool* find_pool(uint64_t handle);

  machine::Memory& guest_memory() { return host_->memory; }
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
};

/// Who is to be told of allocations and copies; null: nobody.
inline machine::Observer* memory_observer() {
  const Runtime* const runtime = Runtime::get();
  return runtime != nullptr ? runtime->checkers.get() : nullptr;
}

/// Who is to be told of what orders dispatches and copies: signals that the host sees and changes; null: nobody.
inline machine::Observer* order_observer() {
  machine::Observer* const observer = memory_observer();
  return observer != nullptr && observer->watched().order ? observer : nullptr;
}

/// hsa_init has been called, and hsa_shut_down not as often.
inline bool is_initialized() { return Runtime::get() != nullptr; }

}  // namespace Atoll::hsa

// machine: one kernel launch, from an AQL packet or from the C++ API, and what became of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "machine/aql.h"
#include "machine/wave.h"
#include "object/kernel_descriptor.h"
#include "support/error.h"

namespace Atoll::machine {

class Gpu;
class LoadedCode;

/// A fault with everything that its report says (DESIGN.md, principle 5).
struct FaultReport {
  Fault fault;
  std::string kernel;       ///< name
  std::string instruction;  ///< disassembled
  std::string function;     ///< around the PC, when it isn't the kernel itself
  std::string source;       ///< "file.hip:12:5", empty without DWARF
  std::string owner;        ///< what the nearest allocation below the address is
  uint32_t work_group[3]{};
  uint32_t work_item[3]{};  ///< of the faulting lane
  uint32_t wave = 0;
  std::string to_string() const;  ///< several lines, for standard error
};

/// What a launch needs, checked: registers, LDS and scratch fit the GPU.
struct Dispatch {
  Gpu* gpu = nullptr;
  aql::KernelDispatchPacket packet{};  ///< a copy; waves see `packet_address`
  uint64_t packet_address = 0;         ///< what the dispatch pointer points to
  uint64_t queue_address = 0;          ///< of the amd_queue_t
  uint64_t dispatch_id = 0;
  object::KernelDescriptor descriptor{};
  uint64_t entry = 0;                      ///< address of the first instruction
  std::shared_ptr<const LoadedCode> code;  ///< what it belongs to; may be null
  std::string kernel_name;

  uint32_t work_groups[3]{};  ///< grid in work-groups, partial ones included
  uint32_t lds_bytes = 0;     ///< static and dynamic
  uint32_t scratch_bytes_per_lane = 0;

  // Progress, shared by the host threads.
  std::atomic<uint64_t> next_work_group{0}, work_groups_left{0};
  std::atomic<uint64_t> wave_instructions{0}, waves{0};
  std::atomic<bool> cancelled{false};  ///< a fault, a timeout or Ctrl-C: waves stop at the next chance
  uint64_t start_ns = 0, end_ns = 0;   ///< CLOCK_MONOTONIC
  std::mutex fault_mutex;
  std::optional<FaultReport> fault;  ///< the first one
};

}  // namespace Atoll::machine

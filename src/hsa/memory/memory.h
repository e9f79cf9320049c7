// hsa: what the runtime remembers of memory: allocations from pools, and memory of the program's own that it locked
// or got through inter-process handles.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "hsa/memory/memory_pool.h"
#include "hsa/memory/page_alias.h"
#include "machine/memory/memory.h"

namespace Atoll::hsa {

struct DeallocationCallback {
  void* pointer;  ///< as it was registered: anywhere in the allocation
  hsa_amd_deallocation_callback_t function;
  void* user_data;
};

/// One range that pointer queries know.
struct MemoryRecord {
  uint64_t address = 0, size = 0;
  hsa_amd_pointer_type_t type = HSA_EXT_POINTER_TYPE_UNKNOWN;
  Pool* pool = nullptr;  ///< of locked memory: the pool it counts as
  void* user_data = nullptr;
  std::set<const Agent*> accessible;
  uint64_t agent_address = 0;   ///< the GPU's address; differs from `address` for locked memory that has two
  unsigned locks = 0;           ///< of locked memory: how often
  bool is_outside = false;      ///< of locked memory: the GPU's address is not in the range of guest memory
  bool is_for_kernels = false;  ///< of locked memory: kernels may use it, rather than one copy
  std::vector<DeallocationCallback> on_deallocation;

  bool holds(uint64_t where) const { return where - address < size || where - agent_address < size; }
  /// Whether `bytes` from `where` on lie within, by one of the two addresses.
  bool holds_range(uint64_t where, uint64_t bytes) const {
    const uint64_t offset = where - address < size ? where - address : where - agent_address;
    return offset < size && bytes <= size - offset;
  }
};

/// The agents of a list. A null list stands for all of them.
hsa_status_t collect_agents(const hsa_agent_t* handles, size_t count, std::set<const Agent*>& agents);

class MemoryRecords {
 public:
  explicit MemoryRecords(machine::Memory& memory) : memory_(memory) {}

  hsa_status_t allocate(Pool& pool, uint64_t size, void** pointer);
  /// Calls the deallocation callbacks, then frees. The address must be an allocation's start.
  hsa_status_t free(void* pointer);

  /// Locking at the same address again counts up. `own_address`: the GPU gets an address of its own, if it can.
  /// Returns the GPU's address.
  void* lock(void* pointer, uint64_t size, Pool& pool, const std::set<const Agent*>& agents, bool own_address);
  hsa_status_t unlock(void* pointer);

  /// The file that an allocation's pages are in; null, with a report, when they cannot be moved into one.
  std::shared_ptr<const machine::MemoryFile> share(const MemoryRecord& record, std::string_view function);
  /// Memory of somebody else's by its file: an address for it, and an end to it.
  hsa_status_t attach(const std::shared_ptr<const machine::MemoryFile>& file, hsa_amd_pointer_type_t type,
                      const std::set<const Agent*>& agents, void** pointer);
  hsa_status_t detach(void* pointer, hsa_amd_pointer_type_t type);

  std::optional<MemoryRecord> find(const void* pointer) const;
  /// Has these agents have access to the memory that holds `pointer`, besides its own, and no others.
  bool allow(const void* pointer, std::set<const Agent*> agents);
  /// Changes the record that holds `pointer`, if there is one.
  bool change(const void* pointer, const std::function<void(MemoryRecord&)>& change);

 private:
  const MemoryRecord* locate(uint64_t address) const;  ///< with mutex_ held

  machine::Memory& memory_;
  mutable std::mutex mutex_;
  std::map<uint64_t, MemoryRecord> allocations_;  ///< by address; they don't overlap
  std::map<uint64_t, MemoryRecord> locked_;       ///< by address; they may overlap
  PageAliases aliases_;                           ///< of locked memory
};

}  // namespace Atoll::hsa

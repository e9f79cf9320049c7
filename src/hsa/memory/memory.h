// hsa: the runtime's memory records: pool allocations, and program memory that was locked or attached through
// inter-process handles.
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

/// A range that pointer queries can find.
struct MemoryRecord {
  uint64_t address = 0, size = 0;
  hsa_amd_pointer_type_t type = HSA_EXT_POINTER_TYPE_UNKNOWN;
  Pool* pool = nullptr;  ///< locked memory: the pool it counts as
  void* user_data = nullptr;
  std::set<const Agent*> accessible;
  uint64_t agent_address = 0;   ///< differs from `address` for locked memory with two addresses
  unsigned locks = 0;           ///< locked memory: lock count
  bool is_outside = false;      ///< locked memory: the GPU's address is outside guest memory
  bool is_for_kernels = false;  ///< locked memory: usable by kernels, not only by a copy
  std::vector<DeallocationCallback> on_deallocation;

  bool holds(uint64_t where) const { return where - address < size || where - agent_address < size; }
  /// Returns whether `bytes` from `where` on are inside, by either address.
  bool holds_range(uint64_t where, uint64_t bytes) const {
    const uint64_t offset = where - address < size ? where - address : where - agent_address;
    return offset < size && bytes <= size - offset;
  }
};

/// Collects the agents of a list; null: all agents.
hsa_status_t collect_agents(const hsa_agent_t* handles, size_t count, std::set<const Agent*>& agents);

class MemoryRecords {
 public:
  explicit MemoryRecords(machine::Memory& memory) : memory_(memory) {}

  hsa_status_t allocate(Pool& pool, uint64_t size, void** pointer);
  /// Calls the deallocation callbacks and frees. The address must be an allocation's start.
  hsa_status_t free(void* pointer);

  /// Locks memory, or increments its lock count. `own_address`: maps it at a GPU address if possible. Returns the GPU's
  /// address.
  void* lock(void* pointer, uint64_t size, Pool& pool, const std::set<const Agent*>& agents, bool own_address);
  hsa_status_t unlock(void* pointer);

  /// Returns the file with an allocation's pages; null, with a report, if they cannot be moved into one.
  std::shared_ptr<const machine::MemoryFile> share(const MemoryRecord& record, std::string_view function);
  /// Maps and unmaps shared memory of another process by its file.
  hsa_status_t attach(const std::shared_ptr<const machine::MemoryFile>& file, hsa_amd_pointer_type_t type,
                      const std::set<const Agent*>& agents, void** pointer);
  hsa_status_t detach(void* pointer, hsa_amd_pointer_type_t type);

  std::optional<MemoryRecord> find(const void* pointer) const;
  /// Grants these agents, besides the owner, access to the memory that contains `pointer`, and revokes it for others.
  bool allow(const void* pointer, std::set<const Agent*> agents);
  /// Changes the record that contains `pointer`, if any.
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

// hsa: virtual memory: addresses and memory that a program asks for apart and brings together itself.
//
// Addresses are reserved, memory gets a handle, a handle is mapped within what was reserved, and agents get access to
// the mapping. The memory of a handle is a file (machine::MemoryFile), so that it can be mapped at several addresses
// and be exported to other processes as a descriptor. The pages of the host have one protection for all: what any agent
// may do, the host's threads may do as well. Source: hsa_ext_amd.h of ROCm 7.2, hsa_amd_vmem_*; ROCr where the header
// leaves something open.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/memory/memory.h"
#include "hsa/memory/memory_pool.h"
#include "machine/memory/memory.h"

namespace Atoll::hsa {

class VirtualMemory {
 public:
  explicit VirtualMemory(machine::Memory& memory) : memory_(memory) {}
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;
  ~VirtualMemory();

  /// `usable`: private memory from the start, into which nothing needs to be mapped.
  hsa_status_t reserve(uint64_t size, uint64_t alignment, uint64_t wish, bool usable, void** address);
  hsa_status_t unreserve(uint64_t address, uint64_t size);

  hsa_status_t create(Pool& pool, uint64_t size, hsa_amd_memory_type_t type, uint64_t* handle);
  hsa_status_t import(int descriptor, uint64_t* handle);
  hsa_status_t release(uint64_t handle);
  hsa_status_t export_file(uint64_t handle, int* descriptor) const;
  hsa_status_t describe(uint64_t handle, Pool*& pool, hsa_amd_memory_type_t& type) const;

  hsa_status_t map(uint64_t address, uint64_t size, uint64_t offset, uint64_t handle);
  hsa_status_t unmap(uint64_t address, uint64_t size);
  /// The handle that is mapped from an address on, with one more reference.
  hsa_status_t retain(uint64_t address, uint64_t* handle);

  hsa_status_t set_access(uint64_t address, uint64_t size, std::span<const hsa_amd_memory_access_desc_t> rights);
  hsa_status_t get_access(uint64_t address, const Agent& agent, hsa_access_permission_t* permission) const;

  /// What pointer queries say of a mapping, or of a reserved address where nothing is mapped.
  std::optional<MemoryRecord> find(uint64_t address) const;
  /// The file of a mapping, and where in it an address lies.
  std::shared_ptr<const machine::MemoryFile> file_at(uint64_t address, uint64_t& offset) const;

 private:
  struct Handle {
    Pool* pool;
    uint64_t size;
    hsa_amd_memory_type_t type;
    std::shared_ptr<const machine::MemoryFile> file;
    unsigned references = 1, mappings = 0;
  };
  struct Reservation {
    uint64_t size;
    unsigned mappings = 0;
  };
  struct Mapping {
    uint64_t size, offset, handle;
    std::map<const Agent*, hsa_access_permission_t> rights;
  };
  using Mappings = std::map<uint64_t, Mapping>;
  using Reservations = std::map<uint64_t, Reservation>;

  // All with mutex_ held.
  Reservations::const_iterator reservation_of(uint64_t address, uint64_t size) const;
  Mappings::const_iterator mapping_at(uint64_t address) const;
  bool is_covered(uint64_t address, uint64_t size) const;  ///< by mappings from the first to the last byte
  hsa_status_t add(Handle handle, uint64_t* number);
  void drop_unused(std::map<uint64_t, Handle>::iterator handle);

  machine::Memory& memory_;
  mutable std::mutex mutex_;
  Reservations reservations_;  ///< by address
  Mappings mappings_;          ///< by address; they don't overlap
  std::map<uint64_t, Handle> handles_;
  uint64_t next_handle_ = 1;
};

/// The name of a memory file, from which another process learns which kind of memory it is: the pool's kind.
std::string shared_memory_name(const Pool& pool);
/// The pool of such a name, or null for a file that is not Atoll's.
Pool* pool_of_shared_memory(const std::string& name);

}  // namespace Atoll::hsa

// hsa: reservations, handles, mappings and rights; see virtual_memory.h.
#include "hsa/memory/virtual_memory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hsa/interface/status.h"
#include "hsa/runtime.h"
#include "target/topology.h"

namespace Atoll::hsa {

namespace {

bool whole_pages(uint64_t size) { return size != 0 && size % allocation_granule == 0; }

/// What all the rights to a mapping together allow the host's pages.
machine::Access access_for(const std::map<const Agent*, hsa_access_permission_t>& rights) {
  auto access = machine::Access::none;
  for (const auto& [agent, permission] : rights) {
    const bool writes = permission == HSA_ACCESS_PERMISSION_RW || permission == HSA_ACCESS_PERMISSION_WO;
    const bool reads = permission == HSA_ACCESS_PERMISSION_RO;
    access = std::max(access, writes  ? machine::Access::read_write
                              : reads ? machine::Access::read
                                      : machine::Access::none);
  }
  return access;
}

/// The end of a range that begins somewhere; nothing when it wraps around.
std::optional<uint64_t> end_of(uint64_t address, uint64_t size) {
  uint64_t end = 0;
  if (__builtin_add_overflow(address, size, &end)) return std::nullopt;
  return end;
}

}  // namespace

VirtualMemory::~VirtualMemory() {
  for (const auto& [number, handle] : handles_) handle.pool->give_back(handle.size);
}

VirtualMemory::Reservations::const_iterator VirtualMemory::reservation_of(uint64_t address, uint64_t size) const {
  auto position = reservations_.upper_bound(address);
  if (position == reservations_.begin()) return reservations_.end();
  --position;
  const uint64_t offset = address - position->first;
  if (offset >= position->second.size || size > position->second.size - offset) return reservations_.end();
  return position;
}

VirtualMemory::Mappings::const_iterator VirtualMemory::mapping_at(uint64_t address) const {
  auto position = mappings_.upper_bound(address);
  if (position == mappings_.begin()) return mappings_.end();
  --position;
  return address - position->first < position->second.size ? position : mappings_.end();
}

bool VirtualMemory::is_covered(uint64_t address, uint64_t size) const {
  const auto end = end_of(address, size);
  if (!end || size == 0) return false;
  uint64_t at = address;
  for (auto mapping = mappings_.find(address); mapping != mappings_.end() && mapping->first == at && at < *end;
       ++mapping) {
    at += mapping->second.size;
  }
  return at == *end;
}

hsa_status_t VirtualMemory::reserve(uint64_t size, uint64_t alignment, uint64_t wish, bool usable, void** address) {
  // HIP 7.2 requests ordinary memory of any size, which ROCr allows in spite of the header.
  const uint64_t pages = (size + allocation_granule - 1) / allocation_granule * allocation_granule;
  if (size == 0 || pages < size || (!usable && pages != size)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto reserved = memory_.reserve(pages, alignment, wish, usable ? "managed memory" : "reserved addresses");
  if (!reserved) return status_of(reserved.error().kind);
  if (usable && !machine::Memory::protect_part(*reserved, pages, machine::Access::read_write)) {
    (void)memory_.free(*reserved);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  const std::scoped_lock lock(mutex_);
  reservations_.emplace(*reserved, Reservation{size});
  *address = reinterpret_cast<void*>(*reserved);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::unreserve(uint64_t address, uint64_t size) {
  const std::scoped_lock lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (found->second.size != size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (found->second.mappings != 0) return HSA_STATUS_ERROR_RESOURCE_FREE;
  reservations_.erase(found);
  return memory_.free(address) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

hsa_status_t VirtualMemory::add(Handle handle, uint64_t* number) {
  *number = next_handle_++;
  handles_.emplace(*number, std::move(handle));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::create(Pool& pool, uint64_t size, hsa_amd_memory_type_t type, uint64_t* handle) {
  if (!pool.can_allocate()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (!whole_pages(size)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!pool.take(size)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  auto file = machine::MemoryFile::create(shared_memory_name(pool), size);
  if (!file) {
    pool.give_back(size);
    return report("hsa_amd_vmem_handle_create", file.error());
  }
  const std::scoped_lock lock(mutex_);
  return add({.pool = &pool, .size = size, .type = type, .file = std::move(*file)}, handle);
}

hsa_status_t VirtualMemory::import(int descriptor, uint64_t* handle) {
  auto file = machine::MemoryFile::open(descriptor);
  if (!file) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  Pool* pool = pool_of_shared_memory((*file)->name());
  if (pool == nullptr || !whole_pages((*file)->size())) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const std::scoped_lock lock(mutex_);
  // Known files keep their handle.
  for (auto& [number, known] : handles_) {
    if (known.file->inode() != (*file)->inode()) continue;
    ++known.references;
    *handle = number;
    return HSA_STATUS_SUCCESS;
  }
  const uint64_t size = (*file)->size();
  if (!pool->take(size)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  return add({.pool = pool, .size = size, .type = MEMORY_TYPE_NONE, .file = std::move(*file)}, handle);
}

void VirtualMemory::drop_unused(std::map<uint64_t, Handle>::iterator handle) {
  if (handle->second.references != 0 || handle->second.mappings != 0) return;
  handle->second.pool->give_back(handle->second.size);
  handles_.erase(handle);
}

hsa_status_t VirtualMemory::release(uint64_t handle) {
  const std::scoped_lock lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end() || found->second.references == 0) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  --found->second.references;
  drop_unused(found);  // mappings keep the memory
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::export_file(uint64_t handle, int* descriptor) const {
  const std::scoped_lock lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const auto copy = found->second.file->duplicate();
  if (!copy) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *descriptor = *copy;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::describe(uint64_t handle, Pool*& pool, hsa_amd_memory_type_t& type) const {
  const std::scoped_lock lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  pool = found->second.pool;
  type = found->second.type;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::map(uint64_t address, uint64_t size, uint64_t offset, uint64_t handle) {
  const std::scoped_lock lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end() || !whole_pages(size) || address % allocation_granule != 0 ||
      offset % allocation_granule != 0 || offset >= found->second.size || size > found->second.size - offset) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const auto reservation = reservation_of(address, size);
  if (reservation == reservations_.end()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto next = mappings_.lower_bound(address);
  const bool taken =
      mapping_at(address) != mappings_.end() || (next != mappings_.end() && next->first < address + size);
  if (taken) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (const auto mapped = machine::Memory::map_part(address, size, *found->second.file, offset); !mapped) {
    return report("hsa_amd_vmem_map", mapped.error());
  }
  mappings_.emplace(address, Mapping{.size = size, .offset = offset, .handle = handle, .rights = {}});
  ++found->second.mappings;
  ++reservations_.at(reservation->first).mappings;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::unmap(uint64_t address, uint64_t size) {
  const std::scoped_lock lock(mutex_);
  if (!is_covered(address, size)) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (const auto unmapped = machine::Memory::unmap_part(address, size); !unmapped) {
    return report("hsa_amd_vmem_unmap", unmapped.error());
  }
  for (auto mapping = mappings_.find(address); mapping != mappings_.end() && mapping->first < address + size;) {
    --reservations_.at(reservation_of(mapping->first, mapping->second.size)->first).mappings;
    const auto handle = handles_.find(mapping->second.handle);
    --handle->second.mappings;
    drop_unused(handle);
    mapping = mappings_.erase(mapping);
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::retain(uint64_t address, uint64_t* handle) {
  const std::scoped_lock lock(mutex_);
  const auto mapping = mapping_at(address);
  if (mapping == mappings_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  *handle = mapping->second.handle;
  ++handles_.at(*handle).references;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::set_access(uint64_t address, uint64_t size,
                                       std::span<const hsa_amd_memory_access_desc_t> rights) {
  std::map<const Agent*, hsa_access_permission_t> given;
  for (const hsa_amd_memory_access_desc_t& right : rights) {
    const Agent* agent = Runtime::get()->find_agent(right.agent_handle);
    if (agent == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    if (right.permissions < HSA_ACCESS_PERMISSION_NONE || right.permissions > HSA_ACCESS_PERMISSION_RW) {
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    given[agent] = right.permissions;
  }
  const std::scoped_lock lock(mutex_);
  if (reservation_of(address, size) == reservations_.end()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!is_covered(address, size)) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  for (auto mapping = mappings_.find(address); mapping != mappings_.end() && mapping->first < address + size;
       ++mapping) {
    for (const auto& [agent, permission] : given) mapping->second.rights[agent] = permission;
    const auto access = access_for(mapping->second.rights);
    if (const auto changed = machine::Memory::protect_part(mapping->first, mapping->second.size, access); !changed) {
      return report("hsa_amd_vmem_set_access", changed.error());
    }
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::get_access(uint64_t address, const Agent& agent,
                                       hsa_access_permission_t* permission) const {
  const std::scoped_lock lock(mutex_);
  const auto mapping = mapping_at(address);
  if (mapping == mappings_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const auto right = mapping->second.rights.find(&agent);
  *permission = right != mapping->second.rights.end()
                    ? right->second
                    : static_cast<hsa_access_permission_t>(HSA_ACCESS_PERMISSION_NONE);
  return HSA_STATUS_SUCCESS;
}

std::optional<MemoryRecord> VirtualMemory::find(uint64_t address) const {
  const std::scoped_lock lock(mutex_);
  MemoryRecord record;
  if (const auto mapping = mapping_at(address); mapping != mappings_.end()) {
    record.address = record.agent_address = mapping->first;
    record.size = mapping->second.size;
    record.type = static_cast<hsa_amd_pointer_type_t>(HSA_EXT_POINTER_TYPE_HSA_VMEM);
    record.pool = handles_.at(mapping->second.handle).pool;
    for (const auto& [agent, permission] : mapping->second.rights) {
      if (permission != HSA_ACCESS_PERMISSION_NONE) record.accessible.insert(agent);
    }
    return record;
  }
  const auto reservation = reservation_of(address, 1);
  if (reservation == reservations_.end()) return std::nullopt;
  record.address = record.agent_address = reservation->first;
  record.size = reservation->second.size;
  record.type = static_cast<hsa_amd_pointer_type_t>(HSA_EXT_POINTER_TYPE_RESERVED_ADDR);
  return record;
}

std::shared_ptr<const machine::MemoryFile> VirtualMemory::file_at(uint64_t address, uint64_t& offset) const {
  const std::scoped_lock lock(mutex_);
  const auto mapping = mapping_at(address);
  if (mapping == mappings_.end()) return nullptr;
  offset = mapping->second.offset + (address - mapping->first);
  return handles_.at(mapping->second.handle).file;
}

namespace {

/// Before the number of the pool, in the order in which its agent lists them, and that of the agent's node.
constexpr std::string_view shared_name = "atoll shared memory of pool ";

std::string name_of_pool(size_t pool, uint32_t node) { return fmt::format("{}{} of node {}", shared_name, pool, node); }

}  // namespace

std::string shared_memory_name(const Pool& pool) {
  return name_of_pool(static_cast<size_t>(&pool - pool.owner->pools.data()), pool.owner->node);
}

Pool* pool_of_shared_memory(const std::string& name) {
  for (Agent* agent : Runtime::get()->agents) {
    for (Pool& pool : agent->pools) {
      if (shared_memory_name(pool) == name) return &pool;
    }
  }
  // Of a GPU that this process does not see (ROCR_VISIBLE_DEVICES): it counts as the same kind of its first one's.
  for (const auto& gpu : Runtime::get()->gpu_agents) {
    for (size_t i = 0; i < gpu->pools.size(); ++i) {
      for (unsigned hidden = 0; hidden < target::max_gpus; ++hidden)
        if (name == name_of_pool(i, target::node_of(hidden))) return &gpu->pools[i];
    }
  }
  return nullptr;
}

}  // namespace Atoll::hsa

using namespace Atoll::hsa;

namespace {

uint64_t number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

VirtualMemory& virtual_memory() { return Runtime::get()->virtual_memory; }

}  // namespace

hsa_status_t hsa_amd_vmem_address_reserve_align(void** va, size_t size, uint64_t address, uint64_t alignment,
                                                uint64_t flags) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (va == nullptr || (flags & ~uint64_t{HSA_AMD_VMEM_ADDRESS_NO_REGISTER}) != 0) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  if (alignment != 0 && alignment < allocation_granule) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return virtual_memory().reserve(size, alignment, address, (flags & HSA_AMD_VMEM_ADDRESS_NO_REGISTER) != 0, va);
}

hsa_status_t hsa_amd_vmem_address_reserve(void** va, size_t size, uint64_t address, uint64_t flags) {
  return hsa_amd_vmem_address_reserve_align(va, size, address, 0, flags);
}

hsa_status_t hsa_amd_vmem_address_free(void* va, size_t size) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return virtual_memory().unreserve(number(va), size);
}

hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size, hsa_amd_memory_type_t type,
                                        uint64_t flags, hsa_amd_vmem_alloc_handle_t* memory_handle) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (memory_handle == nullptr || flags != 0 || (type != MEMORY_TYPE_NONE && type != MEMORY_TYPE_PINNED)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  Pool* found = Runtime::get()->find_pool(pool.handle);
  if (found == nullptr) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  return virtual_memory().create(*found, size, type, &memory_handle->handle);
}

hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t memory_handle) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return virtual_memory().release(memory_handle.handle);
}

hsa_status_t hsa_amd_vmem_map(void* va, size_t size, size_t in_offset, hsa_amd_vmem_alloc_handle_t memory_handle,
                              uint64_t flags) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (flags != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return virtual_memory().map(number(va), size, in_offset, memory_handle.handle);
}

hsa_status_t hsa_amd_vmem_unmap(void* va, size_t size) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (size == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return virtual_memory().unmap(number(va), size);
}

hsa_status_t hsa_amd_vmem_set_access(void* va, size_t size, const hsa_amd_memory_access_desc_t* desc, size_t desc_cnt) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (size == 0 || desc == nullptr || desc_cnt == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return virtual_memory().set_access(number(va), size, {desc, desc_cnt});
}

hsa_status_t hsa_amd_vmem_get_access(void* va, hsa_access_permission_t* perms, hsa_agent_t agent_handle) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (perms == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const Agent* agent = Runtime::get()->find_agent(agent_handle);
  if (agent == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  return virtual_memory().get_access(number(va), *agent, perms);
}

hsa_status_t hsa_amd_vmem_export_shareable_handle(int* dmabuf_fd, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (dmabuf_fd == nullptr || flags != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return virtual_memory().export_file(handle.handle, dmabuf_fd);
}

hsa_status_t hsa_amd_vmem_import_shareable_handle(int dmabuf_fd, hsa_amd_vmem_alloc_handle_t* handle) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (handle == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return virtual_memory().import(dmabuf_fd, &handle->handle);
}

hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t* memory_handle, void* addr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (memory_handle == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return virtual_memory().retain(number(addr), &memory_handle->handle);
}

hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t memory_handle,
                                                           hsa_amd_memory_pool_t* pool, hsa_amd_memory_type_t* type) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (pool == nullptr || type == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Pool* found = nullptr;
  const hsa_status_t status = virtual_memory().describe(memory_handle.handle, found, *type);
  if (status == HSA_STATUS_SUCCESS) *pool = found->handle();
  return status;
}

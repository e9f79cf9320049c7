// hsa: memory records, and the functions that query, lock and fill memory.
#include "hsa/memory/memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/interface/status.h"
#include "hsa/runtime.h"
#include "machine/memory/address_range.h"
#include "machine/memory/locked_ranges.h"
#include "machine/memory/memory_grain.h"
#include "machine/report/fault_guard.h"

namespace Atoll::hsa {

namespace {

uint64_t number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

machine::MemoryEvent::Kind kind_of(const Pool& pool) {
  using enum machine::MemoryEvent::Kind;
  if (!pool.is_system()) return device;
  return (pool.global_flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) != 0 ? kernarg : host;
}

/// Records the grain of memory that a pool gives out.
void set_grain(const Pool& pool, uint64_t address, uint64_t size) {
  const bool is_fine = (pool.global_flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) == 0;
  if (is_fine) machine::MemoryGrain::of_process().set(address, address + size, true);
}

/// The number of an agent that is a GPU.
unsigned gpu_number(const Agent* agent) {
  return agent->is_gpu() ? static_cast<const GpuAgent*>(agent)->machine->number() : machine::every_gpu;
}

/// Which GPUs may touch an allocation of a GPU's own has changed.
void change_access(machine::Memory& memory, const Pool& pool, const std::set<const Agent*>& before,
                   const std::set<const Agent*>& after) {
  if (pool.is_system()) return;
  const unsigned owner = gpu_number(pool.owner);
  for (const Agent* agent : after)
    if (!before.contains(agent)) memory.allow(gpu_number(agent), owner);
  for (const Agent* agent : before)
    if (!after.contains(agent)) memory.disallow(gpu_number(agent), owner);
}

}  // namespace

hsa_status_t MemoryRecords::allocate(Pool& pool, uint64_t size, void** pointer) {
  if (!pool.can_allocate() || size > pool.bytes) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const uint64_t asked = size;
  size = (size + allocation_granule - 1) / allocation_granule * allocation_granule;
  std::map<uint64_t, MemoryRecord> record_node;  // made before the memory, which would be lost without a record
  MemoryRecord& record = record_node[0];
  record.accessible.insert(pool.owner);
  if (pool.is_system()) record.accessible.insert(Runtime::get()->agents.begin(), Runtime::get()->agents.end());
  if (!pool.take(size)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  // As the kernel driver does; the device library's malloc() finds a block's slab by rounding its address down.
  const uint64_t alignment = size >= device_memory_block ? device_memory_block : allocation_granule;
  const auto address = memory_.allocate(size, alignment, pool.owner->is_gpu() ? "device memory" : "system memory", 0,
                                        machine::Memory::Pages::huge_if_large, gpu_number(pool.owner));
  if (!address) {
    pool.give_back(size);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  record.address = record.agent_address = *address;
  record.size = size;
  record.type = HSA_EXT_POINTER_TYPE_HSA;
  record.pool = &pool;
  set_grain(pool, *address, size);
  auto node = record_node.extract(record_node.begin());
  node.key() = *address;
  if (machine::Observer* const observer = memory_observer()) {
    observer->allocated({.kind = kind_of(pool),
                         .address = *address,
                         .size = asked,
                         .reserved = size,
                         .function = "hsa_amd_memory_pool_allocate"});
  }
  const std::scoped_lock lock(mutex_);
  allocations_.insert(std::move(node));
  *pointer = reinterpret_cast<void*>(*address);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t MemoryRecords::free(void* pointer) {
  std::unique_lock lock(mutex_);
  const auto position = allocations_.find(number(pointer));
  machine::Observer* const observer = memory_observer();
  constexpr const char* function = "hsa_amd_memory_pool_free";
  if (position == allocations_.end() || position->second.type != HSA_EXT_POINTER_TYPE_HSA) {
    lock.unlock();
    if (observer != nullptr) observer->freed(number(pointer), function, [] {});
    return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  }
  const MemoryRecord record = std::move(position->second);
  allocations_.erase(position);
  lock.unlock();  // the callbacks may call in

  for (const DeallocationCallback& callback : record.on_deallocation) {
    callback.function(callback.pointer, callback.user_data);
  }
  change_access(memory_, *record.pool, record.accessible, {record.pool->owner});
  machine::MemoryGrain::of_process().reset(record.address, record.address + record.size);
  record.pool->give_back(record.size);
  if (observer != nullptr) {
    observer->freed(record.address, function, [&memory = memory_, address = record.address] {
      if (const auto freed = memory.free(address); !freed) report("hsa_memory_free", freed.error());
    });
    return HSA_STATUS_SUCCESS;
  }
  if (const auto freed = memory_.free(record.address); !freed) return report("hsa_memory_free", freed.error());
  return HSA_STATUS_SUCCESS;
}

void* MemoryRecords::lock(void* pointer, uint64_t size, Pool& pool, const std::set<const Agent*>& agents,
                          bool own_address) {
  const std::scoped_lock guard(mutex_);
  MemoryRecord& record = locked_[number(pointer)];
  const uint64_t size_before = record.size;
  if (record.locks == 0) {
    const uint64_t alias = own_address ? aliases_.add(number(pointer), size) : 0;
    record.address = number(pointer);
    record.agent_address = alias != 0 ? alias : record.address;
    record.is_outside = alias == 0 && !machine::AddressRange::of_process().bounds().hold(record.address);
    if (record.is_outside && own_address) memory_.add_outside();  // may be reached by ways that arguments don't tell
    if (record.is_outside && !own_address) machine::LockedRanges::of_process().add(record.address, size);
    record.is_for_kernels = own_address;
    record.size = size;
    record.type = HSA_EXT_POINTER_TYPE_LOCKED;
    record.pool = &pool;
    if (alias != 0) set_grain(pool, alias, size);
  } else if (record.agent_address == record.address) {
    record.size = std::max(record.size, size);
  }
  machine::Observer* const observer = memory_observer();
  if (observer != nullptr && record.is_for_kernels && record.size != size_before) {
    observer->allocated({.kind = machine::MemoryEvent::Kind::registered,
                         .address = record.agent_address,
                         .size = record.size,
                         .reserved = record.size,
                         .function = "hsa_amd_memory_lock_to_pool"});
  }
  record.accessible.insert(agents.begin(), agents.end());
  ++record.locks;
  return reinterpret_cast<void*>(record.agent_address);
}

hsa_status_t MemoryRecords::unlock(void* pointer) {
  const std::scoped_lock guard(mutex_);
  const auto position = locked_.find(number(pointer));
  if (position == locked_.end()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const MemoryRecord& record = position->second;
  if (record.locks > 1) {
    --position->second.locks;
    return HSA_STATUS_SUCCESS;
  }
  if (record.agent_address != record.address) {
    machine::MemoryGrain::of_process().reset(record.agent_address, record.agent_address + record.size);
    aliases_.remove(record.agent_address, record.address, record.size);
  }
  if (record.is_outside && record.is_for_kernels) memory_.remove_outside();
  if (record.is_outside && !record.is_for_kernels) machine::LockedRanges::of_process().remove(record.address);
  if (machine::Observer* const observer = memory_observer(); observer != nullptr && record.is_for_kernels)
    observer->freed(record.agent_address, "hsa_amd_memory_unlock", [] {});
  locked_.erase(position);
  return HSA_STATUS_SUCCESS;
}

std::shared_ptr<const machine::MemoryFile> MemoryRecords::share(const MemoryRecord& record, std::string_view function) {
  auto file = memory_.share(record.address, shared_memory_name(*record.pool));
  if (file) return *file;
  report(function, file.error());
  return nullptr;
}

hsa_status_t MemoryRecords::attach(const std::shared_ptr<const machine::MemoryFile>& file, hsa_amd_pointer_type_t type,
                                   const std::set<const Agent*>& agents, void** pointer) {
  Pool* pool = pool_of_shared_memory(file->name());
  if (pool == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto address = memory_.map(file, file->size(), "memory of another process");
  if (!address) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  MemoryRecord record;
  record.address = record.agent_address = *address;
  record.size = file->size();
  record.type = type;
  record.pool = pool;
  record.accessible = agents;
  set_grain(*pool, *address, record.size);
  const std::scoped_lock lock(mutex_);
  allocations_[*address] = std::move(record);
  *pointer = reinterpret_cast<void*>(*address);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t MemoryRecords::detach(void* pointer, hsa_amd_pointer_type_t type) {
  const std::scoped_lock lock(mutex_);
  const auto position = allocations_.find(number(pointer));
  if (position == allocations_.end() || position->second.type != type) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  machine::MemoryGrain::of_process().reset(number(pointer), number(pointer) + position->second.size);
  allocations_.erase(position);
  return memory_.free(number(pointer)) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

const MemoryRecord* MemoryRecords::locate(uint64_t address) const {
  auto position = allocations_.upper_bound(address);
  if (position != allocations_.begin() && std::prev(position)->second.holds(address)) {
    return &std::prev(position)->second;
  }
  for (const auto& [start, record] : locked_) {  // few, and found by either of their addresses
    if (record.holds(address)) return &record;
  }
  return nullptr;
}

std::optional<MemoryRecord> MemoryRecords::find(const void* pointer) const {
  const std::scoped_lock lock(mutex_);
  const MemoryRecord* record = locate(number(pointer));
  return record == nullptr ? std::nullopt : std::optional(*record);
}

bool MemoryRecords::change(const void* pointer, const std::function<void(MemoryRecord&)>& change) {
  const std::scoped_lock lock(mutex_);
  const MemoryRecord* record = locate(number(pointer));
  if (record == nullptr) return false;
  change(const_cast<MemoryRecord&>(*record));
  return true;
}

bool MemoryRecords::allow(const void* pointer, std::set<const Agent*> agents) {
  return change(pointer, [&](MemoryRecord& record) {
    agents.insert(record.pool->owner);  // keeps it
    if (record.type == HSA_EXT_POINTER_TYPE_HSA) change_access(memory_, *record.pool, record.accessible, agents);
    record.accessible = std::move(agents);
  });
}

hsa_status_t collect_agents(const hsa_agent_t* handles, size_t count, std::set<const Agent*>& agents) {
  if (handles == nullptr) {
    agents.insert(Runtime::get()->agents.begin(), Runtime::get()->agents.end());
    return HSA_STATUS_SUCCESS;
  }
  for (size_t i = 0; i < count; ++i) {
    const Agent* agent = Runtime::get()->find_agent(handles[i]);
    if (agent == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
    agents.insert(agent);
  }
  return HSA_STATUS_SUCCESS;
}

namespace {

hsa_status_t lock_memory(void* host_ptr, size_t size, const hsa_agent_t* agents, int num_agent, Pool& pool,
                         bool own_address, void** agent_ptr) {
  if (size == 0 || host_ptr == nullptr || agent_ptr == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if ((agents == nullptr) != (num_agent == 0) || num_agent < 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::set<const Agent*> list;
  if (const hsa_status_t status = collect_agents(agents, static_cast<size_t>(num_agent), list);
      status != HSA_STATUS_SUCCESS) {
    return status;
  }
  if (!machine::is_mapped(number(host_ptr), size)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *agent_ptr = Runtime::get()->memory.lock(host_ptr, size, pool, list, own_address);
  return HSA_STATUS_SUCCESS;
}

}  // namespace

}  // namespace Atoll::hsa

using namespace Atoll::hsa;

hsa_status_t hsa_amd_agents_allow_access(uint32_t num_agents, const hsa_agent_t* agents, const uint32_t* flags,
                                         const void* ptr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (num_agents == 0 || agents == nullptr || flags != nullptr || ptr == nullptr) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  std::set<const Agent*> list;
  if (const hsa_status_t status = collect_agents(agents, num_agents, list); status != HSA_STATUS_SUCCESS) {
    return status;
  }
  return Runtime::get()->memory.allow(ptr, std::move(list)) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

hsa_status_t hsa_amd_memory_lock(void* host_ptr, size_t size, hsa_agent_t* agents, int num_agent, void** agent_ptr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return lock_memory(host_ptr, size, agents, num_agent, Runtime::get()->cpu_agent.fine_grained(), false, agent_ptr);
}

hsa_status_t hsa_amd_memory_lock_to_pool(void* host_ptr, size_t size, hsa_agent_t* agents, int num_agent,
                                         hsa_amd_memory_pool_t pool, uint32_t flags, void** agent_ptr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (flags != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Pool* found = Runtime::get()->find_pool(pool.handle);
  if (found == nullptr) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  if (!found->is_system()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  // Locking to the coarse-grained pool is for one copy, locking to the fine-grained one for kernels (hipHostRegister).
  return lock_memory(host_ptr, size, agents, num_agent, *found, found == &Runtime::get()->cpu_agent.fine_grained(),
                     agent_ptr);
}

hsa_status_t hsa_amd_memory_unlock(void* host_ptr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (host_ptr == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return Runtime::get()->memory.unlock(host_ptr);
}

// Registering is a hint that kernels will use the memory, which they can anyhow.
hsa_status_t hsa_memory_register(void* ptr, size_t size) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return (ptr == nullptr) != (size == 0) ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_deregister(void*, size_t) {
  return is_initialized() ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED;
}

hsa_status_t hsa_memory_assign_agent(void* ptr, hsa_agent_t agent, hsa_access_permission_t access) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr == nullptr || access < HSA_ACCESS_PERMISSION_RO || access > HSA_ACCESS_PERMISSION_RW) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return Runtime::get()->find_agent(agent) == nullptr ? HSA_STATUS_ERROR_INVALID_AGENT : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_copy(void* dst, const void* src, size_t size) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (dst == nullptr || src == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  report_async_copy(dst, src, size, "hsa_memory_copy");
  return move_bytes(dst, src, size, "hsa_memory_copy") ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_memory_fill(void* ptr, uint32_t value, size_t count) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr == nullptr || number(ptr) % sizeof(uint32_t) != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (count <= SIZE_MAX / sizeof(uint32_t)) {
    report_async_copy(ptr, nullptr, count * sizeof(uint32_t), "hsa_amd_memory_fill");
  }
  const auto record = Runtime::get()->find_memory(ptr);
  if (!record || count > SIZE_MAX / sizeof(uint32_t) || !record->holds_range(number(ptr), count * sizeof(uint32_t))) {
    return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  }
  Atoll::machine::install_fault_guard();
  Atoll::machine::HostFault fault;  // what is mapped may be read-only
  const bool filled = Atoll::machine::guarded(fault, [=] { std::fill_n(static_cast<uint32_t*>(ptr), count, value); });
  if (filled) report_finished_copy(ptr, nullptr, count * sizeof(uint32_t), "hsa_amd_memory_fill");
  return filled ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_pointer_info(const void* ptr, hsa_amd_pointer_info_t* info, void* (*alloc)(size_t),
                                  uint32_t* num_agents_accessible, hsa_agent_t** accessible) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr == nullptr || info == nullptr || info->size == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;

  const std::optional<MemoryRecord> record = Runtime::get()->find_memory(ptr);
  hsa_amd_pointer_info_7_2 answer{};
  answer.size = static_cast<uint32_t>(std::min<size_t>(info->size, sizeof answer));
  if (record) {
    answer.type = record->type;
    answer.agentBaseAddress = reinterpret_cast<void*>(record->agent_address);
    answer.hostBaseAddress = reinterpret_cast<void*>(record->address);
    answer.sizeInBytes = record->size;
    answer.userData = record->user_data;
    if (record->pool != nullptr) {  // reserved addresses have none
      answer.agentOwner = record->pool->owner->handle();
      answer.global_flags = record->pool->global_flags;
    }
    answer.registered = true;
  }
  std::memcpy(info, &answer, answer.size);

  if (alloc == nullptr || num_agents_accessible == nullptr || accessible == nullptr) return HSA_STATUS_SUCCESS;
  *num_agents_accessible = record ? static_cast<uint32_t>(record->accessible.size()) : 0;
  *accessible = nullptr;
  if (*num_agents_accessible == 0) return HSA_STATUS_SUCCESS;
  *accessible = static_cast<hsa_agent_t*>(alloc(*num_agents_accessible * sizeof(hsa_agent_t)));
  if (*accessible == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  std::ranges::transform(record->accessible, *accessible, [](const Agent* agent) { return agent->handle(); });
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info_set_userdata(const void* ptr, void* userdata) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const bool known =
      ptr != nullptr && Runtime::get()->memory.change(ptr, [=](MemoryRecord& record) { record.user_data = userdata; });
  return known ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_register_deallocation_callback(void* ptr, hsa_amd_deallocation_callback_t callback,
                                                    void* user_data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr == nullptr || callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  bool is_allocation = false;
  Runtime::get()->memory.change(ptr, [&](MemoryRecord& record) {
    is_allocation = record.type == HSA_EXT_POINTER_TYPE_HSA;
    if (is_allocation) record.on_deallocation.push_back({ptr, callback, user_data});
  });
  return is_allocation ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_deregister_deallocation_callback(void* ptr, hsa_amd_deallocation_callback_t callback) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr == nullptr || callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  bool removed = false;
  Runtime::get()->memory.change(ptr, [&](MemoryRecord& record) {
    removed = std::erase_if(record.on_deallocation, [=](const DeallocationCallback& registered) {
                return registered.pointer == ptr && registered.function == callback;
              }) != 0;
  });
  return removed ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_coherency_get_type(hsa_agent_t agent, hsa_amd_coherency_type_t* type) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const GpuAgent* found = Runtime::get()->find_gpu(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (type == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *type = found->coherent ? HSA_AMD_COHERENCY_TYPE_COHERENT : HSA_AMD_COHERENCY_TYPE_NONCOHERENT;
  return HSA_STATUS_SUCCESS;
}

// Atoll's memory is always coherent, so the wish is only remembered.
hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t type) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  GpuAgent* found = Runtime::get()->find_gpu(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (type != HSA_AMD_COHERENCY_TYPE_COHERENT && type != HSA_AMD_COHERENCY_TYPE_NONCOHERENT) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  found->coherent = type == HSA_AMD_COHERENCY_TYPE_COHERENT;
  return HSA_STATUS_SUCCESS;
}

// hsa: the queue functions. A queue's memory is laid out as amd_queue_t, which the machine reads and writes; here it
// gets its doorbell and its error callback.
#include "hsa/queue/queue.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "hsa/interface/attribute.h"
#include "hsa/interface/rocm_7_2.h"
#include "hsa/interface/status.h"
#include "hsa/isa.h"
#include "hsa/logging.h"
#include "hsa/runtime.h"
#include "machine/report/fault_guard.h"

namespace Atoll::hsa {

using AbiQueue = machine::aql::Queue;

static_assert(sizeof(AbiQueue) == sizeof(amd_queue_t));
static_assert(offsetof(AbiQueue, features) == offsetof(hsa_queue_t, features));
static_assert(offsetof(AbiQueue, base_address) == offsetof(hsa_queue_t, base_address));
static_assert(offsetof(AbiQueue, doorbell_signal) == offsetof(hsa_queue_t, doorbell_signal));
static_assert(offsetof(AbiQueue, size) == offsetof(hsa_queue_t, size));
static_assert(offsetof(AbiQueue, id) == offsetof(hsa_queue_t, id));
#define ATOLL_SAME_PLACE(field) static_assert(offsetof(AbiQueue, field) == offsetof(amd_queue_t, field))
ATOLL_SAME_PLACE(write_dispatch_id);
ATOLL_SAME_PLACE(group_segment_aperture_base_hi);
ATOLL_SAME_PLACE(private_segment_aperture_base_hi);
ATOLL_SAME_PLACE(max_cu_id);
ATOLL_SAME_PLACE(max_wave_id);
ATOLL_SAME_PLACE(max_legacy_doorbell_dispatch_id_plus_1);
ATOLL_SAME_PLACE(legacy_doorbell_lock);
ATOLL_SAME_PLACE(read_dispatch_id);
ATOLL_SAME_PLACE(read_dispatch_id_field_base_byte_offset);
ATOLL_SAME_PLACE(compute_tmpring_size);
ATOLL_SAME_PLACE(scratch_resource_descriptor);
ATOLL_SAME_PLACE(scratch_backing_memory_location);
ATOLL_SAME_PLACE(scratch_backing_memory_byte_size);
ATOLL_SAME_PLACE(scratch_wave64_lane_byte_size);
ATOLL_SAME_PLACE(queue_properties);
ATOLL_SAME_PLACE(queue_inactive_signal);

static_assert(sizeof(machine::aql::KernelDispatchPacket) == sizeof(hsa_kernel_dispatch_packet_t));
static_assert(offsetof(machine::aql::KernelDispatchPacket, kernel_object) ==
              offsetof(hsa_kernel_dispatch_packet_t, kernel_object));
static_assert(offsetof(machine::aql::KernelDispatchPacket, completion_signal) ==
              offsetof(hsa_kernel_dispatch_packet_t, completion_signal));
static_assert(offsetof(machine::aql::BarrierPacket, dep_signal) == offsetof(hsa_barrier_and_packet_t, dep_signal));
static_assert(offsetof(machine::aql::AgentDispatchPacket, arg) == offsetof(hsa_agent_dispatch_packet_t, arg));
static_assert(offsetof(machine::aql::BarrierValuePacket, signal) == offsetof(hsa_amd_barrier_value_packet_t, signal));
static_assert(offsetof(machine::aql::BarrierValuePacket, condition) == offsetof(hsa_amd_barrier_value_packet_t, cond));

QueueRecord::~QueueRecord() {
  if (doorbell != nullptr) doorbell->queue = nullptr;
  machine.reset();  // waits for its thread
  for (Signal* signal : {doorbell, inactive}) {
    if (signal != nullptr) release(*signal);
  }
  if (soft != 0) static_cast<void>(memory->free(soft));
}

void Queues::add(hsa_queue_t* queue, std::shared_ptr<QueueRecord> record) {
  Records ended;  // destroyed without the lock: that waits for threads whose callbacks may look something up
  const std::scoped_lock lock(mutex_);
  queues_[queue] = std::move(record);
  ended = take_ended();
}

std::shared_ptr<QueueRecord> Queues::find(const hsa_queue_t* queue) const {
  const std::scoped_lock lock(mutex_);
  const auto position = queues_.find(queue);
  return position == queues_.end() ? nullptr : position->second;
}

bool Queues::remove(const hsa_queue_t* queue) {
  Records ended;
  const std::scoped_lock lock(mutex_);
  auto node = queues_.extract(queue);
  if (node.empty()) return false;
  ended = take_ended();
  const auto& machine = node.mapped()->machine;
  (machine != nullptr && machine->is_own_thread() ? ending_ : ended).push_back(std::move(node.mapped()));
  return true;
}

/// With the lock held: those of `ending_` that the calling thread may destroy.
Queues::Records Queues::take_ended() {
  Records ended;
  std::erase_if(ending_, [&](std::shared_ptr<QueueRecord>& record) {
    if (record->machine->is_own_thread()) return false;
    ended.push_back(std::move(record));
    return true;
  });
  return ended;
}

void Queues::clear() {
  std::map<const hsa_queue_t*, std::shared_ptr<QueueRecord>> queues;
  Records ended;
  const std::scoped_lock lock(mutex_);
  queues.swap(queues_);
  ended.swap(ending_);
}

namespace {

AbiQueue* abi(const hsa_queue_t* queue) { return reinterpret_cast<AbiQueue*>(const_cast<hsa_queue_t*>(queue)); }

/// Calls `access`, which touches the queue's memory, for a function that has no status. Where there is no memory, it
/// reports the pointer; the access then ends the process as on hardware.
template <typename Access>
uint64_t access_queue(const hsa_queue_t* queue, const char* function, const Access& access) {
  uint64_t result = 0;
  machine::HostFault fault;
  if (machine::guarded(fault, [&] { result = access(); })) return result;
  fmt::print(stderr, "atoll: {}: {} is not a queue: no memory is mapped there\n", function, fmt::ptr(queue));
  return access();
}

bool is_valid_size(uint32_t size) { return std::has_single_bit(size); }

}  // namespace

}  // namespace Atoll::hsa

using namespace Atoll;
using namespace Atoll::hsa;

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                              void (*callback)(hsa_status_t status, hsa_queue_t* source, void* data), void* data,
                              uint32_t, uint32_t, hsa_queue_t** queue) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (queue == nullptr || !is_valid_size(size) || type > HSA_QUEUE_TYPE_COOPERATIVE) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  if (Runtime::get()->find_agent(agent) == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  const GpuAgent* gpu = Runtime::get()->find_gpu(agent);
  if (gpu == nullptr || size < queue_min_size || size > queue_max_size) {
    return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
  }

  auto record = std::make_shared<QueueRecord>();
  record->doorbell = make_doorbell();
  record->inactive = make_signal(0, true);
  if (record->doorbell == nullptr || record->inactive == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  machine::QueueOptions options;
  options.size = size;
  options.multi_producer = type != HSA_QUEUE_TYPE_SINGLE;
  options.cooperative = type == HSA_QUEUE_TYPE_COOPERATIVE;
  options.doorbell = &record->doorbell->abi;
  options.queue_inactive_signal = record->inactive->handle().handle;
  // The callback is told the queue's address, which is known only after creation, but before any packet.
  auto self = std::make_shared<std::atomic<hsa_queue_t*>>(nullptr);
  options.on_error = [=](const machine::QueueError& error) {
    Runtime::get()->faults.deliver(error, agent, self->load(), callback, data);
  };
  auto made = gpu->machine->create_queue(std::move(options));
  if (!made) return report("hsa_queue_create", made.error());
  record->machine = std::move(*made);
  record->agent = gpu;
  auto* handle = reinterpret_cast<hsa_queue_t*>(record->machine->abi());
  self->store(handle);
  handle->type = type;
  if (gpu->compute_units != settings::all_compute_units(gpu->product().compute_units))
    record->machine->set_compute_units(settings::numbers_of(gpu->compute_units));
  record->doorbell->abi.queue_ptr = reinterpret_cast<uint64_t>(handle);
  record->doorbell->queue = record->machine.get();
  log().write(HSA_AMD_LOG_FLAG_INFO, "queue {} of {} packets at {}", handle->id, size, fmt::ptr(handle));
  Runtime::get()->queues.add(handle, std::move(record));
  *queue = handle;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_soft_queue_create(hsa_region_t region, uint32_t size, hsa_queue_type32_t type, uint32_t features,
                                   hsa_signal_t doorbell_signal, hsa_queue_t** queue) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (queue == nullptr || !is_valid_size(size) || type > HSA_QUEUE_TYPE_SINGLE || features == 0 ||
      (features & ~uint32_t{HSA_QUEUE_FEATURE_KERNEL_DISPATCH | HSA_QUEUE_FEATURE_AGENT_DISPATCH}) != 0) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const Pool* pool = Runtime::get()->find_pool(region.handle);
  if (pool == nullptr || !pool->can_allocate()) return HSA_STATUS_ERROR_INVALID_REGION;
  if (size > queue_max_size) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  if (signal_of(doorbell_signal) == nullptr) return HSA_STATUS_ERROR_INVALID_SIGNAL;

  static std::atomic<uint64_t> next_id{uint64_t{1} << 32};  // apart from the machine's
  auto record = std::make_shared<QueueRecord>();
  const size_t bytes = size_t{size} * sizeof(hsa_kernel_dispatch_packet_t);
  // Kernels may put packets there.
  machine::Memory& memory = Runtime::get()->guest_memory();
  const auto address = memory.allocate(bytes + sizeof(AbiQueue), 0, "a soft queue");
  if (!address) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  record->memory = &memory;
  record->soft = *address;
  auto* packets = reinterpret_cast<hsa_kernel_dispatch_packet_t*>(*address);
  for (uint32_t i = 0; i < size; ++i) packets[i].header = HSA_PACKET_TYPE_INVALID;

  auto* made = new (reinterpret_cast<void*>(*address + bytes)) AbiQueue{};
  auto* handle = reinterpret_cast<hsa_queue_t*>(made);
  handle->type = type;
  handle->features = features;
  handle->base_address = packets;
  handle->doorbell_signal = doorbell_signal;
  handle->size = size;
  handle->id = next_id++;
  made->read_dispatch_id_field_base_byte_offset = offsetof(machine::aql::Queue, read_dispatch_id);
  Runtime::get()->queues.add(handle, std::move(record));
  *queue = handle;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t* queue) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (queue == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return Runtime::get()->queues.remove(queue) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

hsa_status_t hsa_queue_inactivate(hsa_queue_t* queue) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (queue == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto record = Runtime::get()->queues.find(queue);
  if (!record) return HSA_STATUS_ERROR_INVALID_QUEUE;
  if (record->machine) record->machine->inactivate();
  return HSA_STATUS_SUCCESS;
}

// Indices. As with signals, one strong order serves all the names.

#define ATOLL_QUEUE_LOAD(index, field, order)                                                                    \
  uint64_t hsa_queue_load_##index##_##order(const hsa_queue_t* queue) {                                          \
    return access_queue(queue, __func__, [=] { return __atomic_load_n(&abi(queue)->field, __ATOMIC_SEQ_CST); }); \
  }
ATOLL_QUEUE_LOAD(read_index, read_dispatch_id, relaxed)
ATOLL_QUEUE_LOAD(read_index, read_dispatch_id, scacquire)
ATOLL_QUEUE_LOAD(write_index, write_dispatch_id, relaxed)
ATOLL_QUEUE_LOAD(write_index, write_dispatch_id, scacquire)

#define ATOLL_QUEUE_STORE(index, field, order)                                       \
  void hsa_queue_store_##index##_##order(const hsa_queue_t* queue, uint64_t value) { \
    access_queue(queue, __func__, [=] {                                              \
      __atomic_store_n(&abi(queue)->field, value, __ATOMIC_SEQ_CST);                 \
      return value;                                                                  \
    });                                                                              \
  }
ATOLL_QUEUE_STORE(read_index, read_dispatch_id, relaxed)
ATOLL_QUEUE_STORE(read_index, read_dispatch_id, screlease)
ATOLL_QUEUE_STORE(write_index, write_dispatch_id, relaxed)
ATOLL_QUEUE_STORE(write_index, write_dispatch_id, screlease)

#define ATOLL_QUEUE_CHANGE(order)                                                                                     \
  uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t* queue, uint64_t value) {                              \
    return access_queue(queue, __func__,                                                                              \
                        [=] { return __atomic_fetch_add(&abi(queue)->write_dispatch_id, value, __ATOMIC_SEQ_CST); }); \
  }                                                                                                                   \
  uint64_t hsa_queue_cas_write_index_##order(const hsa_queue_t* queue, uint64_t expected, uint64_t value) {           \
    return access_queue(queue, __func__, [=] {                                                                        \
      uint64_t found = expected;                                                                                      \
      __atomic_compare_exchange_n(&abi(queue)->write_dispatch_id, &found, value, false, __ATOMIC_SEQ_CST,             \
                                  __ATOMIC_SEQ_CST);                                                                  \
      return found;                                                                                                   \
    });                                                                                                               \
  }
ATOLL_QUEUE_CHANGE(relaxed)
ATOLL_QUEUE_CHANGE(scacquire)
ATOLL_QUEUE_CHANGE(screlease)
ATOLL_QUEUE_CHANGE(scacq_screl)

// AMD's additions. Host threads are shared fairly: priorities are remembered and change no results.

hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t* queue, uint32_t num_cu_mask_count, const uint32_t* cu_mask) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (num_cu_mask_count % 32 != 0 || (num_cu_mask_count != 0 && cu_mask == nullptr)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const auto record = Runtime::get()->queues.find(queue);
  if (!record || !record->machine) return HSA_STATUS_ERROR_INVALID_QUEUE;
  const settings::ComputeUnitMask& usable = record->agent->compute_units;
  settings::ComputeUnitMask mask = usable;
  bool reduced = false;
  for (size_t word = 0; num_cu_mask_count != 0 && word < std::max<size_t>(mask.size(), num_cu_mask_count / 32);
       ++word) {
    const uint32_t wish = word < num_cu_mask_count / 32 ? cu_mask[word] : 0;
    const uint32_t there = word < usable.size() ? usable[word] : 0;
    reduced |= (wish & ~there) != 0;
    if (word < mask.size()) mask[word] = wish & there;
  }
  record->machine->set_compute_units(settings::numbers_of(mask));
  record->compute_unit_mask = std::move(mask);
  return reduced ? static_cast<hsa_status_t>(HSA_STATUS_CU_MASK_REDUCED) : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_cu_get_mask(const hsa_queue_t* queue, uint32_t num_cu_mask_count, uint32_t* cu_mask) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (num_cu_mask_count == 0 || num_cu_mask_count % 32 != 0 || cu_mask == nullptr) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const auto record = Runtime::get()->queues.find(queue);
  if (!record || !record->machine) return HSA_STATUS_ERROR_INVALID_QUEUE;
  const settings::ComputeUnitMask& mask =
      record->compute_unit_mask.empty() ? record->agent->compute_units : record->compute_unit_mask;
  for (uint32_t word = 0; word < num_cu_mask_count / 32; ++word) cu_mask[word] = word < mask.size() ? mask[word] : 0;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_get_info(hsa_queue_t* queue, hsa_queue_info_attribute_t attribute, void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const auto record = Runtime::get()->queues.find(queue);
  if (!record || !record->machine) return HSA_STATUS_ERROR_INVALID_QUEUE;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (attribute) {
    case HSA_AMD_QUEUE_INFO_AGENT:
      return give(value, record->agent->handle());
    case HSA_AMD_QUEUE_INFO_DOORBELL_ID:  // the address that is written to ring it
      return give(value, reinterpret_cast<uint64_t>(&record->doorbell->hardware_doorbell()));
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t* queue, hsa_amd_queue_priority_t priority) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (queue == nullptr || static_cast<int>(priority) < HSA_AMD_QUEUE_PRIORITY_LOW ||
      priority > HSA_AMD_QUEUE_PRIORITY_HIGH) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const auto record = Runtime::get()->queues.find(queue);
  if (!record) return HSA_STATUS_ERROR_INVALID_QUEUE;
  record->priority = priority;
  return HSA_STATUS_SUCCESS;
}

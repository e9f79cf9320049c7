// hsa: handles by which memory and signals are passed to others. Atoll's memory belongs to one process, so a handle
// opens only where it was made; elsewhere attaching is refused.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <unistd.h>
#include <cstring>

#include "hsa/runtime.h"
#include "hsa/status.h"

using namespace Atoll;
using namespace Atoll::hsa;

namespace {

/// What the eight words of a handle hold.
struct Ticket {
  uint32_t mark;
  int32_t process;
  uint64_t address, size;
  uint64_t zero;
};
static_assert(sizeof(Ticket) == sizeof(hsa_amd_ipc_memory_t));
constexpr uint32_t memory_mark = 0x6d65'6d00, signal_mark = 0x7369'6700;

void write(hsa_amd_ipc_memory_t* handle, uint32_t mark, uint64_t address, uint64_t size) {
  const Ticket ticket{mark, getpid(), address, size, 0};
  std::memcpy(handle, &ticket, sizeof ticket);
}

hsa_status_t read(const hsa_amd_ipc_memory_t* handle, uint32_t mark, const char* function, Ticket& ticket) {
  std::memcpy(&ticket, handle, sizeof ticket);
  if (ticket.mark != mark) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (ticket.process != getpid()) {
    return report(function, {support::ErrorKind::unsupported,
                             "the handle comes from another process, and Atoll's GPU memory is not shared with it"});
  }
  return HSA_STATUS_SUCCESS;
}

}  // namespace

hsa_status_t hsa_amd_ipc_memory_create(void* ptr, size_t len, hsa_amd_ipc_memory_t* handle) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr == nullptr || len == 0 || handle == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto record = Runtime::get()->memory.find(ptr);
  const auto address = reinterpret_cast<uint64_t>(ptr);
  if (!record || record->type != HSA_EXT_POINTER_TYPE_HSA || record->address != address || len > record->size) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  write(handle, memory_mark, address, record->size);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t* handle, size_t len, uint32_t num_agents,
                                       const hsa_agent_t* mapping_agents, void** mapped_ptr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (handle == nullptr || len == 0 || mapped_ptr == nullptr || (num_agents > 0 && mapping_agents == nullptr)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  Ticket ticket{};
  const hsa_status_t status = read(handle, memory_mark, "hsa_amd_ipc_memory_attach", ticket);
  if (status != HSA_STATUS_SUCCESS) return status;
  auto* pointer = reinterpret_cast<void*>(ticket.address);
  const auto record = Runtime::get()->memory.find(pointer);
  if (!record || record->address != ticket.address || len > record->size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *mapped_ptr = pointer;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_ipc_memory_detach(void* mapped_ptr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return mapped_ptr != nullptr && Runtime::get()->memory.find(mapped_ptr) ? HSA_STATUS_SUCCESS
                                                                          : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_ipc_signal_create(hsa_signal_t signal, hsa_amd_ipc_signal_t* handle) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (handle == nullptr || signal_of(signal) == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  write(handle, signal_mark, signal.handle, sizeof(Signal));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_ipc_signal_attach(const hsa_amd_ipc_signal_t* handle, hsa_signal_t* signal) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (handle == nullptr || signal == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Ticket ticket{};
  const hsa_status_t status = read(handle, signal_mark, "hsa_amd_ipc_signal_attach", ticket);
  if (status != HSA_STATUS_SUCCESS) return status;
  if (signal_of({ticket.address}) == nullptr) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  *signal = {ticket.address};
  return HSA_STATUS_SUCCESS;
}

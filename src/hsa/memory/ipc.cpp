// hsa: handles by which other processes open memory and signals of this one. What is shared is a file in memory
// (machine::MemoryFile); a handle says under which descriptor its process has it, and another process opens it through
// /proc. That takes what AMD's driver asks for too: the same user, and the exporting process still there.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <unistd.h>
#include <cstring>
#include <memory>
#include <set>

#include "hsa/interface/status.h"
#include "hsa/runtime.h"

using namespace Atoll;
using namespace Atoll::hsa;

namespace {

/// What the eight words of a handle hold.
struct Ticket {
  uint32_t mark;
  int32_t process, descriptor;
  uint32_t zero;
  uint64_t inode, size;  ///< tell whether the descriptor is still of the same file
};
static_assert(sizeof(Ticket) == sizeof(hsa_amd_ipc_memory_t));
constexpr uint32_t memory_mark = 0x6d65'6d01, signal_mark = 0x7369'6701;

void write(hsa_amd_ipc_memory_t* handle, uint32_t mark, const machine::MemoryFile& file) {
  const Ticket ticket{mark, getpid(), file.descriptor(), 0, file.inode(), file.size()};
  std::memcpy(handle, &ticket, sizeof ticket);
}

/// The file of a handle, or null, with a report if it is one of Atoll's.
std::shared_ptr<const machine::MemoryFile> open(const hsa_amd_ipc_memory_t* handle, uint32_t mark,
                                                const char* function) {
  Ticket ticket{};
  std::memcpy(&ticket, handle, sizeof ticket);
  if (ticket.mark != mark) return nullptr;
  auto file = machine::MemoryFile::open(ticket.process, ticket.descriptor);
  if (!file) {
    report(function, support::within(fmt::format("process {}", ticket.process), file.error()).error());
    return nullptr;
  }
  // The descriptor may have been closed since, and be that of another file.
  return (*file)->inode() == ticket.inode && (*file)->size() == ticket.size ? *file : nullptr;
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
  const auto file = Runtime::get()->memory.share(*record, "hsa_amd_ipc_memory_create");
  if (file == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  write(handle, memory_mark, *file);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t* handle, size_t len, uint32_t num_agents,
                                       const hsa_agent_t* mapping_agents, void** mapped_ptr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (handle == nullptr || len == 0 || mapped_ptr == nullptr || (num_agents > 0) != (mapping_agents != nullptr)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  std::set<const Agent*> agents;
  if (const hsa_status_t status = collect_agents(mapping_agents, num_agents, agents); status != HSA_STATUS_SUCCESS) {
    return status;
  }
  const auto file = open(handle, memory_mark, "hsa_amd_ipc_memory_attach");
  if (file == nullptr || len > file->size()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return Runtime::get()->memory.attach(file, HSA_EXT_POINTER_TYPE_IPC, agents, mapped_ptr);
}

hsa_status_t hsa_amd_ipc_memory_detach(void* mapped_ptr) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return Runtime::get()->memory.detach(mapped_ptr, HSA_EXT_POINTER_TYPE_IPC);
}

hsa_status_t hsa_amd_ipc_signal_create(hsa_signal_t signal, hsa_amd_ipc_signal_t* handle) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Signal* found = signal_of(signal);
  if (handle == nullptr || found == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto file = shared_file_of(*found);
  if (file == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;  // was not created with HSA_AMD_SIGNAL_IPC
  write(handle, signal_mark, *file);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_ipc_signal_attach(const hsa_amd_ipc_signal_t* handle, hsa_signal_t* signal) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (handle == nullptr || signal == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto file = open(handle, signal_mark, "hsa_amd_ipc_signal_attach");
  if (file == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const Signal* attached = attach_signal(file);
  if (attached == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *signal = attached->handle();
  return HSA_STATUS_SUCCESS;
}

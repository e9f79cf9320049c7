#include "hsa_program.h"

#include <fcntl.h>
#include <hsa/hsa_ext_amd.h>
#include <unistd.h>

#include "measure.h"

namespace Atoll::bench {

namespace {

hsa_status_t take_gpu(hsa_agent_t agent, void* found) {
  hsa_device_type_t type{};
  const hsa_status_t status = hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (status != HSA_STATUS_SUCCESS || type != HSA_DEVICE_TYPE_GPU) return status;
  *static_cast<hsa_agent_t*>(found) = agent;
  return HSA_STATUS_INFO_BREAK;
}

hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void* found) {
  bool can_allocate = false;
  const hsa_status_t status =
      hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &can_allocate);
  if (status != HSA_STATUS_SUCCESS || !can_allocate) return status;
  *static_cast<hsa_amd_memory_pool_t*>(found) = pool;
  return HSA_STATUS_INFO_BREAK;
}

}  // namespace

void check(hsa_status_t status, std::string_view what) {
  if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK) return;
  die(fmt::format("{} failed with HSA status {:#x}", what, static_cast<unsigned>(status)));
}

HsaProgram::HsaProgram(const char* code_object) {
  check(hsa_iterate_agents(take_gpu, &gpu_), "hsa_iterate_agents");
  const int file = open(code_object, O_RDONLY | O_CLOEXEC);
  hsa_code_object_reader_t reader{};
  check(hsa_code_object_reader_create_from_file(file, &reader), "reading the code object");
  check(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable_),
        "hsa_executable_create_alt");
  check(hsa_executable_load_agent_code_object(executable_, gpu_, reader, nullptr, nullptr), "loading the code object");
  check(hsa_executable_freeze(executable_, nullptr), "hsa_executable_freeze");
  check(hsa_code_object_reader_destroy(reader), "hsa_code_object_reader_destroy");
  close(file);
  check(hsa_queue_create(gpu_, 1024, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &queue_),
        "hsa_queue_create");
}

HsaProgram::~HsaProgram() {
  check(hsa_queue_destroy(queue_), "hsa_queue_destroy");
  check(hsa_executable_destroy(executable_), "hsa_executable_destroy");
}

HsaProgram::Kernel HsaProgram::kernel(const std::string& name) const {
  hsa_executable_symbol_t symbol{};
  check(hsa_executable_get_symbol_by_name(executable_, (name + ".kd").c_str(), &gpu_, &symbol), "finding the kernel");
  Kernel kernel;
  check(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel.object),
        "symbol info");
  check(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
                                       &kernel.private_bytes),
        "symbol info");
  check(
      hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &kernel.group_bytes),
      "symbol info");
  return kernel;
}

void* HsaProgram::allocate(size_t bytes) const {
  hsa_amd_memory_pool_t pool{};
  check(hsa_amd_agent_iterate_memory_pools(gpu_, take_pool, &pool), "hsa_amd_agent_iterate_memory_pools");
  void* memory = nullptr;
  check(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory), "hsa_amd_memory_pool_allocate");
  return memory;
}

void HsaProgram::dispatch(const Kernel& kernel, std::array<uint32_t, 2> grid, std::array<uint16_t, 2> group,
                          void* arguments, hsa_signal_t done) const {
  const uint64_t index = hsa_queue_add_write_index_relaxed(queue_, 1);
  while (index - hsa_queue_load_read_index_scacquire(queue_) >= queue_->size) {
  }
  auto* packet = static_cast<hsa_kernel_dispatch_packet_t*>(queue_->base_address) + index % queue_->size;
  packet->setup = 2 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
  packet->workgroup_size_x = group[0];
  packet->workgroup_size_y = group[1];
  packet->workgroup_size_z = 1;
  packet->grid_size_x = grid[0];
  packet->grid_size_y = grid[1];
  packet->grid_size_z = 1;
  packet->private_segment_size = kernel.private_bytes;
  packet->group_segment_size = kernel.group_bytes;
  packet->kernel_object = kernel.object;
  packet->kernarg_address = arguments;
  packet->completion_signal = done;
  const auto header =
      static_cast<uint16_t>(HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  __atomic_store_n(&packet->header, header, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue_->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

void wait(hsa_signal_t done) {
  while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1) {
  }
}

}  // namespace Atoll::bench

// What the programs have in common that the tests of failures and of load run: a GPU, its pools and a kernel, by the
// plain HSA API. What the runtime refuses is an exception that says so.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace Atoll::test {

struct Refused {
  const char* call;
  hsa_status_t status;
};

inline void must(const char* call, hsa_status_t status) {
  if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_INFO_BREAK) throw Refused{call, status};
}
#define ATOLL_MUST(function, ...) ::Atoll::test::must(#function, function(__VA_ARGS__))

struct Gpu {
  hsa_agent_t agent{}, host{};
  hsa_amd_memory_pool_t device{}, system{}, kernarg{};

  Gpu() {
    const auto take_agent = [](hsa_agent_t found, void* data) {
      auto& gpu = *static_cast<Gpu*>(data);
      hsa_device_type_t type{};
      const hsa_status_t status = hsa_agent_get_info(found, HSA_AGENT_INFO_DEVICE, &type);
      (type == HSA_DEVICE_TYPE_GPU ? gpu.agent : gpu.host) = found;
      return status;
    };
    ATOLL_MUST(hsa_iterate_agents, take_agent, this);
    const auto take_first = [](hsa_amd_memory_pool_t pool, void* data) {
      *static_cast<hsa_amd_memory_pool_t*>(data) = pool;
      return HSA_STATUS_INFO_BREAK;
    };
    ATOLL_MUST(hsa_amd_agent_iterate_memory_pools, agent, take_first, &device);
    ATOLL_MUST(hsa_amd_agent_iterate_memory_pools, host, take_first, &system);
    const auto take_kernarg = [](hsa_amd_memory_pool_t pool, void* data) {
      uint32_t flags = 0;
      hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
      if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) == 0) return HSA_STATUS_SUCCESS;
      *static_cast<hsa_amd_memory_pool_t*>(data) = pool;
      return HSA_STATUS_INFO_BREAK;
    };
    ATOLL_MUST(hsa_amd_agent_iterate_memory_pools, host, take_kernarg, &kernarg);
  }

  static void* allocate(hsa_amd_memory_pool_t pool, size_t bytes) {
    void* memory = nullptr;
    ATOLL_MUST(hsa_amd_memory_pool_allocate, pool, bytes, 0, &memory);
    return memory;
  }
};

inline hsa_signal_t make_signal(hsa_signal_value_t value) {
  hsa_signal_t signal{};
  ATOLL_MUST(hsa_signal_create, value, 0, nullptr, &signal);
  return signal;
}

/// The kernels of a code object in memory, which must outlive it.
class Kernels {
 public:
  Kernels(const Gpu& gpu, const std::vector<uint8_t>& file) : gpu_(gpu) {
    hsa_code_object_reader_t reader{};
    ATOLL_MUST(hsa_code_object_reader_create_from_memory, file.data(), file.size(), &reader);
    ATOLL_MUST(hsa_executable_create_alt, HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr,
               &executable_);
    ATOLL_MUST(hsa_executable_load_agent_code_object, executable_, gpu.agent, reader, nullptr, nullptr);
    ATOLL_MUST(hsa_executable_freeze, executable_, nullptr);
    ATOLL_MUST(hsa_code_object_reader_destroy, reader);
  }
  uint64_t object(const char* descriptor) const {
    hsa_executable_symbol_t symbol{};
    ATOLL_MUST(hsa_executable_get_symbol_by_name, executable_, descriptor, &gpu_.agent, &symbol);
    uint64_t object = 0;
    ATOLL_MUST(hsa_executable_symbol_get_info, symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object);
    return object;
  }

 private:
  const Gpu& gpu_;
  hsa_executable_t executable_{};
};

/// Writes a packet to its slot as the specification says: the body first, then its first word with the header, at which
/// the queue looks meanwhile.
template <typename Packet>
void write_packet(const hsa_queue_t& queue, uint64_t index, const Packet& packet) {
  static_assert(sizeof packet == 64);
  char* slot = static_cast<char*>(queue.base_address) + index % queue.size * sizeof packet;
  uint32_t first = 0;
  std::memcpy(&first, &packet, sizeof first);
  std::memcpy(slot + sizeof first, reinterpret_cast<const char*>(&packet) + sizeof first, sizeof packet - sizeof first);
  __atomic_store_n(reinterpret_cast<uint32_t*>(slot), first, __ATOMIC_RELEASE);
}

/// A queue that keeps the status with which it fails.
class FailingQueue {
 public:
  explicit FailingQueue(const Gpu& gpu, uint32_t size = 64) {
    const auto note = [](hsa_status_t status, hsa_queue_t*, void* data) {
      static_cast<FailingQueue*>(data)->failed = status;
    };
    ATOLL_MUST(hsa_queue_create, gpu.agent, size, HSA_QUEUE_TYPE_MULTI, note, this, UINT32_MAX, UINT32_MAX, &queue_);
  }
  FailingQueue(const FailingQueue&) = delete;
  FailingQueue& operator=(const FailingQueue&) = delete;
  ~FailingQueue() { hsa_queue_destroy(queue_); }

  /// Writes a packet, then the doorbell.
  template <typename Packet>
  void submit(const Packet& packet) {
    const uint64_t index = hsa_queue_add_write_index_scacq_screl(queue_, 1);
    while (index - hsa_queue_load_read_index_scacquire(queue_) >= queue_->size) __builtin_ia32_pause();
    write_packet(*queue_, index, packet);
    hsa_signal_store_screlease(queue_->doorbell_signal, static_cast<int64_t>(index));
  }
  static constexpr uint16_t header(hsa_packet_type_t type) {
    return static_cast<uint16_t>(type << HSA_PACKET_HEADER_TYPE |
                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  }
  static hsa_kernel_dispatch_packet_t dispatch(uint64_t kernel, void* arguments, uint32_t grid, uint16_t group,
                                               hsa_signal_t done) {
    hsa_kernel_dispatch_packet_t packet{};
    packet.header = header(HSA_PACKET_TYPE_KERNEL_DISPATCH) | 1 << HSA_PACKET_HEADER_BARRIER;
    packet.setup = 1;
    packet.workgroup_size_x = group;
    packet.workgroup_size_y = packet.workgroup_size_z = 1;
    packet.grid_size_x = grid;
    packet.grid_size_y = packet.grid_size_z = 1;
    packet.kernel_object = kernel;
    packet.kernarg_address = arguments;
    packet.completion_signal = done;
    return packet;
  }

  /// Waits until a signal that starts above zero has come down, or the queue has failed.
  void await(hsa_signal_t done) const {
    constexpr uint64_t look_ns = 5'000'000;
    while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, look_ns, HSA_WAIT_STATE_BLOCKED) >= 1) {
      if (failed != HSA_STATUS_SUCCESS) throw Refused{"the queue", failed};
    }
  }
  /// Waits until the queue has failed; HSA_STATUS_SUCCESS when the signal, of what should fail, has come down.
  hsa_status_t await_failure(hsa_signal_t done) const {
    while (failed == HSA_STATUS_SUCCESS && hsa_signal_load_relaxed(done) >= 1) __builtin_ia32_pause();
    return failed;
  }

  std::atomic<hsa_status_t> failed{HSA_STATUS_SUCCESS};

 private:
  hsa_queue_t* queue_ = nullptr;
};

}  // namespace Atoll::test

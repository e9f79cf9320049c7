// hsa: intercept queues, and the functions by which tools make them.
//
// Packets are handled by the thread that rings the doorbell: tools tell by the thread which call of the program a
// packet belongs to. A handler gets the packets that are ready, in order, and hands on what it likes through the
// writer: to the handler that was registered before it, and in the end to the queue of the GPU.
//
// Source: hsa_api_trace.h of ROCm 7.2.
#include "hsa/queue/intercept_queue.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "hsa/interface/api_names.h"
#include "hsa/interface/status.h"
#include "hsa/isa.h"
#include "hsa/runtime.h"

namespace Atoll::hsa {

namespace {

struct Packet {
  alignas(64) uint8_t bytes[64];

  uint16_t header() const {
    uint16_t header = 0;
    std::memcpy(&header, bytes, sizeof header);
    return header;
  }
};

struct Handler {
  hsa_amd_queue_intercept_handler function;
  void* data;
};

class Interceptor final : public InterceptQueue {
 public:
  Interceptor(hsa_queue_t* wrapped, std::shared_ptr<QueueRecord> wrapped_record, void* ring, uint32_t size,
              Signal& doorbell, std::unique_ptr<InterceptErrors> errors)
      : errors_(std::move(errors)),
        wrapped_(wrapped),
        wrapped_record_(std::move(wrapped_record)),
        ring_(static_cast<Packet*>(ring)) {
    abi_ = *wrapped_record_->machine->abi();
    abi_.base_address = reinterpret_cast<uint64_t>(ring_);
    abi_.size = size;
    abi_.doorbell_signal = doorbell.handle().handle;
    abi_.write_dispatch_id = abi_.read_dispatch_id = 0;
    errors_->queue = handle();
    for (uint32_t i = 0; i < size; ++i) {
      ring_[i] = {};
      set_header(ring_[i], HSA_PACKET_TYPE_INVALID);
    }
  }
  ~Interceptor() override {
    if (Runtime* runtime = Runtime::get()) runtime->queues.remove(wrapped_);
    std::free(ring_);
  }
  Interceptor(const Interceptor&) = delete;
  Interceptor& operator=(const Interceptor&) = delete;

  bool is_own_thread() const override { return wrapped_record_->machine->is_own_thread(); }
  machine::aql::Queue* abi() override { return &abi_; }
  void inactivate() override { wrapped_record_->machine->inactivate(); }
  void set_profiling(bool enabled) override { wrapped_record_->machine->set_profiling(enabled); }
  void set_compute_units(std::vector<uint16_t> numbers) override {
    wrapped_record_->machine->set_compute_units(std::move(numbers));
  }
  hsa_queue_t* handle() override { return reinterpret_cast<hsa_queue_t*>(&abi_); }
  void add_handler(hsa_amd_queue_intercept_handler handler, void* data) override {
    const std::scoped_lock lock(mutex_);
    handlers_.push_back({handler, data});
  }

  void ring_doorbell(uint64_t) override {
    const std::scoped_lock lock(mutex_);
    for (;;) {
      std::vector<Packet> ready;
      while (ready.size() < abi_.size &&
             type_of(slot(next_ + ready.size()), __ATOMIC_ACQUIRE) != HSA_PACKET_TYPE_INVALID) {
        ready.push_back(slot(next_ + ready.size()));
      }
      if (ready.empty()) return;
      hand_on(handlers_.size(), ready.data(), ready.size(), next_);
      for (size_t i = 0; i < ready.size(); ++i) set_header(slot(next_ + i), HSA_PACKET_TYPE_INVALID);
      next_ += ready.size();
      __atomic_store_n(&abi_.read_dispatch_id, next_, __ATOMIC_RELEASE);
    }
  }

 private:
  /// The state for a handler's writer, which has no context argument.
  struct Position {
    Interceptor* queue;
    size_t handlers_left;
    uint64_t index;
  };
  static thread_local Position* position;

  Packet& slot(uint64_t index) { return ring_[index & (abi_.size - 1)]; }
  static void set_header(Packet& packet, uint16_t header) {
    __atomic_store_n(reinterpret_cast<uint16_t*>(packet.bytes), header, __ATOMIC_RELEASE);
  }
  static uint8_t type_of(const Packet& packet, int order) {
    return static_cast<uint8_t>(__atomic_load_n(reinterpret_cast<const uint16_t*>(packet.bytes), order));
  }

  /// Gives packets to the last of the first `handlers_left` handlers, or to the GPU.
  void hand_on(size_t handlers_left, const Packet* packets, size_t count, uint64_t index) {
    if (handlers_left == 0) {
      for (size_t i = 0; i < count; ++i) submit(packets[i]);
      return;
    }
    Position here{this, handlers_left - 1, index};
    Position* const outer = std::exchange(position, &here);
    const Handler handler = handlers_[handlers_left - 1];
    handler.function(packets, count, index, handler.data, [](const void* pkts, uint64_t pkt_count) {
      if (position == nullptr || pkts == nullptr) return;
      const Position at = *position;
      // They lie anywhere, and packets are aligned.
      std::vector<Packet> packets(pkt_count);
      if (pkt_count != 0) std::memcpy(packets.data(), pkts, pkt_count * sizeof(Packet));
      at.queue->hand_on(at.handlers_left, packets.data(), pkt_count, at.index);
    });
    position = outer;
  }

  /// Writes one packet to the wrapped queue, when it has room.
  void submit(const Packet& packet) {
    if (static_cast<uint8_t>(packet.header()) == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
        packet.bytes[2] == InterceptMarker::format_number) {
      InterceptMarker marker;
      std::memcpy(&marker, packet.bytes, sizeof marker);
      if (marker.callback != nullptr) {
        marker.callback(&marker, wrapped_, hsa_queue_load_write_index_relaxed(wrapped_));
      }
      return;
    }
    const uint64_t index = hsa_queue_add_write_index_relaxed(wrapped_, 1);
    while (index - hsa_queue_load_read_index_scacquire(wrapped_) >= wrapped_->size) {
      // A queue that has failed takes nothing any more.
      if (machine::load(wrapped_record_->inactive->abi) != 0) return;
      std::this_thread::yield();
    }
    Packet& to = static_cast<Packet*>(wrapped_->base_address)[index & (wrapped_->size - 1)];
    // The first word, with the header, comes last: all of it is there when the packet is valid.
    std::memcpy(to.bytes + sizeof(uint32_t), packet.bytes + sizeof(uint32_t), sizeof packet - sizeof(uint32_t));
    uint32_t first = 0;
    std::memcpy(&first, packet.bytes, sizeof first);
    __atomic_store_n(reinterpret_cast<uint32_t*>(to.bytes), first, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(wrapped_->doorbell_signal, static_cast<hsa_signal_value_t>(index));
  }

  std::unique_ptr<InterceptErrors> errors_;  ///< first, as the wrapped queue uses it to its end
  hsa_queue_t* wrapped_;
  std::shared_ptr<QueueRecord> wrapped_record_;
  Packet* ring_;
  machine::aql::Queue abi_{};
  std::mutex mutex_;
  std::vector<Handler> handlers_;
  uint64_t next_ = 0;  ///< number of the packet that is looked at
};

thread_local Interceptor::Position* Interceptor::position = nullptr;

}  // namespace

std::unique_ptr<InterceptQueue> InterceptQueue::make(hsa_queue_t* wrapped, uint32_t size, Signal& doorbell,
                                                     std::unique_ptr<InterceptErrors> errors) {
  void* ring = std::aligned_alloc(alignof(Packet), size_t{size} * sizeof(Packet));
  if (ring == nullptr) return nullptr;
  return std::make_unique<Interceptor>(wrapped, Runtime::get()->queues.find(wrapped), ring, size, doorbell,
                                       std::move(errors));
}

}  // namespace Atoll::hsa

using namespace Atoll::hsa;

hsa_status_t hsa_amd_queue_intercept_create(hsa_agent_t agent_handle, uint32_t size, hsa_queue_type32_t type,
                                            QueueCallback callback, void* data, uint32_t private_segment_size,
                                            uint32_t group_segment_size, hsa_queue_t** queue) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (queue == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto errors = std::make_unique<InterceptErrors>(callback, data);
  hsa_queue_t* wrapped = nullptr;
  // Tools put packets of their own beside the program's: there is room for several to each.
  const hsa_status_t status = hsa_queue_create(
      agent_handle, size <= queue_max_size ? std::min(size * 8, queue_max_size) : size, type,
      [](hsa_status_t status, hsa_queue_t*, void* pointer) {
        auto* to = static_cast<InterceptErrors*>(pointer);
        if (to->callback != nullptr) to->callback(status, to->queue, to->data);
      },
      errors.get(), private_segment_size, group_segment_size, &wrapped);
  if (status != HSA_STATUS_SUCCESS) return status;

  auto record = std::make_shared<QueueRecord>();
  record->doorbell = make_doorbell();
  std::unique_ptr<InterceptQueue> made;
  if (record->doorbell != nullptr) made = InterceptQueue::make(wrapped, size, *record->doorbell, std::move(errors));
  if (made == nullptr) {
    hsa_queue_destroy(wrapped);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  hsa_queue_t* handle = made->handle();
  record->machine = std::move(made);
  record->agent = Runtime::get()->find_gpu(agent_handle);
  record->doorbell->abi.queue_ptr = reinterpret_cast<uint64_t>(handle);
  record->doorbell->queue = record->machine.get();
  Runtime::get()->queues.add(handle, std::move(record));
  *queue = handle;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_intercept_register(hsa_queue_t* queue, hsa_amd_queue_intercept_handler callback,
                                              void* user_data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (queue == nullptr || callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto record = Runtime::get()->queues.find(queue);
  auto* intercept = record ? dynamic_cast<InterceptQueue*>(record->machine.get()) : nullptr;
  if (intercept == nullptr) return HSA_STATUS_ERROR_INVALID_QUEUE;
  intercept->add_handler(callback, user_data);
  return HSA_STATUS_SUCCESS;
}

// Word of queues that the runtime makes for itself, as ROCr does for its copy kernels. Atoll makes none.
hsa_status_t hsa_amd_runtime_queue_create_register(hsa_amd_runtime_queue_notifier callback, void*) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return callback == nullptr ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
}

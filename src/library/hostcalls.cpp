#include "library/hostcalls.h"

#include <bit>
#include <cstring>

#include "library/device_printf.h"
#include "machine/queue/signal_watch.h"

namespace Atoll::library {

namespace {

/// At least as many as waves can run at a time: each holds one at most. A power of two. (Of a GPU, the largest have 304
/// compute units of 32 waves.)
constexpr uint64_t packet_count = 16384;
constexpr uint32_t ready_bit = 1;

enum class Service : uint32_t { function_call = 1, fprintf = 2, device_memory = 3 };

// A message's descriptor: flags, the number of words in this piece, and the message's own number.
constexpr uint64_t begin_flag = 1, end_flag = 2;
constexpr unsigned length_shift = 5, length_mask = 7, number_shift = 8;

}  // namespace

struct Hostcalls::Header {
  uint64_t next;         ///< of the stack that it is in
  uint64_t active_mask;  ///< lanes that call
  uint32_t service, control;
};

/// What the device library expects at the hidden argument's address.
struct Hostcalls::Buffer {
  Header* headers;
  Slots* slots;
  uint64_t doorbell;                 ///< hsa_signal_t
  uint64_t free_stack, ready_stack;  ///< packets as numbers: an index, and a tag above it that changes with each use
  uint64_t index_mask;
};

std::string print_message(std::span<const uint64_t> words, Output& where) {
  if (words.empty()) return {};
  where = (words[0] & 1) != 0 ? Output::standard_error : Output::standard_output;
  std::span<const std::byte> rest = std::as_bytes(words.subspan(1));
  const auto take_string = [&] {
    const auto* text = reinterpret_cast<const char*>(rest.data());
    const size_t length = strnlen(text, rest.size());
    const auto string = rest.first(length);
    rest = rest.subspan(std::min(rest.size(), length / 8 * 8 + 8));
    return string;
  };
  const auto format = take_string();
  return format_printf({reinterpret_cast<const char*>(format.data()), format.size()},
                       [&](bool is_string) -> std::span<const std::byte> {
                         if (rest.size() < 8) return {};
                         if (is_string) return take_string();
                         const auto word = rest.first(8);
                         rest = rest.subspan(8);
                         return word;
                       });
}

Hostcalls::~Hostcalls() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  news_.notify();
  thread_.join();
}

support::Result<void> Hostcalls::make() {
  const auto part = [](uint64_t bytes) { return (bytes + 255) / 256 * 256; };
  const uint64_t headers_at = part(sizeof(Buffer)) + part(sizeof(machine::aql::Signal)) + part(sizeof(uint64_t));
  const uint64_t slots_at = headers_at + part(packet_count * sizeof(Header));
  const auto address = memory_.allocate(slots_at + packet_count * sizeof(Slots), 0, "calls of kernels to the host", 0,
                                        machine::Memory::Pages::small);
  if (!address) return std::unexpected(address.error());
  buffer_ = reinterpret_cast<Buffer*>(*address);
  doorbell_ = reinterpret_cast<machine::aql::Signal*>(*address + part(sizeof(Buffer)));
  *doorbell_ = {};
  doorbell_->kind = 1;
  // With a mailbox, kernels say by an interrupt that they have rung.
  doorbell_->event_mailbox_ptr = *address + part(sizeof(Buffer)) + part(sizeof(machine::aql::Signal));
  doorbell_->event_id = machine::event_id_of(*doorbell_);
  headers_ = reinterpret_cast<Header*>(*address + headers_at);
  slots_ = reinterpret_cast<Slots*>(*address + slots_at);
  *buffer_ = {.headers = headers_,
              .slots = slots_,
              .doorbell = reinterpret_cast<uint64_t>(doorbell_),
              .free_stack = 0,
              .ready_stack = 0,
              .index_mask = packet_count - 1};
  free_all_packets();
  return {};
}

/// 0 ends a stack, so the first packet's tag is 1.
void Hostcalls::free_all_packets() {
  for (uint64_t i = 0; i < packet_count; ++i) headers_[i].next = i + 1 == packet_count ? 0 : (i + 1) | packet_count;
  buffer_->ready_stack = 0;
  buffer_->free_stack = packet_count;
}

support::Result<uint64_t> Hostcalls::begin() {
  const std::lock_guard lock(mutex_);
  if (buffer_ == nullptr) {
    if (auto made = make(); !made) return std::unexpected(made.error());
    thread_ = std::thread([this] { serve(); });
  }
  if (running_ == 0 && packets_lost_) {
    const std::lock_guard serving_lock(serving_);
    free_all_packets();
    messages_.clear();
    packets_lost_ = false;
  }
  ++running_;
  idle_ = false;
  changed_.notify_all();
  return reinterpret_cast<uint64_t>(buffer_);
}

void Hostcalls::end(bool ended_well) {
  const std::lock_guard lock(mutex_);
  if (!ended_well) packets_lost_ = true;
  if (--running_ != 0) return;
  idle_ = true;
  news_.notify();
}

void Hostcalls::serve() {
  const machine::SignalWatch watch(*doorbell_, news_);
  while (!stopping_) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || running_ != 0; });
    }
    constexpr uint64_t spin_ns = 20'000;
    news_.wait_until(UINT64_MAX, spin_ns, [this] {
      return stopping_ || idle_ || __atomic_load_n(&buffer_->ready_stack, __ATOMIC_ACQUIRE) != 0;
    });
    answer_all();
  }
}

/// Takes all that are ready, the last one first, and answers them.
void Hostcalls::answer_all() {
  const std::lock_guard lock(serving_);
  uint64_t packet = __atomic_exchange_n(&buffer_->ready_stack, 0, __ATOMIC_ACQ_REL);
  // Kernels that go wrong can write here, too: no more than there are.
  for (uint64_t count = 0; packet != 0 && count < packet_count; ++count) {
    const uint64_t index = packet & (packet_count - 1);
    Header& header = headers_[index];
    packet = header.next;  // the wave may use the packet again as soon as it has its answer
    answer(header, slots_[index]);
    __atomic_fetch_and(&header.control, ~ready_bit, __ATOMIC_RELEASE);
  }
}

void Hostcalls::answer(const Header& header, Slots& slots) {
  for (uint64_t lanes = header.active_mask; lanes != 0; lanes &= lanes - 1) {
    auto& slot = slots[std::countr_zero(lanes)];
    switch (static_cast<Service>(header.service)) {
      case Service::fprintf:
        answer_message(slot);
        break;
      case Service::device_memory:
        answer_memory(slot);
        break;
      default:  // a function of the host's, or what a sanitizer finds: not known here
        slot[0] = slot[1] = 0;
    }
  }
}

void Hostcalls::answer_message(uint64_t (&slot)[8]) {
  const uint64_t descriptor = slot[0];
  uint64_t number = descriptor >> number_shift;
  if ((descriptor & begin_flag) != 0) {
    number = ++last_message_;
    messages_[number];
  }
  const auto found = messages_.find(number);
  if (found == messages_.end()) {
    slot[0] = 0;
    return;
  }
  const uint64_t length = descriptor >> length_shift & length_mask;
  found->second.insert(found->second.end(), slot + 1, slot + 1 + length);
  if ((descriptor & end_flag) == 0) {
    slot[0] = number << number_shift;
    return;
  }
  Output where = Output::standard_output;
  const std::string text = print_message(found->second, where);
  messages_.erase(found);
  output_.write(text, where);
  slot[0] = text.size();
  slot[1] = 0;
}

/// An address and a size: memory to be freed, or so much of it wanted.
void Hostcalls::answer_memory(uint64_t (&slot)[8]) {
  if (slot[0] != 0) {
    if (given_.erase(slot[0]) != 0) static_cast<void>(memory_.free(slot[0]));
    slot[0] = 0;
  } else {
    slot[0] = memory_.allocate(slot[1], 0, "memory that a kernel asked for").value_or(0);
    if (slot[0] != 0) given_.insert(slot[0]);
  }
  slot[1] = 0;
}

}  // namespace Atoll::library

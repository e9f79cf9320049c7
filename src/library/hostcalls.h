// library: hostcalls: services that running kernels request from the host: HIP's printf(), assertion texts, memory.
//
// A hostcall buffer is memory shared by a GPU's kernels and the host. It has packets, each with a header and 64 slots
// of eight words (one per lane), in a free stack and a ready stack. A wave pops a free packet, fills its lanes' slots,
// pushes it to the ready stack, rings a doorbell signal, and waits until the host clears the header's ready bit. The
// slots' first two words are the answer. printf() takes several such calls: each piece has a descriptor with a number
// assigned by the host, and the last one prints the message. Source: the device library's __ockl_hostcall_internal and
// __ockl_fprintf_* (the protocol's device side); user guide, hidden_hostcall_buffer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "library/output.h"
#include "machine/memory/memory.h"
#include "machine/queue/aql.h"
#include "machine/queue/event_count.h"
#include "support/error.h"

namespace Atoll::library {

/// Formats the words of a printf() message: destination, format (padded to whole words) and arguments.
std::string print_message(std::span<const uint64_t> words, Output& where);

class Hostcalls {
 public:
  Hostcalls(machine::Memory& memory, OutputSink& output) : memory_(memory), output_(output) {}
  Hostcalls(const Hostcalls&) = delete;
  Hostcalls& operator=(const Hostcalls&) = delete;
  ~Hostcalls();

  /// Called before a kernel that may make hostcalls. Returns the buffer's address for its hidden argument.
  support::Result<uint64_t> begin();
  /// Called after the kernel. A failed one may have kept packets; all packets are freed when no kernel runs.
  void end(bool ended_well);

 private:
  struct Header;
  struct Buffer;
  using Slots = uint64_t[64][8];

  support::Result<void> make();
  void free_all_packets();
  void serve();
  void answer_all();
  void answer(const Header& header, Slots& slots);
  void answer_message(uint64_t (&slot)[8]);
  void answer_memory(uint64_t (&slot)[8]);

  machine::Memory& memory_;
  OutputSink& output_;
  Buffer* buffer_ = nullptr;
  Header* headers_ = nullptr;
  Slots* slots_ = nullptr;
  machine::aql::Signal* doorbell_ = nullptr;

  std::mutex serving_;                                  ///< protects the packets and the following members
  std::map<uint64_t, std::vector<uint64_t>> messages_;  ///< by number
  uint64_t last_message_ = 0;
  std::set<uint64_t> given_;  ///< memory allocated by kernels

  std::mutex mutex_;  ///< protects the following members
  std::condition_variable changed_;
  unsigned running_ = 0;  ///< kernels
  bool packets_lost_ = false;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> idle_{true};
  machine::EventCount news_;  ///< signalled by doorbells and by changes of the two members above
  std::thread thread_;
};

}  // namespace Atoll::library

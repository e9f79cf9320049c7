// library: what kernels ask the host for while they run: HIP's printf(), the text of assertions, memory.
//
// A hostcall buffer is memory that the kernels of a GPU share with the host: packets, each with a header and 64 slots
// of eight words, one for each lane, in a stack of free ones and one of those that are ready. A wave takes a packet,
// fills the slots of its lanes, puts it to the ready ones, rings a doorbell, which is a signal, and waits until the
// host clears the header's ready bit; the slots' first two words are the answer. printf() is a message of several such
// calls: its pieces carry a descriptor, with a number that the host has given it, and its last one has it printed.
// Source: the device library's __ockl_hostcall_internal and __ockl_fprintf_* (the protocol's device side); user guide,
// hidden_hostcall_buffer.
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

/// The words of a message of printf(): where it goes, the format, padded to whole words, and the arguments.
std::string print_message(std::span<const uint64_t> words, Output& where);

class Hostcalls {
 public:
  Hostcalls(machine::Memory& memory, OutputSink& output) : memory_(memory), output_(output) {}
  Hostcalls(const Hostcalls&) = delete;
  Hostcalls& operator=(const Hostcalls&) = delete;
  ~Hostcalls();

  /// A kernel that may call is about to run: the buffer's address, for its hidden argument.
  support::Result<uint64_t> begin();
  /// It has ended. One that did not end well may have kept packets: all are free again once no kernel runs.
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

  std::mutex serving_;                                  ///< of the packets and what follows
  std::map<uint64_t, std::vector<uint64_t>> messages_;  ///< by number
  uint64_t last_message_ = 0;
  std::set<uint64_t> given_;  ///< memory that kernels asked for

  std::mutex mutex_;  ///< of what follows
  std::condition_variable changed_;
  unsigned running_ = 0;  ///< kernels
  bool packets_lost_ = false;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> idle_{true};
  machine::EventCount news_;  ///< the doorbell has been rung, or one of the two above has changed
  std::thread thread_;
};

}  // namespace Atoll::library

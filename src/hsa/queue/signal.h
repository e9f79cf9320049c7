// hsa: signals as objects. The part that kernels see, machine's aql::Signal, is in guest memory, and its address is the
// handle; the runtime's own part is elsewhere, where no kernel gets.
#pragma once

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "machine/memory/memory_file.h"
#include "machine/queue/queue.h"
#include "machine/queue/signal.h"

namespace Atoll::hsa {

struct Signal {
  explicit Signal(machine::aql::Signal& part_of_kernels) : abi(part_of_kernels) {}

  machine::aql::Signal& abi;                    ///< what an hsa_signal_t's handle points to
  std::atomic<bool> alive{false};               ///< not released by all who refer to it
  std::atomic<uint32_t> references{0};          ///< the creator's and one for each pending handler or copy
  std::atomic<bool> destroyed{false};           ///< by the creator
  std::atomic<machine::Queue*> queue{nullptr};  ///< of a doorbell: what it rings
  uint32_t epoch = 0;                           ///< the fork epoch in which it was made

  hsa_signal_t handle() const { return {reinterpret_cast<uint64_t>(&abi)}; }
  bool is_doorbell() const { return abi.kind == AMD_SIGNAL_KIND_DOORBELL; }
  /// Of a doorbell: what abi.value points to, in the signal itself, where an amd_signal_t has a field without a use.
  uint64_t& hardware_doorbell() { return abi.reserved3; }
};

/// The signal of a handle; null for the null handle, for other addresses, and for signals of a process that forked.
Signal* signal_of(hsa_signal_t handle);

/// In a forked child: signals that exist are the parent's from now on. Those shared between processes stay valid.
void begin_fork_epoch();

/// A new signal with one reference. The memory of signals is never given back to the system, so that looking at a
/// destroyed signal is harmless; null when there is none left.
Signal* make_signal(int64_t initial_value, bool interrupts);
/// A new signal that other processes can attach to by its file. Waiting threads look at it every few milliseconds,
/// as nobody wakes those of another process.
Signal* make_shared_signal(int64_t initial_value);
Signal* attach_signal(const std::shared_ptr<const machine::MemoryFile>& file);
/// The file of such a signal; null for others.
std::shared_ptr<const machine::MemoryFile> shared_file_of(const Signal& signal);
/// The memory of signals, and of their event mailbox, around an address, as begin and end; nothing for another address.
std::optional<std::pair<uint64_t, uint64_t>> memory_of_signals(uint64_t address);
/// A new doorbell; `Signal::queue` is the caller's to set.
Signal* make_doorbell();

void retain(Signal& signal);
void release(Signal& signal);  ///< the last one frees it

/// Stores to a signal as the program does: a doorbell rings its queue.
void store(Signal& signal, int64_t value);

/// A condition of hsa.h's as the machine's, which has the same numbers.
constexpr machine::Condition condition_of(hsa_signal_condition_t condition) {
  return static_cast<machine::Condition>(condition);
}

}  // namespace Atoll::hsa

// machine: the events that a machine reports to checkers, a debugger, a profiler or a tracer.
//
// An observer selects kinds of events before the machine is made. Events that are not selected cost nothing: a machine
// without an observer runs code without any reporting. Otherwise the engine prepares instructions with the selected
// events only (engine/interpreter/observation.h). Rare events, of work-groups and barriers, may be reported without
// having been selected. An observer of all instructions has its kernels interpreted; otherwise they may be compiled.
//
// Two more interfaces stand beside the events. An observer that has compiled code check something inline is also an
// InstrumentationClient (instrumentation_client.h). One that stops waves has a WaveControl (wave_control.h). Several
// observers share a machine through an ObserverMux (observer_mux.h).
//
// Threads. Events of one work-group are sequential: each begins after the last one has returned, possibly on another
// host thread. Events of different work-groups, and of the host's calls, are concurrent. The observer synchronises its
// shared state. A dispatch begins before, and ends after, all events of its work-groups.
//
// Order. Events of a wave arrive in the order of execution. Filtered accesses are an exception: those of a piece of
// code may be reported for some lanes first, each lane's in order. Loads may be reported after they are executed, but
// before the wave's next store, atomic, wait or barrier.
//
// Events inside a wave (instructions, accesses) are reported inside guarded() (fault_guard.h). An observer reads guest
// memory there with read_guest() and holds no lock meanwhile. It may read the wave's registers, but not change them:
// for that it stops the wave.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "machine/instrumentation_client.h"
#include "machine/memory/access_pattern.h"

namespace Atoll::isa {
struct Instruction;
}

namespace Atoll::machine {

class LoadedCode;
struct Dispatch;
struct FaultReport;
class WaveControl;
struct WorkGroup;

/// Kinds of events.
struct EventMask {
  bool code = false;             ///< code_loaded, code_unloading
  bool dispatches = false;       ///< dispatch_begins, dispatch_ends
  bool work_groups = false;      ///< work_group_begins, work_group_ends, wave_begins, wave_ends
  bool instructions = false;     ///< instruction
  bool synchronisation = false;  ///< instruction, for waits for counters, cache control and barriers
  bool whole_waves = false;      ///< instruction, for those that combine lanes: matrices, transposing loads
  bool accesses = false;         ///< access
  bool barriers = false;         ///< barrier
  bool memory = false;           ///< allocated, freed, copying
  bool order = false;            ///< queue_made, doorbell, barrier_packet, signal_..., copy_...

  EventMask& operator|=(const EventMask& more) {
    code |= more.code;
    dispatches |= more.dispatches;
    work_groups |= more.work_groups;
    instructions |= more.instructions;
    synchronisation |= more.synchronisation;
    whole_waves |= more.whole_waves;
    accesses |= more.accesses;
    barriers |= more.barriers;
    memory |= more.memory;
    order |= more.order;
    return *this;
  }
};

enum class Space : uint8_t {
  global,   ///< the host's address
  lds,      ///< the byte in the work-group's LDS; it may lie beyond, where reads give 0 and writes are dropped
  scratch,  ///< the private address in the lane's scratch
};

/// An access that an instruction is about to make: one element for each of some lanes. Instructions with several
/// elements (two offsets, a swizzled buffer, flat addresses in different spaces, memory and LDS) have several events.
/// Parts outside a buffer's bounds are not accesses.
struct AccessEvent {
  const isa::Instruction& instruction;  ///< scopes and caches are in its modifiers
  uint64_t pc;
  Space space;
  bool reads, writes;  ///< an atomic does both
  bool is_atomic;
  bool is_scalar;             ///< by scalar memory: the wave's, as of lane 0
  bool drops_bits;            ///< the address was not aligned to dwords, and what it accesses is the dword around it
  uint32_t bytes;             ///< of an element
  uint64_t lanes;             ///< a bit for each that accesses: those of EXEC, as far as they get to memory; not 0
  const uint64_t* addresses;  ///< by lane, of 64; those of lanes that don't access mean nothing
  /// True for accesses of translated code, which reports no instructions: address and stored data are defined.
  bool is_translated = false;
  uint8_t element = 0;  ///< then, which of the instruction's elements it is
  AccessPattern pattern{};
};

/// An event at a barrier. A wave that executes s_barrier arrives and waits; from GFX12 on these are two
/// instructions.
struct BarrierEvent {
  enum class Kind : uint8_t {
    begins,   ///< a barrier with a name is initialised (s_barrier_init)
    joins,    ///< the wave: its waits are for this barrier with a name from now on
    arrives,  ///< the wave
    waits,    ///< the wave, from now on; a wait for a barrier with a name may be reported more than once
    passes,   ///< the wave: its wait is over
    leaves,   ///< the wave, a barrier with a name that it had joined
  };
  Kind kind;
  int32_t number;  ///< as barrier.h has it
};

/// Memory that the program has got from a runtime.
struct MemoryEvent {
  enum class Kind : uint8_t {
    device,      ///< of a GPU
    host,        ///< of the host, for GPUs too
    kernarg,     ///< of the host, for kernels' arguments
    managed,     ///< the program's own, which GPUs use, too, and which a runtime has got for that
    registered,  ///< the program's own, which GPUs may use for a while
  };
  Kind kind = Kind::device;
  uint64_t address = 0;
  uint64_t size = 0;            ///< in bytes, as the program requested
  uint64_t reserved = 0;        ///< including padding up to the next allocation
  std::string_view function{};  ///< that was called
};

/// A copy or fill requested from the runtime, reported on the requesting thread.
struct CopyEvent {
  uint64_t destination = 0;
  uint64_t source = 0;  ///< 0: a fill
  uint64_t bytes = 0;
  std::string_view function{};
};

/// A barrier packet that has come true.
struct BarrierPacketEvent {
  uint64_t queue = 0;  ///< the address of its amd_queue_t
  uint64_t packet = 0;
  bool barrier_bit = false;
  std::span<const uint64_t> signals{};  ///< that it waited for, as far as they were seen fulfilled
  uint64_t completion_signal = 0;       ///< 0: none
};

class Observer {
 public:
  virtual ~Observer() = default;

  /// Constant over the observer's life, as are the next two.
  virtual EventMask watched() const = 0;
  /// Null: no instrumentation.
  virtual InstrumentationClient* instrumentation() { return nullptr; }
  /// Null: the observer never stops waves.
  virtual WaveControl* wave_control() { return nullptr; }

  virtual void code_loaded(const LoadedCode& /*code*/) {}
  virtual void code_unloading(const LoadedCode& /*code*/) {}

  virtual void dispatch_begins(const Dispatch& /*dispatch*/) {}
  virtual void dispatch_ends(const Dispatch& /*dispatch*/) {}
  /// A kernel has faulted. Called before the launching thread is notified, which may end the program.
  virtual void faulted(const FaultReport& /*fault*/) {}

  /// None of the work-group's waves has begun; all have ended, or the dispatch was cancelled.
  virtual void work_group_begins(const WorkGroup& /*group*/) {}
  virtual void work_group_ends(const WorkGroup& /*group*/) {}
  virtual void wave_begins(const Wave& /*wave*/) {}
  virtual void wave_ends(const Wave& /*wave*/) {}

  /// The wave is about to execute the instruction. Its accesses are reported afterwards.
  virtual void instruction(const Wave& /*wave*/, uint64_t /*pc*/, const isa::Instruction& /*instruction*/) {}
  virtual void access(const Wave& /*wave*/, const AccessEvent& /*access*/) {}
  virtual void barrier(const Wave& /*wave*/, const BarrierEvent& /*event*/) {}

  virtual void allocated(const MemoryEvent& /*memory*/) {}
  /// The program gives memory back. It stays mapped until the observer calls `release`, once: here, or later.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): an observer that calls it later keeps it
  virtual void freed(uint64_t /*address*/, std::string_view /*function*/, std::function<void()> release) { release(); }
  virtual void copying(const CopyEvent& /*copy*/) {}

  // Events that order dispatches and copies besides the host's own calls. Signals are identified by their
  // addresses. A release is reported before other threads can observe it, and an acquire after it.

  virtual void queue_made(uint64_t /*queue*/) {}
  /// The host has written the packets before that number.
  virtual void doorbell(uint64_t /*queue*/, uint64_t /*packets*/) {}
  virtual void barrier_packet(const BarrierPacketEvent& /*packet*/) {}
  /// The host has read the signal's value, and acts on it.
  virtual void signal_seen(uint64_t /*signal*/) {}
  /// The host is about to change the signal: to a value that does not depend on what it had, if it `replaces` it.
  virtual void signal_changes(uint64_t /*signal*/, bool /*replaces*/) {}
  /// The host can read the signal's value unseen from now on.
  virtual void signal_shown(uint64_t /*signal*/) {}
  /// An asynchronous copy, which copying() has reported, has a number of its own. It starts when all signals
  /// that it waits for are fulfilled. It ends before its completion signal changes, on the thread on which it
  /// started.
  virtual void copy_submitted(uint64_t /*copy*/) {}
  virtual void copy_starts(uint64_t /*copy*/, std::span<const uint64_t> /*signals*/) {}
  virtual void copy_ends(uint64_t /*copy*/, uint64_t /*completion_signal*/) {}
};

/// All that an observer selects.
struct Watched {
  EventMask events;
  InstrumentationRequest instrumentation;

  /// Returns what the observer selects; nothing if it is null.
  static Watched by(Observer* observer) {
    if (observer == nullptr) return {};
    const InstrumentationClient* const client = observer->instrumentation();
    return {.events = observer->watched(),
            .instrumentation = client != nullptr ? client->requested() : InstrumentationRequest{}};
  }
  /// Returns whether compiled code can report all of it.
  bool can_be_compiled() const { return !events.instructions && !instrumentation.loads; }
};

}  // namespace Atoll::machine

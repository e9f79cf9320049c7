// machine: how others watch a machine: the one interface of checkers, a debugger, a profiler, a tracer (room observe).
//
// An observer says once, before the machine is made, which kinds of events it wants. What nobody wants costs nothing: a
// machine without an observer runs code in which there is nothing of this, and one with an observer has its
// instructions prepared with just those events (engine/interpreter/observation.h). The rare ones, of work-groups and
// barriers, may be told to one that did not ask for them. An observer that is to be told of every instruction, or that
// changes what is loaded, has its kernels interpreted; all others may have them compiled.
//
// Threads. Events of one work-group come one after the other, each after the work-group's last one has returned, though
// from one host thread now and from another then. Events of different work-groups, and of the host's calls, come from
// many threads at once: the observer synchronises what it shares between them. A dispatch's begin comes before, its end
// after all events of its work-groups.
//
// Order. What a wave does is told in the order in which it executes it, but for odd accesses: those of a stretch of
// code may be told for some of the lanes first (compiler/lowering/region.h), each lane's in order. Loads may be
// reported after they are executed, but before the wave's next store, atomic, wait or barrier.
//
// What happens inside of a wave (instructions, accesses) is told inside guarded() (fault_guard.h): whoever then touches
// memory of the guest, which may not be there, does it with read_guest(), and holds no lock meanwhile. The wave is the
// observer's to read, not to change, but for override_loaded_values().
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "machine/memory/access_pattern.h"

namespace Atoll::isa {
struct Instruction;
}

namespace Atoll::machine {

class LoadedCode;
struct Dispatch;
struct FaultReport;
struct UndefinedRegisters;
struct Wave;
struct WorkGroup;

/// Kinds of events.
struct EventMask {
  bool code = false;             ///< code_loaded, code_unloading
  bool dispatches = false;       ///< dispatch_begins, dispatch_ends
  bool work_groups = false;      ///< work_group_begins, work_group_ends, wave_begins, wave_ends
  bool instructions = false;     ///< instruction
  bool synchronisation = false;  ///< instruction, of those that wait for counters, control caches, or are barriers
  bool whole_waves = false;      ///< instruction, of those that work on all lanes together: matrices, transposing loads
  bool accesses = false;         ///< access
  bool filtered_accesses = false;  ///< access; those that are ordinary (passes_filter) need not be told
  bool barriers = false;           ///< barrier
  bool memory = false;             ///< allocated, freed, copying
  bool loads = false;              ///< override_loaded_values
  bool paths = false;              ///< on_basic_block; access, of code that copies between memory and LDS
  /// instruction and access, of all but those that translated code has found to read nothing that is undefined
  /// (AccessFilter::undefined); of their accesses, odd ones
  bool undefined_values = false;
  bool order = false;  ///< queue_made, doorbell, barrier_packet, signal_..., copy_...

  /// Whether nothing is wanted that compiled code cannot tell.
  bool can_be_compiled() const { return !instructions && !loads; }

  EventMask& operator|=(const EventMask& more) {
    code |= more.code;
    dispatches |= more.dispatches;
    work_groups |= more.work_groups;
    instructions |= more.instructions;
    synchronisation |= more.synchronisation;
    whole_waves |= more.whole_waves;
    accesses |= more.accesses;
    filtered_accesses |= more.filtered_accesses;
    barriers |= more.barriers;
    memory |= more.memory;
    loads |= more.loads;
    paths |= more.paths;
    undefined_values |= more.undefined_values;
    order |= more.order;
    return *this;
  }
};

enum class Space : uint8_t {
  global,   ///< the host's address
  lds,      ///< the byte in the work-group's LDS; it may lie beyond, where reads give 0 and writes are dropped
  scratch,  ///< the private address in the lane's scratch
};

/// What an instruction is about to access: one element of each of some lanes. An instruction of several elements (two
/// offsets, a swizzled buffer, flat addresses in different spaces, memory and LDS) makes several. What a buffer's
/// bounds keep from memory is no access.
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
  /// By translated code, which has told nobody of the instruction: its address and what it stores are defined.
  bool is_translated = false;
  uint8_t element = 0;  ///< then, which of the instruction's elements it is
  AccessPattern pattern{};
};

/// Instructions that a wave executes one after the other.
struct InstructionRange {
  uint64_t begin = 0, end = 0;
  uint8_t banks = 0;  ///< of VGPRs that they name registers in (isa/vgpr_banks.h)
};

/// Which accesses of a wave are ordinary, for one that wants odd ones: those within so many bytes of a lane's scratch
/// and of the work-group's LDS; of that also only those that are inside, until GFX8 aligned ones.
struct AccessFilter {
  uint32_t scratch_bytes = 0;
  uint32_t lds_bytes = UINT32_MAX;
  uint64_t epoch = 0;  ///< a larger one than before: what passes_filter() has said of memory is void
  UndefinedRegisters* undefined =
      nullptr;  ///< the wave's, for one that wants `undefined_values`; null: it follows none
};

/// Memory, of which it is known that accesses are ordinary; of LDS, where passes_filter() is asked about that, its
/// offsets.
struct OrdinaryMemory {
  uint64_t begin = 0, end = 0;
};

/// What happens at a barrier. A wave that executes s_barrier arrives and waits; from GFX12 on these are two
/// instructions.
struct BarrierEvent {
  enum class Kind : uint8_t {
    begins,   ///< the barrier with a name is made anew (s_barrier_init)
    joins,    ///< the wave: its waits are for this barrier with a name from now on
    arrives,  ///< the wave
    waits,    ///< the wave, from now on; a wait for a barrier with a name may be told more than once
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
  uint64_t size = 0;            ///< in bytes, as the program asked for them
  uint64_t reserved = 0;        ///< up to where nobody else has memory
  std::string_view function{};  ///< that was called
};

/// A copy or a fill that the runtime is asked for, told on the thread that asks.
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

  /// The same at all times.
  virtual EventMask watched() const = 0;

  virtual void code_loaded(const LoadedCode& code) { static_cast<void>(code); }
  virtual void code_unloading(const LoadedCode& code) { static_cast<void>(code); }

  virtual void dispatch_begins(const Dispatch& dispatch) { static_cast<void>(dispatch); }
  virtual void dispatch_ends(const Dispatch& dispatch) { static_cast<void>(dispatch); }
  /// A kernel has faulted, before whoever launched it gets to know: that may be the end of the program.
  virtual void faulted(const FaultReport& fault) { static_cast<void>(fault); }

  /// None of the work-group's waves has begun; all have ended, or the dispatch was cancelled.
  virtual void work_group_begins(const WorkGroup& group) { static_cast<void>(group); }
  virtual void work_group_ends(const WorkGroup& group) { static_cast<void>(group); }
  virtual void wave_begins(const Wave& wave) { static_cast<void>(wave); }
  virtual void wave_ends(const Wave& wave) { static_cast<void>(wave); }

  /// The wave is about to execute it. Its accesses are told after it.
  virtual void instruction(const Wave& wave, uint64_t pc, const isa::Instruction& instruction) {
    static_cast<void>(wave);
    static_cast<void>(pc);
    static_cast<void>(instruction);
  }
  virtual void access(const Wave& wave, const AccessEvent& access) {
    static_cast<void>(wave);
    static_cast<void>(access);
  }
  /// Of one that wants paths: the wave is about to execute this code, of which single instructions are not told
  /// otherwise. `before` is a number that stands for what the wave has executed until now, of which the observer has
  /// said it here; 0 when it begins. Returns that for after the code.
  virtual uint32_t on_basic_block(const Wave& wave, uint32_t before, const InstructionRange& code) {
    static_cast<void>(wave);
    static_cast<void>(before);
    static_cast<void>(code);
    return 0;
  }
  /// Of one that wants odd accesses: asked whenever a wave begins or goes on.
  virtual AccessFilter access_filter(const Wave& wave) {
    static_cast<void>(wave);
    return {};
  }
  /// Likewise: whether there is nothing to be said of an access. Where that goes for all of the memory around it, too,
  /// as far as others only read if it does, and atomics and scalar accesses are aligned, `around` is that.
  virtual bool passes_filter(const Wave& wave, const AccessEvent& access, OrdinaryMemory& around) {
    static_cast<void>(wave);
    static_cast<void>(access);
    static_cast<void>(around);
    return false;
  }
  /// The wave is about to execute an instruction, of which is told after this: what it has loaded before may be given
  /// other values, those that memory has not got or no longer has and that the caches of a GPU may hold.
  virtual void override_loaded_values(Wave& wave, const isa::Instruction& next) {
    static_cast<void>(wave);
    static_cast<void>(next);
  }
  virtual void barrier(const Wave& wave, const BarrierEvent& event) {
    static_cast<void>(wave);
    static_cast<void>(event);
  }

  virtual void allocated(const MemoryEvent& memory) { static_cast<void>(memory); }
  /// The program gives memory back. It stays mapped until the observer calls `release`, once: here, or later.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): an observer that calls it later keeps it
  virtual void freed(uint64_t address, std::string_view function, std::function<void()> release) {
    static_cast<void>(address);
    static_cast<void>(function);
    release();
  }
  virtual void copying(const CopyEvent& copy) { static_cast<void>(copy); }

  // What orders dispatches and copies beside the host's own calls. Signals are told by their addresses. What is
  // released is told before others can see it, what is acquired after it was seen.

  virtual void queue_made(uint64_t queue) { static_cast<void>(queue); }
  /// The host has written the packets before that number.
  virtual void doorbell(uint64_t queue, uint64_t packets) {
    static_cast<void>(queue);
    static_cast<void>(packets);
  }
  virtual void barrier_packet(const BarrierPacketEvent& packet) { static_cast<void>(packet); }
  /// The host has read the signal's value, and acts on it.
  virtual void signal_seen(uint64_t signal) { static_cast<void>(signal); }
  /// The host is about to change the signal: to a value that does not depend on what it had, if it `replaces` it.
  virtual void signal_changes(uint64_t signal, bool replaces) {
    static_cast<void>(signal);
    static_cast<void>(replaces);
  }
  /// The host can read the signal's value unseen from now on.
  virtual void signal_shown(uint64_t signal) { static_cast<void>(signal); }
  /// An asynchronous copy, of which copying() has told, has a number of its own; it starts when it need not wait for
  /// signals any more, and ends before its completion signal says so, on the thread on which it starts.
  virtual void copy_submitted(uint64_t copy) { static_cast<void>(copy); }
  virtual void copy_starts(uint64_t copy, std::span<const uint64_t> signals) {
    static_cast<void>(copy);
    static_cast<void>(signals);
  }
  virtual void copy_ends(uint64_t copy, uint64_t completion_signal) {
    static_cast<void>(copy);
    static_cast<void>(completion_signal);
  }
};

}  // namespace Atoll::machine

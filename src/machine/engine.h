// machine: the interface of engines, which are in the next room (interpreter, compiled).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "machine/wave/wave.h"

namespace Atoll::machine {

struct HostFault;

/// Statistics of an engine that translates kernels.
struct EngineReport {
  struct Translation {
    std::string kernel;
    uint64_t instructions = 0;
    uint64_t fallbacks = 0;  ///< part of them left to the interpreter's handlers
    double seconds = 0;      ///< compile time
    bool from_cache = false;
  };
  std::vector<Translation> translations;         ///< in the order of installation
  std::map<std::string, uint64_t> untranslated;  ///< the instructions left to the interpreter, by name
  std::map<std::string, uint64_t> failures;      ///< reasons for code that was not translated
  uint64_t unfinished = 0;                       ///< requested and still pending
};

/// Live-in registers of a wave; all others are written before they are read.
struct LiveInRegisters {
  std::vector<uint16_t> rows;  ///< by isa::VectorSet's numbers
  uint16_t scalars = 0;        ///< scalars with smaller isa::scalar numbers are live
};

/// VGPRs from v0 on that may start with work-item IDs; otherwise they start with zeros.
struct FirstRows {
  static constexpr unsigned count = 3;
  Row row[count];
};

/// Where work-group ids are in TTMPs (target::Processor::architected_work_group_ids), bits 29:25 of TTMP8 are the
/// wave's number in its work-group.
inline constexpr unsigned wave_number_register = isa::scalar::ttmp0 + 8, wave_number_shift = 25;

/// A batch of waves: the rest of a work-group, then other work-groups. An engine may run them consecutively in the same
/// Wave and rows. For each it sets the live-in registers (LiveInRegisters), EXEC and Wave::index. Other fields of the
/// Wave keep their initial values, so an engine that changes them ends the batch.
struct WaveBatch {
  uint32_t waves_left = 0;           ///< waves of the work-group that have not begun
  uint64_t exec = 0, last_exec = 0;  ///< initial EXEC, and that of the work-group's last wave
  /// Initial values, by isa::scalar number. If work-group IDs are in TTMPs, wave_number_register differs per wave.
  const uint32_t* scalars = nullptr;
  /// Initial VGPRs of the work-group's waves in order. All other rows start with zeros.
  const FirstRows* first_rows = nullptr;
  /// Called when all waves of the work-group have ended: starts another work-group and describes it here. Returns false
  /// if none is available.
  bool (*begin_work_group)(WaveBatch& series) = nullptr;
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// Returns the live-in registers of waves of that size that start at `pc`; null: unknown. Valid until the code
  /// changes.
  virtual const LiveInRegisters* needed_at_start(uint64_t pc, unsigned wave_size, const semantics::FloatMode& mode) {
    static_cast<void>(pc);
    static_cast<void>(wave_size);
    static_cast<void>(mode);
    return nullptr;
  }

  /// Runs a wave from its PC until it ends, waits at a barrier, faults, or has executed about `budget` instructions.
  /// Sets and returns its state and adds to Wave::instructions. A sleeping wave (s_sleep) may return early as `ready`,
  /// which lets the machine detect waiting. Called from many host threads for different waves. The machine handles host
  /// memory faults (fault_guard.h).
  virtual WaveState run(Wave& wave, uint64_t budget) = 0;

  /// Runs a new wave and, if the engine supports it, some of the waves of the batch after it. The result is the last
  /// wave's state, in `wave`; Wave::instructions is the sum. All earlier waves have ended.
  virtual WaveState run_batch(Wave& wave, uint64_t budget, WaveBatch& series) {
    static_cast<void>(series);
    return run(wave, budget);
  }

  /// Called on the same thread after a host memory fault ended run(). An engine that reorders instructions re-executes
  /// the wave in program order until it faults again, so that Wave::pc and `fault` are those of the first faulting
  /// instruction. EXEC then excludes lanes that have completed it.
  virtual void retrace_fault(Wave& wave, HostFault& fault) {
    static_cast<void>(wave);
    static_cast<void>(fault);
  }

  /// Called occasionally by one of `threads` threads when it has no wave to run. The engine may block it to yield the
  /// processor, e.g. to the compiler, while `may_sleep` returns true (polled every few milliseconds).
  virtual void yield_to_compiler(unsigned threads, const std::function<bool()>& may_sleep) {
    static_cast<void>(threads);
    static_cast<void>(may_sleep);
  }

  /// Code at [begin, end) was loaded or unloaded: cached data is stale. No wave is running there.
  virtual void code_changed(uint64_t begin, uint64_t end) = 0;

  virtual EngineReport report() const { return {}; }
};

/// Handles a host memory fault in the engine: retraces it and sets the wave's fault. Called on the thread that ran the
/// wave.
void set_host_fault(Engine& engine, Wave& wave, HostFault host);

}  // namespace Atoll::machine

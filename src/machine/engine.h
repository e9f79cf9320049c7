// machine: what the machine asks of an engine. The engines themselves (interpreter, compiled) are the next room.
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

/// What an engine that translates kernels has done so far.
struct EngineReport {
  struct Translation {
    std::string kernel;
    uint64_t instructions = 0;
    uint64_t fallbacks = 0;  ///< of them, those left to the interpreter's handlers
    double seconds = 0;      ///< that the compiler took
    bool from_cache = false;
  };
  std::vector<Translation> translations;         ///< in the order in which they came into use
  std::map<std::string, uint64_t> untranslated;  ///< the instructions left to the interpreter, by name
  std::map<std::string, uint64_t> failures;      ///< reasons why code was not translated at all
  uint64_t unfinished = 0;                       ///< translations that have been asked for and not come
};

/// What of a wave's registers matters when it begins: the others are written before anything reads them.
struct LiveInRegisters {
  std::vector<uint16_t> rows;  ///< by isa::VectorSet's numbers
  uint16_t scalars = 0;        ///< those by isa::scalar number below this
};

/// The VGPRs from v0 on that may begin with work-item ids; those that don't begin with zeros.
struct FirstRows {
  static constexpr unsigned count = 3;
  Row row[count];
};

/// Where work-group ids are in TTMPs (target::Processor::architected_work_group_ids), bits 29:25 of TTMP8 are the
/// wave's number in its work-group.
inline constexpr unsigned wave_number_register = isa::scalar::ttmp0 + 8, wave_number_shift = 25;

/// The waves that may follow one that begins: the others of its work-group, then those of other work-groups. An engine
/// may run them in one go, each in the Wave and the rows of the one before, which has ended; for that it sets what of
/// the registers matters at the start (LiveInRegisters), EXEC and Wave::index. Other fields of the Wave are as they
/// were when the first one began, so an engine that changes them goes no further.
struct WaveBatch {
  uint32_t waves_left = 0;           ///< of the work-group that have not begun
  uint64_t exec = 0, last_exec = 0;  ///< with which they begin, and with which the work-group's last one does
  /// With which they begin, by isa::scalar number. Where work-group ids are in TTMPs, wave_number_register is each
  /// wave's own.
  const uint32_t* scalars = nullptr;
  /// Of the work-group's waves, the first one's first. All other rows begin with zeros.
  const FirstRows* first_rows = nullptr;
  /// When all waves of the work-group have ended: begins another and describes it here, none of its waves begun. False:
  /// there is none for now.
  bool (*begin_work_group)(WaveBatch& series) = nullptr;
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// What matters to waves of so many lanes that begin at `pc`; null: unknown. Good until the code changes.
  virtual const LiveInRegisters* needed_at_start(uint64_t pc, unsigned wave_size, const semantics::FloatMode& mode) {
    static_cast<void>(pc);
    static_cast<void>(wave_size);
    static_cast<void>(mode);
    return nullptr;
  }

  /// Runs one wave of `processor` code from its PC until it ends, waits at a barrier, faults, or has executed
  /// about `budget` instructions; sets and returns the wave's state, and counts in Wave::instructions. A wave that says
  /// that it waits (s_sleep) may come back `ready` early, by which the machine knows it. Called from many host threads,
  /// for different waves. Host memory faults inside are the machine's to catch (fault_guard.h).
  virtual WaveState run(Wave& wave, uint64_t budget) = 0;

  /// The same for a wave that begins, and for as many of those that may follow it as the engine likes, one after the
  /// other. The state is that of the last one, `wave` is it, and Wave::instructions counts those of all of them. All
  /// waves before it have ended.
  virtual WaveState run_batch(Wave& wave, uint64_t budget, WaveBatch& series) {
    static_cast<void>(series);
    return run(wave, budget);
  }

  /// To be called when a host memory fault has ended run(), on the same thread. An engine that executes instructions
  /// in another order than the program's goes back to the order here: it runs the wave on from where it stands until it
  /// faults again, so that Wave::pc and `fault` are those of the first instruction that cannot be executed. Lanes
  /// that were done with it are out of EXEC then.
  virtual void retrace_fault(Wave& wave, HostFault& fault) {
    static_cast<void>(wave);
    static_cast<void>(fault);
  }

  /// Called now and then by one of `threads` threads that run waves, when it runs none and others go on: the engine may
  /// have it sleep while the host's processor is of more use to the kernels for something else, for as long as
  /// `may_sleep` agrees, which is asked every few milliseconds.
  virtual void yield_to_compiler(unsigned threads, const std::function<bool()>& may_sleep) {
    static_cast<void>(threads);
    static_cast<void>(may_sleep);
  }

  /// Code at [begin, end) is new or gone: whatever was kept of it is stale. No wave is running there.
  virtual void code_changed(uint64_t begin, uint64_t end) = 0;

  virtual EngineReport report() const { return {}; }
};

/// A host memory fault has ended the engine's run of the wave: retraces it and gives the wave its fault. To be called
/// on the thread that ran.
void set_host_fault(Engine& engine, Wave& wave, HostFault host);

}  // namespace Atoll::machine

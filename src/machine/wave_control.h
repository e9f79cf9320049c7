// machine: stops waves between two instructions, and lets them go on: the ground of a debugger.
//
// An observer that stops waves has a WaveControl (Observer::wave_control). A wave stops
//
// - at a breakpoint: the engine patches the slot of the instruction in its code cache, so that a wave that comes to it
//   calls on_breakpoint(). Code without a breakpoint runs as it does without a WaveControl;
// - on request, at the next point where its engine gives it back: at the latest after its budget of instructions, which
//   takes some 25 microseconds. A wave that begins under a request stops before its first instruction;
// - on request of an observer in an event of that wave: before the instruction that the event precedes if the
//   interpreter executes it, else as above;
// - after one step.
//
// A stopped wave keeps WaveState::ready, or waits at its barrier, and the scheduler does not run it. The host thread
// goes on with other waves and work-groups, so that stopping one wave does not stop others. While a wave is stopped,
// its registers, its scratch and Wave::pc belong to the caller and may be changed on any thread. Dead registers have no
// defined value in compiled code.
//
// A kernel's time limit does not end a dispatch while one of its waves is stopped.
//
// All functions may be called on any thread, and inside of a breakpoint's condition.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "machine/wave/wave.h"

namespace Atoll::machine {

/// Waves of a machine: all, or those of a dispatch, of its work-group of that id, or one of its waves.
struct WaveSelector {
  const Dispatch* dispatch = nullptr;  ///< null: of all dispatches
  std::optional<std::array<uint32_t, 3>> work_group{};
  std::optional<uint32_t> wave{};  ///< Wave::index

  static WaveSelector of(const Wave& wave);
  bool matches(const Wave& wave) const;
};

enum class StopReason : uint8_t {
  requested,   ///< stop()
  observer,    ///< stop_here()
  breakpoint,  ///< before the instruction at the breakpoint
  step,        ///< after step() or step_over()
};

struct StoppedWave {
  Wave* wave = nullptr;
  StopReason reason{};
  unsigned breakpoint = 0;  ///< its number, for StopReason::breakpoint; after a step, of one at the new place, or 0
};

/// An engine whose code has breakpoints.
class BreakpointListener {
 public:
  virtual ~BreakpointListener() = default;

  /// WaveControl::has_breakpoint(pc) has changed. Waves may be running there.
  virtual void breakpoint_changed(uint64_t pc) = 0;
};

class WaveControl {
 public:
  /// Returns true to stop the wave. Called on the wave's thread before it executes the instruction, inside guarded():
  /// it reads guest memory with read_guest(). Gets all lanes of the wave at once.
  using Condition = std::function<bool(const Wave&)>;

  WaveControl() = default;
  WaveControl(const WaveControl&) = delete;
  WaveControl& operator=(const WaveControl&) = delete;

  // Breakpoints.

  /// Stops waves before they execute the instruction at `pc`, or those for which the condition holds. Returns the
  /// breakpoint's number, from 1 on. It holds for waves that come to run there afterwards; one that runs translated
  /// code around it now, from the next time on that it comes back from there.
  unsigned add_breakpoint(uint64_t pc, Condition condition = {});
  void remove_breakpoint(unsigned number);
  /// Returns how many waves have come to the breakpoint, whether they stopped or not.
  uint64_t hits(unsigned number) const;
  bool has_breakpoint(uint64_t pc) const;
  /// Returns whether one lies in [begin, end).
  bool has_breakpoint_in(uint64_t begin, uint64_t end) const;

  // Stopping and going on.

  /// Stops these waves, and those of them that begin later, until they are resumed.
  void stop(const WaveSelector& waves);
  /// Stops a wave, to be called by an observer in one of its events.
  void stop_here(const Wave& wave);
  /// Lets stopped waves go on. Ends the requests to stop the same waves.
  void resume(const WaveSelector& waves);
  /// Lets one stopped wave execute one instruction, and stops it again. One that ends or faults is not stopped.
  bool step(const Wave& wave);
  /// Steps as step() does, but executes a call until it returns in the same wave, or until a breakpoint.
  bool step_over(const Wave& wave);

  /// Returns the waves that are stopped.
  std::vector<StoppedWave> stopped() const;
  /// Waits for the next stop that has not been returned yet.
  std::optional<StoppedWave> wait(std::chrono::nanoseconds timeout);

  // For engines.

  void add_engine(BreakpointListener& engine);
  void remove_engine(BreakpointListener& engine);
  /// Returns whether the engine is to execute one instruction of the wave.
  bool steps(const Wave& wave) const;
  /// A wave has come to a breakpoint. Returns whether it stops; else it executes the instruction.
  bool on_breakpoint(Wave& wave, uint64_t pc);
  /// Called after the events of an instruction: returns whether an observer has stopped the wave, which is then not to
  /// execute it.
  bool stops_after_events(Wave& wave, uint64_t pc) {
    return marks_.load(std::memory_order_relaxed) != 0 && stops_here_after_events(wave, pc);
  }
  /// Returns true, once, if the wave has stopped after those events: they are not to be reported again.
  bool skips_events(const Wave& wave, uint64_t pc) {
    return marks_.load(std::memory_order_relaxed) != 0 && takes_passed_events(wave, pc);
  }

  // For schedulers.

  /// Called before a wave is run. Returns false if it is stopped, and not to be run.
  bool before_run(Wave& wave);
  /// Called when the engine has given the wave back.
  void after_run(Wave& wave);
  bool is_stopped(const Wave& wave) const;
  /// The waves of the work-group are gone. A pointer to one that was stopped dangles from here on.
  void forget(const WorkGroup& group);
  /// Returns whether a wave of the dispatch is stopped.
  bool has_stopped(const Dispatch& dispatch) const;

 private:
  struct Breakpoint {
    uint64_t pc = 0;
    Condition condition;
    const Wave* only = nullptr;  ///< the wave that step_over() steps; null: all waves
    mutable std::atomic<uint64_t> hits{0};
  };
  struct Request {
    WaveSelector waves;
    uint64_t number;
  };
  /// How far the wave is with the instruction at `passed_pc`, which it has not executed.
  enum class Passed : uint8_t { nothing, breakpoint, events };
  struct Control {
    bool is_stopped = false, stops_here = false, steps = false;
    bool step_has_begun = false;     ///< the run that executes the step
    unsigned return_breakpoint = 0;  ///< step_over()'s
    uint64_t seen = 0;               ///< requests up to this number concern it no more
    Passed passed{};
    uint64_t passed_pc = 0;
    StoppedWave stop;
  };

  bool stops_here_after_events(Wave& wave, uint64_t pc);
  bool takes_passed_events(const Wave& wave, uint64_t pc);
  // With the mutex held.
  void park(Wave& wave, Control& control, StopReason reason, unsigned breakpoint = 0);
  void let_go(Control& control);
  bool is_requested(const Wave& wave, uint64_t seen) const;
  void set_passed(Control& control, Passed passed, uint64_t pc);
  void set_stops_here(Control& control, bool stops);
  void erase(const Wave& wave);
  void end_return_breakpoint(Control& control);
  // Without it.
  unsigned add(uint64_t pc, Condition condition, const Wave* only);
  /// Counts, and returns the number of the first breakpoint at which the wave stops, or 0.
  unsigned breakpoint_for(const Wave& wave, uint64_t pc);
  void notify_engines(uint64_t pc);
  void notify_of_stale();

  std::atomic<uint32_t> marks_{0};  ///< waves that stop here, or that have passed events
  mutable std::mutex mutex_;        ///< of what follows
  std::condition_variable stop_happened_;
  std::map<unsigned, std::shared_ptr<Breakpoint>> breakpoints_;
  std::multimap<uint64_t, unsigned> by_pc_;
  unsigned last_breakpoint_ = 0;
  std::vector<Request> requests_;
  uint64_t last_request_ = 0;
  std::map<const Wave*, Control> controls_;
  std::deque<StoppedWave> news_;
  std::vector<uint64_t> stale_;  ///< where a breakpoint is gone that engines have not been notified of

  std::mutex engines_mutex_;  ///< held while engines change their code; never taken with mutex_ held
  std::vector<BreakpointListener*> engines_;
};

}  // namespace Atoll::machine

// machine: what the machine asks of an engine. The engines themselves (interpreter, compiled) are the next room.
#pragma once

#include <cstdint>
#include <memory>

#include "machine/wave.h"

namespace Atoll::target {
struct Processor;
}

namespace Atoll::machine {

class Engine {
 public:
  virtual ~Engine() = default;

  /// Runs one wave of `processor` code from its PC until it ends, waits at a barrier, faults, or has executed
  /// about `budget` instructions; sets and returns the wave's state, and counts in Wave::instructions. A wave that says
  /// that it waits (s_sleep) may come back `ready` early, by which the machine knows it. Called from many host threads,
  /// for different waves. Host memory faults inside are the machine's to catch (fault_guard.h).
  virtual WaveState run(Wave& wave, uint64_t budget) = 0;

  /// Code at [begin, end) is new or gone: whatever was kept of it is stale. No wave is running there.
  virtual void code_changed(uint64_t begin, uint64_t end) = 0;
};

}  // namespace Atoll::machine

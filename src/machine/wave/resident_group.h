// machine: a work-group that has begun, with the host memory that its waves' state lives in.
//
// Registers, LDS and scratch are reserved once for a dispatch's largest need and used for one work-group after another.
// Waves begin one by one, each in the registers of one that has ended if there is one. What is the same for all waves
// of a dispatch is worked out once (initial_state.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "machine/engine.h"
#include "machine/memory/memory.h"
#include "machine/wave/dispatch.h"
#include "machine/wave/initial_state.h"

namespace Atoll::machine {

/// The purpose in Memory of waves' scratch.
inline constexpr std::string_view scratch_memory = "scratch memory";

/// Memory for a work-group's state that grows and is reused.
class StateMemory {
 public:
  /// `guest`: of what kernels may reach by address; null: of the host's own.
  explicit StateMemory(Memory* guest, std::string_view purpose = scratch_memory) : guest_(guest), purpose_(purpose) {}
  StateMemory(const StateMemory&) = delete;
  StateMemory& operator=(const StateMemory&) = delete;
  ~StateMemory() { free(); }
  /// Allocates from `guest` from now on.
  void use(Memory& guest) { guest_ = address_ == 0 ? &guest : guest_; }
  /// At least `bytes` bytes (null for 0); what was in it is lost when it has to grow.
  support::Result<uint8_t*> reserve(uint64_t bytes);

 private:
  void free();

  Memory* guest_;
  const std::string_view purpose_;
  uint64_t address_ = 0, size_ = 0;
};

/// A work-group with the memory that its state lives in; used for one after another.
class ResidentGroup {
 public:
  explicit ResidentGroup(Memory& memory)
      : registers_(nullptr), lds_(nullptr), scratch_(&memory), table_(nullptr, "the global table of a shader") {}
  WorkGroup group;
  uint64_t index = 0;             ///< the number of `group` in the dispatch
  InstructionCount instructions;  ///< of its waves that have ended; the thread that ends the work-group counts them

  /// For work-groups of this dispatch. Errors: out_of_resources; memory_fault when arguments to be preloaded are not
  /// there.
  support::Result<void> prepare(Dispatch& dispatch, Engine& engine);
  /// Makes `group` the dispatch's work-group of that number, none of whose waves has begun.
  void begin(uint64_t number);
  /// Makes the group's next wave ready. It gets the registers of one that ended, if any has: they are still in the
  /// host's cache.
  Wave& begin_wave();
  void end_wave(const Wave& wave) { free_rows_.push_back(wave.vgpr); }
  /// Returns whether waves can follow the group's first one as a WaveBatch.
  bool is_series() const { return initial_.is_series(); }
  /// Fills `series` with the waves that have not begun.
  void describe(WaveBatch& series) const { initial_.describe(group, series); }
  /// begin(), and the first wave begins in the registers of one that has ended; what of it matters, the engine sets.
  void begin_in_series(uint64_t number, WaveBatch& series);
  /// The wave, which began as the group's first, has become the one that its index says; those between have ended.
  Wave& settle(Wave& wave);

 private:
  StateMemory registers_, lds_, scratch_, table_;
  InitialState initial_;
  Row* rows_ = nullptr;
  uint32_t rows_of_a_wave_ = 0, rows_in_use_ = 0;  ///< and of how many waves the rows have been used
  std::vector<Row*> free_rows_;
};

}  // namespace Atoll::machine

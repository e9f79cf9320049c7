// A small grid that runs random code from a state that a number gives, on any engine: a wave, some waves of a
// work-group, some work-groups. Waves run one after the other, each to the next barrier or its end, so that what they
// do to each other's memory is the same in all engines.
#pragma once

#include <cstdint>
#include <memory>
#include <random>

#include "differential/final_state.h"
#include "differential/random_code.h"
#include "machine/engine.h"
#include "machine/wave/dispatch.h"
#include "machine/wave/wave.h"
#include "target/target.h"

namespace Atoll::test {

class FuzzGrid {
 public:
  explicit FuzzGrid(const target::Target& target);

  /// Runs code from the state of that number, `turn` instructions at a time, until it ends, faults, or is found to be
  /// endless. All engines, and all processes, see the same addresses.
  FinalState run(machine::Engine& engine, const RandomCode& code, uint64_t state, uint64_t turn = max_instructions);

  static constexpr uint64_t max_instructions = 1'000'000;

  /// Totals of all runs so far: instructions that the compiled engine left to the interpreter, and waves that
  /// compiled code began.
  uint64_t interpreted_instructions() const { return interpreted_; }
  uint64_t waves_begun_in_series() const { return begun_in_series_; }

 private:
  struct Unmap {
    size_t bytes;
    void operator()(uint8_t* memory) const;
  };
  struct Series;
  using Pages = std::unique_ptr<uint8_t, Unmap>;
  static Pages map(uint64_t address, size_t bytes);
  void place(const RandomCode& code);
  bool has_banks() const;  ///< of VGPRs (GFX12.5)
  machine::Row* rows(unsigned wave);
  uint8_t* scratch(unsigned wave);
  void reset(machine::Wave& wave, unsigned number);
  void set_scalars(uint32_t* scalar, std::mt19937_64& random);
  void begin(machine::Wave& wave, unsigned number, std::mt19937_64& random);
  void begin_group(unsigned waves, std::mt19937_64& random);
  bool run_wave(machine::Engine& engine, machine::Wave& wave, uint64_t turn, FinalState& result,
                machine::WaveBatch* series = nullptr);
  bool run_group(machine::Engine& engine, uint64_t turn, FinalState& result);
  void run_batch(machine::Engine& engine, const RandomCode& code, std::mt19937_64& random, uint64_t turn,
                 FinalState& result);
  std::bitset<isa::scalar::count> scalars_written_from(uint64_t pc) const;
  FinalWave final_wave(const machine::Wave& wave, unsigned number);

  const target::Target target_;
  const target::Processor& processor_;
  machine::Dispatch dispatch_;
  machine::WorkGroup group_;
  Pages rows_, lds_, memory_, scratch_, code_;
  size_t size_ = 0;  ///< of the code
  uint64_t interpreted_ = 0, begun_in_series_ = 0;
};

}  // namespace Atoll::test

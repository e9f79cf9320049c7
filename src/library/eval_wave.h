// library: the wave and environment of `atoll eval`: a GPU with the code loaded, registers, LDS, scratch, and memory at
// user-given addresses.
//
// The wave is run by an engine as the machine runs its waves, so what an instruction does, and how it fails, is what it
// does in a program. Single steps are the engine's own, too (machine/wave_control.h).
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/instruction.h"
#include "library/eval_memory.h"
#include "library/eval_values.h"
#include "machine/gpu.h"
#include "machine/observer_mux.h"
#include "machine/wave/dispatch.h"
#include "machine/wave/wave.h"
#include "machine/wave_control.h"
#include "support/error.h"

namespace Atoll::library {

/// The state of a wave and its memory.
struct WaveSnapshot {
  std::vector<uint32_t> scalars;  ///< by isa::scalar number
  bool scc = false;
  uint32_t mode = 0, trap_status = 0;
  std::vector<std::array<uint32_t, semantics::wave_lanes>> rows;  ///< VGPRs, and AGPRs from isa::first_agpr on
  std::vector<uint32_t> scratch;  ///< dwords: all lanes of the first private address, then of the next
  std::vector<uint8_t> lds;
  std::map<uint64_t, std::vector<uint8_t>> memory;  ///< given memory, by address
};

class EvalWave {
 public:
  struct Options {
    target::GpuModel gpu;
    unsigned wave_size = 64;
    std::string engine;  ///< name of the engine
    double timeout_seconds = 10;
  };
  /// `code_object`: its .text section starts with the first instruction and ends with two s_endpgm.
  static support::Result<std::unique_ptr<EvalWave>> create(const Options& options,
                                                           std::span<const uint8_t> code_object);
  EvalWave(const EvalWave&) = delete;
  EvalWave& operator=(const EvalWave&) = delete;

  support::Result<void> assign(const Assignment& assignment);

  const target::Target& target() const { return target_; }
  const machine::Wave& wave() const { return group_.waves[0]; }
  WaveSnapshot snapshot() const;
  /// Returns all decodable instructions in order.
  std::vector<isa::Instruction> instructions() const;
  std::optional<isa::Instruction> instruction_at(uint64_t pc) const;
  uint64_t code_address() const { return code_begin_; }

  enum class Outcome : uint8_t { ended, faulted, over_limit, timed_out };
  /// Runs until the end, a fault, or about `limit` instructions.
  Outcome run(uint64_t limit);
  /// Executes one instruction, in the interpreter. Nothing: the wave goes on.
  std::optional<Outcome> step();

  /// Returns the wave's fault.
  support::Error fault() const;
  machine::FaultReport fault_report() const;

 private:
  EvalWave() = default;
  support::Result<void> place(std::span<const uint8_t> code_object);
  void begin(const target::Processor& processor);
  support::Result<void> assign_rows(const Assignment& assignment);
  support::Result<void> assign_scalar(const Assignment& assignment);
  support::Result<void> assign_bytes(const Assignment& assignment);
  support::Result<void> open_code();
  void end_alive();
  Outcome run_some(uint64_t limit);

  template <typename T>
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  struct Stepper final : machine::Observer {
    machine::WaveControl control;
    machine::EventMask watched() const override { return {}; }
    machine::WaveControl* wave_control() override { return &control; }
  };
  target::Target target_;
  std::unique_ptr<machine::Gpu> gpu_;
  std::shared_ptr<machine::LoadedCode> code_;
  EvalMemory memory_;
  Stepper stepper_;
  machine::ObserverMux observers_;
  std::unique_ptr<machine::Engine> engine_;
  machine::Dispatch dispatch_;
  machine::WorkGroup group_;
  std::unique_ptr<machine::Row, Free<machine::Row>> rows_;
  std::unique_ptr<uint8_t, Free<uint8_t>> lds_, scratch_;
  uint64_t code_begin_ = 0, code_end_ = 0;
  std::vector<uint8_t> code_bytes_;  ///< original bytes
};

}  // namespace Atoll::library

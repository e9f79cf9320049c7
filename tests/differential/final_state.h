// The final state of a grid of random code, and the comparison of two such states.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isa/instruction.h"
#include "machine/wave/wave.h"

namespace Atoll::test {

/// Everything of a wave that code can change, and how it ended.
struct FinalWave {
  machine::WaveState state{};
  std::array<uint32_t, isa::scalar::count> scalar{};
  bool scc = false;
  uint32_t mode = 0, status = 0, trap_status = 0;
  uint64_t instructions = 0;
  std::vector<uint32_t> vgprs, agprs, scratch;  ///< 64 words to a register; scratch as it lies in memory

  bool operator==(const FinalWave&) const = default;
};

/// Why and where a grid came to an end too early.
struct FinalFault {
  unsigned wave = 0;  ///< index into FinalState::waves
  machine::Fault::Kind kind{};
  uint64_t pc = 0;  ///< of the instruction, from the code's begin
  std::string what{};
  /// Lanes from 0 on that were ahead of the instruction (Engine::retrace_fault): what they have is not defined.
  unsigned lanes_ahead = 0;
  /// Scalar registers that instructions after it write: those may have been executed.
  std::bitset<isa::scalar::count> scalars_ahead{};
};

struct FinalState {
  std::vector<FinalWave> waves;
  std::vector<uint32_t> lds;  ///< of all work-groups
  std::vector<uint32_t> memory;
  std::optional<FinalFault> fault;
  uint64_t instructions = 0;  ///< of all waves

  /// A wave went on for longer than is waited for.
  bool is_endless() const;
  /// Compares with the state that another engine left: a line for each register or word that differs, at most a
  /// few; empty if they are equal. After a fault, only the fault and the defined registers are compared.
  std::string difference(const FinalState& other) const;
  uint64_t digest() const;
};

}  // namespace Atoll::test

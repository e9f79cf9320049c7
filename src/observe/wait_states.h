// observe: wait states that code has to leave between two instructions until GFX9, as the GPU does not by itself
// (s_nop, or other instructions).
// Sources: Vega and CDNA ISA guides, "Manually Inserted Wait States (NOPs)" and "Required User-Inserted NOPs"; LLVM's
// GCNHazardRecognizer for gfx940's of vector instructions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "isa/effects.h"
#include "isa/instruction.h"

namespace Atoll::observe {

/// What counts of an instruction.
struct WaitStateFacts {
  bool is_looked_at = false;  ///< on a GPU that has such rules
  uint32_t states = 1;        ///< that it takes itself
  bool is_vector = false;     ///< of the vector ALU
  bool is_transcendental = false;
  bool writes_exec = false;
  std::vector<uint16_t> scalars_written, vectors_written;  ///< by the vector ALU
  struct Need {
    enum class Kind : uint8_t { scalar, vector, transcendental, exec, hardware_register };
    Kind kind;
    uint16_t reg;    ///< that is read
    uint8_t states;  ///< between whoever writes it, of the vector ALU, and this
  };
  std::vector<Need> needs;
  std::optional<uint16_t> hardware_written;  ///< by s_setreg
};
WaitStateFacts wait_state_facts(const isa::Instruction& instruction, const isa::Effects& effects);

/// What a wave has written lately.
class WaitStates {
 public:
  struct Missing {
    WaitStateFacts::Need need;
    uint64_t writer = 0;  ///< the instruction that writes it
    uint32_t states = 0;  ///< that are missing
  };
  /// The wave comes to an instruction.
  std::optional<Missing> step(const WaitStateFacts& facts, uint64_t pc);

 private:
  struct Write {
    uint64_t pc = 0;
    uint64_t at = 0;  ///< the wait states before it and of itself; 0: nobody has
  };
  uint64_t now_ = 0;
  std::array<Write, isa::scalar::count> scalars_{};
  std::array<Write, isa::vector_registers> vectors_{}, transcendentals_{};
  std::array<Write, 64> hardware_{};
  Write exec_{};
};

}  // namespace Atoll::observe

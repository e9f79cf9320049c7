// observe: wait states that code has to leave between two instructions until GFX9, as the GPU does not by itself
// (s_nop, or other instructions).
// Sources: Southern Islands to Vega and CDNA ISA guides, "Manually Inserted Wait States (NOPs)" and "Required
// User-Inserted NOPs"; LLVM's GCNHazardRecognizer for gfx940's and gfx950's of vector instructions, and for which GPUs
// M0 matters.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "isa/effects.h"
#include "isa/instruction.h"

namespace Atoll::observe {

/// What counts of an instruction.
struct WaitStateFacts {
  bool is_looked_at = false;   ///< on a GPU that has such rules
  uint32_t states = 1;         ///< that it takes itself
  bool awaits_stores = false;  ///< which have read their data then
  /// What a register is to those rules.
  enum class Kind : uint8_t {
    scalar,
    vector,
    transcendental,  ///< a vector register that such an instruction has written
    half,            ///< one of which a part has been written
    stored,          ///< one of more than two that a store has for data, which it may still read
    exec,
    m0,  ///< that the scalar ALU has written
    hardware_register
  };
  struct Need {
    Kind kind;
    uint16_t reg;    ///< that is read; of `stored`, written
    uint8_t states;  ///< between whoever writes it, or stores it, and this
  };
  std::vector<Need> needs;
  struct Written {
    Kind kind;
    uint16_t reg;

    friend bool operator==(const Written&, const Written&) = default;
  };
  /// By the vector ALU; M0 by the scalar one; hardware registers by s_setreg. A register that is written by a
  /// transcendental instruction, or in part, is a vector one, too.
  std::vector<Written> written;
};
WaitStateFacts wait_state_facts(const isa::Instruction& instruction, const isa::Effects& effects);

/// What a wave has written lately, as far as it matters to what comes.
class WaitStates {
 public:
  struct Missing {
    WaitStateFacts::Need need;
    uint64_t writer = 0;  ///< the instruction that writes it
    uint32_t states = 0;  ///< that are missing
  };
  /// The wave comes to an instruction.
  std::optional<Missing> step(const WaitStateFacts& facts, uint64_t pc);

  struct Write {
    WaitStateFacts::Written what;
    uint64_t pc = 0;
    uint32_t states = 0;  ///< since then
  };
  /// Each register at most once.
  const std::vector<Write>& lately() const { return lately_; }

 private:
  std::vector<Write> lately_;
};

}  // namespace Atoll::observe

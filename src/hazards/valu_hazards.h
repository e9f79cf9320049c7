// hazards: wait states that code has to leave between two instructions until GFX9, as the GPU does not by itself
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

namespace Atoll::hazards {

/// What counts of an instruction.
struct ValuInfo {
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
  struct Requirement {
    Kind kind;
    uint16_t reg;    ///< that is read; of `stored`, written
    uint8_t states;  ///< between whoever writes it, or stores it, and this
  };
  std::vector<Requirement> requirements;
  struct RecentWrite {
    Kind kind;
    uint16_t reg;

    friend bool operator==(const RecentWrite&, const RecentWrite&) = default;
  };
  /// By the vector ALU; M0 by the scalar one; hardware registers by s_setreg. A register that is written by a
  /// transcendental instruction, or in part, is a vector one, too.
  std::vector<RecentWrite> written;
};
ValuInfo valu_info(const isa::Instruction& instruction, const isa::Effects& effects);

/// What a wave has written recently, as far as it matters to what comes.
class ValuHazards {
 public:
  struct Missing {
    ValuInfo::Requirement need;
    uint64_t writer = 0;  ///< the instruction that writes it
    uint32_t states = 0;  ///< that are missing
  };
  /// The wave comes to an instruction.
  std::optional<Missing> step(const ValuInfo& facts, uint64_t pc);

  struct Write {
    ValuInfo::RecentWrite what;
    uint64_t pc = 0;
    uint32_t states = 0;  ///< since then
  };
  /// Each register at most once.
  const std::vector<Write>& recent() const { return recent_; }

 private:
  std::vector<Write> recent_;
};

}  // namespace Atoll::hazards

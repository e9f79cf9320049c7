// hazards: wait states about matrix instructions, which code has to leave by itself: MFMA and SMFMAC of gfx908 to
// gfx950, WMMA and SWMMAC of GFX12.5.
//
// A matrix instruction takes passes of four cycles, and its result is in the registers only some passes later. The GPU
// holds back a few instructions that need it, as the next one that adds to the same registers; for all others code has
// to wait. How long depends on what the instruction multiplies, how many passes it takes, and on who comes then.
// GFX12.5 goes on with other vector instructions meanwhile. Between a matrix and one that touches what it has not read
// or written yet there have to be so many others, v_nop for one; s_nop do not count. Sources: CDNA1 to CDNA4 ISA
// guides, "Manually Inserted Wait States"; where they are silent, LLVM's GCNHazardRecognizer, which
// tests/observe/wait_pairs_test.cpp compares.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hazards/register_range.h"
#include "isa/effects.h"
#include "isa/instruction.h"
#include "target/processor.h"

namespace Atoll::hazards {

/// What counts of an instruction.
struct MatrixInfo {
  enum class Kind : uint8_t {
    other,
    vector_alu,
    dot,
    accumulator_read,   ///< v_accvgpr_read_b32 of gfx908
    accumulator_write,  ///< v_accvgpr_write_b32 of gfx908
    memory,
    matrix,         ///< by the matrix core proper (XDL); until gfx90a all but doubles
    float_matrix,   ///< of f32, from gfx940 on
    double_matrix,  ///< of f64
    wave_matrix,    ///< of GFX12.5
  };
  Kind kind = Kind::other;
  target::Generation generation{};
  isa::Opcode opcode{};
  uint8_t passes = 0;                         ///< until gfx950
  uint8_t for_matrices = 0, for_vectors = 0;  ///< of GFX12.5: instructions between it and what comes
  bool is_small_double = false;               ///< 4 x 4 of f64
  bool is_single = false;                     ///< of GFX12.5, of f32: one instruction is enough before it, and after it
  bool is_transcendental = false;
  bool writes_exec = false;
  RegisterRange result, addend;        ///< of matrix and dot instructions
  std::vector<RegisterRange> factors;  ///< likewise: what else they read
  std::vector<RegisterRange> reads, writes;
  uint8_t matters_for = 0;  ///< wait states, after which nothing depends on it

  bool is_matrix() const { return kind >= Kind::matrix; }
};
MatrixInfo matrix_info(const isa::Instruction& instruction, const isa::Effects& effects,
                       const target::Processor& processor);

/// Instructions that a wave has executed recently, as far as later hazards depend on them.
class MatrixHazards {
 public:
  /// How an instruction uses a register that an earlier one uses.
  enum class Relation : uint8_t {
    reads,
    overwrites,
    overwrites_addend,  ///< which the earlier one reads
    overwrites_factor,  ///< likewise
    uses_exec,
    shares_unit,  ///< v_fma_f64 after a matrix of doubles
  };
  struct Missing {
    uint64_t earlier = 0;  ///< the instruction
    Relation relation{};
    uint16_t reg = 0;    ///< the first register of both, as isa::VectorSet has it; nothing for the last relations
    uint8_t states = 0;  ///< that there have to be between the two
    uint8_t left = 0;    ///< that there are
  };
  /// The wave comes to an instruction, which takes `states`. The facts have to stay where they are.
  std::optional<Missing> step(const MatrixInfo& facts, uint64_t pc, uint32_t states);

  struct Recent {
    const MatrixInfo* facts = nullptr;
    uint64_t pc = 0;
    uint32_t states = 0;  ///< since then
  };
  /// The oldest first.
  const std::vector<Recent>& recent() const { return recent_; }

 private:
  std::vector<Recent> recent_;
};

}  // namespace Atoll::hazards

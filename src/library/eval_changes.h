// library: the output of `atoll eval`: registers and memory that differ between two states of a wave, and registers
// written without a change. Bits are shown in the type of the instruction operand that writes the register.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "atoll/evaluate.h"
#include "isa/instruction.h"
#include "library/eval_wave.h"

namespace Atoll::library {

/// Types of registers as seen by the instructions that write them.
class RegisterTypes {
 public:
  /// A value that starts at a register: one element of a possibly wider operand. `words` is 1 or 2.
  struct View {
    isa::DataType type = isa::DataType::b32;
    uint8_t words = 1;
  };
  RegisterTypes() = default;
  explicit RegisterTypes(std::span<const isa::Instruction> instructions);

  View vector(unsigned row) const { return find(vectors_, row); }
  View scalar(unsigned reg) const { return find(scalars_, reg); }
  /// Returns whether a register is written explicitly; also SCC, VCC, EXEC and M0.
  bool writes_vector(unsigned row) const { return vectors_.contains(row); }
  bool writes_scalar(unsigned reg) const { return scalars_.contains(reg); }
  bool writes_scc() const { return scc_; }

 private:
  static View find(const std::map<unsigned, View>& views, unsigned reg);
  void add(const isa::Instruction& instruction, const isa::Operand& operand);

  std::map<unsigned, View> vectors_, scalars_;
  bool scc_ = false;
};

/// Returns one line per change. If the code has `completed`, the last line lists registers that were written but
/// unchanged.
std::vector<std::string> changes_as_text(const WaveSnapshot& before, const WaveSnapshot& after,
                                         const RegisterTypes& types, unsigned wave_size, bool completed);

/// {"registers": [...], "memory": [...]}
nlohmann::ordered_json changes_as_json(const WaveSnapshot& before, const WaveSnapshot& after,
                                       const RegisterTypes& types, unsigned wave_size);

/// Adds the changes to `registers`, `memory` and `unchanged` of the public Evaluation.
void add_changes(Evaluation& evaluation, const WaveSnapshot& before, const WaveSnapshot& after,
                 const RegisterTypes& types, unsigned wave_size);

/// Formats bits by type: "f32 1.5"; empty if hexadecimal is sufficient.
std::string describe_bits(uint64_t bits, isa::DataType type);

}  // namespace Atoll::library

// library: what `atoll eval` prints: registers and memory that differ between two states of its wave, and those that
// the code writes with what they had before. How a register's bits are shown follows from the operand's type in the
// instruction that writes it.
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

/// Registers as instructions see those that they write.
class RegisterTypes {
 public:
  /// A value that begins at a register: one element of a wider operand. `words` is 1 or 2.
  struct View {
    isa::DataType type = isa::DataType::b32;
    uint8_t words = 1;
  };
  RegisterTypes() = default;
  explicit RegisterTypes(std::span<const isa::Instruction> instructions);

  View vector(unsigned row) const { return find(vectors_, row); }
  View scalar(unsigned reg) const { return find(scalars_, reg); }
  /// What is written by name, and SCC, VCC, EXEC and M0.
  bool writes_vector(unsigned row) const { return vectors_.contains(row); }
  bool writes_scalar(unsigned reg) const { return scalars_.contains(reg); }
  bool writes_scc() const { return scc_; }

 private:
  static View find(const std::map<unsigned, View>& views, unsigned reg);
  void add(const isa::Instruction& instruction, const isa::Operand& operand);

  std::map<unsigned, View> vectors_, scalars_;
  bool scc_ = false;
};

/// A line of text for each change, without an end of line. If the code has `completed`, registers that are written and
/// stay as they were share the last one.
std::vector<std::string> changes_as_text(const WaveSnapshot& before, const WaveSnapshot& after,
                                         const RegisterTypes& types, unsigned wave_size, bool completed);

/// {"registers": [...], "memory": [...]}
nlohmann::ordered_json changes_as_json(const WaveSnapshot& before, const WaveSnapshot& after,
                                       const RegisterTypes& types, unsigned wave_size);

/// The changes as the public library gives them: `registers`, `memory` and `unchanged` of an evaluation.
void add_changes(Evaluation& evaluation, const WaveSnapshot& before, const WaveSnapshot& after,
                 const RegisterTypes& types, unsigned wave_size);

/// "f32 1.5": bits as a type sees them; empty where hexadecimal says it all.
std::string describe_bits(uint64_t bits, isa::DataType type);

}  // namespace Atoll::library

// assembler: recognises addresses that a few consecutive instructions compute in scalar registers, as for calls and
// constants. s_getpc is followed by an addition of the distance, in two halves or from GFX12.5 on at once, which the
// linker fills in; or the address is loaded from the global offset table. Disassembly names the targets.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "isa/instruction.h"
#include "isa/table.h"

namespace Atoll::assembler {

/// An address in a code object, or relative to a symbol that has none yet.
struct Reached {
  uint32_t symbol = 0;   ///< index into the symbols that relocations name; 0: none
  uint64_t address = 0;  ///< or the distance from the symbol
  uint64_t since = 0;    ///< where the first of the instructions is that made it
};

/// A relocation of a literal in the code, or of a slot that is loaded from.
struct RelocatedWord {
  uint32_t symbol = 0, type = 0;
  int64_t addend = 0;
};

class KnownAddresses {
 public:
  using Relocations = std::function<std::optional<RelocatedWord>(uint64_t place)>;

  /// `code` has the relocations of the literals in the code, `data` those of the places that are loaded from.
  KnownAddresses(Relocations code, Relocations data) : code_(std::move(code)), data_(std::move(data)) {}

  /// Goes over the instruction at an address. The answer is what it completes the address of, jumps to or calls.
  std::optional<Reached> step(const isa::Instruction& instruction, const isa::InstructionRow& row, uint64_t address);

 private:
  struct Word {
    bool known = false;
    uint32_t symbol = 0, value = 0;
    uint64_t since = 0;
  };

  Word read(const isa::Operand& operand, uint64_t literal_address) const;
  std::optional<Reached> pair(const isa::Operand& operand) const;
  std::optional<Reached> pair_or_constant(const isa::Operand& operand, uint64_t literal_address) const;
  std::optional<Reached> set_pair(const isa::Operand& operand, const std::optional<Reached>& value);
  std::optional<Reached> add(const isa::Instruction& instruction, uint64_t address, bool with_carry);
  std::optional<Reached> add_pairs(const isa::Instruction& instruction, uint64_t address);
  std::optional<Reached> load(const isa::Instruction& instruction);
  void forget(const isa::Instruction& instruction);

  Relocations code_, data_;
  std::array<Word, isa::scalar::count> words_{};
  Word carry_;
  unsigned known_ = 0;  // an upper bound of how many words are known: 0 when there is nothing to forget
};

}  // namespace Atoll::assembler

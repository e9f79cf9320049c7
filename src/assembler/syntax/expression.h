// assembler: expressions over numbers and symbols, some of which get their values only when the whole text is known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assembler/syntax/source.h"
#include "target/processor.h"

namespace Atoll::assembler {

struct Expression;
struct Section;

/// What a relocation takes of a symbol: name@rel32@lo and its like (user guide, "Relocation Records").
enum class Specifier : uint8_t {
  none,
  gotpcrel,
  gotpcrel32_lo,
  gotpcrel32_hi,
  rel32_lo,
  rel32_hi,
  rel64,
  abs32_lo,
  abs32_hi,
  abs64,
};
/// "rel32@lo" to its Specifier.
std::optional<Specifier> find_specifier(std::string_view name);

struct Symbol {
  std::string name;
  // A label: where it stands. A variable: what it is set to. Neither: undefined.
  Section* section = nullptr;
  uint32_t fragment = 0;  ///< of the section
  uint64_t offset = 0;    ///< in the fragment
  const Expression* value = nullptr;
  /// What it was set to before, each a variable that has no name: expressions that were read then mean these.
  std::vector<Symbol*> earlier;
  bool in_expressions = false;     ///< since it was set, or at all
  Symbol* weakly_names = nullptr;  ///< .weakref: another name of that symbol, which need not be defined then
  const Expression* size = nullptr;
  std::optional<uint64_t> common_size;            ///< of a common or LDS symbol; `offset` is its alignment
  uint8_t type = 0, binding = 0, visibility = 0;  ///< STT_*, STB_*, STV_*
  uint16_t special_section = 0;                   ///< SHN_COMMON or SHN_AMDGPU_LDS of a common one
  bool binding_set = false;
  bool temporary = false;    ///< ".L...": not in the object's symbol table
  bool redefinable = false;  ///< by .set and '='
  bool registered = false;   ///< in the order of the symbol table
  size_t place_in_order = 0;
  bool is_section = false;  ///< stands for the section's start in relocations
  bool in_relocation = false;
  bool retained = false;  ///< in the symbol table even if nothing else needs it there
  bool being_evaluated = false;
  uint32_t known_in = 0;  ///< Unit's epoch in which `known` is the value that it is set to; 0: none
  int64_t known = 0;
  bool named = false, weakly_named = false;  ///< in expressions by its own name, by a .weakref's

  bool is_label() const { return section != nullptr; }
  bool is_variable() const { return value != nullptr; }
  bool is_defined() const { return is_label() || is_variable() || common_size.has_value(); }
};

enum class Operation : uint8_t {
  none,
  // one operand
  negate,
  complement,
  logical_not,
  plus,
  // two
  add,
  subtract,
  multiply,
  divide,
  remainder,
  shift_left,
  shift_right,
  bit_and,
  bit_or,
  bit_or_not,
  bit_xor,
  logical_and,
  logical_or,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  // functions (AMDGPU user guide, "Assembler", and llvm's AMDGPUMCExpr)
  maximum,
  disjunction,
  align_to,
  extra_sgprs,  ///< (VCC used, FLAT_SCRATCH used, XNACK used)
  total_vgprs,  ///< (AGPRs, VGPRs)
  occupancy,    ///< (most waves, granule, VGPRs there are, generation, waves so far, SGPRs, VGPRs)
};
/// The function of that name ("max", "alignto", ...).
std::optional<Operation> find_function(std::string_view name);

struct Expression {
  enum class Kind : uint8_t { constant, symbol, operation };
  Kind kind = Kind::constant;
  Operation operation = Operation::none;
  Specifier specifier = Specifier::none;
  uint32_t setting =
      0;  ///< of the symbol: an earlier one, or, where that index is the next one, what it is set to last
  int64_t constant = 0;
  Symbol* symbol = nullptr;
  std::vector<const Expression*> operands;
  Place place;
};

/// Calls `visit` for an expression and, where it returns true, for the operands, in the order of the text. A sum may
/// have any number of terms, each of which is one level: so there is no recursion here.
template <typename Visit>
void walk(const Expression& root, const Visit& visit) {
  std::vector<const Expression*> pending{&root};
  while (!pending.empty()) {
    const Expression& at = *pending.back();
    pending.pop_back();
    if (visit(at)) pending.insert(pending.end(), at.operands.rbegin(), at.operands.rend());
  }
}

/// The value of an expression: plus - minus + constant. A number if it has no symbols.
struct Value {
  Symbol* plus = nullptr;
  Symbol* minus = nullptr;
  int64_t constant = 0;
  Specifier specifier = Specifier::none;
  bool is_absolute() const { return plus == nullptr && minus == nullptr; }
};

/// The value of a function or operator over numbers; nothing for a division by zero or the wrong number of operands.
/// Arithmetic wraps around.
std::optional<int64_t> apply(Operation operation, std::span<const int64_t> operands,
                             const target::Processor& processor);

}  // namespace Atoll::assembler

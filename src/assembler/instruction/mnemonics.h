// assembler: the instructions of a processor by the names that a text may give them.
//
// A name stands for one or more forms: an instruction in an encoding, with or without an SDWA or DPP word. A suffix
// asks for one of them; without one, the first that has the operands and modifiers is taken, in the order in which they
// stand here: the base encoding, VOP3, SDWA, DPP, VOP3 with DPP.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isa/code_map.h"
#include "isa/opcode_map.h"

namespace Atoll::assembler {

enum class FormKind : uint8_t { base, vop3, sdwa, dpp, vop3_dpp };

struct Form {
  isa::Opcode opcode = isa::Opcode::invalid;
  isa::Encoding encoding = isa::Encoding::sopp;
  FormKind kind = FormKind::base;

  bool is_dpp() const { return kind == FormKind::dpp || kind == FormKind::vop3_dpp; }
};

/// What a name ends in.
enum class Suffix : uint8_t { none, e32, e64, sdwa, dpp, e64_dpp };

/// Whether a name with that suffix can mean that form.
bool allows(Suffix suffix, const Form& form);

class Mnemonics {
 public:
  explicit Mnemonics(const target::Processor& processor, unsigned wave_size);

  struct Found {
    std::span<const Form> forms;  ///< empty: there is no such instruction
    Suffix suffix = Suffix::none;
  };
  Found find(std::string_view name) const;
  /// The instruction that a half of a dual one is ("v_dual_mul_f32"), or Opcode::invalid.
  isa::Opcode find_dual(std::string_view name) const;

  /// The name that is most like that one, with its suffix; empty if none is similar.
  std::string name_like(std::string_view name) const;

  const isa::CodeMap& codes() const { return codes_; }

 private:
  std::span<const Form> forms_of(std::string_view name) const;
  void add_earlier_names(isa::Opcode opcode);
  void add_forms(std::vector<Form>& forms, isa::Opcode opcode) const;

  const isa::CodeMap& codes_;
  const isa::OpcodeMap& map_;
  std::unordered_map<std::string_view, std::vector<Form>> forms_;
};

/// Returns the names of a processor, which are built on first use.
const Mnemonics& mnemonics_of(const target::Processor& processor, unsigned wave_size);

}  // namespace Atoll::assembler

// assembler: instructions within a text (parser.h): read by an InstructionParser, made bytes by isa::encode.
#include <algorithm>

#include <fmt/format.h>

#include "assembler/instruction/instruction_parser.h"
#include "assembler/syntax/parser.h"
#include "isa/encode.h"
#include "isa/table.h"

namespace Atoll::assembler {

Parser::~Parser() = default;

void Parser::instruction(std::string_view mnemonic, Place place) {
  const target::Processor& processor = *target_.processor;
  const unsigned wave_size = options_.wave32 ? 32 : 64;
  const Mnemonics& mnemonics = mnemonics_of(processor, wave_size);
  if (!instructions_) {
    instructions_ = std::make_unique<InstructionParser>(*this, unit_, source_, mnemonics, mnemonics.codes().map);
  }
  const bool good = instructions_->parse(mnemonic, place);
  count_registers();
  if (!good) return;
  const ParsedInstruction& parsed = instructions_->result();
  auto encoded = isa::encode(parsed.instruction, processor, wave_size);
  if (!encoded && parsed.otherwise) {
    const auto other = isa::encode(*parsed.otherwise, processor, wave_size);
    if (other) encoded = other;
  }
  if (!encoded) {
    error(place, encoded.error().message);
    return;
  }
  unit_.emit(encoded->view());
  if (parsed.literal != nullptr) {
    unit_.keep_symbols_of(*parsed.literal);
    const uint8_t size = parsed.instruction.wide_literal ? 8 : 4;
    unit_.add_fixup(
        {.size = size, .pc_relative = counts_from_place(*parsed.literal), .expression = parsed.literal, .place = place},
        size);
  }
  if (parsed.branch != nullptr) {
    unit_.keep_symbols_of(*parsed.branch);
    unit_.add_fixup({.kind = Fixup::Kind::branch, .size = 2, .expression = parsed.branch, .place = place},
                    encoded->size);
    if (mnemonics.codes().map.layout.branch_needs_nop && parsed.instruction.encoding == isa::Encoding::sopp) {
      unit_.emit_tail({.kind = Tail::Kind::branch_nop, .place = place});
    }
  }
}

/// Whether a literal counts from its own place: a symbol's address does, unless it says otherwise; a difference of two
/// is a number.
bool Parser::counts_from_place(const Expression& value) {
  bool counts = false;
  walk(value, [&](const Expression& part) {
    if (part.kind == Expression::Kind::symbol && part.specifier != Specifier::abs32_lo &&
        part.specifier != Specifier::abs32_hi && part.specifier != Specifier::abs64) {
      counts = true;
    }
    return !counts && part.operation != Operation::subtract;
  });
  return counts;
}

/// .amdgcn.next_free_vgpr and .amdgcn.next_free_sgpr grow with the registers that instructions name; a text may set
/// them back.
void Parser::count_registers() {
  const auto grow = [&](Symbol& symbol, unsigned count) {
    if (symbol.value->kind == Expression::Kind::constant && symbol.value->constant >= count) return;
    const auto now = unit_.absolute(*symbol.value);
    if (now && *now < count) unit_.set_value(symbol, unit_.constant(count));
  };
  grow(*next_free_vgpr_, instructions_->vgprs());
  grow(*next_free_sgpr_, instructions_->sgprs());
}

/// The symbols that every text has (user guide, "Assembler", "Predefined Symbols").
void Parser::predefine_symbols() {
  const auto define = [&](std::string_view name, unsigned value) {
    Symbol& symbol = unit_.symbol(name);
    symbol.redefinable = true;
    symbol.value = &unit_.constant(value);
    return &symbol;
  };
  const target::IsaVersion version = target::isa_version(*target_.processor);
  define(".amdgcn.gfx_generation_number", version.major);
  define(".amdgcn.gfx_generation_minor", version.minor);
  define(".amdgcn.gfx_generation_stepping", version.stepping);
  next_free_vgpr_ = define(".amdgcn.next_free_vgpr", 0);
  next_free_sgpr_ = define(".amdgcn.next_free_sgpr", 0);
}

}  // namespace Atoll::assembler

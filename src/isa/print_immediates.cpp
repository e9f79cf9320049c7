// isa: the printer's immediates of SOPK, SOPP and SOPC, many of which have names: counters, messages, hardware
// registers.
#include <array>
#include <span>
#include <string>

#include "isa/immediate_names.h"
#include "isa/modifier_names.h"
#include "isa/printer.h"

namespace Atoll::isa {

void Printer::scalar_with_immediate() {
  if (row_.has(flag::hwreg) && in_.destinations == 0) {  // s_setreg: the register comes first
    separator();
    hwreg();
    operands();
    return;
  }
  operands();
  immediate();
}

void Printer::immediate() {
  if (in_.opcode == Opcode::s_endpgm) {
    if (in_.immediate != 0) {
      separator();
      decimal(in_.immediate);
    }
  } else if (row_.has(flag::label)) {
    separator();
    decimal(in_.immediate);
  } else if (row_.has(flag::hwreg)) {
    separator();
    hwreg();
  } else if (row_.has(flag::waitcnt)) {
    separator();
    waitcnt();
  } else if (row_.has(flag::message)) {
    separator();
    message();
  } else if (row_.has(flag::depctr)) {
    separator();
    depctr();
  } else if (row_.has(flag::delay)) {
    separator();
    delay();
  } else if (row_.has(flag::version)) {
    separator();
    version();
  } else if (row_.has(flag::gpr_index_imm)) {
    separator();
    gpr_index();
  } else if (row_.has(flag::simm16)) {
    separator();
    if (in_.encoding == Encoding::sopk || row_.has(flag::hex_immediate)) {
      hexadecimal(in_.immediate);
    } else {
      small_or_hexadecimal(in_.immediate);
    }
  }
}

void Printer::hwreg() {
  const unsigned id = in_.immediate & 63, first_bit = in_.immediate >> 6 & 31, width = (in_.immediate >> 11) + 1u;
  text_ += "hwreg(";
  if (const NamedValue* found = find_value(hardware_registers(), id, map_.generation)) {
    (text_ += "HW_REG_") += found->name;
  } else {
    decimal(id);
  }
  if (first_bit != 0 || width != 32) {
    text_ += ", ";
    decimal(first_bit);
    text_ += ", ";
    decimal(width);
  }
  text_ += ')';
}

/// Counters that something is waited for; all of them if nothing is.
void Printer::counters(std::span<const CounterField> all, std::string_view separator) {
  const auto each = [&](auto&& visit) {
    for (const CounterField& field : all) {
      if (field.first > map_.generation || field.last < map_.generation) continue;
      const unsigned low = in_.immediate >> field.low.low & ((1u << field.low.count) - 1);
      const unsigned high = in_.immediate >> field.high.low & ((1u << field.high.count) - 1);
      visit(field, low | high << field.low.count, (1u << (field.low.count + field.high.count)) - 1);
    }
  };
  bool nothing = true, first = true;
  each([&](const CounterField&, unsigned count, unsigned most) { nothing &= count == most; });
  each([&](const CounterField& field, unsigned count, unsigned most) {
    if (count == most && !nothing) return;
    if (!first) text_ += separator;
    first = false;
    ((text_ += field.name) += '(');
    decimal(count);
    text_ += ')';
  });
}

void Printer::waitcnt() { counters(wait_counters(), " "); }

/// Bits that belong to no counter must be zero.
void Printer::depctr() {
  unsigned used = 0;
  for (const CounterField& field : dependency_counters()) {
    if (field.first <= map_.generation) used |= ((1u << field.low.count) - 1) << field.low.low;
  }
  if ((in_.immediate & ~used) != 0) return hexadecimal(in_.immediate);
  counters(dependency_counters(), " ");
}

/// s_delay_alu: which instructions before it and after it depend on which (ISA guide of GFX11, "S_DELAY_ALU").
void Printer::delay() {
  bool any = false;
  const auto part = [&](unsigned value, std::span<const std::string_view> names, std::string_view name,
                        std::string_view invalid) {
    if (value == 0) return;
    if (any) text_ += " | ";
    any = true;
    (((text_ += name) += '(') += value < names.size() ? names[value] : invalid) += ')';
  };
  part(in_.immediate & 15, names::delay_dependencies, "instid0", "/* invalid instid value */");
  part(in_.immediate >> 4 & 7, names::delay_skips, "instskip", "/* invalid instskip value */");
  part(in_.immediate >> 7 & 15, names::delay_dependencies, "instid1", "/* invalid instid value */");
  if (!any) text_ += '0';
}

/// s_version: the shader compiler's version and for which wave size the code is.
void Printer::version() {
  constexpr unsigned version_bits = 0xFF, known = 0xE000 | version_bits;
  if ((in_.immediate & ~known) != 0) return hexadecimal(in_.immediate);
  std::string all;
  bool compound = false;
  for (const names::NamedNumber& part : names::shader_versions) {
    const bool is_version = part.value <= version_bits;
    if (is_version && part.value == (in_.immediate & version_bits)) all = part.name;
    if (is_version || (in_.immediate & part.value) == 0) continue;
    if (all.empty()) all = std::to_string(in_.immediate & version_bits);
    if (compound) all = '(' + all + ')';
    (all += '|') += part.name;
    compound = true;
  }
  text_ += all.empty() ? std::to_string(in_.immediate & version_bits) : all;
}

void Printer::message() { message(in_.immediate); }

void Printer::message(unsigned value) {
  // Messages have an operation and a stream until GFX10.
  const bool plain_number = map_.generation >= target::Generation::gfx11;
  const unsigned id = value & (plain_number ? 255 : 15), operation = plain_number ? 0 : value >> 4 & 7,
                 stream = plain_number ? 0 : value >> 8 & 3;
  const NamedValue* const named = find_value(messages(), id, map_.generation);
  const std::string_view name = named == nullptr ? std::string_view() : named->name;
  std::string_view operation_kind, operation_name;
  bool valid = named != nullptr, has_stream = false;
  if (name == "GS" || name == "GS_DONE") {
    valid = operation < names::gs_operations.size() && (operation != 0 || name == "GS_DONE");
    if (valid) operation_name = names::gs_operations[operation];
    operation_kind = "GS_OP_";
    has_stream = operation != 0;
  } else if (name == "SYSMSG") {
    valid = operation < names::system_operations.size() && !names::system_operations[operation].empty() &&
            (operation != names::host_trap_acknowledged || map_.generation < target::Generation::gfx9);
    if (valid) operation_name = names::system_operations[operation];
    operation_kind = "SYSMSG_OP_";
  } else {
    valid = valid && operation == 0;
  }
  valid = valid && (has_stream || stream == 0);
  const bool plain = (id | operation << 4 | stream << 8) == value;
  if (!valid && !plain) return decimal(value);
  text_ += "sendmsg(";
  if (valid) {
    (text_ += "MSG_") += name;
    if (!operation_name.empty()) ((text_ += ", ") += operation_kind) += operation_name;
    if (has_stream) {
      text_ += ", ";
      decimal(stream);
    }
  } else {
    decimal(id);
    text_ += ", ";
    decimal(operation);
    text_ += ", ";
    decimal(stream);
  }
  text_ += ')';
}

void Printer::gpr_index() {
  if (in_.immediate > 15) return hexadecimal(in_.immediate);
  text_ += "gpr_idx(";
  bool comma = false;
  for (unsigned i = 0; i < names::gpr_index_modes.size(); ++i) {
    if ((in_.immediate >> i & 1) == 0) continue;
    if (comma) text_ += ',';
    comma = true;
    text_ += names::gpr_index_modes[i];
  }
  text_ += ')';
}

}  // namespace Atoll::isa

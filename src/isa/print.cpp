// isa: the printer.
//
// Text is mnemonic, operands in the order of the row, modifiers. What prints specially (immediates with names,
// swizzles, DPP controls) has a function each. The reference is LLVM 22's printer, which tests/isa compares with.
#include "isa/print.h"

#include <array>
#include <bit>
#include <charconv>
#include <optional>

#include "isa/table.h"

namespace Atoll::isa {
namespace {

struct Renamed {
  Opcode opcode;
  target::Generation since;
  std::string_view before;
};

constexpr Renamed renamed[] = {
#define ATOLL_RENAMED(name, since, before) {Opcode::name, target::Generation::since, #before},
#include "isa/table/renamed.inc"
#undef ATOLL_RENAMED
};

std::string_view name_on(Opcode opcode, target::Generation generation) {
  if (row(opcode).has(flag::matrix)) {
    for (const Renamed& entry : renamed) {
      if (entry.opcode == opcode && generation < entry.since) return entry.before;
    }
  }
  return row(opcode).name;
}

class Printer {
 public:
  Printer(const Instruction& instruction, const target::Processor& processor)
      : in_(instruction), row_(row(instruction.opcode)), processor_(processor) {}

  std::string run() {
    text_.reserve(64);
    text_ += name_on(in_.opcode, processor_.generation);
    suffix();
    switch (in_.encoding) {
      case Encoding::sopk:
      case Encoding::sopp:
      case Encoding::sopc:
        scalar_with_immediate();
        break;
      case Encoding::exp:
        export_operands();
        break;
      default:
        operands();
        break;
    }
    modifiers();
    return std::move(text_);
  }

 private:
  void decimal(int64_t value) {
    char buffer[24];
    text_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
  void hexadecimal(uint64_t value) {
    char buffer[24];
    text_ += "0x";
    text_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, 16).ptr);
  }
  void small_or_hexadecimal(uint64_t value) {
    if (value <= 64) {
      decimal(static_cast<int64_t>(value));
    } else {
      hexadecimal(value);
    }
  }
  void separator() {
    text_ += first_ ? " " : ", ";
    first_ = false;
  }
  void flag(bool is_set, std::string_view name) {
    if (is_set) (text_ += ' ') += name;
  }

  void suffix();
  void operands();
  void export_operands();
  void scalar_with_immediate();
  void operand(const Operand& operand, const OperandSpec& spec);
  void value(const Operand& operand);
  void registers(std::string_view file, unsigned first, unsigned count);
  void scalar_registers(const Operand& operand);
  void constant(const Operand& operand);
  void literal(DataType type);
  void immediate();
  void hwreg();
  void waitcnt();
  void message();
  void gpr_index();
  void byte_select();
  void select_list(const std::array<bool, 4>& all);

  void modifiers();
  void vector_modifiers();
  void packed_modifiers();
  void matrix_modifiers();
  void sdwa();
  void dpp();
  void list(std::string_view name, bool Operand::* member, bool usual, bool with_destination);
  void offset();
  void swizzle();
  void cache_policy();
  void typed_format();

  const Instruction& in_;
  const InstructionRow& row_;
  const target::Processor& processor_;
  std::string text_;
  bool first_ = true;
};

// --- Mnemonic and operands ----------------------------------------------------------------------------------------

void Printer::suffix() {
  if (in_.operand_count == 0) return;
  if (in_.extension == Extension::sdwa) {
    text_ += "_sdwa";
  } else if (in_.extension == Extension::dpp16 || in_.extension == Extension::dpp8) {
    text_ += "_dpp";
  } else if (row_.has(flag::vop3) && !row_.opcodes.on(processor_.generation).vop3_only) {
    text_ += in_.encoding == Encoding::vop3 ? "_e64" : "_e32";
  }
}

/// Whether the text leaves that operand out.
bool hidden(Field field) { return field == Field::vcc_in; }

void Printer::operands() {
  unsigned position = 0;
  for (const OperandSpec& spec : row_.operands) {
    if (spec.field == Field::none || position == in_.operand_count) break;
    const Operand& op = in_.operands[position];
    if (spec.field == Field::flat_return && !in_.glc) continue;
    if (in_.lds && (spec.field == Field::flat_dst || spec.field == Field::buffer_data)) continue;
    ++position;
    if (hidden(spec.field)) continue;
    separator();
    operand(op, spec);
  }
  if (in_.encoding == Encoding::smem && in_.operand_count != 0 && row_.operands[1].field != Field::none) {
    // The offset stands in soffset's place if there is no soffset, behind it otherwise.
    if (!in_.offset_immediate) return;
    if (in_.offset_register) {
      text_ += " offset:";
    } else {
      separator();
    }
    if (in_.offset < 0) text_ += '-';
    hexadecimal(static_cast<uint64_t>(std::abs(static_cast<int64_t>(in_.offset))));
  }
}

void Printer::export_operands() {
  struct Target {
    uint8_t first, last;
    std::string_view name;
    bool numbered;
  };
  constexpr std::array targets{Target{0, 7, "mrt", true}, Target{8, 8, "mrtz", false}, Target{9, 9, "null", false},
                               Target{12, 15, "pos", true}, Target{32, 63, "param", true}};
  text_ += ' ';
  const Target* found = nullptr;
  for (const Target& target : targets) {
    if (in_.export_target >= target.first && in_.export_target <= target.last) found = &target;
  }
  text_ += found == nullptr ? "invalid_target_" : found->name;
  if (found == nullptr) {
    decimal(in_.export_target);
  } else if (found->numbered) {
    decimal(in_.export_target - found->first);
  }
  operands();
}

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
  } else if (row_.has(flag::gpr_index_imm)) {
    separator();
    gpr_index();
  } else if (row_.has(flag::simm16)) {
    separator();
    if (in_.encoding == Encoding::sopk) {
      hexadecimal(in_.immediate);
    } else {
      small_or_hexadecimal(in_.immediate);
    }
  }
}

void Printer::operand(const Operand& op, const OperandSpec& spec) {
  if (spec.field == Field::interp_slot) {
    constexpr std::array<std::string_view, 3> slots{"p10", "p20", "p0"};
    if (op.value < slots.size()) {
      text_ += slots[op.value];
    } else {
      text_ += "invalid_param_";
      decimal(static_cast<int64_t>(op.value));
    }
    return;
  }
  if (spec.field == Field::attribute) {
    text_ += "attr";
    decimal(static_cast<int64_t>(op.value & 63));
    text_ += '.';
    text_ += "xyzw"[op.value >> 6 & 3];
    return;
  }
  if (spec.field == Field::literal) return in_.encoding == Encoding::sopk ? constant(op) : hexadecimal(in_.literal);
  if (spec.field == Field::sdata_imm) return small_or_hexadecimal(op.value);
  // "-1" would be another constant than a negated 1.
  const bool packed = in_.encoding == Encoding::vop3p && !row_.has(flag::mix);
  const bool neg = op.neg && !packed;
  const bool spelled = neg && !op.abs && op.kind == OperandKind::constant;
  if (spelled) {
    text_ += "neg(";
  } else if (neg) {
    text_ += '-';
  }
  if (op.abs) text_ += '|';
  if (op.sext) text_ += "sext(";
  value(op);
  if (op.sext) text_ += ')';
  if (op.abs) text_ += '|';
  if (spelled) text_ += ')';
}

void Printer::registers(std::string_view file, unsigned first, unsigned count) {
  text_ += file;
  if (count == 1) {
    decimal(first);
    return;
  }
  text_ += '[';
  decimal(first);
  text_ += ':';
  decimal(first + count - 1);
  text_ += ']';
}

void Printer::scalar_registers(const Operand& op) {
  namespace s = scalar;
  if (op.reg < s::vcc_lo) return registers("s", op.reg, op.words);
  if (op.reg >= s::ttmp0 && op.reg < s::m0) return registers("ttmp", op.reg - s::ttmp0, op.words);
  if (op.reg == s::m0 || op.reg == s::null) {
    text_ += op.reg == s::m0 ? "m0" : "null";
    return;
  }
  struct Pair {
    uint16_t low;
    std::string_view name;
  };
  constexpr std::array pairs{Pair{s::vcc_lo, "vcc"},
                             Pair{s::exec_lo, "exec"},
                             Pair{s::flat_scratch_lo, "flat_scratch"},
                             Pair{s::xnack_mask_lo, "xnack_mask"},
                             Pair{s::tba_lo, "tba"},
                             Pair{s::tma_lo, "tma"}};
  for (const Pair& pair : pairs) {
    if ((op.reg & ~1) != pair.low) continue;
    text_ += pair.name;
    if (op.words == 1) text_ += (op.reg & 1) != 0 ? "_hi" : "_lo";
    return;
  }
}

void Printer::value(const Operand& op) {
  switch (op.kind) {
    case OperandKind::none:
      break;
    case OperandKind::vgpr:
      registers("v", op.reg, op.words);
      break;
    case OperandKind::agpr:
      registers("a", op.reg, op.words);
      break;
    case OperandKind::scalar:
      scalar_registers(op);
      break;
    case OperandKind::constant:
      constant(op);
      break;
    case OperandKind::vccz:
      text_ += "src_vccz";
      break;
    case OperandKind::execz:
      text_ += "src_execz";
      break;
    case OperandKind::scc:
      text_ += "src_scc";
      break;
    case OperandKind::shared_base:
      text_ += "src_shared_base";
      break;
    case OperandKind::shared_limit:
      text_ += "src_shared_limit";
      break;
    case OperandKind::private_base:
      text_ += "src_private_base";
      break;
    case OperandKind::private_limit:
      text_ += "src_private_limit";
      break;
    case OperandKind::pops_exiting_wave_id:
      text_ += "src_pops_exiting_wave_id";
      break;
    case OperandKind::lds_direct:
      text_ += "src_lds_direct";
      break;
    case OperandKind::off:
      text_ += "off";
      break;
  }
}

/// The text of the inline floats in order of their codes; 1 / (2 pi) is the last.
constexpr std::array<std::string_view, 9> float_names{"0.5",  "-0.5", "1.0",  "-1.0",      "2.0",
                                                      "-2.0", "4.0",  "-4.0", "0.15915494"};
using FloatPatterns = std::array<uint64_t, 9>;
constexpr FloatPatterns f16_patterns{0x3800, 0xB800, 0x3C00, 0xBC00, 0x4000, 0xC000, 0x4400, 0xC400, 0x3118};
constexpr FloatPatterns bf16_patterns{0x3F00, 0xBF00, 0x3F80, 0xBF80, 0x4000, 0xC000, 0x4080, 0xC080, 0x3E22};
constexpr FloatPatterns f32_patterns{0x3F000000, 0xBF000000, 0x3F800000, 0xBF800000, 0x40000000,
                                     0xC0000000, 0x40800000, 0xC0800000, 0x3E22F983};
constexpr FloatPatterns f64_patterns{0x3FE0000000000000, 0xBFE0000000000000, 0x3FF0000000000000,
                                     0xBFF0000000000000, 0x4000000000000000, 0xC000000000000000,
                                     0x4010000000000000, 0xC010000000000000, 0x3FC45F306DC9C882};

/// How constants of a type are looked at: how many bits count, and which patterns have names.
struct ConstantFormat {
  unsigned width;
  const FloatPatterns* names;
};

ConstantFormat constant_format(DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::v2f16:
      return {16, &f16_patterns};
    case DataType::bf16:
    case DataType::v2bf16:
      return {16, &bf16_patterns};
    case DataType::i16:
    case DataType::u16:
    case DataType::b16:
      return {16, nullptr};
    case DataType::f64:
    case DataType::b64:
    case DataType::i64:
    case DataType::u64:
      return {64, &f64_patterns};
    default:
      return {32, &f32_patterns};
  }
}

/// `value` if it is small enough for an inline integer, sign-extended from `width` bits.
std::optional<int64_t> inline_integer(uint64_t value, unsigned width) {
  const int64_t extended = static_cast<int64_t>(value << (64 - width)) >> (64 - width);
  if (extended < -16 || extended > 64) return std::nullopt;
  return extended;
}

/// The name of an inline float with that pattern, or nothing.
std::string_view inline_float(uint64_t value, ConstantFormat format) {
  if (format.names == nullptr) return {};
  const uint64_t pattern = format.width == 64 ? value : value & ((uint64_t{1} << format.width) - 1);
  for (unsigned i = 0; i < float_names.size(); ++i) {
    if (pattern != (*format.names)[i]) continue;
    return format.width == 64 && i == 8 ? "0.15915494309189532" : float_names[i];
  }
  return {};
}

void Printer::constant(const Operand& op) {
  const ConstantFormat format = constant_format(op.type);
  // LLVM shows that something is a literal, except where it stands for an immediate, and for doubles.
  if (op.is_literal && in_.encoding != Encoding::sopk && op.type != DataType::f64) return literal(op.type);
  if (const auto integer = inline_integer(op.value, format.width)) return decimal(*integer);
  if (const std::string_view name = inline_float(op.value, format); !name.empty()) {
    text_ += name;
  } else if (op.is_literal) {
    hexadecimal(in_.literal);
  } else {
    hexadecimal(format.width == 16 ? static_cast<uint16_t>(op.value) : op.value);
  }
}

/// A literal that could be inline is printed as lit(...), which keeps an assembler from making it so.
void Printer::literal(DataType type) {
  ConstantFormat format = constant_format(type);
  const bool half = type == DataType::f16 || type == DataType::bf16,
             short_integer = format.width == 16 && format.names == nullptr;
  bool could_be_inline = false;
  if (format.width == 64) {
    could_be_inline = in_.literal <= 64;
  } else {
    // A half is looked at as 16 bits, everything else as 32: packed halves, too, and short integers, like long ones.
    if (!half) format.width = 32;
    if (short_integer) format.names = &f32_patterns;
    could_be_inline = inline_integer(in_.literal, format.width) || !inline_float(in_.literal, format).empty();
  }
  if (could_be_inline) {
    text_ += "lit(";
    hexadecimal(in_.literal);
    text_ += ')';
  } else {
    hexadecimal(type == DataType::f16 || short_integer ? static_cast<uint16_t>(in_.literal) : in_.literal);
  }
}

// --- Immediates with names --------------------------------------------------------------------------------------

void Printer::hwreg() {
  // The user guide's and the ISA guides' "Hardware registers" (s_getreg, s_setreg).
  constexpr std::array<std::string_view, 25> names{"",
                                                   "HW_REG_MODE",
                                                   "HW_REG_STATUS",
                                                   "HW_REG_TRAPSTS",
                                                   "HW_REG_HW_ID",
                                                   "HW_REG_GPR_ALLOC",
                                                   "HW_REG_LDS_ALLOC",
                                                   "HW_REG_IB_STS",
                                                   "",
                                                   "",
                                                   "",
                                                   "",
                                                   "",
                                                   "",
                                                   "",
                                                   "HW_REG_SH_MEM_BASES",
                                                   "HW_REG_TBA_LO",
                                                   "HW_REG_TBA_HI",
                                                   "HW_REG_TMA_LO",
                                                   "HW_REG_TMA_HI",
                                                   "HW_REG_XCC_ID",
                                                   "HW_REG_SQ_PERF_SNAPSHOT_DATA",
                                                   "HW_REG_SQ_PERF_SNAPSHOT_DATA1",
                                                   "HW_REG_SQ_PERF_SNAPSHOT_PC_LO",
                                                   "HW_REG_SQ_PERF_SNAPSHOT_PC_HI"};
  constexpr unsigned first_of_gfx940 = 20;
  const unsigned id = in_.immediate & 63, first_bit = in_.immediate >> 6 & 31, width = (in_.immediate >> 11) + 1u;
  const bool named = id < names.size() && !names[id].empty() &&
                     (id < first_of_gfx940 || processor_.has(target::Feature::gfx940_insts));
  text_ += "hwreg(";
  if (named) {
    text_ += names[id];
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

void Printer::waitcnt() {
  const unsigned value = in_.immediate;
  const unsigned vm = (value & 15) | (value >> 14 & 3) << 4, exp = value >> 4 & 7, lgkm = value >> 8 & 15;
  const bool all = vm == 63 && exp == 7 && lgkm == 15;
  bool space = false;
  const auto counter = [&](unsigned count, unsigned most, std::string_view name) {
    if (count == most && !all) return;
    if (space) text_ += ' ';
    space = true;
    text_ += name;
    text_ += '(';
    decimal(count);
    text_ += ')';
  };
  counter(vm, 63, "vmcnt");
  counter(exp, 7, "expcnt");
  counter(lgkm, 15, "lgkmcnt");
}

void Printer::message() {
  constexpr std::array<std::string_view, 16> names{"",
                                                   "MSG_INTERRUPT",
                                                   "MSG_GS",
                                                   "MSG_GS_DONE",
                                                   "MSG_SAVEWAVE",
                                                   "MSG_STALL_WAVE_GEN",
                                                   "MSG_HALT_WAVES",
                                                   "MSG_ORDERED_PS_DONE",
                                                   "MSG_EARLY_PRIM_DEALLOC",
                                                   "MSG_GS_ALLOC_REQ",
                                                   "MSG_GET_DOORBELL",
                                                   "",
                                                   "",
                                                   "",
                                                   "",
                                                   "MSG_SYSMSG"};
  constexpr std::array<std::string_view, 4> gs_operations{"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"};
  constexpr std::array<std::string_view, 5> system_operations{"", "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD",
                                                              "SYSMSG_OP_HOST_TRAP_ACK", "SYSMSG_OP_TTRACE_PC"};
  constexpr unsigned gs = 2, gs_done = 3, system = 15;
  const unsigned id = in_.immediate & 15, operation = in_.immediate >> 4 & 7, stream = in_.immediate >> 8 & 3;
  std::string_view operation_name;
  bool valid = !names[id].empty(), has_stream = false;
  if (id == gs || id == gs_done) {
    valid = operation < gs_operations.size() && (operation != 0 || id == gs_done);
    if (valid) operation_name = gs_operations[operation];
    has_stream = operation != 0;
  } else if (id == system) {
    valid = operation != 0 && operation < system_operations.size();
    if (valid) operation_name = system_operations[operation];
  } else {
    valid = valid && operation == 0;
  }
  valid = valid && (has_stream || stream == 0);
  const bool plain = (id | operation << 4 | stream << 8) == in_.immediate;
  if (!valid && !plain) return decimal(in_.immediate);
  text_ += "sendmsg(";
  if (valid) {
    text_ += names[id];
    if (!operation_name.empty()) (text_ += ", ") += operation_name;
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
  constexpr std::array<std::string_view, 4> names{"SRC0", "SRC1", "SRC2", "DST"};
  if (in_.immediate > 15) return hexadecimal(in_.immediate);
  text_ += "gpr_idx(";
  bool comma = false;
  for (unsigned i = 0; i < names.size(); ++i) {
    if ((in_.immediate >> i & 1) == 0) continue;
    if (comma) text_ += ',';
    comma = true;
    text_ += names[i];
  }
  text_ += ')';
}

// --- Modifiers --------------------------------------------------------------------------------------------------

void Printer::modifiers() {
  switch (in_.encoding) {
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc:
    case Encoding::vop3:
      return vector_modifiers();
    case Encoding::vop3p:
      return row_.has(flag::matrix) ? matrix_modifiers() : packed_modifiers();
    case Encoding::smem:
      return flag(in_.glc, "glc");
    case Encoding::ds:
      return offset(), flag(in_.gds, "gds");
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch:
      return offset(), cache_policy(), flag(in_.lds, "lds");
    case Encoding::mtbuf:
    case Encoding::mubuf:
      if (in_.encoding == Encoding::mtbuf) typed_format();
      flag(in_.idxen, "idxen");
      flag(in_.offen, "offen");
      offset();
      if (row_.has(flag::from_lds)) text_ += " lds";
      cache_policy();
      flag(in_.tfe, "tfe");
      flag(in_.lds && !row_.has(flag::from_lds), "lds");
      return;
    case Encoding::mimg:
      if (in_.dmask != 0) {
        text_ += " dmask:";
        hexadecimal(in_.dmask);
      }
      flag(in_.unorm, "unorm");
      cache_policy();
      flag(in_.a16, "a16");
      flag(in_.tfe, "tfe");
      flag(in_.lwe, "lwe");
      flag(in_.da, "da");
      flag(in_.d16, "d16");
      return;
    case Encoding::exp:
      flag(in_.done, "done");
      flag(in_.compressed, "compr");
      flag(in_.valid_mask, "vm");
      return;
    default:
      return;
  }
}

void Printer::list(std::string_view name, bool Operand::* member, bool usual, bool with_destination) {
  bool unusual = with_destination && in_.op_sel_dst;
  for (unsigned i = in_.destinations; i < in_.operand_count; ++i) unusual |= in_.operands[i].*member != usual;
  if (!unusual) return;
  ((text_ += ' ') += name) += ":[";
  for (unsigned i = in_.destinations; i < in_.operand_count; ++i) {
    if (i != in_.destinations) text_ += ',';
    text_ += in_.operands[i].*member ? '1' : '0';
  }
  if (with_destination) (text_ += ',') += in_.op_sel_dst ? '1' : '0';
  text_ += ']';
}

void Printer::vector_modifiers() {
  if (row_.has(flag::bitop3) && in_.immediate != 0) {
    text_ += " bitop3:";
    if (in_.immediate <= 10) {
      decimal(in_.immediate);
    } else {
      hexadecimal(in_.immediate);
    }
  }
  if (in_.encoding == Encoding::vop3) {
    for (unsigned i = 0; i < in_.operand_count; ++i) {
      flag(row_.operands[i].field == Field::attribute && (in_.operands[i].value >> 8 & 1) != 0, "high");
    }
    if (row_.has(flag::op_sel4)) byte_select();
    if (row_.has(flag::op_sel)) list("op_sel", &Operand::op_sel, false, true);
    if (row_.has(flag::swap_control)) {
      flag(in_.dpp.bound_ctrl, "bound_ctrl:1");
      flag(in_.dpp.fetch_inactive, "fi:1");
    }
  }
  flag(in_.clamp, "clamp");
  if (row_.has(flag::op_sel_dst)) {  // behind clamp, as v_interp_p2_f16 alone has it
    const std::array all{in_.operands[2].op_sel, false, in_.operands[3].op_sel, in_.op_sel_dst};
    select_list(all);
  }
  constexpr std::array<std::string_view, 4> omods{"", " mul:2", " mul:4", " div:2"};
  text_ += omods[in_.omod];
  if (in_.extension == Extension::sdwa) sdwa();
  if (in_.extension == Extension::dpp16) dpp();
}

/// op_sel of an instruction whose result is one byte of the destination: sources, then the byte's number.
void Printer::byte_select() {
  const auto byte = static_cast<unsigned>(in_.dst_sel) & 3;
  const std::array all{in_.src(0).op_sel, in_.src(1).op_sel, (byte & 1) != 0, (byte & 2) != 0};
  select_list(all);
}

void Printer::select_list(const std::array<bool, 4>& all) {
  if (all == std::array{false, false, false, false}) return;
  text_ += " op_sel:[";
  for (unsigned i = 0; i < all.size(); ++i) {
    if (i != 0) text_ += ',';
    text_ += all[i] ? '1' : '0';
  }
  text_ += ']';
}

void Printer::packed_modifiers() {
  if (row_.has(flag::op_sel)) {
    list("op_sel", &Operand::op_sel, false, false);
    list("op_sel_hi", &Operand::op_sel_hi, !row_.has(flag::mix), false);
  }
  if (!row_.has(flag::mix)) {
    list("neg_lo", &Operand::neg, false, false);
    list("neg_hi", &Operand::neg_hi, false, false);
  }
  flag(in_.clamp, "clamp");
}

void Printer::matrix_modifiers() {
  const auto number = [&](std::string_view name, unsigned value) {
    if (value == 0) return;
    (text_ += ' ') += name;
    decimal(value);
  };
  if (row_.has(flag::scaled)) {  // lists of three, of which the third is nothing
    const Operand &first = in_.operands[4], &second = in_.operands[5];
    const auto three = [&](std::string_view name, bool a, bool b) {
      (((((text_ += name) += a ? '1' : '0') += ',') += b ? '1' : '0') += ",0]");
    };
    if (first.op_sel || second.op_sel) three(" op_sel:[", first.op_sel, second.op_sel);
    three(" op_sel_hi:[", first.op_sel_hi, second.op_sel_hi);
  }
  number("cbsz:", in_.cbsz);
  number("abid:", in_.abid);
  const bool doubles = row_.operands[3].field == Field::matrix_acc_f64;
  if (doubles && processor_.has(target::Feature::gfx940_insts)) {  // blgp negates the sources of doubles
    if (in_.blgp == 0) return;
    text_ += " neg:[";
    for (unsigned i = 0; i < 3; ++i) {
      if (i != 0) text_ += ',';
      text_ += (in_.blgp >> i & 1) != 0 ? '1' : '0';
    }
    text_ += ']';
    return;
  }
  number("blgp:", in_.blgp);
}

void Printer::sdwa() {
  constexpr std::array<std::string_view, 7> selects{"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                                    "WORD_0", "WORD_1", "DWORD"};
  constexpr std::array<std::string_view, 3> unused{"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  if (in_.encoding != Encoding::vopc && !row_.has(flag::sdwa_whole)) {
    (text_ += " dst_sel:") += selects[static_cast<size_t>(in_.dst_sel)];
    (text_ += " dst_unused:") += unused[static_cast<size_t>(in_.dst_unused)];
  }
  for (unsigned i = 0; i < in_.operand_count; ++i) {
    const Field field = row_.operands[i].field;
    if (field != Field::src0 && field != Field::src1) continue;
    text_ += field == Field::src0 ? " src0_sel:" : " src1_sel:";
    text_ += selects[static_cast<size_t>(in_.operands[i].sdwa)];
  }
}

void Printer::dpp() {
  const unsigned control = in_.dpp.control;
  constexpr std::array<std::string_view, 4> wave{"wave_shl:1", "wave_rol:1", "wave_shr:1", "wave_ror:1"};
  constexpr std::array<std::string_view, 4> rows{"row_mirror", "row_half_mirror", "row_bcast:15", "row_bcast:31"};
  text_ += ' ';
  if (control < 0x100) {
    text_ += "quad_perm:[";
    for (unsigned i = 0; i < 4; ++i) {
      if (i != 0) text_ += ',';
      decimal(control >> (2 * i) & 3);
    }
    text_ += ']';
  } else {
    switch (control >> 4) {
      case 0x10:
        text_ += "row_shl:";
        break;
      case 0x11:
        text_ += "row_shr:";
        break;
      case 0x12:
        text_ += "row_ror:";
        break;
      case 0x13:
        text_ += wave[control >> 2 & 3];
        break;
      case 0x14:
        text_ += rows[control & 3];
        break;
      default:
        text_ += "row_newbcast:";
        break;
    }
    if ((control >> 4) != 0x13 && (control >> 4) != 0x14) decimal(control & 15);
  }
  text_ += " row_mask:";
  hexadecimal(in_.dpp.row_mask);
  text_ += " bank_mask:";
  hexadecimal(in_.dpp.bank_mask);
  flag(in_.dpp.bound_ctrl, "bound_ctrl:1");
}

void Printer::offset() {
  if (in_.opcode == Opcode::ds_swizzle_b32) return swizzle();
  const bool two = row_.has(flag::two_offsets);
  if (in_.offset != 0) {
    text_ += two ? " offset0:" : " offset:";
    decimal(in_.offset);
  }
  if (two && in_.offset1 != 0) {
    text_ += " offset1:";
    decimal(in_.offset1);
  }
}

/// The modes of ds_swizzle_b32 (ISA guide, "DS_SWIZZLE_B32").
void Printer::swizzle() {
  const unsigned value = static_cast<unsigned>(in_.offset);
  if (value == 0) return;
  text_ += " offset:";
  if (value >= 0xE000) {
    text_ += "swizzle(FFT,";
    decimal(value & 31);
    text_ += ')';
    return;
  }
  if (value >= 0xC000) {
    text_ += "swizzle(ROTATE,";
    decimal(value >> 10 & 1);
    text_ += ',';
    decimal(value >> 5 & 31);
    text_ += ')';
    return;
  }
  if ((value & 0xFF00) == 0x8000) {
    text_ += "swizzle(QUAD_PERM";
    for (unsigned i = 0; i < 4; ++i) {
      text_ += ',';
      decimal(value >> (2 * i) & 3);
    }
    text_ += ')';
    return;
  }
  if ((value & 0x8000) != 0) return decimal(value);
  // Lane l reads lane ((l & keep) | set) ^ flip of its group of 32.
  const unsigned keep = value & 31, set = value >> 5 & 31, flip = value >> 10 & 31;
  const unsigned group = 32 - keep;
  if (keep == 31 && set == 0 && std::has_single_bit(flip)) {
    text_ += "swizzle(SWAP,";
    decimal(flip);
  } else if (keep == 31 && set == 0 && flip > 0 && std::has_single_bit(flip + 1)) {
    text_ += "swizzle(REVERSE,";
    decimal(flip + 1);
  } else if (group > 1 && std::has_single_bit(group) && set < group && flip == 0) {
    text_ += "swizzle(BROADCAST,";
    decimal(group);
    text_ += ',';
    decimal(set);
  } else {
    text_ += "swizzle(BITMASK_PERM,\"";
    const unsigned of_zero = set ^ flip, of_ones = ((31 & keep) | set) ^ flip;
    for (unsigned mask = 16; mask != 0; mask >>= 1) {
      const bool zero = (of_zero & mask) != 0, one = (of_ones & mask) != 0;
      text_ += zero == one ? (zero ? '1' : '0') : (zero ? 'i' : 'p');
    }
    text_ += '"';
  }
  text_ += ')';
}

void Printer::cache_policy() {
  const bool renamed_bits = processor_.has(target::Feature::gfx940_insts);
  flag(in_.glc, renamed_bits ? "sc0" : "glc");
  flag(in_.slc, renamed_bits ? "nt" : "slc");
  flag(in_.scc, renamed_bits ? "sc1" : "scc");
}

void Printer::typed_format() {
  constexpr std::array<std::string_view, 16> data{
      "INVALID",    "8",          "16",      "8_8",   "32",          "16_16",    "10_11_11",    "11_11_10",
      "10_10_10_2", "2_10_10_10", "8_8_8_8", "32_32", "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15"};
  constexpr std::array<std::string_view, 8> numbers{"UNORM", "SNORM", "USCALED",    "SSCALED",
                                                    "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
  constexpr unsigned usual_data = 1, usual_number = 0;
  const bool data_shown = in_.data_format != usual_data, number_shown = in_.number_format != usual_number;
  if (!data_shown && !number_shown) return;
  text_ += " format:[";
  if (data_shown) (text_ += "BUF_DATA_FORMAT_") += data[in_.data_format];
  if (data_shown && number_shown) text_ += ',';
  if (number_shown) (text_ += "BUF_NUM_FORMAT_") += numbers[in_.number_format];
  text_ += ']';
}

}  // namespace

std::string print(const Instruction& instruction, const target::Processor& processor) {
  return Printer(instruction, processor).run();
}

std::string_view mnemonic(Opcode opcode) { return row(opcode).name; }

}  // namespace Atoll::isa

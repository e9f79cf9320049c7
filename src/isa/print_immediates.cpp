// isa: the printer's immediates of SOPK, SOPP and SOPC, many of which have names: counters, messages, hardware
// registers.
#include <array>

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
  constexpr std::array<std::string_view, 5> system_operations{"", "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", "",
                                                              "SYSMSG_OP_TTRACE_PC"};
  constexpr unsigned gs = 2, gs_done = 3, system = 15;
  const unsigned id = in_.immediate & 15, operation = in_.immediate >> 4 & 7, stream = in_.immediate >> 8 & 3;
  std::string_view operation_name;
  bool valid = !names[id].empty(), has_stream = false;
  if (id == gs || id == gs_done) {
    valid = operation < gs_operations.size() && (operation != 0 || id == gs_done);
    if (valid) operation_name = gs_operations[operation];
    has_stream = operation != 0;
  } else if (id == system) {
    valid = operation < system_operations.size() && !system_operations[operation].empty();
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

}  // namespace Atoll::isa

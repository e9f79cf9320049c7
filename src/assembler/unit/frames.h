// assembler: the frames that .cfi_* directives describe, and the sections that hold them for unwinders (.eh_frame) and
// debuggers (.debug_frame). Source: DWARF 5, 6.4 "Call Frame Information"; System V ABI (Linux Standard Base,
// "Exception Frames"); the AMDGPU user guide, "DWARF Register Identifier". What there is a choice of is LLVM's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembler/unit/assembly_unit.h"

namespace Atoll::assembler {

/// What happens to the frame after some instruction.
struct FrameStep {
  enum class Kind : uint8_t {
    define_cfa,           ///< the frame's address is register `reg` plus `offset`
    define_cfa_register,  ///< only the register is another
    define_cfa_offset,    ///< only the offset is
    adjust_cfa_offset,    ///< ... by so much
    define_cfa_in_space,  ///< the address is in address space `second`
    offset,               ///< the register is saved at the frame's address plus `offset`
    relative_offset,      ///< ... at that distance from where the stack pointer points
    value_offset,         ///< the register was the frame's address plus `offset`
    same_value,
    undefined,
    restore,
    in_register,  ///< the register is saved in register `second`
    remember,
    restore_remembered,
    window_save,
    escape,  ///< `bytes` as they are
    label    ///< a symbol in the frame section
  };
  Kind kind;
  uint64_t reg = 0, second = 0;
  int64_t offset = 0;
  std::vector<uint8_t> bytes = {};
  Symbol* symbol = nullptr;
  const Expression* at = nullptr;  ///< where the instruction ends
};

/// A symbol that a frame needs, and how it is written (DW_EH_PE_*).
struct EncodedSymbol {
  uint8_t encoding = 0xFF;  ///< 0xFF: there is none
  Symbol* symbol = nullptr;
};

/// A function between .cfi_startproc and .cfi_endproc.
struct Frame {
  const Expression *begin = nullptr, *end = nullptr;
  bool is_simple = false, is_signal_frame = false;
  std::optional<uint64_t> return_register = {};
  EncodedSymbol personality = {}, language_data = {};
  std::vector<FrameStep> steps = {};
};

/// Whether a symbol can be written so.
bool is_frame_encoding(int64_t encoding);

/// The number that debuggers have for a register, "s5": it depends on how many lanes a wave has.
std::optional<uint64_t> dwarf_register(std::string_view name, bool wave32);

/// Writes .eh_frame.
void emit_unwind_frames(Unit& unit, const std::vector<Frame>& frames);
/// Writes .debug_frame.
void emit_debug_frames(Unit& unit, const std::vector<Frame>& frames);

}  // namespace Atoll::assembler

// machine: whether loaded code looks at floating-point exceptions (loader.h).
//
// Nearly no code does, so this must cost next to nothing: the words of the code are compared with the few instructions
// that can, which are s_getreg_b32 of TRAPSTS (GFX12: EXCP_FLAG_USER) and s_setreg_b32 and s_setreg_imm32_b32 of bits
// of MODE that enable exceptions (GFX12 has those in TRAP_CTRL, which the engines refuse to write). What looks like one
// may be the rest of another instruction, or a constant; that is found out by decoding from the function's begin.
#include <algorithm>
#include <cstring>
#include <span>

#include "isa/decode.h"
#include "isa/immediate_names.h"
#include "isa/table.h"
#include "machine/loader.h"
#include "machine/wave/wave.h"

namespace Atoll::machine {

namespace {

using isa::Opcode;

/// By SIMM16: which register, and which bits of it.
bool is_one(Opcode opcode, uint16_t immediate, target::Generation generation) {
  const uint16_t number = isa::hardware_register(immediate & 0x3F, generation);
  if (opcode == Opcode::s_getreg_b32) {
    return number == isa::hardware::trap_status || number == isa::hardware::exception_user;
  }
  const unsigned offset = immediate >> 6 & 0x1F, size = (immediate >> 11 & 0x1F) + 1u;
  const auto mask = static_cast<uint32_t>(((uint64_t{1} << size) - 1) << offset);
  return number == isa::hardware::mode && generation < target::Generation::gfx12 && (mask & enabled_exceptions) != 0;
}

uint32_t word_at(std::span<const uint8_t> code, uint64_t at) {
  uint32_t word = 0;
  std::memcpy(&word, code.data() + at, sizeof word);
  return word;
}

/// Returns whether an instruction begins at `at`, judging by the preceding code.
bool is_instruction(std::span<const uint8_t> code, uint64_t begin, uint64_t at, const target::Processor& processor) {
  while (begin < at) {
    const auto instruction = isa::decode(code.subspan(begin), processor);
    begin += instruction ? instruction->size : 4;
  }
  return begin == at;
}

}  // namespace

bool LoadedCode::looks_at_exceptions(const target::Processor& processor) const {
  const std::lock_guard lock(exceptions_mutex_);  // not call_once(): nothing may be thrown through the C library
  if (!looked_for_exceptions_) {
    constexpr uint32_t sopk = 0xB0000000, opcode_field = 0x0F800000;
    constexpr Opcode opcodes[] = {Opcode::s_getreg_b32, Opcode::s_setreg_b32, Opcode::s_setreg_imm32_b32};
    for (const object::Segment& segment : image_->object.segments) {
      if (!segment.executable) continue;
      for (uint64_t at = 0; at + 4 <= segment.bytes.size() && !looks_at_exceptions_; at += 4) {
        const uint32_t word = word_at(segment.bytes, at);
        if ((word & ~opcode_field & 0xFF800000) != sopk) continue;
        for (const Opcode opcode : opcodes) {
          const uint32_t number = isa::row(opcode).opcodes.on(processor.generation).opcode;
          if ((word & opcode_field) != number << 23 ||
              !is_one(opcode, static_cast<uint16_t>(word), processor.generation))
            continue;
          // The function's begin, if it has a symbol; else the word is believed.
          uint64_t begin = at;
          for (const object::Symbol& function : image_->object.functions) {
            const uint64_t offset = segment.address + at - function.value;
            if (offset < function.size) begin = at - std::min(at, offset);
          }
          looks_at_exceptions_ = is_instruction(segment.bytes, begin, at, processor);
          if (looks_at_exceptions_) break;
        }
      }
    }
    looked_for_exceptions_ = true;
  }
  return looks_at_exceptions_;
}

}  // namespace Atoll::machine

#include "differential/random_code.h"

#include <fmt/format.h>

#include "differential/random_instruction.h"
#include "isa/decode.h"
#include "isa/print.h"

namespace Atoll::test {

namespace {

using isa::Opcode;

constexpr uint32_t s_nop = 0xBF800000;
constexpr unsigned literal_code = 0xFF, exec = 126, zero = 128;
constexpr unsigned deepest = 4;

class Writer {
 public:
  Writer(const target::Processor& processor, uint64_t seed) : random_(seed), instruction_(processor, random_) {}

  RandomCode program(unsigned length) {
    functions_ = instruction_.pick(3);
    block(0, length);
    end();
    for (unsigned function = 0; function < functions_; ++function) {
      entries_.push_back(here());
      block(deepest, 6, false);  // no deeper than this: its registers are none of a caller's
      put(sop1(Opcode::s_setpc_b64, 0, fuzz_register::caller));
    }
    for (const auto& [where, function] : calls_) {
      // From behind s_getpc_b64, which is the word before s_add_u32 and its literal.
      code_.words[where] = (entries_[function] - (where - 1)) * 4;
    }
    return std::move(code_);
  }

 private:
  /// The end is a jump to the last instruction: to whoever translates the program, what comes behind might read any
  /// register, while behind s_endpgm none is needed.
  void end() {
    constexpr unsigned one = zero + 1, behind_jump = zero + 12;
    put(sop2(Opcode::s_cselect_b32, fuzz_register::caller, one, zero));
    put(sop1(Opcode::s_getpc_b64, fuzz_register::callee, 0));
    put(sop2(Opcode::s_add_u32, fuzz_register::callee, fuzz_register::callee, behind_jump));
    put(sop2(Opcode::s_addc_u32, fuzz_register::callee + 1, fuzz_register::callee + 1, zero));
    put(sop1(Opcode::s_setpc_b64, 0, fuzz_register::callee));
    put(sopp(Opcode::s_endpgm, 0));
  }

  uint32_t here() const { return static_cast<uint32_t>(code_.words.size()); }
  void put(uint32_t word) { code_.words.push_back(word); }
  void put(uint32_t word, RandomCode::Unit& unit) {
    unit.push_back(here());
    put(word);
  }

  uint32_t sopp(Opcode opcode, uint32_t immediate) const {
    return 0xBF800000 | instruction_.number(opcode) << 16 | (immediate & 0xFFFF);
  }
  uint32_t sop1(Opcode opcode, unsigned result, unsigned source) const {
    return 0xBE800000 | result << 16 | instruction_.number(opcode) << 8 | source;
  }
  uint32_t sop2(Opcode opcode, unsigned result, unsigned a, unsigned b) const {
    return 0x80000000 | instruction_.number(opcode) << 23 | result << 16 | b << 8 | a;
  }
  uint32_t sopk(Opcode opcode, unsigned result, uint32_t immediate) const {
    return 0xB0000000 | instruction_.number(opcode) << 23 | result << 16 | (immediate & 0xFFFF);
  }
  uint32_t sopc(Opcode opcode, unsigned a, unsigned b) const {
    return 0xBF000000 | instruction_.number(opcode) << 16 | b << 8 | a;
  }

  void block(unsigned depth, unsigned length, bool nests = true) {
    for (unsigned i = 0; i < length; ++i) {
      const unsigned kind = instruction_.pick(100);
      const unsigned inner = 1 + instruction_.pick(6);
      if (!nests || depth + 1 >= deepest || kind < 70) {
        plain();
      } else if (kind < 77) {
        skip(depth, inner);
      } else if (kind < 82) {
        loop(depth, inner);
      } else if (kind < 89) {
        in_part(depth, inner);
      } else if (kind < 92) {
        in_mode(depth, inner);
      } else if (kind < 95 && functions_ != 0) {
        call();
      } else {
        set_exec();
      }
    }
  }

  void plain() {
    RandomCode::Unit unit;
    for (const uint32_t word : instruction_.make()) put(word, unit);
    code_.units.push_back(unit);
  }

  /// A branch over a block.
  void skip(unsigned depth, unsigned length) {
    constexpr Opcode branches[] = {Opcode::s_cbranch_scc0,  Opcode::s_cbranch_scc1,  Opcode::s_cbranch_vccz,
                                   Opcode::s_cbranch_vccnz, Opcode::s_cbranch_execz, Opcode::s_cbranch_execnz,
                                   Opcode::s_branch};
    const Opcode branch = branches[instruction_.pick(std::size(branches))];
    RandomCode::Unit unit;
    const uint32_t at = here();
    put(0, unit);
    block(depth + 1, length);
    code_.words[at] = sopp(branch, here() - at - 1);
    code_.units.push_back(unit);
  }

  /// A block done two to five times.
  void loop(unsigned depth, unsigned length) {
    const unsigned counter = fuzz_register::counter + depth;
    RandomCode::Unit unit;
    put(sopk(Opcode::s_movk_i32, counter, 2 + instruction_.pick(4)), unit);
    const uint32_t begin = here();
    block(depth + 1, length);
    put(sop2(Opcode::s_sub_u32, counter, counter, zero + 1), unit);
    put(sopc(Opcode::s_cmp_lg_u32, counter, zero), unit);
    put(sopp(Opcode::s_cbranch_scc1, begin - here() - 1), unit);
    code_.units.push_back(unit);
  }

  /// A block for some of the lanes.
  void in_part(unsigned depth, unsigned length) {
    constexpr Opcode saves[] = {Opcode::s_and_saveexec_b64, Opcode::s_andn2_saveexec_b64, Opcode::s_xor_saveexec_b64,
                                Opcode::s_or_saveexec_b64};
    const unsigned saved = fuzz_register::saved_exec + 2 * depth;
    const unsigned mask = instruction_.chance(60) ? 106 : instruction_.pick(32) * 2;
    RandomCode::Unit unit;
    put(sop1(saves[instruction_.pick(std::size(saves))], saved, mask), unit);
    const bool branches = instruction_.chance(60);
    const uint32_t at = here();
    if (branches) put(0, unit);
    block(depth + 1, length);
    if (branches) code_.words[at] = sopp(Opcode::s_cbranch_execz, here() - at - 1);
    put(instruction_.chance(70) ? sop2(Opcode::s_or_b64, exec, exec, saved) : sop1(Opcode::s_mov_b64, exec, saved),
        unit);
    code_.units.push_back(unit);
  }

  /// A block in another floating-point mode: rounding, denormals, DX10_CLAMP, IEEE.
  void in_mode(unsigned depth, unsigned length) {
    constexpr uint32_t register_mode = 1, all_bits = 9u << 11;  // the hardware register's number; from bit 0 on
    constexpr uint32_t usual = 0x3F0, flush_singles = 0x3C0, flush_all = 0x300, truncate = 0x3FF;
    constexpr uint32_t modes[] = {flush_singles, flush_singles, flush_all, truncate};
    RandomCode::Unit unit;
    const auto set = [&](uint32_t mode) {
      put(sopk(Opcode::s_setreg_imm32_b32, 0, register_mode | all_bits), unit);
      put(mode, unit);
    };
    if (instruction_.chance(80)) {
      set(instruction_.chance(70) ? modes[instruction_.pick(std::size(modes))] : instruction_.pick(1024));
    } else {
      put(sopk(Opcode::s_setreg_b32, instruction_.pick(64), register_mode | 7u << 11), unit);
    }
    block(depth + 1, length);
    if (instruction_.chance(80)) set(usual);
    code_.units.push_back(unit);
  }

  void call() {
    constexpr unsigned callee = fuzz_register::callee;
    RandomCode::Unit unit;
    put(sop1(Opcode::s_getpc_b64, callee, 0), unit);
    put(sop2(Opcode::s_add_u32, callee, callee, literal_code), unit);
    calls_.emplace_back(here(), instruction_.pick(functions_));
    put(0, unit);
    put(sop2(Opcode::s_addc_u32, callee + 1, callee + 1, zero), unit);
    put(sop1(Opcode::s_swappc_b64, fuzz_register::caller, callee), unit);
    code_.units.push_back(unit);
  }

  void set_exec() {
    RandomCode::Unit unit;
    if (instruction_.chance(70)) {
      put(sop1(Opcode::s_mov_b64, exec, 193), unit);  // -1
    } else {
      put(sop1(Opcode::s_mov_b32, exec + instruction_.pick(2), literal_code), unit);
      put(static_cast<uint32_t>(random_()), unit);
    }
    code_.units.push_back(unit);
  }

  std::mt19937_64 random_;
  RandomInstruction instruction_;
  RandomCode code_;
  unsigned functions_ = 0;
  std::vector<uint32_t> entries_;
  std::vector<std::pair<uint32_t, unsigned>> calls_;  ///< place of the distance, function
};

}  // namespace

RandomCode RandomCode::without(const Unit& unit) const {
  RandomCode rest = *this;
  for (const uint32_t place : unit) rest.words[place] = s_nop;
  return rest;
}

std::string RandomCode::disassembly(const target::Processor& processor) const {
  std::string text;
  for (size_t i = 0; i < words.size();) {
    const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(words.data() + i), (words.size() - i) * 4);
    const auto instruction = isa::decode(bytes, processor);
    if (words[i] != s_nop) {
      text += fmt::format("  {:#06x}  {}\n", i * 4,
                          instruction ? isa::print(*instruction, processor) : fmt::format(".long {:#x}", words[i]));
    }
    i += instruction ? instruction->size / 4 : 1;
  }
  return text;
}

RandomCode random_code(const target::Processor& processor, uint64_t seed, unsigned length) {
  return Writer(processor, seed).program(length);
}

}  // namespace Atoll::test

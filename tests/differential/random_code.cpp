// Random programs (random_code.h).
#include "differential/random_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "differential/random_instruction.h"
#include "engine/vgpr_banks.h"
#include "isa/decode.h"
#include "isa/print.h"

namespace Atoll::test {

namespace {

using isa::Opcode;
using operand_code::exec;
using operand_code::vcc;
using operand_code::zero;

constexpr uint32_t s_nop = 0xBF800000;
constexpr unsigned literal_code = operand_code::literal, minus_one = operand_code::minus_one, vgprs = 256;
constexpr unsigned deepest = 4;

/// Shape of a program, chosen by its number, so that any range of numbers has some of each.
struct Shape {
  enum class Kind : uint8_t { small, faulty, groups, series, medium, large };
  Kind kind = Kind::small;
  unsigned least = 30, most = 250;  ///< words of code, about

  static Shape of(uint64_t seed) {
    switch (seed % 16) {
      case 0:
      case 8:
        return {.kind = Kind::faulty};
      case 3:
      case 11:
        return {.kind = Kind::groups};
      case 6:
      case 14:
        return {.kind = Kind::series, .least = 10, .most = 60};
      case 13:
        return {.kind = Kind::medium, .least = 300, .most = 1000};
      case 7:
        return seed % 64 == 23 ? Shape{.kind = Kind::large, .least = 6000, .most = 14000}
                               : Shape{.kind = Kind::large, .least = 1000, .most = 3000};
      default:
        return {};
    }
  }
};

class Writer {
 public:
  Writer(const target::Target& target, uint64_t seed)
      : shape_(Shape::of(seed)),
        random_(seed),
        target_(target),
        instruction_(target, random_, is(Shape::Kind::series) ? FuzzMix::few : FuzzMix::everything,
                     is(Shape::Kind::faulty) ? 12 : 0),
        encode_(instruction_.encode) {}

  RandomCode program() {
    code_.may_fault = is(Shape::Kind::faulty);
    code_.is_series = is(Shape::Kind::series);
    if (is(Shape::Kind::groups) || is(Shape::Kind::series) || is(Shape::Kind::medium) || pick(8) == 0) {
      code_.waves = code_.is_series ? 2 + pick(2) : 1 + pick(RandomCode::max_waves);
      code_.groups = 1 + pick(2);
    }
    if (!code_.is_series) functions_ = pick(3);
    if (code_.is_series) begin_of_series();
    has_modes_ = chance(30);
    if (chance(30)) code_.mode = any_mode();
    body(here() + shape_.least + pick(shape_.most - shape_.least));
    if (code_.is_series) store_registers();
    end();
    for (unsigned function = 0; function < functions_; ++function) {
      entries_.push_back(here());
      block(deepest, 2 + pick(12));  // nothing but instructions: other registers are a caller's
      put(encode_.sop1(Opcode::s_setpc_b64, 0, fuzz_register::caller));
    }
    for (const Call& call : calls_) {
      const uint32_t entry = entries_[call.function];
      if (call.is_relative) {
        code_.words[call.word] |= (entry - call.word - 1) & 0xFFFF;
      } else {
        // From the instruction after s_getpc_b64, which is the word before s_add_u32 and its literal.
        code_.words[call.word] = (entry - (call.word - 1)) * 4;
      }
    }
    return std::move(code_);
  }

 private:
  /// Where a function's place is to be written.
  struct Call {
    uint32_t word;
    unsigned function;
    bool is_relative;  ///< in s_call_b64
  };

  bool is_gfx9() const { return target_.processor->generation < target::Generation::gfx10; }
  bool is_gfx12() const { return target_.processor->generation >= target::Generation::gfx12; }
  bool is(Shape::Kind kind) const { return shape_.kind == kind; }
  unsigned pick(unsigned count) { return instruction_.pick(count); }
  bool chance(unsigned percent) { return instruction_.chance(percent); }

  /// Waves in series may only begin with few registers: the others get something here.
  void begin_of_series() {
    put(encode_.vop1(Opcode::v_mov_b32, fuzz_register::result_offset, vgprs + 2));
    put(encode_.vop1(Opcode::v_mov_b32, fuzz_register::lane, vgprs + 2));
    put(encode_.vop2(Opcode::v_lshrrev_b32, fuzz_register::lane, zero + 2, fuzz_register::lane));
    put(encode_.vop2(Opcode::v_and_b32, fuzz_register::lane, zero + 63, fuzz_register::lane));
    constexpr Opcode mixes[] = {Opcode::v_xor_b32, Opcode::v_add_u32, Opcode::v_lshlrev_b32, Opcode::v_and_b32};
    for (unsigned reg = 3; reg < fuzz_few_registers; ++reg) {
      put(encode_.vop2(mixes[pick(std::size(mixes))], reg, chance(50) ? pick(64) : zero + pick(65), pick(2)));
    }
  }

  /// The registers that random instructions use most, for all lanes.
  void store_registers() {
    constexpr unsigned offset = fuzz_register::result_offset, spread = fuzz_few_registers;
    put(encode_.sop1(encode_.mask(Opcode::s_mov_b64), fuzz_register::saved_exec, exec));
    put(encode_.sop2(Opcode::s_cselect_b32, fuzz_register::counter, zero + 1, zero));
    put(encode_.sop1(encode_.mask(Opcode::s_mov_b64), exec, minus_one));
    put(encode_.vop1(Opcode::v_mov_b32, spread, fuzz_register::counter));
    unsigned lane = 1;
    const auto spread_scalar = [&](unsigned reg) {
      if (is_gfx9()) {
        put(0xD0000000 | encode_.number(Opcode::v_writelane_b32) << 16 | spread);
        put(reg | (zero + lane++) << 9);
      } else {
        put(encode_.words(Opcode::v_writelane_b32, isa::Encoding::vop3, 1,
                          {Encoder::vgpr(spread), Encoder::scalar(reg), Encoder::constant(lane++)}));
      }
    };
    for (const unsigned pair : {vcc, fuzz_register::saved_exec, operand_code::m0}) {
      spread_scalar(pair);
      if (pair != operand_code::m0) spread_scalar(pair + 1);
    }
    for (unsigned reg = 0; reg < 32; ++reg) spread_scalar(reg);
    for (unsigned reg = 0; reg <= spread; ++reg) {
      if (!encode_.has(Opcode::global_store_dword)) {
        constexpr unsigned address = fuzz_register::address;
        put(encode_.vop2(Opcode::v_add_u32, address, literal_code, offset));
        put(reg * 256);
        put(encode_.vop2(Opcode::v_add_co_u32, address, fuzz_register::results, address));
        put(encode_.vop1(Opcode::v_mov_b32, address + 1, fuzz_register::results + 1));
        put(encode_.vop2(Opcode::v_addc_co_u32, address + 1, zero, address + 1));
        put(0xDC000000 | encode_.number(Opcode::flat_store_dword) << 18);
        put(address | reg << 8);
        continue;
      }
      if (is_gfx9()) {
        put(0xDC008000 | encode_.number(Opcode::global_store_dword) << 18 | reg * 256);
        put(offset | reg << 8 | fuzz_register::results << 16);
        continue;
      }
      // Offsets of GFX10 have 12 bits with their sign.
      put(encode_.vop2(Opcode::v_add_u32, fuzz_register::address, literal_code, offset));
      put(reg * 256);
      put(encode_.words(
          Opcode::global_store_dword, isa::Encoding::global, 0,
          {Encoder::vgpr(fuzz_register::address), Encoder::vgpr(reg), Encoder::scalar(fuzz_register::results, 2)}));
    }
  }

  /// The end is a jump to the last instruction: to whoever translates the program, what comes after might read any
  /// register, while after s_endpgm none is needed. (Waves in series must end where they can be seen to.)
  void end() {
    constexpr unsigned one = zero + 1, behind_jump = zero + 12, callee = fuzz_register::callee;
    if (!code_.is_series) {
      put(encode_.sop2(Opcode::s_cselect_b32, fuzz_register::caller, one, zero));
      put(encode_.sop1(Opcode::s_getpc_b64, callee, 0));
      put(encode_.sop2(Opcode::s_add_u32, callee, callee, behind_jump));
      put(encode_.sop2(Opcode::s_addc_u32, callee + 1, callee + 1, zero));
      put(encode_.sop1(Opcode::s_setpc_b64, 0, callee));
    }
    put(encode_.sopp(Opcode::s_endpgm, 0));
  }

  uint32_t here() const { return static_cast<uint32_t>(code_.words.size()); }
  void put(uint32_t word) { code_.words.push_back(word); }
  void put(const std::vector<uint32_t>& words) { code_.words.insert(code_.words.end(), words.begin(), words.end()); }
  void put(uint32_t word, RandomCode::Unit& unit) {
    unit.push_back(here());
    put(word);
  }
  /// Makes the word there a branch to here.
  void branch_here(uint32_t from, Opcode branch) { code_.words[from] = encode_.sopp(branch, here() - from - 1); }

  void body(uint32_t end) {
    while (here() < end) {
      const bool is_long = is(Shape::Kind::large) && chance(4);
      piece(0, 1 + pick(is_long ? 100 : 6));
    }
  }
  void block(unsigned depth, unsigned length) {
    for (unsigned i = 0; i < length; ++i) piece(depth, 1 + pick(6));
  }

  /// An instruction, or something around a block of `inner` pieces.
  void piece(unsigned depth, unsigned inner) {
    const unsigned kind = pick(100);
    if (depth + 1 >= deepest || kind < 66) return plain();
    if (kind < 72) return skip(depth, inner);
    if (kind < 76) return counted_loop(depth, inner);
    if (kind < 80) return loop_of_lanes(depth, inner);
    if (kind < 85) return in_part(depth, inner);
    if (kind < 89) return if_else(depth, inner);
    if (kind < 92) return set_exec();
    if (kind < 95 && functions_ != 0) return call();
    if (kind < 95 && instruction_.has_banks()) return in_bank(depth, inner);
    if (kind < 97 && has_modes_) return in_mode(depth, inner);
    if (kind >= 97 && !code_.is_series && code_.waves > 1) return barrier();
    plain();
  }

  void plain() {
    RandomCode::Unit unit;
    for (const uint32_t word : instruction_.make()) put(word, unit);
    code_.units.push_back(unit);
  }

  /// Stores of other waves to LDS and memory are visible after it.
  void barrier() {
    RandomCode::Unit unit;
    if (chance(50) && !is_gfx12()) put(encode_.sopp(Opcode::s_waitcnt, 0), unit);
    if (is_gfx12()) {
      put(encode_.sop1(Opcode::s_barrier_signal, 0, minus_one), unit);
      put(encode_.sopp(Opcode::s_barrier_wait, 0xFFFF), unit);
    } else {
      put(encode_.sopp(Opcode::s_barrier, 0), unit);
    }
    code_.units.push_back(unit);
  }

  /// A branch over a block.
  void skip(unsigned depth, unsigned length) {
    constexpr Opcode branches[] = {Opcode::s_cbranch_scc0,  Opcode::s_cbranch_scc1,  Opcode::s_cbranch_vccz,
                                   Opcode::s_cbranch_vccnz, Opcode::s_cbranch_execz, Opcode::s_cbranch_execnz,
                                   Opcode::s_branch};
    const Opcode branch = branches[pick(std::size(branches))];
    RandomCode::Unit unit;
    const bool of_vcc = branch == Opcode::s_cbranch_vccz || branch == Opcode::s_cbranch_vccnz;
    // As compilers do, lest lanes that are off decide.
    if (of_vcc && chance(60))
      put(encode_.sop2(encode_.mask(Opcode::s_and_b64), vcc, exec, chance(50) ? vcc : pick(32) * 2), unit);
    const uint32_t at = here();
    put(0, unit);
    block(depth + 1, length);
    branch_here(at, branch);
    code_.units.push_back(unit);
  }

  /// A block done two to five times.
  void counted_loop(unsigned depth, unsigned length) {
    const unsigned counter = fuzz_register::counter + depth;
    RandomCode::Unit unit;
    put(encode_.sopk(Opcode::s_movk_i32, counter, 2 + pick(4)), unit);
    const uint32_t begin = here();
    block(depth + 1, length);
    put(encode_.sop2(Opcode::s_sub_u32, counter, counter, zero + 1), unit);
    put(encode_.sopc(Opcode::s_cmp_lg_u32, counter, zero), unit);
    put(encode_.sopp(Opcode::s_cbranch_scc1, begin - here() - 1), unit);
    code_.units.push_back(unit);
  }

  /// A block that each lane does up to eight times.
  void loop_of_lanes(unsigned depth, unsigned length) {
    const unsigned rounds = fuzz_register::rounds + depth, most = fuzz_register::max_rounds + depth;
    const unsigned done = fuzz_register::done + 2 * depth;
    RandomCode::Unit unit;
    put(encode_.sop1(encode_.mask(Opcode::s_mov_b64), done, zero), unit);
    put(encode_.vop1(Opcode::v_mov_b32, rounds, zero), unit);
    put(encode_.vop2(Opcode::v_and_b32, most, zero + 7, instruction_.vgpr()), unit);
    RandomCode::Unit branch_over;
    const uint32_t over = here();
    if (chance(50)) put(0, branch_over);
    const uint32_t begin = here();
    block(depth + 1, length);
    put(encode_.vop2(Opcode::v_add_u32, rounds, zero + 1, rounds), unit);
    put(encode_.vopc(Opcode::v_cmp_gt_u32, vgprs + rounds, most), unit);
    put(encode_.sop2(encode_.mask(Opcode::s_or_b64), done, vcc, done), unit);
    put(encode_.sop2(encode_.mask(Opcode::s_andn2_b64), exec, exec, done), unit);
    put(encode_.sopp(Opcode::s_cbranch_execnz, begin - here() - 1), unit);
    if (!branch_over.empty()) {
      branch_here(over, Opcode::s_cbranch_execz);
      code_.units.push_back(branch_over);
    }
    put(encode_.sop2(encode_.mask(Opcode::s_or_b64), exec, exec, done), unit);
    code_.units.push_back(unit);
  }

  /// A block for some of the lanes.
  void in_part(unsigned depth, unsigned length) {
    constexpr Opcode saves[] = {Opcode::s_and_saveexec_b64, Opcode::s_andn2_saveexec_b64, Opcode::s_xor_saveexec_b64,
                                Opcode::s_or_saveexec_b64};
    const unsigned saved = fuzz_register::saved_exec + 2 * depth;
    const unsigned mask = chance(60) ? vcc : pick(32) * 2;
    RandomCode::Unit unit;
    put(encode_.sop1(encode_.mask(saves[pick(std::size(saves))]), saved, mask), unit);
    const bool branches = chance(60);
    const uint32_t at = here();
    if (branches) put(0, unit);
    block(depth + 1, length);
    if (branches) branch_here(at, Opcode::s_cbranch_execz);
    put(chance(70) ? encode_.sop2(encode_.mask(Opcode::s_or_b64), exec, exec, saved)
                   : encode_.sop1(encode_.mask(Opcode::s_mov_b64), exec, saved),
        unit);
    code_.units.push_back(unit);
  }

  /// A block for some of the lanes and one for the others, as compilers write them.
  void if_else(unsigned depth, unsigned length) {
    const unsigned saved = fuzz_register::saved_exec + 2 * depth;
    RandomCode::Unit unit;
    const auto branch = [&] {
      const uint32_t at = here();
      if (!chance(75)) return ~0u;
      put(0, unit);
      return at;
    };
    const auto arrive = [&](uint32_t from) {
      if (from != ~0u) branch_here(from, Opcode::s_cbranch_execz);
    };
    put(encode_.vopc(chance(50) ? Opcode::v_cmp_lt_u32 : Opcode::v_cmp_gt_f32, vgprs + instruction_.vgpr(),
                     instruction_.vgpr()),
        unit);
    put(encode_.sop1(encode_.mask(Opcode::s_and_saveexec_b64), saved, vcc), unit);
    put(encode_.sop2(encode_.mask(Opcode::s_xor_b64), saved, exec, saved), unit);
    const uint32_t to_else = branch();
    block(depth + 1, length);
    arrive(to_else);
    if (chance(50)) {
      put(encode_.sop1(encode_.mask(Opcode::s_or_saveexec_b64), saved, saved), unit);
      put(encode_.sop2(encode_.mask(Opcode::s_xor_b64), exec, exec, saved), unit);
    } else {
      put(encode_.sop1(encode_.mask(Opcode::s_andn2_saveexec_b64), saved, saved), unit);
    }
    const uint32_t to_end = branch();
    block(depth + 1, 1 + pick(length));
    arrive(to_end);
    put(encode_.sop2(encode_.mask(Opcode::s_or_b64), exec, exec, saved), unit);
    code_.units.push_back(unit);
  }

  static constexpr uint32_t clamps_overflow = 1u << 23;  ///< FP16_OVFL

  uint32_t any_mode() {
    constexpr uint32_t usual = 0x3F0, flush_singles = 0x3C0, flush_all = 0x300, truncate = 0x3FF;
    constexpr uint32_t modes[] = {usual, flush_singles, flush_singles, flush_all, truncate};
    const uint32_t mode = chance(70) ? modes[pick(std::size(modes))] : pick(1024);
    return chance(25) ? mode | clamps_overflow : mode;
  }

  /// A block in another floating-point mode: rounding, denormals, DX10_CLAMP, IEEE, FP16_OVFL.
  void in_mode(unsigned depth, unsigned length) {
    const uint32_t register_mode = 1, all_bits = (is_gfx12() ? 7u : 9u) << 11;  // its number; from bit 0 on
    constexpr uint32_t overflow_bit = 23u << 6;
    RandomCode::Unit unit;
    const bool sets_overflow = chance(40);
    // Constants to MODE have the banks of VGPRs, too.
    const uint32_t banks =
        instruction_.has_banks() ? engine::with_banks(0, static_cast<uint8_t>(instruction_.banks())) : 0;
    const auto set = [&](uint32_t mode) {
      put(encode_.sopk(Opcode::s_setreg_imm32_b32, 0, register_mode | all_bits), unit);
      put((mode & 0x3FF) | banks, unit);
      if (!sets_overflow) return;
      put(encode_.sopk(Opcode::s_setreg_imm32_b32, 0, register_mode | overflow_bit), unit);
      put(mode >> 23 | banks, unit);
    };
    if (!is_gfx9() && chance(30)) {
      put(encode_.sopp(chance(50) ? Opcode::s_round_mode : Opcode::s_denorm_mode, pick(16)), unit);
    } else if (chance(80)) {
      set(any_mode());
    } else {
      put(encode_.sopk(Opcode::s_setreg_b32, pick(64), register_mode | 7u << 11), unit);
    }
    block(depth + 1, length);
    if (chance(80)) set(code_.mode);
    code_.units.push_back(unit);
  }

  /// A block whose VGPRs are of another bank.
  void in_bank(unsigned depth, unsigned length) {
    const unsigned before = instruction_.bank();
    RandomCode::Unit unit;
    instruction_.set_bank(pick(4));
    put(encode_.sopp(Opcode::s_set_vgpr_msb, instruction_.banks()), unit);
    block(depth + 1, length);
    instruction_.set_bank(before);
    put(encode_.sopp(Opcode::s_set_vgpr_msb, instruction_.banks()), unit);
    code_.units.push_back(unit);
  }

  void call() {
    constexpr unsigned callee = fuzz_register::callee;
    RandomCode::Unit unit;
    if (chance(30) && encode_.has(Opcode::s_call_b64)) {
      calls_.push_back({here(), pick(functions_), true});
      put(encode_.sopk(Opcode::s_call_b64, fuzz_register::caller, 0), unit);
    } else {
      put(encode_.sop1(Opcode::s_getpc_b64, callee, 0), unit);
      put(encode_.sop2(Opcode::s_add_u32, callee, callee, literal_code), unit);
      calls_.push_back({here(), pick(functions_), false});
      put(0, unit);
      put(encode_.sop2(Opcode::s_addc_u32, callee + 1, callee + 1, zero), unit);
      put(encode_.sop1(Opcode::s_swappc_b64, fuzz_register::caller, callee), unit);
    }
    code_.units.push_back(unit);
  }

  void set_exec() {
    RandomCode::Unit unit;
    if (chance(70)) {
      put(encode_.sop1(encode_.mask(Opcode::s_mov_b64), exec, minus_one), unit);
    } else {
      put(encode_.sop1(Opcode::s_mov_b32, exec + pick(2), literal_code), unit);
      put(static_cast<uint32_t>(random_()), unit);
    }
    code_.units.push_back(unit);
  }

  const Shape shape_;
  std::mt19937_64 random_;
  const target::Target target_;
  RandomInstruction instruction_;
  const Encoder& encode_;
  RandomCode code_;
  unsigned functions_ = 0;
  bool has_modes_ = false;
  std::vector<uint32_t> entries_;
  std::vector<Call> calls_;
};

}  // namespace

RandomCode RandomCode::without(std::span<const Unit> units_left_out) const {
  RandomCode rest = *this;
  for (const Unit& unit : units_left_out) {
    for (const uint32_t place : unit) rest.words[place] = s_nop;
  }
  return rest;
}

std::string RandomCode::disassembly(const target::Target& target) const {
  const target::Processor& processor = *target.processor;
  std::string text;
  for (size_t i = 0; i < words.size();) {
    const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(words.data() + i), (words.size() - i) * 4);
    const auto instruction = isa::decode(bytes, processor, target.wave_size);
    if (words[i] != s_nop) {
      text += fmt::format("  {:#06x}  {}\n", i * 4,
                          instruction ? isa::print(*instruction, processor) : fmt::format(".long {:#x}", words[i]));
    }
    i += instruction ? instruction->size / 4 : 1;
  }
  return text;
}

RandomCode random_code(const target::Target& target, uint64_t seed) { return Writer(target, seed).program(); }

}  // namespace Atoll::test

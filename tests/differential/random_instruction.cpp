// Random instructions (random_instruction.h).
#include "differential/random_instruction.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "differential/instruction_pool.h"
#include "isa/decode.h"

namespace Atoll::test {

namespace {

using isa::Encoding;
using isa::Field;
using isa::InstructionRow;
using isa::Opcode;
namespace flag = isa::flag;

using operand_code::exec;
using operand_code::m0;
using operand_code::vcc;
using operand_code::zero;
constexpr unsigned sdwa_code = operand_code::sdwa, dpp_code = operand_code::dpp, literal_code = operand_code::literal;

/// Instructions that programs must not have in any place: they end or stop the wave, go elsewhere, give another value
/// each time, or change what the instructions after them mean.
bool is_left_out(const InstructionRow& row) {
  constexpr uint64_t flags = flag::branch | flag::label | flag::ends | flag::barrier | flag::trap | flag::hwreg |
                             flag::message | flag::gpr_index_imm | flag::gws | flag::gds_only | flag::scaled;
  if ((row.flags & flags) != 0) return true;
  if (row.has(flag::waits | flag::writes_mode | flag::register_indexing)) return true;
  // M0 says which registers.
  if (row.has(flag::indexed_source | flag::indexed_result) && row.encoding != Encoding::sop1) return true;
  constexpr std::array<std::string_view, 13> prefixes{
      "s_sendmsg", "s_get_", "s_memtime",    "s_memrealtime",  "s_sleep",        "s_set",      "s_movrel",
      "s_cbranch", "s_rfe",  "s_ttracedata", "s_incperflevel", "s_decperflevel", "s_atc_probe"};
  for (const std::string_view prefix : prefixes) {
    if (row.name.starts_with(prefix)) return true;
  }
  if (row.name.contains("async") || row.name == "s_alloc_vgpr") return true;  // LDS of any size; other registers
  return row.name == "v_mfma_ld_scale_b32" || row.name == "s_wakeup" || row.name == "v_clrexcp";
}

}  // namespace

bool RandomInstruction::has_operand(const InstructionRow& row, Field field) {
  for (const isa::OperandSpec& operand : row.operands) {
    if (operand.field == field) return true;
  }
  return false;
}

RandomInstruction::RandomInstruction(const target::Target& target, std::mt19937_64& random, FuzzMix mix,
                                     unsigned bad_addresses)
    : encode(target), target_(target), random_(random), bad_addresses_(bad_addresses) {
  const target::Processor& processor = *target.processor;
  for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const InstructionRow& row = isa::row_on(opcode, processor.generation);
    if (encode.number(opcode) == isa::Opcodes::none || !processor.has(row.feature) || is_left_out(row)) continue;
    const Kind kind = kind_of(row);
    if (kind != kinds) opcodes_[kind].push_back(opcode);
  }
  // Dual instructions come from the pool of all of them, whatever the opcode.
  if (!is_gfx9() && !InstructionPool::of(target).duals().empty()) opcodes_[dual].push_back(Opcode::v_nop);
  choose_mixture(mix);
}

RandomInstruction::Kind RandomInstruction::kind_of(const InstructionRow& row) const {
  switch (row.encoding) {
    case Encoding::sop1:
    case Encoding::sop2:
    case Encoding::sopk:
    case Encoding::sopc:
    case Encoding::sopp:
      return scalar;
    case Encoding::vopc:
      return compare;
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vop3:
    case Encoding::vop3p:
      if (row.has(flag::matrix | flag::wmma)) return matrix;
      return row.name.contains("lane") ? crossing : vector;
    case Encoding::smem:
      return scalar_load;
    case Encoding::ds:
      return row.name.contains("permute") || row.name.contains("swizzle") ? crossing : lds;
    case Encoding::flat:
    case Encoding::global:
      return global;
    case Encoding::scratch:
      return scratch;
    case Encoding::mubuf:
      return buffer_memory;
    case Encoding::mtbuf:
      return typed_buffer;
    default:
      return kinds;
  }
}

void RandomInstruction::choose_mixture(FuzzMix mix) {
  constexpr std::array<unsigned, kinds> usual{40, 8, 4, 4, 18, 8, 10, 4, 4, 1, 3, 15};
  constexpr std::array<unsigned, 5> factors{0, 1, 1, 2, 4};
  for (unsigned kind = 0; kind < kinds; ++kind) {
    const bool is_simple = kind == vector || kind == compare || kind == scalar || kind == global || kind == scalar_load;
    weights_[kind] = usual[kind] * factors[pick(factors.size())];
    // A buffer may not be what translated code is made for, and the interpreter then goes on.
    if ((kind == buffer_memory || kind == typed_buffer) && chance(25)) weights_[kind] = 0;
    if (opcodes_[kind].empty() || (mix == FuzzMix::few && !is_simple)) weights_[kind] = 0;
    if (!chance(30)) continue;
    // Few of them.
    std::ranges::shuffle(opcodes_[kind], random_);
    opcodes_[kind].resize(std::min<size_t>(opcodes_[kind].size(), 4 + pick(16)));
  }
  weights_[vector] = std::max(weights_[vector], usual[vector]);
  vgprs_ = mix == FuzzMix::few ? 8 : chance(20) ? 12 : 32;
  modifiers_ = chance(50) ? pick(100) : 10;
  even_addresses_ = chance(50) ? 35 : pick(100);
}

RandomInstruction::Kind RandomInstruction::any_kind() {
  unsigned sum = 0;
  for (const unsigned weight : weights_) sum += weight;
  unsigned place = pick(sum), kind = 0;
  while (place >= weights_[kind]) place -= weights_[kind++];
  return static_cast<Kind>(kind);
}

std::vector<uint32_t> RandomInstruction::make() {
  for (;;) {
    const Kind kind = any_kind();
    const std::vector<Opcode>& opcodes = opcodes_[kind];
    const Opcode opcode = opcodes[pick(static_cast<unsigned>(opcodes.size()))];
    // A third of the vector compares write EXEC, and would soon leave no lane on.
    if (isa::row_on(opcode, target_.processor->generation).has(flag::exec_out) && chance(75)) continue;
    const InstructionPool* pool = is_gfx9() ? nullptr : &InstructionPool::of(target_);
    for (unsigned tries = 0; tries < 20; ++tries) {
      auto words = pool == nullptr ? attempt(isa::row(opcode), opcode)
                                   : remade(kind == dual ? pool->duals() : pool->with(opcode));
      if (words) return *words;
    }
  }
}

unsigned RandomInstruction::scalar_source() {
  const unsigned kind = pick(100);
  if (kind < 40) return pick(64);
  if (kind < 65) return pick(32) * 2;
  if (kind < 75) return zero + pick(81);
  if (kind < 80) return 240 + pick(9);
  if (kind < 88) return vcc + pick(2);
  if (kind < 92) return exec + pick(2);
  if (kind < 94) return m0;
  if (kind < 97) return 251 + pick(3);  // VCCZ, EXECZ, SCC
  return 235 + pick(4);                 // apertures
}

unsigned RandomInstruction::scalar_result() {
  const unsigned kind = pick(100);
  if (kind < 40) return pick(64);
  if (kind < 80) return pick(32) * 2;
  if (kind < 94) return vcc;
  if (kind < 97) return exec;
  return kind < 99 ? m0 : vcc + 1;
}

unsigned RandomInstruction::any_source() { return chance(60) ? 256 + vgpr() : scalar_source(); }

uint32_t RandomInstruction::literal() {
  constexpr std::array<uint32_t, 8> edges{0x3F800000, 0x00000001, 0x80000000, 0x7FC00000,
                                          0x7F800000, 0x0000FFFF, 0x3C003C00, 0x00400000};
  return chance(40) ? edges[pick(edges.size())] : static_cast<uint32_t>(random_());
}

void RandomInstruction::vop3(const InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words) {
  const bool modifiers = chance(modifiers_);
  uint32_t w0 = 0xD0000000 | opcode << 16;
  uint32_t w1 = any_source();
  if (has_operand(row, Field::src1) || has_operand(row, Field::vgpr_src1)) w1 |= any_source() << 9;
  const bool scalar_result_field = has_operand(row, Field::cmp_dst) || has_operand(row, Field::lane_dst);
  w0 |= scalar_result_field ? scalar_result() : vgpr();
  if (has_operand(row, Field::carry_out)) {
    w0 |= scalar_result() << 8 | (modifiers ? pick(2) << 15 : 0);
  } else if (modifiers) {
    w0 |= (pick(256) & pick(256)) << 8;
  }
  if (has_operand(row, Field::carry_in)) {
    w1 |= (chance(50) ? vcc : pick(32) * 2) << 18;
  } else if (has_operand(row, Field::src2) || has_operand(row, Field::vgpr_src2)) {
    w1 |= any_source() << 18;
  }
  if (modifiers) w1 |= (pick(32) & pick(32)) << 27;
  words.push_back(w0);
  words.push_back(w1);
}

void RandomInstruction::vop3p(uint32_t opcode, std::vector<uint32_t>& words) {
  words.push_back(0xD3800000 | opcode << 16 | vgpr() | (chance(50) ? pick(256) << 8 : 0x4000));
  words.push_back(any_source() | any_source() << 9 | any_source() << 18 | (chance(50) ? pick(32) : 3) << 27);
}

void RandomInstruction::vector_alu(const InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words) {
  uint32_t base = 0;
  uint32_t in_vop3 = opcode;
  if (row.encoding == Encoding::vop1) {
    base = 0x7E000000 | opcode << 9 | (has_operand(row, Field::lane_dst) ? scalar_result() : vgpr()) << 17;
    in_vop3 = opcode + 0x140;
  } else if (row.encoding == Encoding::vop2) {
    base = opcode << 25 | vgpr() << 17 | vgpr() << 9;
    in_vop3 = opcode + 0x100;
  } else {
    base = 0x7C000000 | opcode << 17 | vgpr() << 9;
  }
  const unsigned form = pick(100);
  if (form < 30 && row.has(flag::vop3)) return vop3(row, in_vop3, words);
  if (form < 42 && row.has(flag::sdwa)) {
    const bool modifiers = chance(50);
    uint32_t extension = vgpr() | pick(7) << 16 | pick(7) << 24;
    if (row.encoding == Encoding::vopc) {
      if (chance(70)) extension |= 0x8000 | scalar_result() << 8;
    } else {
      extension |= pick(7) << 8 | pick(3) << 11;
      if (modifiers) extension |= (pick(8) & pick(8)) << 13;
    }
    if (modifiers) extension |= (pick(8) & pick(8)) << 19 | (pick(8) & pick(8)) << 27;
    if (chance(20)) extension = (extension & ~0xFFu) | 1u << 23 | pick(64);  // an SGPR
    words.push_back(base | sdwa_code);
    words.push_back(extension);
    return;
  }
  if (form < 55 && row.has(flag::dpp)) {
    uint32_t extension = vgpr() | pick(0x160) << 8 | pick(2) << 19;
    if (chance(30)) extension |= (pick(16) & pick(16)) << 20;
    extension |= (chance(60) ? 0xFF : pick(256)) << 24;
    words.push_back(base | dpp_code);
    words.push_back(extension);
    return;
  }
  if (form < 63 || has_operand(row, Field::literal)) {
    const bool first = form < 63 && !has_operand(row, Field::literal);
    words.push_back(base | (first ? literal_code : any_source()));
    words.push_back(literal());
    return;
  }
  words.push_back(base | any_source());
}

bool RandomInstruction::fits(const std::vector<uint32_t>& words, Opcode opcode) const {
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4);
  const auto instruction = isa::decode(bytes, *target_.processor, target_.wave_size);
  if (!instruction || instruction->opcode != opcode || instruction->size != bytes.size()) return false;
  if (instruction->gds) return false;
  const bool is_memory = instruction->encoding == Encoding::mubuf || instruction->encoding == Encoding::mtbuf;
  for (unsigned i = 0; i < instruction->operand_count; ++i) {
    const isa::Operand& operand = instruction->operands[i];
    const unsigned end = operand.reg + operand.words;
    switch (operand.kind) {
      case isa::OperandKind::vgpr:
      case isa::OperandKind::agpr: {
        const bool is_address = operand.reg == fuzz_register::address && i >= instruction->destinations;
        if (end > fuzz_register::address && !(is_address && end <= fuzz_register::address + 2)) return false;
        break;
      }
      case isa::OperandKind::scalar:
        if (end > isa::scalar::count) return false;
        if (i < instruction->destinations && end > fuzz_register::first_kept && operand.reg != m0 &&
            operand.reg != isa::scalar::null && !(operand.reg >= vcc && end <= vcc + 2) &&
            !(operand.reg >= exec && end <= exec + 2)) {
          return false;
        }
        break;
      case isa::OperandKind::lds_direct:
        if (is_memory) return false;
        break;
      default:
        break;
    }
  }
  return true;
}

std::optional<std::vector<uint32_t>> RandomInstruction::attempt(const InstructionRow& row, Opcode opcode) {
  const isa::Opcodes::Change change = row.opcodes.on(target_.processor->generation);
  const uint32_t op = change.opcode;
  std::vector<uint32_t> all;
  switch (row.encoding) {
    case Encoding::sop1:
      all = {0xBE800000 | scalar_result() << 16 | op << 8 | scalar_source()};
      break;
    case Encoding::sop2:
      all = {0x80000000 | op << 23 | scalar_result() << 16 | scalar_source() << 8 | scalar_source()};
      break;
    case Encoding::sopk:
      all = {0xB0000000 | op << 23 | scalar_result() << 16 | pick(0x10000)};
      break;
    case Encoding::sopc:
      all = {0xBF000000 | op << 16 | scalar_source() << 8 | scalar_source()};
      break;
    case Encoding::sopp:
      all = {0xBF800000 | op << 16};
      break;
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc:
      if (change.encoding == Encoding::vop3) {
        vop3(row, op, all);
      } else {
        vector_alu(row, op, all);
      }
      break;
    case Encoding::vop3:
      vop3(row, op, all);
      break;
    case Encoding::vop3p:
      vop3p(op, all);
      break;
    case Encoding::ds:
      local(row, op, all);
      break;
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch:
      flat(row, op, all);
      break;
    case Encoding::mubuf:
    case Encoding::mtbuf:
      buffer(row, op, all);
      break;
    case Encoding::smem:
      scalar_memory(row, op, all);
      break;
    default:
      return {};
  }
  // A scalar instruction with a literal.
  if (row.encoding <= Encoding::sopc && row.encoding != Encoding::sopk && chance(10)) {
    all[0] |= literal_code;
    all.push_back(literal());
  }
  // The words that set the address are instructions of their own: what is to be checked are the last ones.
  const bool is_memory = row.encoding >= Encoding::smem && row.encoding != Encoding::vop1 &&
                         row.encoding != Encoding::vop2 && row.encoding != Encoding::vopc &&
                         row.encoding != Encoding::vop3 && row.encoding != Encoding::vop3p;
  const std::vector<uint32_t> last(is_memory ? all.end() - 2 : all.begin(), all.end());
  if (!fits(last, opcode)) return {};
  return all;
}

}  // namespace Atoll::test

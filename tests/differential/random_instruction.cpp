#include "differential/random_instruction.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "isa/decode.h"

namespace Atoll::test {

namespace {

using isa::Encoding;
using isa::Field;
using isa::InstructionRow;
using isa::Opcode;
namespace flag = isa::flag;

// Codes of operands (ISA guides, "Scalar operands").
constexpr unsigned vcc = 106, m0 = 124, exec = 126, zero = 128, sdwa_code = 0xF9, dpp_code = 0xFA, literal_code = 0xFF;

/// Instructions that programs must not have in any place: they end or stop the wave, go elsewhere, give another value
/// each time, or change what the instructions behind them mean.
bool is_left_out(const InstructionRow& row) {
  constexpr uint64_t flags = flag::branch | flag::label | flag::ends | flag::barrier | flag::trap | flag::hwreg |
                             flag::message | flag::gpr_index_imm | flag::gws | flag::gds_only | flag::scaled;
  if ((row.flags & flags) != 0) return true;
  constexpr std::array<std::string_view, 11> prefixes{"s_memtime",      "s_memrealtime",  "s_sleep",    "s_set",
                                                      "s_movrel",       "s_cbranch",      "s_rfe",      "s_ttracedata",
                                                      "s_incperflevel", "s_decperflevel", "s_atc_probe"};
  for (const std::string_view prefix : prefixes) {
    if (row.name.starts_with(prefix)) return true;
  }
  return row.name == "v_mfma_ld_scale_b32" || row.name == "s_wakeup" || row.name == "v_clrexcp";
}

bool has_operand(const InstructionRow& row, Field field) {
  for (const isa::OperandSpec& operand : row.operands) {
    if (operand.field == field) return true;
  }
  return false;
}

}  // namespace

RandomInstruction::RandomInstruction(const target::Processor& processor, std::mt19937_64& random)
    : processor_(processor), random_(random) {
  for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const InstructionRow& row = isa::row(opcode);
    if (number(opcode) == isa::Opcodes::none || !processor.has(row.feature) || is_left_out(row)) continue;
    switch (row.encoding) {
      case Encoding::sop1:
      case Encoding::sop2:
      case Encoding::sopk:
      case Encoding::sopc:
      case Encoding::sopp:
        scalar_.push_back(opcode);
        break;
      case Encoding::vop1:
      case Encoding::vop2:
      case Encoding::vopc:
      case Encoding::vop3:
      case Encoding::vop3p:
        vector_.push_back(opcode);
        if (row.name.contains("lane")) lane_.push_back(opcode);
        break;
      case Encoding::smem:
      case Encoding::ds:
      case Encoding::flat:
      case Encoding::global:
      case Encoding::scratch:
      case Encoding::mubuf:
      case Encoding::mtbuf:
        memory_.push_back(opcode);
        break;
      default:
        break;
    }
  }
}

std::vector<uint32_t> RandomInstruction::make() {
  for (;;) {
    const unsigned kind = pick(100);
    const std::vector<Opcode>& opcodes = kind < 48 ? vector_ : kind < 52 ? lane_ : kind < 70 ? scalar_ : memory_;
    const Opcode opcode = opcodes[pick(static_cast<unsigned>(opcodes.size()))];
    // A third of the vector compares write EXEC, and would soon leave no lane on.
    if (isa::row(opcode).has(flag::exec_out) && chance(75)) continue;
    for (unsigned tries = 0; tries < 20; ++tries) {
      if (auto words = attempt(isa::row(opcode), opcode)) return *words;
    }
  }
}

unsigned RandomInstruction::vgpr() { return chance(50) ? pick(32) : pick(16) * 2; }

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

/// `result` becomes an address of bits of the mask: each lane its own, all the same, or lane after lane.
void RandomInstruction::set_address(unsigned result, uint32_t mask, std::vector<uint32_t>& words) {
  const unsigned kind = pick(100);
  const uint32_t begin = static_cast<uint32_t>(random_()) & mask;
  if (kind < 45) {
    words.push_back(vop2(Opcode::v_and_b32, result, literal_code, vgpr()));
    words.push_back(mask);
  } else if (kind < 65) {
    words.push_back(vop1(Opcode::v_mov_b32, result, literal_code));
    words.push_back(begin);
  } else {
    words.push_back(vop2(Opcode::v_lshlrev_b32, result, zero + pick(5), fuzz_register::lane));
    words.push_back(vop2(Opcode::v_add_u32, result, literal_code, result));
    words.push_back(begin & ~0x7u);
    if (mask < 0x400) {  // less than the lanes have elements
      words.push_back(vop2(Opcode::v_and_b32, result, literal_code, result));
      words.push_back(mask);
    }
  }
}

/// An address in the buffer; of a flat one, perhaps in LDS or scratch, in some lanes or all.
void RandomInstruction::set_flat_address(bool is_flat, std::vector<uint32_t>& words) {
  constexpr unsigned low = fuzz_register::address, high = low + 1;
  const bool to_aperture = is_flat && chance(50);
  const bool to_scratch = to_aperture && chance(60);
  set_address(low, to_scratch ? (chance(80) ? 0x7C : 0x7F) : 0xFF8, words);
  if (to_aperture && chance(60)) {
    words.push_back(vop1(Opcode::v_mov_b32, high, literal_code));
    words.push_back(to_scratch ? 0x0002'0000 : 0x0001'0000);
    return;
  }
  constexpr unsigned memory = fuzz_register::other_address;
  words.push_back(vop2(Opcode::v_add_u32, to_aperture ? memory : low, fuzz_register::buffer, low));
  if (to_aperture) {
    words.push_back(vop1(Opcode::v_mov_b32, memory + 1, fuzz_register::buffer + 1));
    words.push_back(vop1(Opcode::v_mov_b32, high, literal_code));
    words.push_back(to_scratch ? 0x0002'0000 : 0x0001'0000);
    // Where VCC is set.
    words.push_back(vop2(Opcode::v_cndmask_b32, low, 256 + low, memory));
    words.push_back(vop2(Opcode::v_cndmask_b32, high, 256 + high, memory + 1));
  } else if (chance(97)) {
    words.push_back(vop1(Opcode::v_mov_b32, high, fuzz_register::buffer + 1));
  } else {  // not mapped
    words.push_back(vop1(Opcode::v_mov_b32, high, literal_code));
    words.push_back(0x00005F00);
  }
}

void RandomInstruction::vop3(const InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words) {
  const bool modifiers = chance(40);
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

void RandomInstruction::flat(const InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words) {
  constexpr unsigned off = 0x7F;
  const unsigned segment = row.encoding == Encoding::flat ? 0 : row.encoding == Encoding::scratch ? 1 : 2;
  unsigned base = segment == 0 ? 0 : off;
  uint32_t offset = pick(512) * 8;
  if (segment == 1) {
    offset = chance(80) ? pick(16) * 4 : pick(64);
    if (chance(40)) base = fuzz_register::private_offset;
    set_address(fuzz_register::address, chance(80) ? 0x7C : 0x7F, words);
  } else if (segment == 2 && chance(50)) {
    base = fuzz_register::buffer;
    set_address(fuzz_register::address, 0xFF8, words);
  } else {
    const size_t before = words.size();
    set_flat_address(segment == 0, words);
    // Scratch is small.
    if (std::ranges::find(words.begin() + static_cast<ptrdiff_t>(before), words.end(), 0x0002'0000u) != words.end()) {
      offset = pick(32) * 4;
    }
  }
  if (segment == 2 && chance(30)) offset |= 0x1000;  // negative
  const unsigned glc = pick(2);
  words.push_back(0xDC000000 | opcode << 18 | segment << 14 | offset | glc << 16 | pick(2) << 17);
  uint32_t w1 = fuzz_register::address | base << 16 | (chance(10) ? 1u << 23 : 0);
  if (has_operand(row, Field::flat_data)) w1 |= vgpr() << 8;
  if (has_operand(row, Field::flat_dst) || (has_operand(row, Field::flat_return) && glc != 0)) w1 |= vgpr() << 24;
  words.push_back(w1);
}

void RandomInstruction::buffer(const InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words) {
  if (row.encoding == Encoding::mubuf && chance(50)) {
    // As compilers address scratch: no index; an offset in a VGPR, in the instruction, or in an SGPR for the wave.
    const bool has_offset = chance(50);
    if (has_offset) set_address(fuzz_register::address, chance(80) ? 0x7C : 0x7F, words);
    const uint32_t offset = chance(80) ? pick(32) * 4 : pick(128);
    words.push_back(0xE0000000 | opcode << 18 | offset | (has_offset ? 1u : 0u) << 12 | pick(2) << 14);
    const unsigned scalar_offset = chance(60) ? fuzz_register::stack_offset : zero;
    words.push_back(fuzz_register::address | vgpr() << 8 | fuzz_register::scratch_resource / 4 << 16 |
                    scalar_offset << 24);
    return;
  }
  const uint32_t mask = chance(80) ? 0x1F8 : 0x1FC;
  set_address(fuzz_register::address, mask, words);
  set_address(fuzz_register::address + 1, mask, words);
  // A resource that is computed is not taken for scratch's.
  constexpr unsigned last = fuzz_register::resource + 3;
  if (chance(70)) words.push_back(0x80000000 | number(Opcode::s_or_b32) << 23 | last << 16 | zero << 8 | last);
  const uint32_t common = pick(512) * 8 | pick(8) << 12;
  if (row.encoding == Encoding::mubuf) {
    words.push_back(0xE0000000 | opcode << 18 | common);
  } else {
    words.push_back(0xE8000000 | opcode << 15 | common | (1 + pick(14)) << 19 | pick(8) << 23);
  }
  words.push_back(fuzz_register::address | vgpr() << 8 | fuzz_register::resource / 4 << 16 | zero << 24);
}

void RandomInstruction::local(const InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words) {
  unsigned address = vgpr();
  if (chance(75)) {
    address = fuzz_register::address;
    set_address(address, chance(80) ? 0x7F8 : 0xFFC, words);
  }
  words.push_back(0xD8000000 | opcode << 17 | pick(64) * 4 | (chance(50) ? pick(256) << 8 : 0));
  uint32_t w1 = 0;
  if (has_operand(row, Field::ds_addr)) w1 |= address;
  if (has_operand(row, Field::ds_data0)) w1 |= vgpr() << 8;
  if (has_operand(row, Field::ds_data1)) w1 |= vgpr() << 16;
  if (has_operand(row, Field::ds_dst)) w1 |= vgpr() << 24;
  words.push_back(w1);
}

void RandomInstruction::scalar_memory(const InstructionRow& row, uint32_t opcode, std::vector<uint32_t>& words) {
  const unsigned base = row.name.starts_with("s_buffer") ? fuzz_register::resource : fuzz_register::buffer;
  words.push_back(0xC0020000 | opcode << 18 | base / 2 | pick(64) << 6 | pick(2) << 16);
  words.push_back(pick(1024) * 4);
}

bool RandomInstruction::fits(const std::vector<uint32_t>& words, Opcode opcode) const {
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4);
  const auto instruction = isa::decode(bytes, processor_);
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
            !(operand.reg >= vcc && end <= vcc + 2) && !(operand.reg >= exec && end <= exec + 2)) {
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
  const isa::Opcodes::Change change = row.opcodes.on(processor_.generation);
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

// Random accesses to memory, with the instructions that set their addresses (random_instruction.h).
#include <algorithm>

#include "differential/random_instruction.h"

namespace Atoll::test {

namespace {

using isa::Encoding;
using isa::Field;
using isa::InstructionRow;
using isa::Opcode;
using operand_code::zero;
constexpr unsigned literal_code = operand_code::literal;

}  // namespace

/// `result` becomes an address of bits of the mask: each lane its own, all the same, or lane after lane.
void RandomInstruction::set_address(unsigned result, uint32_t mask, std::vector<uint32_t>& words) {
  const uint32_t begin = static_cast<uint32_t>(random_()) & mask;
  if (!chance(even_addresses_)) {
    words.push_back(encode.vop2(Opcode::v_and_b32, result, literal_code, vgpr()));
    words.push_back(mask);
  } else if (chance(35)) {
    words.push_back(encode.vop1(Opcode::v_mov_b32, result, literal_code));
    words.push_back(begin);
  } else {
    words.push_back(encode.vop2(Opcode::v_lshlrev_b32, result, zero + pick(5), fuzz_register::lane));
    words.push_back(encode.vop2(Opcode::v_add_u32, result, literal_code, result));
    words.push_back(begin & ~0x7u);
    if (mask < 0x400) {  // less than the lanes have elements
      words.push_back(encode.vop2(Opcode::v_and_b32, result, literal_code, result));
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
    words.push_back(encode.vop1(Opcode::v_mov_b32, high, literal_code));
    words.push_back(to_scratch ? 0x0002'0000 : 0x0001'0000);
    return;
  }
  if (!to_aperture && chance(40)) {  // as compilers add
    if (is_gfx9()) {
      words.push_back(encode.vop2(Opcode::v_add_co_u32, low, fuzz_register::buffer, low));
    } else {
      const std::vector<uint32_t> sum = encode.words(Opcode::v_add_co_u32, Encoding::vop3, 2,
                                                     {Encoder::vgpr(low), encode.lane_mask(isa::scalar::vcc_lo),
                                                      Encoder::scalar(fuzz_register::buffer), Encoder::vgpr(low)});
      words.insert(words.end(), sum.begin(), sum.end());
    }
    words.push_back(encode.vop1(Opcode::v_mov_b32, high, fuzz_register::buffer + 1));
    words.push_back(encode.vop2(Opcode::v_addc_co_u32, high, zero, high));
    return;
  }
  constexpr unsigned memory = fuzz_register::other_address;
  words.push_back(encode.vop2(Opcode::v_add_u32, to_aperture ? memory : low, fuzz_register::buffer, low));
  if (to_aperture) {
    words.push_back(encode.vop1(Opcode::v_mov_b32, memory + 1, fuzz_register::buffer + 1));
    words.push_back(encode.vop1(Opcode::v_mov_b32, high, literal_code));
    words.push_back(to_scratch ? 0x0002'0000 : 0x0001'0000);
    // Where VCC is set.
    words.push_back(encode.vop2(Opcode::v_cndmask_b32, low, 256 + low, memory));
    words.push_back(encode.vop2(Opcode::v_cndmask_b32, high, 256 + high, memory + 1));
  } else if (!chance(bad_addresses_)) {
    words.push_back(encode.vop1(Opcode::v_mov_b32, high, fuzz_register::buffer + 1));
  } else {  // not mapped
    words.push_back(encode.vop1(Opcode::v_mov_b32, high, literal_code));
    words.push_back(0x00005F00);
  }
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
  if (segment == 2 && chance(30)) offset |= 0x1000;               // negative
  const bool has_offset = encode.has(Opcode::global_load_dword);  // from GFX9 on
  if (!has_offset) offset = 0;
  const unsigned glc = pick(2);
  words.push_back(0xDC000000 | opcode << 18 | segment << 14 | offset | glc << 16 | pick(2) << 17);
  uint32_t w1 = fuzz_register::address | base << 16 | (has_offset && chance(10) ? 1u << 23 : 0);
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
  if (chance(70)) words.push_back(encode.sop2(Opcode::s_or_b32, last, last, zero));
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

}  // namespace Atoll::test

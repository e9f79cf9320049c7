#include "isa/patterns.h"

#include <algorithm>
#include <array>
#include <random>

#include "isa/decode.h"
#include "isa/format.h"
#include "isa/opcode_map.h"

namespace Atoll::isa::test {
namespace {

/// The prefix of VOP3P on GFX9, some of whose lower opcodes the oracle reads on later processors, too.
constexpr uint32_t vop3p_gfx9 = 0b110100111;

class Shaper {
 public:
  Shaper(const target::Processor& processor, uint64_t seed) : generation_(processor.generation), random_(seed) {}

  /// In turn 0, bits that are not shaped are zero.
  Bytes pattern(const Format& format, uint32_t opcode, unsigned turn) {
    format_ = &format;
    for (uint32_t& word : words_) word = turn == 0 ? 0 : random();
    // Sometimes few bits are set, so that optional fields are usually zero, and registers even.
    if (turn % 4 == 1) {
      words_[0] &= random();
      for (unsigned i = 1; i < words_.size(); ++i) words_[i] &= random() & random();
    }
    if (turn % 4 == 2) {
      words_[0] &= 0x00FEFEFE | 0xFF;
      for (unsigned i = 1; i < words_.size(); ++i) words_[i] &= 0xFEFEFEFE;
    }
    shape(turn);
    if (format.size > 4) no_wide_literals();
    put(Bits::opcode, opcode);
    put(Bits::opcode_high, opcode >> format.at(Bits::opcode).count);
    const unsigned rest = 32u - format.prefix_bits;
    words_[0] = (words_[0] & ((1u << rest) - 1)) | static_cast<uint32_t>(format.prefix) << rest;
    const bool first = format.encoding == Encoding::flat || format.encoding == Encoding::mubuf;
    const bool second = format.encoding == Encoding::scratch || format.encoding == Encoding::mtbuf;
    put(Bits::segment, first ? 0 : second ? 1 : 2);
    if (generation_ >= target::Generation::gfx10 && words_[0] >> 22 == vop3p_gfx9 << 1) words_[0] ^= 1u << 22;
    return bytes();
  }

  /// Random bits after that prefix of 9 bits.
  Bytes with_prefix(uint32_t prefix, bool sparse) {
    for (uint32_t& word : words_) word = sparse ? random() & random() : random();
    words_[0] = (words_[0] & 0x7FFFFF) | prefix << 23;
    switch (prefix >> 3) {
      case 0b111000:  // MUBUF, MTBUF
      case 0b111010:
        if (words_[1] >> 24 == 0xFF) words_[1] ^= 1u << 24;  // a literal, as in buffer()
        break;
      case 0b110010:  // VOPD
      case 0b110011:  // among others VOPD3
      case 0b110101:  // VOP3
        no_wide_literals();
        break;
      case 0b111100:  // MIMG
        image_registers();
        break;
      default:
        if (prefix >> 8 == 0 && (words_[0] & 0x1FF) == sdwa_code) sdwa(words_[1]);
    }
    return bytes();
  }

 private:
  uint32_t random() { return static_cast<uint32_t>(random_()); }

  Bytes bytes() {
    constexpr uint32_t marker = 0xBF80ABCD;  // stands between the sequences (oracle.cpp)
    if (words_[0] == marker) words_[0] ^= 1;
    Bytes all;
    for (const uint32_t word : words_) {
      for (unsigned shift = 0; shift < 32; shift += 8) all.push_back(static_cast<uint8_t>(word >> shift));
    }
    return all;
  }

  uint32_t get(Bits field) const {
    const BitRange range = format_->at(field);
    return words_[range.low / 32] >> range.low % 32 & ((1u << range.count) - 1);
  }
  void put(Bits field, uint32_t value) {
    const BitRange range = format_->at(field);
    const uint32_t mask = (1u << range.count) - 1;
    uint32_t& word = words_[range.low / 32];
    word = (word & ~(mask << range.low % 32)) | (value & mask) << range.low % 32;
  }
  void clear(Bits field) { put(field, 0); }

  void shape(unsigned turn) {
    switch (format_->encoding) {
      case Encoding::vop1:
      case Encoding::vop2:
      case Encoding::vopc:
        return vector(turn);
      case Encoding::vop3:
      case Encoding::vop3p:
      case Encoding::vinterp:
        return vop3(turn);
      case Encoding::vopd3:
        return dual(turn);
      case Encoding::ds:
        return ds(turn);
      case Encoding::flat:
      case Encoding::global:
      case Encoding::scratch:
        return flat(turn);
      case Encoding::mubuf:
      case Encoding::mtbuf:
        return buffer(turn);
      case Encoding::mimg:
      case Encoding::vsample:
        return image(turn);
      default:
        return;
    }
  }

  void vector(unsigned turn) {
    constexpr uint32_t literal = 0xFF;
    constexpr std::array<uint32_t, 6> literals{0, 64, 0xFFFFFFF0, 0x3F800000, 0xBFF00000, 0x3C00};  // inline, too
    uint32_t& next = words_[1];
    if (get(Bits::src0) == sdwa_code) sdwa(next);
    switch (turn % 6) {
      case 0:
        if (turn == 0) return;
        put(Bits::src0, literal);
        if (turn % 12 == 0) next = literals[random() % literals.size()];
        return;
      case 1:
        put(Bits::src0, sdwa_code);
        sdwa(next);
        return;
      case 2:
        put(Bits::src0, dpp_code);
        next = (next & ~0x1FF00u) | (random() % 0x170) << 8;
        if (turn % 4 < 2) next &= ~0x00F00000u;  // no neg, abs
        return;
      case 3:
        put(Bits::src0, dpp8_code + turn / 6 % 2);
        return;
      case 4:
        put(Bits::src0, get(Bits::src0) | vgpr);
        return;
      default:
        return;
    }
  }

  /// A select of 7 crashes the oracle, a dst_unused of 3 it prints as another value.
  static void sdwa(uint32_t& word) {
    for (const unsigned shift : {8u, 16u, 24u}) {
      if ((word >> shift & 7) == 7) word &= ~(1u << shift);
    }
    if ((word >> 11 & 3) == 3) word &= ~(1u << 11);
  }

  void vop3(unsigned turn) {
    if (turn == 0) return;
    const auto to_vgpr = [&](Bits field) { put(field, get(field) | vgpr); };
    if (turn % 4 == 3 || format_->encoding == Encoding::vinterp) {
      for (const Bits field : {Bits::src0, Bits::src1, Bits::src2}) to_vgpr(field);
    }
    if (turn % 4 == 2) {  // large tuples fit in
      to_vgpr(Bits::src1);
      put(Bits::src0, random() % 2 == 0 ? vgpr : get(Bits::src0) & vgpr);
      put(Bits::src1, get(Bits::src1) & 0x1FE);
      put(Bits::vdst, get(Bits::vdst) & 0xFE);
    }
    if (turn % 2 == 0) words_[1] &= 0x07FFFFFF;    // no neg, omod
    if (turn % 3 == 0) words_[0] &= ~0x0000FF00u;  // no abs, op_sel, clamp
    const bool extended = generation_ >= target::Generation::gfx10;
    if (format_->encoding == Encoding::vinterp) return;
    if (extended && turn % 8 == 5) {
      put(Bits::src0, dpp_code);
      words_[2] = (words_[2] & ~0x1FF00u) | (random() % 0x170) << 8;
      if (turn % 3 != 0) words_[2] &= ~0x00F00000u;
    } else if (extended && turn % 8 == 6) {
      put(Bits::src0, dpp8_code + turn / 8 % 2);
    } else if (extended && turn % 8 == 7) {
      constexpr std::array sources{Bits::src0, Bits::src1, Bits::src2};
      put(sources[random() % 3], 0xFF);
    }
    if (generation_ >= target::Generation::gfx11_7 && format_->encoding == Encoding::vop3p && turn % 8 < 4) {
      // Matrix instructions have but vector registers, no selects, and few negations.
      for (const Bits field : {Bits::src0, Bits::src1, Bits::src2}) to_vgpr(field);
      put(Bits::op_sel, turn % 4 == 0 ? random() % 4 : 0);
      put(Bits::op_sel_hi, 3);
      put(Bits::op_sel_hi2, 1);
      put(Bits::neg, turn % 4 == 1 ? random() : turn % 4 == 2 ? 4 : 0);
      put(Bits::abs, turn % 8 == 1 ? random() : turn % 4 == 2 ? random() & 4 : 0);
      put(Bits::clamp, random() % 4 == 0 ? 1 : 0);
      return;
    }
    if (extended && (turn % 8 == 5 || turn % 8 == 6)) {
      to_vgpr(Bits::src1);
      to_vgpr(Bits::src2);
      if (generation_ >= target::Generation::gfx11_7 && format_->encoding == Encoding::vop3p && turn / 8 % 2 == 0) {
        // Dot products of 8-bit floats have no selects and negate the accumulator alone.
        put(Bits::op_sel, 0);
        put(Bits::op_sel_hi, 3);
        put(Bits::op_sel_hi2, 1);
        put(Bits::clamp, 0);
        put(Bits::neg, get(Bits::neg) & 4);
        put(Bits::abs, get(Bits::abs) & 4);
      }
    }
    if (extended) return;
    // Bytes that crash the oracle: matrix sources other than vector registers, accumulators in scalar
    // registers, and code 255, a literal.
    if (format_->encoding == Encoding::vop3p && turn % 2 == 0) {
      to_vgpr(Bits::src0);
      to_vgpr(Bits::src1);
      if ((get(Bits::src2) & vgpr) == 0) put(Bits::src2, get(Bits::src2) | 0x80);
    }
    for (const Bits field : {Bits::src0, Bits::src1, Bits::src2}) {
      if (get(field) == 0xFF) put(field, 0xFE);
    }
    if (get(Bits::vdst) == 0xFF) put(Bits::vdst, 0x7F);
  }

  /// Removes code 254, of which the oracle makes a literal of 64 bits in instructions of two words as well, or takes it
  /// out of the words of the instruction itself.
  void no_wide_literals() {
    if (generation_ < target::Generation::gfx12_5) return;
    if ((words_[0] & 0x1FF) == 0xFE) words_[0] ^= 0x100;
    for (const unsigned at : {0u, 9u, 18u}) {
      if ((words_[1] >> at & 0x1FF) == 0xFE) words_[1] ^= 0x100u << at;
    }
  }

  void dual(unsigned turn) {
    if (turn == 0) return;
    // Fields that an instruction does not use must be zero.
    const bool first = turn % 4 >= 2, second = turn % 2 == 1;
    if (turn % 8 != 0) put(Bits::neg, first ? 0 : random() & 3);
    if (turn % 8 != 1) put(Bits::neg_y, second ? 0 : random() & 3);
    if (turn % 3 != 0) clear(Bits::src2);
    if (turn % 5 != 0) clear(Bits::src2_y);
    if (turn % 7 == 0) clear(Bits::src1);
    if (turn % 7 == 1) clear(Bits::src1_y);
    for (const Bits field : {Bits::src2, Bits::src2_y}) put(field, get(field) & 0x7F);  // scalar, too
  }

  void ds(unsigned turn) {
    if (turn == 0) return;
    // Fields that an instruction does not use must be zero.
    constexpr std::array<uint32_t, 8> used{0xFFFFFFFF, 0xFF0000FF, 0xFF00FFFF, 0x0000FFFF,
                                           0x00FFFFFF, 0xFF000000, 0x000000FF, 0};
    words_[1] &= used[turn % used.size()];
    if (turn % 16 >= 8) clear(Bits::accumulation);
    if (turn % 4 != 0) words_[0] &= ~0x02000000u;
    if (turn % 3 == 0) words_[1] &= 0xFEFEFEFE;
    if (turn % 2 == 1) put(Bits::gds, turn % 5 == 0 ? 1 : 0);
  }

  void flat(unsigned turn) {
    if (turn == 0) return;
    using enum target::Generation;
    const uint32_t none = generation_ >= gfx11 ? 0x7C : generation_ >= gfx10 ? 0x7D : 0x7F;
    if (format_->encoding == Encoding::flat) {
      if (turn % 4 != 0) put(Bits::saddr, generation_ >= gfx10 ? none : 0);
    } else if (turn % 2 == 0) {
      put(Bits::saddr, none);
    }
    if (turn % 4 >= 2) {
      clear(Bits::lds);
      clear(Bits::accumulation);
    }
    if (turn % 8 != 0) clear(Bits::tfe);
    if (turn % 8 != 1) clear(Bits::zero);
  }

  void buffer(unsigned turn) {
    if (turn % 2 == 0) clear(Bits::tfe);
    if (turn % 4 != 0) clear(Bits::lds);
    if (turn % 3 != 0) words_[0] &= ~0x02000000u;
    put(Bits::soffset, random() % (turn % 2 == 1 ? 128 : 250));  // not code 255, a literal, which crashes the oracle
    resource(Bits::resource, 26);
  }

  /// Fixed fields of the tensor instructions, and valid registers.
  void tensor(unsigned turn) {
    constexpr uint32_t null = 0x7C;
    for (const Bits field : {Bits::d16, Bits::a16, Bits::tfe, Bits::data0, Bits::resource}) clear(field);
    for (const Bits field : {Bits::dim, Bits::dmask}) put(field, 1);
    put(Bits::address4, null);
    for (const Bits field : {Bits::addr, Bits::address1, Bits::address2, Bits::address3}) {
      put(field, random() % 4 == 0 ? random() % 128 : random() % 26 * 4);
    }
    if (turn % 3 != 0) put(Bits::address2, null);
    if (turn % 3 != 1) put(Bits::address3, null);
  }

  void image(unsigned turn) {
    if (generation_ >= target::Generation::gfx12_5) return tensor(turn);
    if (turn % 2 == 0) clear(Bits::sampler);
    if (turn % 4 != 0) put(Bits::nsa, turn % 3);
    if (generation_ < target::Generation::gfx8 && turn % 4 != 3) {  // what the oracle's assembler accepts
      put(Bits::dmask, turn % 4 == 2 ? 3 : turn % 4 == 0 ? 1 : 1u << random() % 4);
      clear(Bits::tfe);
    }
    resource(Bits::resource, 24);
    if (turn % 2 == 1) resource(Bits::sampler, 24);
    image_registers();
    if (turn % 8 != 5) return;
    // Rays leave nothing but addresses and their width to choose.
    for (const Bits field : {Bits::dim, Bits::d16, Bits::tfe, Bits::lwe, Bits::glc, Bits::slc, Bits::dlc, Bits::nv,
                             Bits::temporal_hint, Bits::scope, Bits::sampler}) {
      clear(field);
    }
    for (const Bits field : {Bits::dmask, Bits::unorm, Bits::r128}) put(field, 15);
    put(Bits::nsa, random());
    if (turn % 16 < 8) {
      clear(Bits::a16);
    } else {
      clear(Bits::address4);
    }
  }

  /// Data and addresses in registers below 128, data even: the oracle prints others inconsistently.
  void image_registers() {
    words_[1] &= format_ != nullptr && format_->has(Bits::address1) ? 0xFFFFFF7E : 0xFFFF7E7F;
    words_[2] &= 0x7F7F7F7F;
  }

  /// A group of SGPRs that is there.
  void resource(Bits field, uint32_t groups) {
    const bool registers = format_->at(field).count > 5;
    put(field, random() % groups * (registers ? 4 : 1));
  }

  static constexpr uint32_t vgpr = 0x100, sdwa_code = 0xF9, dpp_code = 0xFA, dpp8_code = 0xE9;

  target::Generation generation_;
  std::mt19937_64 random_;
  const Format* format_ = nullptr;
  std::array<uint32_t, 5> words_{};
};

}  // namespace

std::vector<Bytes> patterns(const target::Processor& processor, unsigned each, uint64_t seed) {
  std::vector<Bytes> all;
  Shaper shaper(processor, seed);
  unsigned turn = 1;
  for (const Format& format : formats_of(processor.generation)) {
    // Where one sequence in many is an instruction, more of them are tried.
    const unsigned more = format.encoding == Encoding::ds ? 3
                          : format.opcodes() == 1         ? 64
                          : format.opcodes() == 4         ? 16
                                                          : 1;
    for (uint32_t opcode = 0; opcode < format.opcodes(); ++opcode) {
      all.push_back(shaper.pattern(format, opcode, 0));
      for (unsigned i = 0; i < each * more; ++i) all.push_back(shaper.pattern(format, opcode, turn++));
    }
  }
  for (uint32_t prefix = 0; prefix < 512; ++prefix) {
    if (prefix == vop3p_gfx9 && processor.generation >= target::Generation::gfx10) continue;
    for (unsigned i = 0; i < each; ++i) all.push_back(shaper.with_prefix(prefix, i % 2 == 1));
  }
  const bool mfma = processor.generation == target::Generation::gfx950;
  if (!mfma && processor.generation < target::Generation::gfx12_5) return all;
  // Matrix instructions with scales: two VOP3P instructions, of which the second of GFX9 says so where others have
  // abid.
  const auto formats = formats_of(processor.generation);
  const Format& vop3p = *std::ranges::find(formats, Encoding::vop3p, &Format::encoding);
  constexpr uint32_t wmma_with_formats = 0x33;
  std::mt19937_64 random(seed);
  const auto both = [&](uint32_t scale, uint32_t matrix) {
    for (unsigned i = 0; i < each * (mfma ? 8 : 32); ++i) {
      Bytes bytes = shaper.pattern(vop3p, scale, 2 * i + 2);
      Bytes second = shaper.pattern(vop3p, matrix, 2 * i + 2);
      bytes.resize(8);
      if (mfma) {
        bytes[0] = 0;
        bytes[1] &= 0x18;  // the operand selects
        second[1] = static_cast<uint8_t>((second[1] & 0x87) | 0x08);
      } else {
        // Selects and formats of the scales and their registers, formats of the matrices; the rest is fixed.
        if (i % 8 != 0) bytes[1] = static_cast<uint8_t>(random() & 0x6B);
        bytes[4] &= 0xFE;
        bytes[5] &= 0xFD;
        if (i % 8 != 1) bytes[6] &= 0x03;
        if (i % 8 != 1) bytes[7] = static_cast<uint8_t>((random() & 0x68) | 0x04);
        if (matrix == wmma_with_formats) {
          second[1] = static_cast<uint8_t>((second[1] & 0x07) | (random() & 0x78));
          second[7] = static_cast<uint8_t>((second[7] & 0xE7) | (random() & 0x18));
        }
        // A literal crashes the oracle.
        if (bytes[4] == 0xFF) bytes[4] ^= 1;
        if ((bytes[5] | 1) == 0xFF && (bytes[6] & 1) == 1) bytes[5] ^= 2;
      }
      bytes.insert(bytes.end(), second.begin(), second.begin() + 8);
      bytes.resize(20);
      all.push_back(std::move(bytes));
    }
  };
  if (mfma) {
    for (const uint32_t matrix : {0x2Du, 0x2Eu}) both(0x2C, matrix);
  } else {
    for (const uint32_t matrix : {wmma_with_formats, 0x88u}) {
      for (const uint32_t scale : {0x35u, 0x3Au}) both(scale, matrix);
    }
  }
  return all;
}

std::set<Opcode> all_opcodes(const target::Processor& processor) {
  const OpcodeMap& map = opcode_map_of(processor);
  std::set<Opcode> opcodes;
  for (const std::vector<Opcode>& encoding : map.opcodes) opcodes.insert(encoding.begin(), encoding.end());
  for (const std::vector<Opcode>& scaled : map.scaled) opcodes.insert(scaled.begin(), scaled.end());
  opcodes.erase(Opcode::invalid);
  return opcodes;
}

std::vector<Bytes> patterns_of(const std::set<Opcode>& opcodes, const target::Processor& processor, uint64_t seed) {
  std::vector<Bytes> some;
  for (Bytes& bytes : patterns(processor, 100, seed)) {
    const auto instruction = decode(bytes, processor);
    if (instruction && opcodes.contains(instruction->opcode)) some.push_back(std::move(bytes));
  }
  return some;
}

std::vector<Bytes> immediates(const target::Processor& processor) {
  const OpcodeMap& map = opcode_map_of(processor);
  std::vector<Bytes> all;
  const auto sweep = [&](uint32_t word) {
    for (uint32_t value = 0; value < 0x10000; value += value < 0x600 ? 1 : 37) {
      Bytes bytes;
      for (const uint32_t part : {word | value, 0x01000002u}) {
        for (unsigned shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(part >> shift));
      }
      all.push_back(std::move(bytes));
    }
  };
  constexpr Flags named = flag::hwreg | flag::waitcnt | flag::message | flag::gpr_index_imm | flag::depctr |
                          flag::delay | flag::version | flag::ends;
  for (const Format& format : formats_of(processor.generation)) {
    const bool swizzles = format.encoding == Encoding::ds;
    if (format.encoding != Encoding::sopp && format.encoding != Encoding::sopk && !swizzles) continue;
    for (uint32_t opcode = 0; opcode < format.opcodes(); ++opcode) {
      const Opcode found = map.at(format.encoding, opcode);
      if (found == Opcode::invalid || map.row(found).has(flag::version)) continue;
      if (swizzles ? found != Opcode::ds_swizzle_b32 : !map.row(found).has(named)) continue;
      if (map.row(found).operands[0].field == Field::literal) continue;
      sweep(static_cast<uint32_t>(format.prefix) << (32 - format.prefix_bits) | opcode << format.at(Bits::opcode).low);
    }
  }
  return all;
}

}  // namespace Atoll::isa::test

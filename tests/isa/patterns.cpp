#include "isa/patterns.h"

#include <algorithm>
#include <array>
#include <random>

namespace Atoll::isa::test {
namespace {

enum class Kind { scalar, smem, vop12c, vop3, vop3p, ds, flat, global, mubuf, mtbuf, mimg, vintrp, exp };

/// An encoding: its fixed bits, where its opcode is, and which bits of the first word may be anything.
struct Space {
  Kind kind;
  uint32_t fixed;
  unsigned opcode_shift, opcode_bits;
  uint32_t free;
};

// The vendor's ISA guides, "Microcode Formats".
constexpr std::array spaces{
    Space{Kind::scalar, 0x80000000, 23, 7, 0x007FFFFF},  // SOP2, and SOPK among its opcodes
    Space{Kind::scalar, 0xB0000000, 23, 5, 0x007FFFFF},  // SOPK
    Space{Kind::scalar, 0xBE800000, 8, 8, 0x007F00FF},   // SOP1
    Space{Kind::scalar, 0xBF000000, 16, 7, 0x0000FFFF},  // SOPC
    Space{Kind::scalar, 0xBF800000, 16, 7, 0x0000FFFF},  // SOPP
    Space{Kind::smem, 0xC0000000, 18, 8, 0x0003FFFF},   Space{Kind::vop12c, 0x00000000, 25, 6, 0x01FFFFFF},  // VOP2
    Space{Kind::vop12c, 0x7E000000, 9, 8, 0x01FE01FF},                                                       // VOP1
    Space{Kind::vop12c, 0x7C000000, 17, 8, 0x0001FFFF},                                                      // VOPC
    Space{Kind::vop3, 0xD0000000, 16, 10, 0x0000FFFF},  Space{Kind::vop3p, 0xD3800000, 16, 7, 0x0000FFFF},
    Space{Kind::ds, 0xD8000000, 17, 8, 0x0201FFFF},     Space{Kind::flat, 0xDC000000, 18, 7, 0x02033FFF},
    Space{Kind::global, 0xDC004000, 18, 7, 0x02033FFF},  // SCRATCH
    Space{Kind::global, 0xDC008000, 18, 7, 0x02033FFF}, Space{Kind::mubuf, 0xE0000000, 18, 7, 0x0203FFFF},
    Space{Kind::mtbuf, 0xE8000000, 15, 4, 0x03F87FFF},  Space{Kind::mimg, 0xF0000000, 18, 7, 0x0203FFFE},
    Space{Kind::vintrp, 0xD4000000, 16, 2, 0x03FCFFFF}, Space{Kind::exp, 0xC4000000, 0, 0, 0x03FFFFFF},
};

class Shaper {
 public:
  explicit Shaper(uint64_t seed) : random_(seed) {}

  /// With `plain`, bits that are not shaped are zero.
  Bytes pattern(const Space& space, uint32_t opcode, unsigned turn, bool plain) {
    const uint32_t opcode_mask = ((1u << space.opcode_bits) - 1) << space.opcode_shift;
    w0_ = word();
    w1_ = word();
    if (plain) w0_ = w1_ = 0;
    // Sometimes few bits are set, so that optional fields are usually zero, and registers even.
    if (turn % 4 == 1) {
      w0_ &= word();
      w1_ &= word() & word();
    }
    if (turn % 4 == 2) {
      w0_ &= 0x00FEFEFE | 0xFF;
      w1_ &= 0xFEFEFEFE;
    }
    shape(space.kind, opcode, turn);
    w0_ = space.fixed | opcode << space.opcode_shift | (w0_ & space.free & ~opcode_mask);
    Bytes bytes;
    for (const uint32_t word : {w0_, w1_}) {
      for (unsigned shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(word >> shift));
    }
    return bytes;
  }

 private:
  uint32_t word() { return static_cast<uint32_t>(random_()); }

  void shape(Kind kind, uint32_t opcode, unsigned turn) {
    switch (kind) {
      case Kind::vop12c:
        return vector(turn);
      case Kind::vop3:
      case Kind::vop3p:
        return vop3(opcode, kind == Kind::vop3p || opcode >= 0x380, turn);
      case Kind::ds:
        return ds(turn);
      case Kind::flat:
        if (turn % 4 != 0) w1_ &= ~0x007F0000u;  // no saddr
        if (turn % 2 == 1) clear_flat_bits();
        return;
      case Kind::global:
        if (turn % 2 == 0) w1_ |= 0x007F0000;  // saddr off
        if (turn % 4 >= 2) clear_flat_bits();
        return;
      case Kind::mubuf:
      case Kind::mtbuf:
        if (turn % 2 == 0) w1_ &= ~0x00800000u;                         // tfe, acc
        if (kind == Kind::mubuf && turn % 4 != 0) w0_ &= ~0x00010000u;  // lds
        if (turn % 3 == 0) w0_ &= ~0x02000000u;
        if ((w1_ >> 16 & 31) > 25) w1_ &= ~0x00100000u;  // a resource beyond the SGPRs
        if (w1_ >> 24 == 0xFF) w1_ &= 0x7FFFFFFF;        // a literal, which crashes the oracle
        return;
      case Kind::mimg:
        w1_ &= ~0x00008100u;  // data in an even register below 128: the oracle prints others inconsistently
        if (turn % 2 == 0) w1_ &= 0xFC1FFFFF;  // no sampler
        return;
      case Kind::scalar:
      case Kind::smem:
      case Kind::vintrp:
      case Kind::exp:
        return;
    }
  }

  void clear_flat_bits() {
    w0_ &= ~0x00003000u;  // lds, the offset's top bit
    w1_ &= ~0x00800000u;  // acc
  }

  void vector(unsigned turn) {
    constexpr uint32_t sdwa = 0xF9, dpp = 0xFA, literal = 0xFF;
    constexpr std::array<uint32_t, 6> literals{0, 64, 0xFFFFFFF0, 0x3F800000, 0xBFF00000, 0x3C00};  // inline, too
    if (turn % 6 == 0) {
      w0_ = (w0_ & ~0x1FFu) | literal;
      if (turn % 12 == 0) w1_ = literals[word() % literals.size()];
    } else if (turn % 3 == 1) {
      w0_ = (w0_ & ~0x1FFu) | sdwa;
      // A select of 7 crashes the oracle, a dst_unused of 3 it prints as another value.
      for (const unsigned shift : {8u, 16u, 24u}) {
        if ((w1_ >> shift & 7) == 7) w1_ &= ~(1u << shift);
      }
      if ((w1_ >> 11 & 3) == 3) w1_ &= ~(1u << 11);
    } else if (turn % 3 == 2) {
      w0_ = (w0_ & ~0x1FFu) | dpp;
      w1_ = (w1_ & ~0x1FF00u) | (word() % 0x160) << 8;
      if (turn % 2 == 0) w1_ &= ~0x00F00000u;  // no neg, abs
    } else if (turn % 2 == 0) {
      w0_ |= 0x100;  // src0 is a VGPR
    }
  }

  void vop3(uint32_t opcode, bool packed, unsigned turn) {
    constexpr uint32_t vgprs = 1u << 8 | 1u << 17 | 1u << 26;
    if (turn % 4 == 3) w1_ |= vgprs;
    if (turn % 4 == 2) w1_ = (w1_ | 1u << 17) & ~(0xFEu | 0xFEu << 18);
    if (turn % 2 == 0) w1_ &= 0x07FFFFFF;    // no neg, omod
    if (turn % 3 == 0) w0_ &= ~0x0000FF00u;  // no abs, op_sel, clamp
    if (packed && is_matrix(opcode & 0x7F)) {
      // Other matrix sources than vector registers crash the oracle, and so do accumulators that are scalar registers.
      w1_ |= 1u << 8 | 1u << 17;
      if ((w1_ >> 26 & 1) == 0) w1_ |= 0x80u << 18;
    }
    // So does code 255, a literal.
    for (const unsigned shift : {0u, 9u, 18u}) {
      if ((w1_ >> shift & 0x1FF) == 0xFF) w1_ ^= 1u << shift;
    }
    if ((w0_ & 0xFF) == 0xFF) w0_ &= ~0x80u;
  }

  /// Whether that opcode of VOP3P is among the matrix instructions; v_pk_fma_f32 and the like are between them.
  static bool is_matrix(uint32_t opcode) { return opcode >= 0x2D && !(opcode >= 0x30 && opcode < 0x34); }

  void ds(unsigned turn) {
    // Fields that an instruction does not use must be zero.
    constexpr std::array<uint32_t, 8> used{0xFFFFFFFF, 0xFF0000FF, 0xFF00FFFF, 0x0000FFFF,
                                           0x00FFFFFF, 0xFF000000, 0x000000FF, 0};
    w1_ &= used[turn % used.size()];
    if (turn % 16 >= 8) w0_ &= ~0x02000000u;
    if (turn % 3 == 0) w1_ &= 0xFEFEFEFE;
    if (turn % 5 == 0) w0_ |= 0x00010000;
  }

  std::mt19937_64 random_;
  uint32_t w0_ = 0, w1_ = 0;
};

}  // namespace

std::vector<Bytes> gfx9_patterns(unsigned each, uint64_t seed) {
  std::vector<Bytes> patterns;
  Shaper shaper(seed);
  unsigned turn = 0;
  for (const Space& space : spaces) {
    // Where one sequence in many is an instruction, more of them are tried.
    const unsigned more = space.kind == Kind::ds       ? 3
                          : space.opcode_bits == 0     ? 64
                          : space.kind == Kind::vintrp ? 16
                                                       : 1;
    for (uint32_t opcode = 0; opcode < 1u << space.opcode_bits; ++opcode) {
      patterns.push_back(shaper.pattern(space, opcode, 3, true));
      for (unsigned i = 0; i < each * more; ++i) patterns.push_back(shaper.pattern(space, opcode, turn++, false));
    }
  }
  // Matrix instructions with a scale: two VOP3P instructions, of which the second says so where others have abid.
  const Space& vop3p = *std::ranges::find(spaces, Kind::vop3p, &Space::kind);
  for (const uint32_t opcode : {0x2Du, 0x2Eu}) {
    for (unsigned i = 0; i < each * 8; ++i) {
      Bytes bytes = shaper.pattern(vop3p, 0x2C, i, false);
      Bytes matrix = shaper.pattern(vop3p, opcode, i, false);
      bytes[0] = 0;
      bytes[1] &= 0x18;  // the operand selects
      matrix[1] = static_cast<uint8_t>((matrix[1] & 0x87) | 0x08);
      bytes.insert(bytes.end(), matrix.begin(), matrix.end());
      patterns.push_back(std::move(bytes));
    }
  }
  return patterns;
}

std::vector<Bytes> gfx9_immediates() {
  constexpr std::array<uint32_t, 7> words{0xBF8C0000,   // s_waitcnt
                                          0xBF900000,   // s_sendmsg
                                          0xB8830000,   // s_getreg_b32 s3
                                          0xB9030000,   // s_setreg_b32
                                          0xBF9D0000,   // s_set_gpr_idx_mode
                                          0xBF810000,   // s_endpgm
                                          0xD87A0000};  // ds_swizzle_b32 v1, v2
  std::vector<Bytes> patterns;
  for (const uint32_t word : words) {
    for (uint32_t value = 0; value < 0x10000; value += value < 0x600 ? 1 : 37) {
      Bytes bytes;
      for (const uint32_t part : {word | value, 0x01000002u}) {
        for (unsigned shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(part >> shift));
      }
      patterns.push_back(std::move(bytes));
    }
  }
  return patterns;
}

}  // namespace Atoll::isa::test

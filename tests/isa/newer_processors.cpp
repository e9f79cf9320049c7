// The oracle's answers for every processor. Of those that LLVM 22 does not know, GFX11.7 (gfx1170 to gfx1172) is asked
// for in two places: GFX11.5 is what it shares with LLVM's gfx1150, and what LLVM's main branch has added to it has
// GFX12's opcodes and text (with 16-bit operands as halves of registers by name, as GFX11 has them):
//
//   WMMA and SWMMAC, v_dot4_f32_*, conversions of 8-bit floats, V_MINIMUM, V_MAXIMUM and V_MED3_NUM   as on gfx1200
//   V_MIN, V_MAX, V_MIN3, V_MAX3, V_MINMAX, V_MAXMIN   as on gfx1150, but "_num" in the name; those of two operations
//                                                      on f16 have op_sel, too, as on gfx1200
//   v_dot2acc_f32_f16, v_med3_f32, v_med3_f16          gone
//   two moves in a dual instruction                    may read the same bank, as on gfx1200
//
// Source: llvm-project, llvm/test/MC/AMDGPU/gfx1170_*.s and pull request 195180; gfx11_7_test.cpp has samples of them.
#include "isa/newer_processors.h"

#include <algorithm>
#include <cstring>
#include <regex>

#include "support/llvm_processors.h"

namespace Atoll::isa::test {
namespace {

constexpr std::string_view before = "gfx1150", after = "gfx1200";

enum class Like : uint8_t { gfx11_5, gfx12, gone };

std::string with_halves(std::string_view features) {
  return std::string(features) + (features.empty() ? "" : ",") + "+real-true16";
}

uint32_t first_word(const Bytes& bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof word));
  return word;
}

constexpr uint32_t vop3_prefix = 0x35, vop3_opcode_shift = 16, vop3_opcode_mask = 0x3FF;

bool is_vop3(uint32_t word) { return word >> 26 == vop3_prefix; }

/// v_maxmin_num_f16 and v_minmax_num_f16, whose opcodes are GFX11's and whose text is GFX12's.
struct Moved {
  uint32_t gfx11_7, gfx12;
};
constexpr Moved moved[] = {{0x260, 0x26B}, {0x261, 0x26A}};

void put_opcode(Bytes& bytes, uint32_t opcode) {
  const uint32_t word = (first_word(bytes) & ~(vop3_opcode_mask << vop3_opcode_shift)) | opcode << vop3_opcode_shift;
  std::memcpy(bytes.data(), &word, sizeof word);
}

/// Kinds of bytes; those that are moved get GFX12's opcode.
Like like(Bytes& bytes) {
  const uint32_t word = first_word(bytes);
  const auto within = [](uint32_t value, uint32_t first, uint32_t last) { return value >= first && value <= last; };
  if (is_vop3(word)) {
    const uint32_t opcode = word >> vop3_opcode_shift & vop3_opcode_mask;
    for (const Moved& each : moved) {
      if (opcode != each.gfx11_7) continue;
      put_opcode(bytes, each.gfx12);
      return Like::gfx12;
    }
    constexpr uint32_t med3_f32 = 0x21F, med3_f16 = 0x24F;
    if (opcode == med3_f32 || opcode == med3_f16) return Like::gone;
    const bool is_new = within(opcode, 0x1EC, 0x1EF) || within(opcode, 0x22D, 0x232) || within(opcode, 0x26C, 0x26F) ||
                        within(opcode, 0x341, 0x342) || within(opcode, 0x365, 0x36C);
    // 0x232 and below: V_MINIMUM3, V_MAXIMUM3 and V_MED3_NUM; 0x365 and above: V_MINIMUM, V_MAXIMUM, conversions.
    return is_new ? Like::gfx12 : Like::gfx11_5;
  }
  if (word >> 24 == 0xCC) {  // VOP3P
    const uint32_t opcode = word >> 16 & 0x7F;
    const bool is_new = within(opcode, 0x1D, 0x1E) || within(opcode, 0x24, 0x27) || within(opcode, 0x40, 0x5A);
    return is_new ? Like::gfx12 : Like::gfx11_5;
  }
  if (word >> 25 == 0x3F) return within(word >> 9 & 0xFF, 0x6C, 0x6F) ? Like::gfx12 : Like::gfx11_5;  // VOP1
  if (word >> 25 == 0x02) return Like::gone;  // v_dot2acc_f32_f16 in VOP2
  return Like::gfx11_5;
}

/// The text for GFX11.5 with the names of GFX11.7.
std::string renamed(const std::string& text) {
  static const std::regex old(R"(\bv_((?:dual_|pk_)?(?:min|max)|min3|max3|minmax|maxmin)_(f16|f32|f64))");
  return std::regex_replace(text, old, "v_$1_num_$2");
}
std::string with_old_names(const std::string& text) {
  static const std::regex now(R"(\bv_((?:dual_|pk_)?(?:min|max)|min3|max3|minmax|maxmin)_num_(f16|f32|f64))");
  return std::regex_replace(text, now, "v_$1_$2");
}

Like like(const std::string& line) {
  static const std::regex gone(R"(^v_(dot2acc_f32_f16|dot2c_f32_f16|med3_f(16|32)))");
  static const std::regex is_new(
      R"(^v_(minimum|maximum|pk_minimum|pk_maximum|dot4_f32|wmma|swmmac|cvt_(pk_)?f32_(fp8|bf8)|cvt_(pk|sr)_(fp8|bf8)_f32)"
      R"(|med3_num|(minmax|maxmin)_num_f16|dual_mov_b32 .*:: v_dual_mov_b32))");
  if (std::regex_search(line, gone)) return Like::gone;
  return std::regex_search(line, is_new) ? Like::gfx12 : Like::gfx11_5;
}

std::vector<Disassembled> disassembled_for_gfx11_7(std::span<const Bytes> sequences, std::string_view features) {
  std::vector<Bytes> asked(sequences.begin(), sequences.end());
  std::vector<Like> likes;
  for (Bytes& bytes : asked) likes.push_back(like(bytes));
  std::vector<Disassembled> all = disassembled_by_llvm(before, asked, features);
  const std::vector<Disassembled> of_gfx12 = disassembled_by_llvm(after, asked, with_halves(features));
  for (size_t i = 0; i < all.size(); ++i) {
    if (likes[i] == Like::gfx11_5) all[i].text = renamed(all[i].text);
    if (likes[i] == Like::gfx12) all[i] = of_gfx12[i];
    if (likes[i] == Like::gone) all[i] = {};
  }
  return all;
}

std::vector<Assembled> assembled_for_gfx11_7(std::span<const std::string> lines, std::string_view features) {
  std::vector<std::string> old;
  for (const std::string& line : lines) old.push_back(with_old_names(line));
  std::vector<Assembled> all = assembled_by_llvm(before, old, features);
  const std::vector<Assembled> of_gfx12 = assembled_by_llvm(after, lines, with_halves(features));
  for (size_t i = 0; i < all.size(); ++i) {
    switch (like(lines[i])) {
      case Like::gfx11_5:
        all[i].text = renamed(all[i].text);
        break;
      case Like::gfx12:
        all[i] = of_gfx12[i];
        if (all[i].bytes.empty() || !is_vop3(first_word(all[i].bytes))) break;
        for (const Moved& each : moved) {
          const uint32_t opcode = first_word(all[i].bytes) >> vop3_opcode_shift & vop3_opcode_mask;
          if (opcode == each.gfx12) put_opcode(all[i].bytes, each.gfx11_7);
        }
        break;
      case Like::gone:
        all[i] = {{}, {}, "instruction not supported on this GPU"};
        break;
    }
  }
  return all;
}

std::string features_for(std::string_view processor, std::string_view features) {
  return Atoll::test::halves_feature(processor).empty() ? std::string(features) : with_halves(features);
}

}  // namespace

std::vector<Disassembled> disassemble(std::string_view processor, std::span<const Bytes> sequences,
                                      std::string_view features) {
  if (Atoll::test::is_gfx11_7(processor)) return disassembled_for_gfx11_7(sequences, features);
  return disassembled_by_llvm(Atoll::test::llvm_processor(processor), sequences, features_for(processor, features));
}

std::vector<Assembled> assemble_and_print(std::string_view processor, std::span<const std::string> lines,
                                          std::string_view features) {
  if (Atoll::test::is_gfx11_7(processor)) return assembled_for_gfx11_7(lines, features);
  return assembled_by_llvm(Atoll::test::llvm_processor(processor), lines, features_for(processor, features));
}

}  // namespace Atoll::isa::test

// GFX11.7's instructions in both directions: texts and the bytes that LLVM's main branch makes of them, for LLVM 22
// does not know these processors. A few of each group, from llvm-project's llvm/test/MC/AMDGPU/gfx1170_asm_*.s; packed
// minimum and maximum as pull request 195180 has mended them. What GFX11.7 shares with other generations is in the
// sweeps.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "assembler/assembler.h"
#include "isa/decode.h"
#include "isa/oracle.h"
#include "isa/print.h"

namespace Atoll::isa::test {
namespace {

struct Sample {
  std::string_view text, bytes;
  std::string_view printed = {};  ///< if it is not the text
  unsigned wave_size = 32;
};

constexpr Sample samples[] = {
    // Numbers before NaNs: GFX11's opcodes, GFX12's names; the median has both from GFX12.
    {"v_max_num_f16 v5.l, v1.l, v2.l", "01050a72", "v_max_num_f16_e32 v5.l, v1.l, v2.l"},
    {"v_max_num_f16 v127.h, 0xfe0b, v127.h", "fffeff730bfe0000", "v_max_num_f16_e32 v127.h, 0xfe0b, v127.h"},
    {"v_min_num_f16_e64 v5.l, v255.l, v255.h", "05103ad5ffff0300",
     "v_min_num_f16_e64 v5.l, v255.l, v255.h op_sel:[0,1,0]"},
    {"v_max_num_f32 v5, s105, v2", "69040a20", "v_max_num_f32_e32 v5, s105, v2"},
    {"v_min_num_f32_e64 v255, -|0xaf123456|, -|vcc_hi| clamp div:2", "ff830fd5ffd60078563412af"},
    {"v_max_num_f64_e64 v[5:6], -|exec|, src_scc", "05012ad77efa0120", "v_max_num_f64 v[5:6], -|exec|, src_scc"},
    {"v_min_num_f64 v[254:255], 0xaf123456, v[254:255]", "fe0029d7fffc0302563412af"},
    {"v_pk_min_num_f16 v5, v1, v2", "054011cc01050218"},
    {"v_pk_max_num_f16 v5, -1, exec_hi op_sel:[1,1] op_sel_hi:[0,0] neg_lo:[1,0] neg_hi:[1,0]", "055912ccc1fe0020"},
    {"v_min3_num_f32 v5, -src_scc, |vcc_lo|, -1 mul:4", "050219d6fdd40433"},
    {"v_max3_num_f16 v5.l, s1, v255.h, exec_hi", "05104cd601feff01",
     "v_max3_num_f16 v5.l, s1, v255.h, exec_hi op_sel:[0,1,0,0]"},
    {"v_med3_num_f32 v5, vcc_hi, 0xaf123456, v255", "050031d66bfefd07563412af"},
    {"v_med3_num_f16 v5.h, -|exec_hi|, null, -|vcc_lo| op_sel:[1,1,1,1]", "057d32d67ff8a8a1"},
    {"v_maxmin_num_f32 v5, v1, v2, s3", "05005ed601050e00"},
    {"v_minmax_num_f32 v5, m0, 0.5, m0", "05005fd67de0f501"},
    {"v_maxmin_num_f16 v5.l, vcc_hi, 0xfe0b, v255.h", "052060d66bfefd070bfe0000",
     "v_maxmin_num_f16 v5.l, vcc_hi, 0xfe0b, v255.h op_sel:[0,0,1,0]"},
    {"v_minmax_num_f16 v5.l, 0.5, -m0, 0.5 mul:2", "050061d6f0fac04b"},
    {"v_dual_max_num_f32 v255, v4, v255 :: v_dual_mov_b32 v6, v1", "04ff91ca010106ff"},
    {"v_dual_mov_b32 v255, 0xaf123456 :: v_dual_min_num_f32 v6, null, v255", "ff0016ca7cfe07ff563412af"},
    {"v_dual_mov_b32 v2, v5 :: v_dual_mov_b32 v3, v1", "050110ca01010202"},  // of one bank
    // NaNs before numbers, as GFX12.
    {"v_minimum_f32 v5, |exec_hi|, null", "050165d77ff80002"},
    {"v_maximum_f32 v255, -|0xaf123456|, -|vcc_hi|", "ff0366d7ffd60062563412af"},
    {"v_minimum_f16 v255.h, 0xfe0b, vcc_hi", "ff4067d7ffd600020bfe0000",
     "v_minimum_f16 v255.h, 0xfe0b, vcc_hi op_sel:[0,0,1]"},
    {"v_maximum_f64 v[254:255], -|2|, -|vcc|", "fe0342d782d40062"},
    {"v_minimum3_f32 v5, 0.5, -m0, 0.5 mul:2", "05002dd6f0fac04b"},
    {"v_maximum3_f16 v5.h, v1.h, v2.h, s3", "055830d601050e00", "v_maximum3_f16 v5.h, v1.h, v2.h, s3 op_sel:[1,1,0,1]"},
    {"v_minimummaximum_f32 v5, s1, v255, exec_hi", "05006cd601feff01"},
    {"v_maximumminimum_f16 v5.h, s1, v255.h, exec_hi", "05506fd601feff01",
     "v_maximumminimum_f16 v5.h, s1, v255.h, exec_hi op_sel:[0,1,0,1]"},
    {"v_pk_minimum_f16 v255, 0xfe0b, vcc_hi op_sel:[0,1] op_sel_hi:[1,0] neg_lo:[1,1] neg_hi:[1,1] clamp",
     "ffd31dccffd600680bfe0000"},
    {"v_pk_maximum_f16 v5, src_scc, vcc_lo op_sel:[1,0] op_sel_hi:[0,1]", "05481eccfdd40010"},
    // 8-bit floats.
    {"v_cvt_f32_bf8_e32 v1, s3", "03da027e"},
    {"v_cvt_f32_fp8_e64 v1, v3 byte_sel:2", "0108ecd503010102"},
    {"v_cvt_f32_fp8 v1, v3 quad_perm:[3,2,1,0] row_mask:0x2 bank_mask:0xe", "fad8027e031b002e",
     "v_cvt_f32_fp8_dpp v1, v3 quad_perm:[3,2,1,0] row_mask:0x2 bank_mask:0xe"},
    {"v_cvt_pk_f32_bf8_e32 v[3:4], v3.h", "83df067e"},
    {"v_cvt_pk_f32_fp8_e64 v[3:4], v255.h", "0308eed5ff010102", "v_cvt_pk_f32_fp8_e64 v[3:4], v255.h op_sel:[1,0]"},
    {"v_cvt_pk_f32_fp8_e64 v[2:3], s3 op_sel:[1,0]", "0208eed503000102"},
    {"v_cvt_pk_fp8_f32 v1.l, -v2, |v3|", "010269d702070222"},
    {"v_cvt_sr_bf8_f32 v1, v2, v3 byte_sel:3", "01606cd702070202"},
    {"v_cvt_sr_fp8_f32 v1, v2, v3 byte_sel:1 quad_perm:[3,2,1,0]", "01206bd7fa060200021b00ff",
     "v_cvt_sr_fp8_f32_e64_dpp v1, v2, v3 byte_sel:1 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf"},
    {"v_dot4_f32_fp8_bf8 v0, v1, v2, v3 neg_lo:[0,0,1]", "004024cc01050e9c"},
    {"v_dot4_f32_bf8_fp8 v0, v1, s0, v3", "004025cc01010c1c"},
    {"v_dot4_f32_fp8_fp8 v0, v1, v2, 1.0", "004026cc0105ca1b"},
    {"v_dot4_f32_bf8_bf8 v0, v1, v2, v3 row_share:15", "004027ccfa040e1c015f01ff",
     "v_dot4_f32_bf8_bf8_e64_dpp v0, v1, v2, v3 row_share:15 row_mask:0xf bank_mask:0xf"},
    // Matrices, as GFX12.
    {"v_wmma_f32_16x16x16_f16 v[8:15], v[0:3], v[4:7], v[8:15] neg_hi:[0,0,1]", "084440cc0009221c"},
    {"v_wmma_f32_16x16x16_bf16 v[8:15], v[0:3], v[4:7], 1.0", "084041cc0009ca1b"},
    {"v_wmma_f16_16x16x16_f16 v[8:11], v[0:3], v[4:7], v[8:11]", "084042cc0009221c"},
    {"v_wmma_bf16_16x16x16_bf16 v[8:11], v[0:3], v[4:7], 1", "084043cc0009061a"},
    {"v_wmma_i32_16x16x16_iu8 v[4:11], v[0:1], v[2:3], v[4:11] clamp", "04c044cc0005121c"},
    {"v_wmma_i32_16x16x16_iu4 v[2:9], v0, v1, v[2:9] neg_lo:[0,1,0]", "024045cc00030a5c"},
    {"v_wmma_f32_16x16x16_fp8_bf8 v[4:11], v[0:1], v[2:3], v[4:11] neg_lo:[0,0,1]", "044047cc0005129c"},
    {"v_wmma_i32_16x16x32_iu4 v[4:11], v[0:1], v[2:3], v[4:11]", "04404acc0005121c"},
    {"v_swmmac_f32_16x16x32_f16 v[12:19], v[0:3], v[4:11], v20 index_key:1", "0c4850cc0009521c"},
    {"v_swmmac_bf16_16x16x32_bf16 v[12:15], v[0:3], v[4:11], v16 neg_lo:[0,1,0]", "0c4053cc0009425c"},
    {"v_swmmac_i32_16x16x32_iu8 v[6:13], v[0:1], v[2:5], v14 clamp", "06c054cc00053a1c"},
    {"v_swmmac_i32_16x16x32_iu4 v[3:10], v0, v[1:2], v11", "034055cc00032e1c"},
    {"v_swmmac_i32_16x16x64_iu4 v[6:13], v[0:1], v[2:5], v14", "064056cc00053a1c"},
    {"v_swmmac_f32_16x16x32_bf8_bf8 v[6:13], v[0:1], v[2:5], v14 index_key:1", "06485acc00053a1c"},
    {"v_wmma_f32_16x16x16_f16 v[4:7], v[0:1], v[2:3], v[4:7] neg_lo:[1,0,0]", "044040cc0005123c", {}, 64},
    {"v_wmma_f16_16x16x16_f16 v[4:5], v[0:1], v[2:3], 1.0", "044042cc0005ca1b", {}, 64},
    {"v_wmma_i32_16x16x16_iu8 v[2:5], v0, v1, v[2:5] clamp", "02c044cc00030a1c", {}, 64},
};

/// Texts that LLVM answers with "not a valid operand", "invalid operand", "out of range" or "not supported".
constexpr std::string_view refused[] = {
    "v_dot2c_f32_f16 v0, v1, v2",
    "v_dot2acc_f32_f16 v5, v1, v2",
    "v_wmma_f32_16x16x16_f16 v[8:15], v[0:3], v[4:7], v[8:15] clamp",
    "v_wmma_f32_16x16x16_f16 v[8:15], v[0:3], v[4:7], v[8:15] op_sel:[1,0,0]",
    "v_wmma_f16_16x16x16_f16 v[8:11], v[0:3], v[4:7], v[8:11] op_sel_hi:[1,1,0]",
    "v_wmma_i32_16x16x16_iu8 v[4:11], v[0:1], v[2:3], v[4:11] neg_lo:[0,0,1]",
    "v_wmma_f32_16x16x16_fp8_fp8 v[4:11], v[0:1], v[2:3], v[4:11] neg_hi:[1,0,0]",
    "v_wmma_f32_16x16x16_f16 v[8:15], s[0:3], v[4:7], v[8:15]",
    "v_wmma_f32_16x16x16_f16 v[8:15], v[0:3], 1.0, v[8:15]",
    "v_swmmac_f32_16x16x32_f16 v[12:19], v[0:3], v[4:11], v20 index_key:2",
    "v_swmmac_f32_16x16x32_f16 v[12:19], v[0:3], v[4:11], v20 neg_lo:[0,0,1]",
    "v_swmmac_i32_16x16x64_iu4 v[6:13], v[0:1], v[2:5], v14 index_key:1",
    "v_swmmac_f32_16x16x32_fp8_fp8 v[6:13], v[0:1], v[2:5], v14 neg_lo:[1,0,0]",
    "v_swmmac_f32_16x16x32_bf8_bf8 v[6:13], v[0:1], v[2:5], 1.0",
};

Bytes bytes_of(std::string_view hexadecimal) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoul(std::string(hexadecimal.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

/// LLVM's main branch puts the constant 0 where a VOP3 instruction has no source, LLVM 22 and Atoll put s0 there. No
/// sample has the constant as a source.
Bytes without_absent_sources(Bytes bytes) {
  if (bytes.size() < 8 || bytes[3] >> 2 != 0x35) return bytes;
  uint32_t word = 0;
  std::memcpy(&word, &bytes[4], sizeof word);
  constexpr uint32_t zero = 0x80, all = 0x1FF;
  for (const unsigned shift : {9u, 18u}) {
    if ((word >> shift & all) == zero) word &= ~(all << shift);
  }
  std::memcpy(&bytes[4], &word, sizeof word);
  return bytes;
}

/// Empty if it is refused.
Bytes assembled(std::string_view text, std::string_view processor, unsigned wave_size) {
  assembler::Options options;
  options.target = target::parse_target_id(processor).value();
  options.wave32 = wave_size == 32;
  const auto result = assembler::assemble("line", std::string(text) + "\n", options);
  return result.object ? result.object->sections.front().bytes : Bytes();
}

constexpr std::string_view processors[] = {"gfx1170", "gfx1171", "gfx1172", "gfx11-7-generic"};

TEST(Gfx11_7, IsDisassembledAsPublished) {
  for (const std::string_view name : processors) {
    const target::Processor& processor = *target::find_processor(name);
    for (const Sample& sample : samples) {
      const auto instruction = decode(bytes_of(sample.bytes), processor, sample.wave_size);
      ASSERT_TRUE(instruction) << sample.text;
      EXPECT_EQ(print(*instruction, processor), sample.printed.empty() ? sample.text : sample.printed);
    }
  }
}

TEST(Gfx11_7, IsAssembledAsPublished) {
  for (const std::string_view name : processors) {
    for (const Sample& sample : samples) {
      EXPECT_EQ(spelled(assembled(sample.text, name, sample.wave_size)),
                spelled(without_absent_sources(bytes_of(sample.bytes))))
          << sample.text;
    }
    for (const std::string_view text : refused) EXPECT_TRUE(assembled(text, name, 32).empty()) << text;
  }
}

// v_med3_f32, v_med3_f16 and v_dot2acc_f32_f16.
TEST(Gfx11_7, OpcodesThatAreGoneAreNotDecoded) {
  for (const std::string_view bytes : {"05001fd601050e04", "05004fd601050e04", "01050a04"}) {
    EXPECT_TRUE(decode(bytes_of(bytes), *target::find_processor("gfx1150")));
    EXPECT_FALSE(decode(bytes_of(bytes), *target::find_processor("gfx1170")));
  }
}

}  // namespace
}  // namespace Atoll::isa::test

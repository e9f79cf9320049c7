// Tests of the decoder: the fields of Instruction that the engines rely on. The words were assembled by llvm-mc-22 from
// the text beside them.
#include "isa/decode.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <initializer_list>
#include <random>
#include <vector>

#include "isa/print.h"
#include "isa/table.h"

namespace Atoll::isa {
namespace {

using Words = std::initializer_list<uint32_t>;

Instruction decoded(std::string_view processor, Words words) {
  std::vector<uint8_t> bytes;
  for (const uint32_t word : words) {
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(word >> shift));
  }
  auto result = decode(bytes, *target::find_processor(processor));
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  EXPECT_EQ(result ? result->size : 0, bytes.size());
  return result.value_or(Instruction{});
}

Instruction gfx9(Words words) { return decoded("gfx900", words); }

void expect_register(const Operand& operand, OperandKind kind, unsigned number, unsigned words) {
  EXPECT_EQ(operand.kind, kind);
  EXPECT_EQ(operand.reg, number);
  EXPECT_EQ(operand.words, words);
}
void expect_vgpr(const Operand& operand, unsigned number, unsigned words = 1) {
  expect_register(operand, OperandKind::vgpr, number, words);
}
void expect_scalar(const Operand& operand, unsigned number, unsigned words = 1) {
  expect_register(operand, OperandKind::scalar, number, words);
}
void expect_constant(const Operand& operand, uint64_t value) {
  EXPECT_EQ(operand.kind, OperandKind::constant);
  EXPECT_EQ(operand.value, value);
}

// --- Shape --------------------------------------------------------------------------------------------------------

TEST(Decode, OperandsStandResultsFirst) {  // v_add_f32_e32 v3, 0x42f60000, v4
  const Instruction i = gfx9({0x020608FF, 0x42F60000});
  EXPECT_EQ(i.opcode, Opcode::v_add_f32);
  EXPECT_EQ(i.encoding, Encoding::vop2);
  EXPECT_EQ(i.extension, Extension::literal);
  ASSERT_EQ(i.operand_count, 3);
  EXPECT_EQ(i.destinations, 1);
  EXPECT_EQ(i.sources(), 2u);
  expect_vgpr(i.dst(), 3);
  expect_constant(i.src(0), 0x42F60000);
  EXPECT_TRUE(i.src(0).is_literal);
  EXPECT_EQ(i.src(0).type, DataType::f32);
  expect_vgpr(i.src(1), 4);
}

// As clang 15 writes it in ROCm 5.2, with bits of modifiers that it has not got.
TEST(Decode, SomeBitsOfPermlaneMeanNothing) {
  const Instruction i = decoded("gfx1030", {0xD7781204, 0x42010103});
  EXPECT_EQ(i.opcode, Opcode::v_permlanex16_b32);
  expect_vgpr(i.dst(), 4);
  expect_vgpr(i.src(0), 3);
  EXPECT_FALSE(i.src(1).neg || i.src(1).abs);
}

bool is_refused(std::string_view processor, std::initializer_list<uint32_t> words) {
  std::vector<uint8_t> bytes;
  for (const uint32_t word : words) {
    for (unsigned shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(word >> shift));
  }
  return !decode(bytes, *target::find_processor(processor)).has_value();
}

// llvm-project issues 214952 and 214953; LLVM 22 still decodes them.
TEST(Decode, ReservedSelectorsAreNoSources) {
  // s_mov_b64 exec, src_private_base; s_sext_i32_i8 s0, src_private_limit and so on.
  for (const uint32_t word : {0xBEFE01EDu, 0xBE800EEEu, 0xBF0CEF00u, 0xBE800EFBu, 0xBE800EFCu}) {
    EXPECT_TRUE(is_refused("gfx1250", {word})) << std::hex << word;
  }
  EXPECT_FALSE(is_refused("gfx1200", {0xBEFE01ED}));
  EXPECT_FALSE(is_refused("gfx1250", {0xBE800EFD}));  // src_scc
  for (const char* name : {"gfx1100", "gfx1150", "gfx1201", "gfx1250"}) {
    for (const uint32_t code : {0xEFu, 0xFBu, 0xFCu}) {  // src_pops_exiting_wave_id, src_vccz, src_execz
      EXPECT_TRUE(is_refused(name, {0x7E000200 | code})) << name << std::hex << code;
    }
  }
  for (const uint32_t code : {0xEFu, 0xFBu, 0xFCu}) EXPECT_FALSE(is_refused("gfx1030", {0x7E000200 | code}));
  EXPECT_TRUE(is_refused("gfx900", {0xBE80007D}));  // null, from GFX10 on
  EXPECT_FALSE(is_refused("gfx1030", {0xBE80037D}));
}

TEST(Decode, WideLiteralsFollowInstructionsOfOneWordAlone) {
  EXPECT_TRUE(is_refused("gfx1250", {0xD67000FF, 0x00E9FD64, 0x64B680E2, 0x1BFD0080}));  // v_permlane_bcast_b32
  EXPECT_TRUE(is_refused("gfx1250", {0xD52A0000, 0x000204FE, 1, 2}));                    // v_mul_u64_e64
  EXPECT_FALSE(is_refused("gfx1250", {0xD52A0000, 0x000204FF, 1}));
  EXPECT_FALSE(is_refused("gfx1250", {0x040004FE, 1, 2}));  // v_add_f64_e32
}

TEST(Decode, BytesThatEndInTheMiddleAreAnError) {
  const std::array<uint8_t, 6> bytes{0xFF, 0x08, 0x06, 0x02, 0x00, 0x00};
  const target::Processor& processor = *target::find_processor("gfx900");
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const auto result = decode(std::span(bytes).first(size), processor);
    ASSERT_FALSE(result.has_value()) << size;
    EXPECT_EQ(result.error().message, "the bytes end in the middle of an instruction");
  }
}

TEST(Decode, NothingIsReadBehindTheBytes) {
  // Sequences of all lengths end at a page that cannot be read.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* pages = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* end = static_cast<uint8_t*>(pages) + page;
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  std::mt19937 random(1);
  unsigned instructions = 0;
  for (unsigned turn = 0; turn < 200'000; ++turn) {
    const size_t size = turn % 20;
    const std::span bytes(end - size, size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    // Encodings with more than one word are the interesting ones.
    if (size >= 4 && turn % 3 == 0) bytes[3] = static_cast<uint8_t>(0xC0 | (random() & 0x3F));
    if (size >= 4 && turn % 7 == 0) bytes[0] = static_cast<uint8_t>(0xF9 + random() % 7);
    for (const char* name : {"gfx900", "gfx90a", "gfx950", "gfx1030", "gfx1100"}) {
      const target::Processor& processor = *target::find_processor(name);
      const auto instruction = decode(bytes, processor);
      if (!instruction) continue;
      ASSERT_LE(instruction->size, size);
      EXPECT_FALSE(print(*instruction, processor).empty());
      ++instructions;
    }
  }
  EXPECT_GT(instructions, 10'000u);
  munmap(pages, 2 * page);
}

TEST(Decode, BytesOfNoInstructionAreAnErrorThatNamesTheProcessor) {
  const std::array<uint8_t, 4> bytes{0x00, 0x00, 0x00, 0xFC};
  const auto result = decode(bytes, *target::find_processor("gfx90a"));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, support::ErrorKind::illegal_instruction);
  EXPECT_NE(result.error().message.find("gfx90a"), std::string::npos);
}

TEST(Decode, AnInstructionOfAnotherProcessorIsRefused) {  // v_mfma_f32_32x32x1f32 exists from gfx908 on
  const std::array<uint8_t, 8> bytes{0x00, 0x91, 0xC0, 0xD3, 0x01, 0x05, 0x82, 0x74};
  EXPECT_FALSE(decode(bytes, *target::find_processor("gfx906")).has_value());
  EXPECT_TRUE(decode(bytes, *target::find_processor("gfx90a")).has_value());
}

// --- Constants ----------------------------------------------------------------------------------------------------

TEST(Decode, LiteralsExtendToSixtyFourBitsAsTheirTypeSays) {
  // s_mov_b64 s[0:1], 0x82345678
  expect_constant(gfx9({0xBE8001FF, 0x82345678}).src(0), 0x82345678);
  // v_cmp_lt_i64_e32 vcc, 0x80000000, v[2:3]
  expect_constant(gfx9({0x7DC204FF, 0x80000000}).src(0), 0xFFFFFFFF80000000);
  // v_rcp_f64_e32 v[0:1], 0x40100001: the upper half
  expect_constant(gfx9({0x7E004AFF, 0x40100001}).src(0), 0x4010000100000000);
}

TEST(Decode, InlineConstantsAreValuesOfTheOperandsType) {
  expect_constant(gfx9({0x3E0002F2}).src(0), 0x3C00);          // v_add_f16_e32 v0, 1.0, v1
  expect_constant(gfx9({0x4C0002C1}).src(0), 0xFFFF);          // v_add_u16_e32 v0, -1, v1
  expect_constant(gfx9({0x020002C1}).src(0), 0xFFFFFFFF);      // v_add_f32_e32 v0, -1, v1
  const Instruction doubles = gfx9({0xD1CC0000, 0x040982F0});  // v_fma_f64 v[0:1], 0.5, -1, v[2:3]
  expect_constant(doubles.src(0), 0x3FE0000000000000);
  expect_constant(doubles.src(1), 0xFFFFFFFFFFFFFFFF);
  EXPECT_FALSE(doubles.src(0).is_literal);
  expect_constant(gfx9({0xD38F4000, 0x180202F2}).src(0), 0x3C00);      // v_pk_add_f16 v0, 1.0, v1: the low half
  expect_constant(gfx9({0xD38A4000, 0x180202C1}).src(0), 0xFFFFFFFF);  // v_pk_add_u16 v0, -1, v1
}

TEST(Decode, MixedPrecisionSourcesAreHalvesIfOpSelHiSaysSo) {
  // v_fma_mix_f32 v0, 1.0, v1, v2 op_sel_hi:[1,0,0]
  const Instruction half = decoded("gfx906", {0xD3A00000, 0x0C0A02F2});
  EXPECT_EQ(half.src(0).type, DataType::f16);
  expect_constant(half.src(0), 0x3C00);
  EXPECT_EQ(half.src(1).type, DataType::f32);
  // v_fma_mix_f32 v0, 1.0, v1, v2 op_sel:[0,1,0] op_sel_hi:[0,1,0]
  const Instruction single = decoded("gfx906", {0xD3A01000, 0x140A02F2});
  EXPECT_EQ(single.src(0).type, DataType::f32);
  expect_constant(single.src(0), 0x3F800000);
  EXPECT_EQ(single.src(1).type, DataType::f16);
  EXPECT_TRUE(single.src(1).op_sel);
}

TEST(Decode, TheConstantOfMadakIsASource) {  // v_madak_f32 v0, v1, v2, 0x40490fdb
  const Instruction i = gfx9({0x30000501, 0x40490FDB});
  ASSERT_EQ(i.sources(), 3u);
  expect_constant(i.src(2), 0x40490FDB);
  EXPECT_EQ(i.literal, 0x40490FDBu);
}

// --- Registers ----------------------------------------------------------------------------------------------------

TEST(Decode, SpecialRegistersHaveOneNumber) {
  const Instruction pair = gfx9({0xBEE6017E});  // s_mov_b64 flat_scratch, exec
  expect_scalar(pair.dst(), scalar::flat_scratch_lo, 2);
  expect_scalar(pair.src(0), scalar::exec_lo, 2);
  const Instruction high = gfx9({0xBEE9006F});  // s_mov_b32 xnack_mask_hi, ttmp3
  expect_scalar(high.dst(), scalar::xnack_mask_hi);
  expect_scalar(high.src(0), scalar::ttmp0 + 3);
  const Instruction m0 = gfx9({0xBEFC006B});  // s_mov_b32 m0, vcc_hi
  expect_scalar(m0.dst(), scalar::m0);
  expect_scalar(m0.src(0), scalar::vcc_hi);
}

TEST(Decode, ApertureSourcesAreNotRegisters) {  // v_mov_b32_e32 v0, src_shared_base
  EXPECT_EQ(gfx9({0x7E0002EB}).src(0).kind, OperandKind::shared_base);
}

TEST(Decode, ImpliedVccIsAnOperand) {
  const Instruction carry = gfx9({0x38000501});  // v_addc_co_u32_e32 v0, vcc, v1, v2, vcc
  ASSERT_EQ(carry.operand_count, 5);
  EXPECT_EQ(carry.destinations, 2);
  expect_scalar(carry.dst(1), scalar::vcc_lo, 2);
  EXPECT_EQ(carry.dst(1).type, DataType::lane_mask);
  expect_scalar(carry.src(2), scalar::vcc_lo, 2);

  const Instruction wide = gfx9({0xD11C0400, 0x001A0501});  // v_addc_co_u32_e64 v0, s[4:5], v1, v2, s[6:7]
  expect_scalar(wide.dst(1), 4, 2);
  expect_scalar(wide.src(2), 6, 2);

  const Instruction select = gfx9({0x00000501});  // v_cndmask_b32_e32 v0, v1, v2, vcc
  expect_scalar(select.src(2), scalar::vcc_lo, 2);

  const Instruction division = gfx9({0xD1E20000, 0x040E0501});  // v_div_fmas_f32 v0, v1, v2, v3
  ASSERT_EQ(division.sources(), 4u);
  expect_scalar(division.src(3), scalar::vcc_lo, 2);
  EXPECT_EQ(division.src(3).type, DataType::lane_mask);
}

TEST(Decode, ComparisonsWriteALaneMask) {
  const Instruction implied = gfx9({0x7C880501});  // v_cmp_gt_f32_e32 vcc, v1, v2
  EXPECT_EQ(implied.destinations, 1);
  expect_scalar(implied.dst(), scalar::vcc_lo, 2);
  const Instruction named = gfx9({0xD054010A, 0x40020501});  // v_cmpx_gt_f32_e64 s[10:11], |v1|, -v2
  expect_scalar(named.dst(), 10, 2);
  EXPECT_TRUE(named.src(0).abs);
  EXPECT_TRUE(named.src(1).neg);
  EXPECT_TRUE(row(named.opcode).has(flag::exec_out));
}

TEST(Decode, ALaneIsReadIntoAScalarRegister) {  // v_readlane_b32 s3, v4, s5
  const Instruction i = gfx9({0xD2890003, 0x00000B04});
  EXPECT_EQ(i.destinations, 1);
  expect_scalar(i.dst(), 3);
  expect_vgpr(i.src(0), 4);
  expect_scalar(i.src(1), 5);
}

TEST(Decode, AccumulationRegistersAreTheirOwnKind) {
  const Instruction write = decoded("gfx908", {0xD3D94003, 0x18000104});  // v_accvgpr_write_b32 a3, v4
  expect_register(write.dst(), OperandKind::agpr, 3, 1);
  const Instruction read = decoded("gfx90a", {0xDAEC0000, 0x02000002});  // ds_read_b64 a[2:3], v2
  expect_register(read.dst(), OperandKind::agpr, 2, 2);
  // v_mfma_f32_32x32x1f32 a[0:31], v1, a2, a[32:63] cbsz:1 abid:2 blgp:3
  const Instruction matrix = decoded("gfx90a", {0xD3C09100, 0x74820501});
  expect_register(matrix.dst(), OperandKind::agpr, 0, 32);
  expect_vgpr(matrix.src(0), 1);
  expect_register(matrix.src(1), OperandKind::agpr, 2, 1);
  expect_register(matrix.src(2), OperandKind::agpr, 32, 32);
  EXPECT_EQ(matrix.cbsz, 1);
  EXPECT_EQ(matrix.abid, 2);
  EXPECT_EQ(matrix.blgp, 3);
}

TEST(Decode, AScaledMatrixInstructionHasSixteenBytes) {
  // v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:9], v[12:15], v[20:23], v24, v25 op_sel_hi:[1,1,0] cbsz:2 blgp:4
  const Instruction i = decoded("gfx950", {0xD3AC0000, 0x18023318, 0xD3AD0A00, 0x84521904});
  EXPECT_EQ(i.opcode, Opcode::v_mfma_scale_f32_16x16x128_f8f6f4);
  ASSERT_EQ(i.sources(), 5u);
  expect_vgpr(i.src(0), 4, 6);
  expect_vgpr(i.src(1), 12, 4);
  expect_vgpr(i.src(3), 24);
  expect_vgpr(i.src(4), 25);
  EXPECT_TRUE(i.src(3).op_sel_hi);
}

TEST(Decode, ADestinationThatIsASourceTooIsMarkedInTheTable) {  // v_mac_f32_e32 v0, v1, v2
  const Instruction i = gfx9({0x2C000501});
  EXPECT_EQ(i.sources(), 2u);
  EXPECT_TRUE(row(i.opcode).has(flag::reads_dst));
  EXPECT_FALSE(row(Opcode::v_mul_f32).has(flag::reads_dst));
}

// --- Modifiers ----------------------------------------------------------------------------------------------------

TEST(Decode, Vop3Modifiers) {
  const Instruction fma = gfx9({0xD1CB8000, 0x140E0501});  // v_fma_f32 v0, v1, v2, v3 clamp mul:4
  EXPECT_TRUE(fma.clamp);
  EXPECT_EQ(fma.omod, 2);
  const Instruction med = gfx9({0xD1FAEA00, 0x440E0501});  // v_med3_f16 v0, v1, -|v2|, v3 op_sel:[1,0,1,1] clamp
  EXPECT_TRUE(med.src(0).op_sel);
  EXPECT_FALSE(med.src(1).op_sel);
  EXPECT_TRUE(med.src(2).op_sel);
  EXPECT_TRUE(med.op_sel_dst);
  EXPECT_TRUE(med.src(1).neg);
  EXPECT_TRUE(med.src(1).abs);
  EXPECT_FALSE(med.src(0).neg);
}

TEST(Decode, PackedModifiers) {  // v_pk_fma_f32 v[0:1], v[2:3], s[4:5], v[6:7] op_sel_hi:[0,1,1] neg_lo:[1,0,0]
  const Instruction i = decoded("gfx90a", {0xD3B04000, 0x34180902});
  EXPECT_FALSE(i.src(0).op_sel_hi);
  EXPECT_TRUE(i.src(1).op_sel_hi);
  EXPECT_TRUE(i.src(0).neg);
  EXPECT_FALSE(i.src(0).neg_hi);
  expect_vgpr(i.src(0), 2, 2);
  expect_scalar(i.src(1), 4, 2);
}

TEST(Decode, SubDwordAddressing) {
  // v_add_u32_sdwa v0, sext(v1), v2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:BYTE_3
  const Instruction i = gfx9({0x680004F9, 0x030D1101});
  EXPECT_EQ(i.extension, Extension::sdwa);
  EXPECT_EQ(i.dst_sel, SdwaSelect::byte_1);
  EXPECT_EQ(i.dst_unused, SdwaUnused::preserve);
  EXPECT_EQ(i.src(0).sdwa, SdwaSelect::word_1);
  EXPECT_EQ(i.src(1).sdwa, SdwaSelect::byte_3);
  EXPECT_TRUE(i.src(0).sext);
  EXPECT_FALSE(i.src(1).sext);
  expect_vgpr(i.src(0), 1);
}

TEST(Decode, DataParallelPrimitives) {
  // v_add_f32_dpp v0, -v1, |v2| row_shr:3 row_mask:0xa bank_mask:0x5 bound_ctrl:1
  const Instruction i = gfx9({0x020004FA, 0xA5991301});
  EXPECT_EQ(i.extension, Extension::dpp16);
  EXPECT_EQ(i.dpp.control, 0x113u);
  EXPECT_EQ(i.dpp.row_mask, 0xA);
  EXPECT_EQ(i.dpp.bank_mask, 0x5);
  EXPECT_TRUE(i.dpp.bound_ctrl);
  EXPECT_TRUE(i.src(0).neg);
  EXPECT_TRUE(i.src(1).abs);
}

TEST(Decode, TheByteOfAConversionToEightBits) {  // v_cvt_sr_fp8_f32 v0, v1, v2 op_sel:[0,0,1,1]
  EXPECT_EQ(decoded("gfx942", {0xD2A46000, 0x00020501}).dst_sel, SdwaSelect::byte_3);
}

// --- Memory -------------------------------------------------------------------------------------------------------

TEST(Decode, ScalarMemoryOffsets) {
  const Instruction immediate = gfx9({0xC00A0101, 0x001FFFF0});  // s_load_dwordx4 s[4:7], s[2:3], -0x10
  EXPECT_EQ(immediate.offset, -16);
  ASSERT_EQ(immediate.operand_count, 2);
  expect_scalar(immediate.dst(), 4, 4);
  expect_scalar(immediate.src(0), 2, 2);
  const Instruction in_register = gfx9({0xC0000101, 0x00000009});  // s_load_dword s4, s[2:3], s9
  EXPECT_EQ(in_register.offset, 0);
  ASSERT_EQ(in_register.operand_count, 3);
  expect_scalar(in_register.src(1), 9);
  const Instruction both = gfx9({0xC0224104, 0x12000020});  // s_buffer_load_dword s4, s[8:11], s9 offset:0x20
  EXPECT_EQ(both.offset, 32);
  expect_scalar(both.src(0), 8, 4);
  expect_scalar(both.src(1), 9);
}

TEST(Decode, GlobalMemoryWithAndWithoutABase) {
  const Instruction load = gfx9({0xDC559FF8, 0x04020006});  // global_load_dwordx2 v[4:5], v6, s[2:3] offset:-8 glc
  EXPECT_EQ(load.encoding, Encoding::global);
  EXPECT_EQ(load.destinations, 1);
  expect_vgpr(load.dst(), 4, 2);
  expect_vgpr(load.src(0), 6);
  expect_scalar(load.src(1), 2, 2);
  EXPECT_EQ(load.offset, -8);
  EXPECT_TRUE(load.glc);
  const Instruction store = gfx9({0xDC6A8010, 0x007F0604});  // global_store_short v[4:5], v6, off offset:16 slc
  EXPECT_EQ(store.destinations, 0);
  expect_vgpr(store.src(0), 4, 2);
  expect_vgpr(store.src(1), 6);
  EXPECT_EQ(store.src(2).kind, OperandKind::off);
  EXPECT_TRUE(store.slc);
  EXPECT_FALSE(store.glc);
}

TEST(Decode, AtomicsReturnTheOldValueIfGlcIsSet) {
  const Instruction returning = gfx9({0xDD050004, 0x01000402});  // flat_atomic_cmpswap v1, v[2:3], v[4:5] offset:4 glc
  EXPECT_EQ(returning.destinations, 1);
  expect_vgpr(returning.dst(), 1);
  expect_vgpr(returning.src(0), 2, 2);
  expect_vgpr(returning.src(1), 4, 2);
  const Instruction silent = gfx9({0xDD088000, 0x007F0402});  // global_atomic_add v[2:3], v4, off
  EXPECT_EQ(silent.destinations, 0);
  expect_vgpr(silent.src(0), 2, 2);
  EXPECT_TRUE(row(silent.opcode).has(flag::atomic));
}

TEST(Decode, ScratchAddresses) {
  const Instruction load = gfx9({0xDC504008, 0x01020000});  // scratch_load_dword v1, off, s2 offset:8
  EXPECT_EQ(load.encoding, Encoding::scratch);
  EXPECT_EQ(load.src(0).kind, OperandKind::off);
  expect_scalar(load.src(1), 2);
  // scratch_store_dword off, v1, off offset:8 sc0 nt sc1
  const Instruction store = decoded("gfx942", {0xDE734008, 0x007F0100});
  EXPECT_EQ(store.src(0).kind, OperandKind::off);
  expect_vgpr(store.src(1), 1);
  EXPECT_EQ(store.src(2).kind, OperandKind::off);
  EXPECT_TRUE(store.glc && store.slc && store.scc);
}

TEST(Decode, Buffers) {
  // buffer_load_dwordx2 v[4:5], v[6:7], s[8:11], s3 idxen offen offset:16 glc
  const Instruction load = gfx9({0xE0547010, 0x03020406});
  EXPECT_EQ(load.destinations, 1);
  expect_vgpr(load.dst(), 4, 2);
  expect_vgpr(load.src(0), 6, 2);
  expect_scalar(load.src(1), 8, 4);
  expect_scalar(load.src(2), 3);
  EXPECT_TRUE(load.idxen && load.offen && load.glc);
  EXPECT_EQ(load.offset, 16);
  const Instruction store = gfx9({0xE0600FFF, 0x80020100});  // buffer_store_byte v1, off, s[8:11], 0 offset:4095
  EXPECT_EQ(store.destinations, 0);
  EXPECT_EQ(store.src(1).kind, OperandKind::off);
  expect_constant(store.src(3), 0);
  EXPECT_EQ(store.offset, 4095);
  // tbuffer_load_format_xy v[4:5], v1, s[8:11], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT] idxen
  const Instruction typed = gfx9({0xEBA0A000, 0x80020401});
  EXPECT_EQ(typed.data_format, 4);
  EXPECT_EQ(typed.number_format, 7);
}

TEST(Decode, LdsOffsets) {
  // ds_write2st64_b64 v0, v[2:3], v[4:5] offset0:3 offset1:250
  const Instruction two = gfx9({0xD89EFA03, 0x00040200});
  EXPECT_EQ(two.offset, 3);
  EXPECT_EQ(two.offset1, 250);
  expect_vgpr(two.src(0), 0);
  expect_vgpr(two.src(1), 2, 2);
  expect_vgpr(two.src(2), 4, 2);
  const Instruction one = gfx9({0xD86DFFFC, 0x01000002});  // ds_read_b32 v1, v2 offset:65532 gds
  EXPECT_EQ(one.offset, 65532);
  EXPECT_TRUE(one.gds);
}

TEST(Decode, Images) {  // image_sample v[0:3], v4, s[8:15], s[16:19] dmask:0xf
  const Instruction i = gfx9({0xF0800F00, 0x00820004});
  expect_vgpr(i.dst(), 0, 4);
  expect_scalar(i.src(1), 8, 8);
  expect_scalar(i.src(2), 16, 4);
  EXPECT_EQ(i.dmask, 15);
}

// --- Program control ----------------------------------------------------------------------------------------------

TEST(Decode, Immediates) {
  EXPECT_EQ(gfx9({0xBF8C0370}).immediate, 0x0370);  // s_waitcnt vmcnt(0) lgkmcnt(3)
  const Instruction branch = gfx9({0xBF85FFFB});    // s_cbranch_scc1 65531
  EXPECT_EQ(static_cast<int16_t>(branch.immediate), -5);
  EXPECT_TRUE(row(branch.opcode).has(flag::branch));
  EXPECT_TRUE(row(branch.opcode).has(flag::scc_in));
  const Instruction move = gfx9({0xB003FFFE});  // s_movk_i32 s3, 0xfffe
  EXPECT_EQ(static_cast<int16_t>(move.immediate), -2);
  expect_scalar(move.dst(), 3);
}

TEST(Decode, HardwareRegisters) {
  const Instruction set = gfx9({0xBA001901, 0x0000000F});  // s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15
  EXPECT_EQ(set.immediate, 1 | 4 << 6 | 3 << 11);
  EXPECT_EQ(set.destinations, 0);
  expect_constant(set.src(0), 15);
  const Instruction get = gfx9({0xB883F804});  // s_getreg_b32 s3, hwreg(HW_REG_HW_ID)
  expect_scalar(get.dst(), 3);
  EXPECT_EQ(get.immediate, 0xF804);
}

TEST(Decode, CallsKeepTheirReturnAddressInAScalarPair) {  // s_swappc_b64 s[30:31], s[4:5]
  const Instruction i = gfx9({0xBE9E1E04});
  expect_scalar(i.dst(), 30, 2);
  expect_scalar(i.src(0), 4, 2);
  EXPECT_TRUE(row(i.opcode).has(flag::branch));
}

}  // namespace
}  // namespace Atoll::isa

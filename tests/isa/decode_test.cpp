// Tests of the decoder: the fields of Instruction that the engines rely on. The encodings were made with
// llvm-mc-22 from the text beside them.
#include "isa/decode.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace Atoll::isa {
namespace {

Instruction decoded(std::string_view processor, std::initializer_list<uint32_t> words) {
  std::vector<uint8_t> bytes;
  for (const uint32_t word : words) {
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(word >> shift));
  }
  auto result = decode(bytes, *target::find_processor(processor));
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result.value_or(Instruction{});
}

TEST(Decode, VectorAddWithLiteral) {  // v_add_f32_e32 v3, 0x42f60000, v4
  const Instruction i = decoded("gfx900", {0x020608FF, 0x42F60000});
  EXPECT_EQ(i.opcode, Opcode::v_add_f32);
  EXPECT_EQ(i.encoding, Encoding::vop2);
  EXPECT_EQ(i.extension, Extension::literal);
  EXPECT_EQ(i.size, 8);
  ASSERT_EQ(i.operand_count, 3);
  EXPECT_EQ(i.destinations, 1);
  EXPECT_EQ(i.dst().kind, OperandKind::vgpr);
  EXPECT_EQ(i.dst().reg, 3);
  EXPECT_EQ(i.src(0).kind, OperandKind::constant);
  EXPECT_EQ(i.src(0).value, 0x42F60000u);
  EXPECT_TRUE(i.src(0).is_literal);
  EXPECT_EQ(i.src(1).reg, 4);
}

TEST(Decode, BytesThatEndInTheMiddleAreAnError) {
  const std::array<uint8_t, 6> bytes{0xFF, 0x08, 0x06, 0x02, 0x00, 0x00};
  EXPECT_FALSE(decode(std::span(bytes), *target::find_processor("gfx900")).has_value());
  EXPECT_FALSE(decode(std::span(bytes).first(3), *target::find_processor("gfx900")).has_value());
  EXPECT_FALSE(decode({}, *target::find_processor("gfx900")).has_value());
}

}  // namespace
}  // namespace Atoll::isa

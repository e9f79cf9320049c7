// Every instruction of the table that a GFX9 processor has is executed, but for those that engine/coverage.h names with
// the reason.
#include <gtest/gtest.h>

#include <memory>

#include "engine/coverage.h"
#include "engine/interpreter/prepare.h"
#include "isa/decode.h"
#include "isa/table.h"

namespace Atoll {
namespace {

using isa::Encoding;
using isa::Opcode;

using Words = std::array<uint32_t, 4>;

/// The first words of an encoding on GFX9, and second words to try: the operands' fields have their own rules.
std::vector<Words> instances(Encoding encoding, uint32_t op) {
  constexpr uint32_t v0 = 256;
  const std::array<uint32_t, 6> vop3 = {
      v0 | (v0 + 2) << 9 | (v0 + 4) << 18, v0 | (v0 + 2) << 9 | 4 << 18, v0 | (v0 + 2) << 9, v0 | 4 << 9, v0, 0};
  std::vector<Words> words;
  const auto add = [&](uint32_t first, uint32_t second) { words.push_back({first, second, 0, 0}); };
  switch (encoding) {
    case Encoding::sop1:
      add(0xBE800000 | op << 8 | 4 << 16, 0), add(0xBE800000 | op << 8, 0);
      break;
    case Encoding::sop2:
      add(0x80000000 | op << 23, 0);
      break;
    case Encoding::sopk:
      add(0xB0000000 | op << 23, 0);
      break;
    case Encoding::sopc:
      add(0xBF000000 | op << 16, 0);
      break;
    case Encoding::sopp:
      add(0xBF800000 | op << 16, 0);
      break;
    case Encoding::smem:
      add(0xC0020000 | op << 18, 0), add(0xC0000000 | op << 18, 0);
      break;
    case Encoding::vop1:
      add(0x7E000000 | op << 9 | v0, 0), add(0x7E000000 | op << 9, 0);
      break;
    case Encoding::vop2:
      add(op << 25 | v0, 0);
      break;
    case Encoding::vopc:
      add(0x7C000000 | op << 17 | v0, 0);
      break;
    case Encoding::vop3:
      for (const uint32_t second : vop3) add(0xD0000000 | op << 16, second);
      break;
    case Encoding::vop3p:
      for (const uint32_t second : vop3) {
        add(0xD3804000 | op << 16, second | 3u << 27);  // op_sel_hi set, as is usual
        add(0xD3800000 | op << 16, second);
        add(0xD3800000 | op << 16, second | 1u << 27);  // of an accumulation register
        // with v_mfma_ld_scale_b32 before it
        words.push_back({0xD3AC0000, v0 | v0 << 9, 0xD3800800 | op << 16, second});
      }
      break;
    case Encoding::ds:
      add(0xD8000000 | op << 17, 0), add(0xD8010000 | op << 17, 0);
      break;
    case Encoding::flat:
      add(0xDC000000 | op << 18, 0);
      break;
    case Encoding::scratch:
      add(0xDC004000 | op << 18, 0x7F0000);
      break;
    case Encoding::global:
      add(0xDC008000 | op << 18, 0x7F0000);
      break;
    case Encoding::mubuf:
      add(0xE0000000 | op << 18, 0x80000000), add(0xE0010000 | op << 18, 0x80000000), add(0xE0000000 | op << 18, 0);
      break;
    case Encoding::mtbuf:
      add(0xE8000000 | op << 15 | 4 << 19, 0x80000000);
      break;
    case Encoding::mimg:  // one component, without a sampler and with one
      add(0xF0000100 | op << 18, 0);
      break;
    default:
      break;
  }
  return words;
}

class Coverage : public testing::TestWithParam<std::string> {};

TEST_P(Coverage, EveryInstructionIsCarriedOut) {
  const target::Processor& processor = *target::find_processor(GetParam());
  engine::CodeCache cache(processor);
  const auto page = std::make_unique<engine::CodePage>();
  unsigned carried_out = 0;
  for (unsigned i = 1; i < static_cast<unsigned>(Opcode::count); ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const isa::InstructionRow& row = isa::row(opcode);
    const isa::Opcodes::Change now = row.opcodes.on(processor.generation);
    const Encoding encoding = now.encoding == Encoding::count ? row.encoding : now.encoding;
    if (now.opcode == isa::Opcodes::none || !processor.has(row.feature)) continue;
    const bool left_out = engine::reason_not_executed(row, processor) != nullptr;
    bool decoded = false;
    for (const auto& words : instances(encoding, now.opcode)) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(words.data());
      const auto instruction = isa::decode({bytes, sizeof words}, processor);
      if (!instruction || instruction->opcode != opcode) continue;
      decoded = true;
      engine::OpMetadata origin{.pc = 0, .instruction = *instruction};
      engine::MicroOp op;
      const engine::Handler handler = engine::prepare_op(origin, op, *page, cache);
      EXPECT_EQ(handler == engine::not_implemented, left_out) << row.name;
      carried_out += handler != engine::not_implemented;
      break;
    }
    EXPECT_EQ(engine::executes(processor, opcode), !left_out) << row.name;
    EXPECT_TRUE(decoded || left_out) << "no instance of " << row.name << " was made to try";
  }
  EXPECT_GT(carried_out, 900u);
}

INSTANTIATE_TEST_SUITE_P(Gfx9, Coverage,
                         testing::Values("gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx909", "gfx90a", "gfx90c",
                                         "gfx942", "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace Atoll

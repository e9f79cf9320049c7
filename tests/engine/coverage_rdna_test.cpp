// Every instruction that a processor of GFX10 to GFX12 has is executed, but for those named here with the reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>

#include "engine/prepare.h"
#include "engine/target_code.h"
#include "isa/patterns.h"
#include "isa/table.h"

namespace Atoll {
namespace {

using isa::Encoding;
using isa::Opcode;
namespace flag = isa::flag;

struct LeftOut {
  std::string_view name;  ///< with which the row's begins
  const char* reason;
};
constexpr LeftOut left_out[] = {
    {"v_interp_", "interpolation of graphics"},
    {"v_illegal", "never legal"},
    {"s_rfe_b64", "returns from the trap handler"},
    {"s_sendmsghalt", "graphics"},
    {"s_endpgm_ordered_ps_done", "pixel shaders"},
    {"global_atomic_ordered_add_b64", "streamed output of graphics"},
    {"s_barrier_init", "barriers with names, which GFX12.5 has"},
    {"s_barrier_join", "barriers with names, which GFX12.5 has"},
    {"s_barrier_leave", "barriers with names, which GFX12.5 has"},
    {"s_alloc_vgpr", "dynamic VGPRs, which no HSA kernel can ask for"},
};

/// Why the engine does not execute an instruction; null: it has to.
const char* reason_to_leave_out(const isa::InstructionRow& row, const target::Target& target) {
  const bool is_gfx12 = target.processor->generation >= target::Generation::gfx12;
  switch (row.encoding) {
    case Encoding::mimg:
      if (row.has(flag::ray)) return is_gfx12 ? "the layout of GFX12's nodes is not published" : nullptr;
      return "images";
    case Encoding::vsample:
      return "images";
    case Encoding::exp:
      return "exports of graphics";
    case Encoding::vintrp:
    case Encoding::ldsdir:
      return "interpolation of graphics";
    default:
      break;
  }
  if (row.has(flag::gds_only) && !row.has(flag::gws) && row.encoding == Encoding::ds) return "global data share";
  if (row.encoding == Encoding::vinterp) return nullptr;
  if (row.name.starts_with("ds_bvh_stack_") && is_gfx12) return "the state of GFX12's stacks is not published";
  if (row.name.starts_with("global_load_tr_") && target.wave_size == 64) {
    return "how waves of 64 lanes share a matrix is not published";
  }
  const auto* named =
      std::ranges::find_if(left_out, [&](const LeftOut& one) { return row.name.starts_with(one.name); });
  return named != std::end(left_out) ? named->reason : nullptr;
}

class RdnaCoverage : public testing::TestWithParam<std::tuple<const char*, unsigned>> {};

TEST_P(RdnaCoverage, EveryInstructionIsExecuted) {
  const auto [name, wave_size] = GetParam();
  const target::Processor& processor = *target::find_processor(name);
  const target::Target target = target::Target(processor).with_wave_size(wave_size);
  engine::CodeCache cache(target);
  const auto page = std::make_unique<engine::CodePage>();
  std::map<Opcode, bool> executed;  // of those that were met
  const auto try_pattern = [&](const isa::test::Bytes& bytes) {
    const auto instruction = engine::decode(bytes, target);
    if (!instruction || executed[instruction->opcode]) return;
    engine::Origin origin{.pc = 0, .instruction = *instruction};
    engine::MicroOp op;
    executed[instruction->opcode] = engine::prepare_op(origin, op, *page, cache) != engine::not_implemented;
  };
  for (const isa::test::Bytes& bytes : isa::test::patterns(processor, 24, 1)) try_pattern(bytes);
  std::set<Opcode> missing;
  for (const Opcode opcode : isa::test::all_opcodes(processor)) {
    if (reason_to_leave_out(isa::row(opcode), target) == nullptr && !executed[opcode]) missing.insert(opcode);
  }
  for (const uint64_t seed : {2, 3, 4, 5}) {
    for (const isa::test::Bytes& bytes : isa::test::patterns_of(missing, processor, seed)) try_pattern(bytes);
  }
  for (const Opcode opcode : isa::test::all_opcodes(processor)) {
    const isa::InstructionRow& row = isa::row(opcode);
    const bool is_left_out = reason_to_leave_out(row, target) != nullptr;
    const auto found = executed.find(opcode);
    if (found == executed.end()) continue;
    EXPECT_EQ(found->second, !is_left_out) << row.name;
  }
}

std::string name_of(const testing::TestParamInfo<RdnaCoverage::ParamType>& info) {
  return std::string(std::get<0>(info.param)) + "_wave" + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Rdna, RdnaCoverage,
                         testing::Combine(testing::Values("gfx1010", "gfx1012", "gfx1030", "gfx1100", "gfx1150",
                                                          "gfx1201"),
                                          testing::Values(32, 64)),
                         name_of);

}  // namespace
}  // namespace Atoll

// Which code is taken to be run often: loops are cycles of the control flow, not branches that go back.
#include "compiler/analysis/hotness.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "comparison.h"
#include "target/processor.h"

namespace Atoll::test {
namespace {

using compiler::Versioning;

/// Returns the versioning of the code's first instruction, and of the block with its last instruction before
/// s_endpgm.
std::pair<Versioning, Versioning> versioning(const std::string& source) {
  const std::vector<uint8_t> code = assemble(source + "\ns_endpgm", "gfx1250");
  const auto begin = reinterpret_cast<uint64_t>(code.data());
  const auto flow = engine::follow(begin, {}, begin, begin + code.size(), *target::find_processor("gfx1250"));
  if (!flow) throw std::runtime_error(flow.error().message);
  const compiler::Hotness hotness(*flow, /*fast_compile=*/false);
  return {hotness.versioning(begin), hotness.versioning(flow->blocks.rbegin()->first)};
}

// clang 22 places the end of a kernel so, before the parts that come before it.
TEST(Hotness, ABranchBackToWhatIsExecutedOnceIsNoLoop) {
  const auto [first, last] = versioning(R"(
    s_cbranch_execnz second
  end:
    v_add_f32 v0, v0, v1
    s_endpgm
  second:
    v_add_f32 v0, v0, v2
    s_branch end)");
  EXPECT_EQ(first, Versioning::for_addresses);
  EXPECT_EQ(last, Versioning::for_addresses);
}

TEST(Hotness, ALoopIsHotAndWhatIsOutsideIsNot) {
  const auto [first, last] = versioning(R"(
    v_add_f32 v0, v0, v1
  again:
    s_sub_co_i32 s0, s0, 1
    s_cmp_lg_u32 s0, 0
    s_cbranch_scc1 again
    v_add_f32 v0, v0, v2)");
  EXPECT_EQ(first, Versioning::never);
  EXPECT_EQ(last, Versioning::never);
}

/// The branch that goes back leads to the middle of the round, from where the code runs on to the loop's head.
TEST(Hotness, ALoopThatIsEnteredAtItsEndIsOne) {
  const auto [first, last] = versioning(R"(
    s_branch head
  middle:
    v_add_f32 v0, v0, v1
  head:
    s_sub_co_i32 s0, s0, 1
    s_cmp_lg_u32 s0, 0
    s_cbranch_scc1 middle)");
  EXPECT_EQ(first, Versioning::never);
  EXPECT_EQ(last, Versioning::never);
  const Versioning inside = versioning(R"(
  middle:
    v_add_f32 v0, v0, v1
    s_sub_co_i32 s0, s0, 1
    s_cmp_lg_u32 s0, 0
    s_cbranch_scc1 middle)")
                                .first;
  EXPECT_EQ(inside, Versioning::for_one_loop);
}

}  // namespace
}  // namespace Atoll::test

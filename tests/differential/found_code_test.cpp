// What random code has found: pieces of machine code that the engines once ran to different ends, or not at all.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "engine/wave_runner.h"

namespace Atoll::test {
namespace {

/// Runs the code in both engines, from the same random registers, and compares all that is left in registers.
void expect_same(std::string_view processor, const std::string& source) {
  setenv("ATOLL_COMPILE", "wait", 1);
  setenv("ATOLL_CACHE", "off", 1);
  WaveRunner interpreted(processor, "interpreter"), compiled(processor, "compiled");
  for (WaveRunner* runner : {&interpreted, &compiled}) {
    std::mt19937 random(1);
    for (unsigned i = 0; i < 32; ++i) {
      for (uint32_t& lane : runner->v(i)) lane = static_cast<uint32_t>(random());
      runner->s(i) = static_cast<uint32_t>(random());
    }
    runner->wave().set_vcc(random() | uint64_t{random()} << 32);
    EXPECT_EQ(runner->run(source), machine::WaveState::ended);
  }
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(std::memcmp(interpreted.v(i), compiled.v(i), sizeof(semantics::Row)), 0) << "v" << i;
  }
  for (unsigned i = 0; i < isa::scalar::count; ++i) EXPECT_EQ(interpreted.s(i), compiled.s(i)) << "scalar " << i;
  EXPECT_EQ(interpreted.wave().scc, compiled.wave().scc);
  for (const auto& [reason, times] : compiled.engine().report().failures) ADD_FAILURE() << "not compiled: " << reason;
}

// LLVM 19 did not come to an end over this for AVX-512 (compiler/mask_words.h).
TEST(FoundCode, LogicOfLaneMasksIsCompiled) {
  expect_same("gfx906", R"(
    v_min3_i32 v26, v29, v19, s3
    s_andn2_saveexec_b64 s[64:65], vcc
    v_min_i32_e64 v16, v26, v26
    s_or_b64 exec, exec, s[64:65]
    v_cmp_lt_f64_e32 vcc, 0x80000000, v[20:21])");
}

}  // namespace
}  // namespace Atoll::test

// Code that is larger than what is translated at once: it is cut, and still does what it says.
#include "compiler/analysis/partition.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "comparison.h"
#include "compiler/driver/compile.h"
#include "engine/wave_runner.h"
#include "target/processor.h"

namespace Atoll::test {
namespace {

constexpr unsigned blocks = 100, additions = 40, rounds = 3;

/// A loop around blocks of additions to v1, each of which is left out in the round that has its number's remainder; in
/// each, a small loop counts in s6.
std::string large_code() {
  std::string text = "s_mov_b32 s4, 0\ns_mov_b32 s6, 0\nagain:\n";
  for (unsigned block = 0; block < blocks; ++block) {
    const std::string number = std::to_string(block);
    text += "s_cmp_eq_u32 s4, " + std::to_string(block % rounds) + "\ns_cbranch_scc1 out" + number + "\n";
    for (unsigned i = 0; i < additions; ++i) text += "v_add_u32 v1, " + std::to_string((block + i) % 60) + ", v1\n";
    text += "s_mov_b32 s5, 5\nsmall" + number + ":\ns_add_u32 s6, s6, 1\ns_sub_u32 s5, s5, 1\ns_cmp_lg_u32 s5, 0\n" +
            "s_cbranch_scc1 small" + number + "\nout" + number + ":\n";
  }
  return text + "s_add_u32 s4, s4, 1\ns_cmp_lt_u32 s4, " + std::to_string(rounds) + "\ns_cbranch_scc1 again\n";
}

TEST(Parts, HoldEveryBlockOnceAndKeepSmallLoopsWhole) {
  const std::vector<uint8_t> code = assemble(large_code() + "s_endpgm", "gfx90a");
  const auto begin = reinterpret_cast<uint64_t>(code.data());
  const auto flow = engine::follow(begin, {}, begin, begin + code.size(), *target::find_processor("gfx90a"));
  ASSERT_TRUE(flow.has_value());
  constexpr uint64_t wanted = 500;
  const auto parts = compiler::cut(*flow, wanted);
  EXPECT_GT(parts.size(), flow->instructions / wanted / 2);
  std::set<uint64_t> seen;
  uint64_t instructions = 0;
  for (const engine::ControlFlow& part : parts) {
    uint64_t here = 0;
    for (const auto& [pc, block] : part.blocks) {
      EXPECT_TRUE(seen.insert(pc).second);
      here += block.instructions.size();
      const engine::Located& last = block.instructions.back();
      const bool is_small_loop = block.instructions.size() == 4 && last.target() == pc;
      EXPECT_TRUE(!is_small_loop || part.blocks.contains(last.target()));
    }
    EXPECT_LE(here, 2 * wanted);
    EXPECT_EQ(here, part.instructions);
    EXPECT_FALSE(part.entries.empty());
    for (const uint64_t pc : part.entries) EXPECT_TRUE(part.blocks.contains(pc));
    instructions += here;
  }
  EXPECT_EQ(seen.size(), flow->blocks.size());
  EXPECT_EQ(instructions, flow->instructions);
}

/// The numbers that interpreter fallbacks have in the code are the places in this list, whichever thread was at a part.
TEST(Parts, OfSeveralThreadsNumberHelperOpsThroughInOrder) {
  std::string text;
  for (unsigned block = 0; block < blocks; ++block) {
    const std::string number = std::to_string(block);
    for (unsigned i = 0; i < additions; ++i) text += "v_add_u32 v1, s4, v1\n";
    text += "s_movrels_b32 s" + std::to_string(10 + block % 50) + ", s4\n";
    text += "s_cmp_eq_u32 s4, " + number + "\ns_cbranch_scc1 on" + number + "\nv_not_b32 v1, v1\non" + number + ":\n";
  }
  const std::vector<uint8_t> code = assemble(text + "s_endpgm", "gfx90a");
  const auto base = reinterpret_cast<uint64_t>(code.data());
  const target::Processor& processor = *target::find_processor("gfx90a");
  const auto flow = engine::follow(base, {}, base, base + code.size(), processor);
  ASSERT_TRUE(flow);
  WaveRunner runner("gfx90a", "interpreter");
  const auto request =
      engine::TranslationRequest::parse(engine::TranslationRequest::serialise(processor, *flow, base, 0));
  ASSERT_TRUE(request) << request.error().message;
  std::vector<uint64_t> helper_pcs;
  for (const auto& [pc, block] : request->flow.blocks) {
    for (const engine::Located& at : block.instructions) {
      if (at.instruction.opcode == isa::Opcode::s_movrels_b32) helper_pcs.push_back(at.pc);
    }
  }
  ASSERT_EQ(helper_pcs.size(), blocks);
  unsigned started = 0;
  auto host = compiler::HostCompiler::create();
  ASSERT_TRUE(host) << host.error().message;
  const compiler::WorkerPool pool{.threads = 3, .start = [&](std::function<void()> work) {
                                    ++started;
                                    return std::thread(std::move(work));
                                  }};
  const auto made = compiler::compile(*request, **host, [] { return true; }, pool);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(started, 2U);
  EXPECT_EQ(made->helper_pcs, helper_pcs);
  EXPECT_EQ(made->untranslated.at("s_movrels_b32"), blocks);
}

TEST(Parts, TogetherDoWhatTheWholeDoes) {
  setenv("ATOLL_ENGINE", "compiled", 1);
  setenv("ATOLL_COMPILE", "wait", 1);
  WaveRunner runner;
  machine::WaveState state = runner.run(large_code());
  EXPECT_EQ(state, machine::WaveState::ended);
  const auto report = runner.engine().report();
  ASSERT_EQ(report.translations.size(), 2U);  // and the s_endpgm at another place that it ends with
  EXPECT_GT(report.translations[0].instructions, 4000U);
  EXPECT_EQ(report.translations[0].fallbacks, 0U);
  uint32_t sum = 0, loops = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned block = 0; block < blocks; ++block) {
      if (block % rounds == round) continue;
      loops += 5;
      for (unsigned i = 0; i < additions; ++i) sum += (block + i) % 60;
    }
  }
  EXPECT_EQ(runner.s(6), loops);
  for (unsigned lane = 0; lane < 64; ++lane) EXPECT_EQ(runner.v(1)[lane], sum);
}

/// In large code that is not in loops, accesses are calls of functions: more rows are needed after them than those
/// keep.
TEST(Parts, CallWhatAccessesMemory) {
  std::string text = R"(
    v_mbcnt_lo_u32_b32 v40, -1, 0
    v_mbcnt_hi_u32_b32 v40, -1, v40
    v_mul_u32_u24 v41, 48, v40
    v_xor_b32 v42, 21, v40
    v_mul_u32_u24 v42, 16, v42
    v_mov_b32 v43, 64
    v_mov_b32 v44, s10
    v_mov_b32 v45, s11
    v_add_co_u32 v44, vcc, v44, v42
    v_addc_co_u32 v45, vcc, 0, v45, vcc
    v_lshlrev_b32 v46, 2, v40
    v_mov_b32 v48, s12
    v_mov_b32 v49, s13
    v_add_co_u32 v48, vcc, v48, v41
    v_addc_co_u32 v49, vcc, 0, v49, vcc
    )";
  const std::string offsets[] = {"", " offset:4", " offset:16", " offset:100"};
  unsigned target = 0;
  const auto next = [&](unsigned words) {
    const unsigned first = 50 + target++ % 24 * 4;
    return "v[" + std::to_string(first) + ":" + std::to_string(first + words - 1) + "]";
  };
  while (target < 400) {
    for (const std::string& offset : offsets) {
      for (const std::string& address : {"v41", "v42", "v43", "v46"}) {
        for (const auto& [name, words] : {std::pair("b128", 4u), {"b64", 2}, {"b32", 1}, {"i16", 1}, {"u8", 1}}) {
          text += std::string("ds_read_") + name + " " + next(words) + ", " + address + offset + "\n";
        }
        for (const auto& [name, words] :
             {std::pair("dwordx4", 4u), {"dwordx3", 3}, {"dwordx2", 2}, {"dword", 1}, {"sshort", 1}, {"ubyte", 1}}) {
          text +=
              std::string("global_load_") + name + " " + next(words) + ", " + address + ", s[10:11]" + offset + "\n";
          text += std::string("global_load_") + name + " " + next(words) + ", v[44:45], off" + offset + "\n";
        }
      }
      text += "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_u32 v140, v140, v50\nv_xor_b32 v141, v141, v80\n";
      text += "ds_write_b32 v46, v140" + offset + "\nds_write_b128 v42, v[80:83]" + offset + "\n";
      text += "ds_write_b8 v41, v141" + offset + "\n";
      for (const auto& [name, words] :
           {std::pair("dwordx4", 4u), {"dwordx3", 3}, {"dwordx2", 2}, {"dword", 1}, {"short", 1}, {"byte", 1}}) {
        text += std::string("global_store_") + name + " v46, " + next(words) + ", s[12:13]" + offset + "\n";
        text += std::string("global_store_") + name + " v[48:49], " + next(words) + ", off" + offset + "\n";
      }
    }
  }
  // Where memory is differs.
  text += "v_mov_b32 v44, 0\nv_mov_b32 v45, 0\nv_mov_b32 v48, 0\nv_mov_b32 v49, 0\ns_mov_b64 s[12:13], 0\n";
  std::vector<uint32_t> memory(2048);
  for (uint32_t i = 0; i < memory.size(); ++i) memory[i] = i * 0x9E37'79B9;
  std::vector<std::vector<uint32_t>> stored;
  stored.reserve(2);
  Comparison(text)
      .with([&](WaveRunner& runner) {
        runner.set_pair(10, memory.data());
        runner.set_pair(12, stored.emplace_back(2048).data());
        runner.wave().set_exec(0xFFFF'FFFF'0F0F'FFFF);
        for (size_t i = 0; i < WaveRunner::lds_bytes; ++i) runner.lds()[i] = static_cast<uint8_t>(i * 37);
      })
      .run();
  EXPECT_EQ(stored[0], stored[1]);
}

}  // namespace
}  // namespace Atoll::test

// Translated code against the interpreter: a few lines of assembly run on two waves that begin the same, and every
// register must be the same at the end.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "compiler/driver/compile.h"
#include "compiler/llvm/host_code.h"
#include "engine/compiled/compiled_run.h"
#include "engine/compiled/host_code.h"
#include "engine/compiled/interpreter_fallback.h"
#include "engine/compiled/translation.h"
#include "engine/interpreter/code_cache.h"
#include "engine/interpreter/global_wave_sync.h"
#include "engine/wave_runner.h"
#include "isa/decode.h"
#include "jit_context.h"
#include "plan_matcher.h"
#include "target/processor.h"

namespace Atoll::test {

/// Lines of assembly after which all registers are compared.
class Comparison {
 public:
  explicit Comparison(const std::string& source, std::string_view processor = "gfx90a")
      : processor_(processor),
        target_(*target::find_processor(processor_)),
        expected_(processor, "interpreter", target_.wave_size),
        actual_(processor, "interpreter", target_.wave_size) {
    // The last jump leads out of what is translated, so that no register counts as dead there.
    std::vector<uint8_t> bytes = assemble(source + "\ns_setpc_b64 s[98:99]", processor, target_.wave_size);
    const std::vector<uint8_t> end = assemble("s_endpgm", processor, target_.wave_size);
    size_ = bytes.size();
    end_ = (size_ + 256) & ~size_t{63};
    code_.resize(end_ + 64);
    std::memcpy(code_.data(), bytes.data(), bytes.size());
    std::memcpy(code_.data() + end_, end.data(), end.size());
    for (WaveRunner* runner : {&expected_, &actual_}) {
      std::mt19937 random(1);
      for (unsigned i = 1; i < 32; ++i) {
        for (uint32_t& lane : runner->v(i)) lane = static_cast<uint32_t>(random());
      }
      for (unsigned i = 0; i < 96; ++i) runner->s(i) = static_cast<uint32_t>(random());
      runner->set_pair(98, code_.data() + end_);
    }
  }

  /// Sets both waves up.
  template <typename Setup>
  Comparison& with(Setup setup) {
    setup(expected_);
    setup(actual_);
    return *this;
  }

  /// Sets a function to call each time that a wave is given back before it has ended.
  Comparison& meanwhile(std::function<void(WaveRunner&)> event) {
    meanwhile_ = std::move(event);
    return *this;
  }

  void run() {
    expected_.wave().pc = base();
    while (expected_.engine().run(expected_.wave(), 1'000'000) == machine::WaveState::ready) meanwhile_(expected_);
    run_translated();
    compare();
  }

  WaveRunner& expected() { return expected_; }
  uint64_t instructions() const { return instructions_; }
  unsigned times_given_back() const { return times_given_back_; }
  /// The plan that the code was made from, as text (plan_matcher.h).
  const std::string& plan() const { return plan_; }

 private:
  uint64_t base() const { return reinterpret_cast<uint64_t>(code_.data()); }

  void run_translated() {
    machine::Wave& wave = actual_.wave();
    const auto mode_now = [&] { return engine::mode_of(wave, engine::has_vgpr_banks(*target_.processor)); };
    auto flow = engine::follow(base(), mode_now(), base(), base() + size_, target_);
    ASSERT_TRUE(flow) << flow.error().message;
    const auto request =
        engine::TranslationRequest::parse(engine::TranslationRequest::serialise(target_, *flow, base(), 0));
    ASSERT_TRUE(request) << request.error().message;
    const auto planned = compiler::dump_regions(*request, plan_);
    ASSERT_TRUE(planned) << planned.error().message;
    auto host = compiler::HostCompiler::create();
    ASSERT_TRUE(host) << host.error().message;
    auto translated = compiler::compile(*request, **host);
    ASSERT_TRUE(translated) << translated.error().message;
    engine::CodeCache cache(target_);
    engine::InterpreterFallbacks prepared(cache);
    std::vector<const engine::MicroOp*> helper_ops;
    for (const uint64_t pc : translated->helper_pcs) {
      const auto block = std::prev(request->flow.blocks.upper_bound(pc));
      const auto at = std::ranges::find(block->second.instructions, pc, &engine::Located::pc);
      ASSERT_NE(at, block->second.instructions.end());
      helper_ops.push_back(prepared.prepare(base() + pc, at->instruction));
    }
    const engine::JitContext context = make_jit_context(base(), helper_ops.data());
    const auto code = engine::HostCode::place(*std::move(translated));
    ASSERT_TRUE(code) << code.error().message;

    engine::GlobalWaveSync sync;
    engine::Run& run = engine::compiled_run_of_thread().run;
    engine::begin_run(run, wave, 1'000'000, cache, sync);
    wave.pc = base();
    while (wave.pc != base() + end_) {
      const engine::ControlFlow& known = request->flow;
      const uint64_t pc = wave.pc - base();
      if (known.blocks.contains(pc) && known.mode_before(pc) != mode_now()) return run_interpreted();
      const auto& entries = (*code)->translated().entries;
      const auto entry = std::ranges::find(entries, pc, &engine::EntryPoint::pc);
      ASSERT_NE(entry, entries.end());
      engine::enter((*code)->function(*entry), &wave, &run, entry->number, &context);
      ASSERT_NE(wave.state, machine::WaveState::faulted) << wave.fault->what;
      if (wave.pc != base() + end_) {
        ++times_given_back_;
        meanwhile_(actual_);
      }
      run.limit = run.instructions + 1'000'000;
    }
    instructions_ = run.instructions;
    wave.pc += 4;
    wave.state = machine::WaveState::ended;
  }

  /// The rest, for which there is no code in the wave's mode.
  void run_interpreted() {
    while (actual_.engine().run(actual_.wave(), 1'000'000) == machine::WaveState::ready) meanwhile_(actual_);
  }

  void compare() {
    const machine::Wave &a = expected_.wave(), &b = actual_.wave();
    EXPECT_EQ(a.mode, b.mode);
    EXPECT_EQ(a.float_mode, b.float_mode);
    EXPECT_EQ(a.state, b.state);
    EXPECT_EQ(a.scc, b.scc);
    for (unsigned i = 0; i < isa::scalar::count; ++i) EXPECT_EQ(a.scalar[i], b.scalar[i]) << "scalar register " << i;
    for (unsigned i = 0; i < 512; ++i) {
      for (unsigned lane = 0; lane < 64; ++lane) {
        ASSERT_EQ(expected_.v(i)[lane], actual_.v(i)[lane]) << "v" << i << ", lane " << lane;
      }
    }
  }

  std::string processor_;
  target::Target target_;
  WaveRunner expected_, actual_;
  std::vector<uint8_t> code_;
  size_t size_ = 0, end_ = 0;
  uint64_t instructions_ = 0;
  std::string plan_;
  unsigned times_given_back_ = 0;
  std::function<void(WaveRunner&)> meanwhile_ = [](WaveRunner&) {};
};

}  // namespace Atoll::test

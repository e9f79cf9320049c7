// Loads whose result takes the registers that their address is in, and exchanges that return what they store: all
// addresses count as they were before the instruction. On each generation; what is expected is read by the host.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"

namespace Atoll {
namespace {

using machine::WaveState;
using test::Machine;
using test::WaveRunner;

constexpr uint64_t masks[] = {~uint64_t{0}, 0xF7FF'FFFE'DFFF'7FF9};

TEST(ResultOverAddressOnEachGeneration, LoadsBeginWithTheAddressAsItWas) {
  for (const Machine& machine : test::machines_from_gfx9) {
    const target::Processor& processor = *target::find_processor(machine.processor);
    const auto name = [&](const char* row) { return test::name_on(processor, row); };
    const std::string source = fmt::format(
        "{} v[2:5], v[2:3], off\n{} v[6:9], v[6:7]\n{} v[10:13], v11, s[4:5]\n{} v[14:17], v14\n{} v[18:21], v21 "
        "offset1:1\n"
        "{} v[22:25], v[24:25], s[8:11], s12 idxen offen\n{} v[26:29], v29, off\n{} v[30:31], v34, v30, v31 "
        "offset1:64\n"
        "s_mov_b64 s[24:25], s[4:5]\ns_mov_b64 s[46:47], s[4:5]\ns_mov_b64 s[48:49], s[8:9]\n"
        "s_mov_b64 s[50:51], s[10:11]\n{} s[16:31], s[24:25], 0x40\n{} s[48:55], s[48:51], 0x80\n"
        "{} s[44:47], s[46:47], 0x10\n",
        name("global_load_dwordx4"), name("flat_load_dwordx4"), name("global_load_dwordx4"), name("ds_read_b128"),
        name("ds_read2_b64"), name("buffer_load_dwordx4"), name("scratch_load_dwordx4"), name("ds_wrxchg2_rtn_b32"),
        name("s_load_dwordx16"), name("s_buffer_load_dwordx8"), name("s_load_dwordx4"));
    for (const uint64_t mask : masks) {
      SCOPED_TRACE(test::name_of_machine(machine));
      const uint64_t exec = machine.wave_size == 32 ? mask & 0xFFFF'FFFF : mask;
      WaveRunner runner(machine.processor, "", machine.wave_size);
      runner.wave().set_exec(exec);
      std::vector<uint32_t> memory(1024), lds(WaveRunner::lds_bytes / 4);
      for (unsigned i = 0; i < memory.size(); ++i) memory[i] = lds[i] = 0x9E37'79B9 * (i + 1);
      for (uint32_t& word : lds) word ^= 0x5555'5555;
      std::memcpy(runner.lds(), lds.data(), WaveRunner::lds_bytes);
      runner.set_pair(4, memory.data());
      test::set_buffer(runner, 8, memory.data(), 4096);
      runner.s(12) = 0;
      std::vector<std::array<uint32_t, 64>> expected(36);
      for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
        const bool on = (exec >> lane & 1) != 0;
        const unsigned place = (lane * 29 + 7) % 64;  // in dwords
        const uint64_t address = reinterpret_cast<uint64_t>(memory.data() + place);
        for (unsigned reg = 2; reg < 36; ++reg) runner.v(reg)[lane] = 0xDEAD'0000 + reg;
        for (const unsigned reg : {2u, 6u}) {
          runner.v(reg)[lane] = static_cast<uint32_t>(address);
          runner.v(reg + 1)[lane] = static_cast<uint32_t>(address >> 32);
        }
        for (const unsigned reg : {11u, 14u, 21u}) runner.v(reg)[lane] = place * 4;
        runner.v(24)[lane] = 0;  // the index, of a buffer without stride
        runner.v(25)[lane] = place * 4;
        runner.v(29)[lane] = lane % 8 * 4;
        runner.v(34)[lane] = 2048 + place * 4;
        for (uint32_t at = 0; at < 64; at += 4) runner.scratch(lane, at) = 0x85EB'CA6B * (lane * 64 + at + 1);
        for (unsigned reg = 2; reg < 36; ++reg) expected[reg][lane] = runner.v(reg)[lane];
        for (unsigned i = 0; on && i < 4; ++i) {
          for (const unsigned reg : {2u, 6u, 10u, 22u}) expected[reg + i][lane] = memory[place + i];
          expected[14 + i][lane] = lds[place + i];
          expected[18 + i][lane] = lds[place + i];  // two elements that follow each other
          expected[26 + i][lane] = runner.scratch(lane, lane % 8 * 4 + 4 * i);
        }
        if (!on) continue;
        for (unsigned i = 0; i < 2; ++i) {
          std::swap(expected[30 + i][lane], lds[512 + place + 64 * i]);
        }
      }
      ASSERT_EQ(runner.run(source), WaveState::ended);
      for (unsigned reg = 2; reg < 36; ++reg) {
        for (unsigned lane = 0; lane < machine.wave_size; ++lane) {
          ASSERT_EQ(runner.v(reg)[lane], expected[reg][lane]) << 'v' << reg << " of lane " << lane;
        }
      }
      EXPECT_EQ(std::memcmp(runner.lds(), lds.data(), WaveRunner::lds_bytes), 0);
      for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(runner.s(16 + i), memory[16 + i]) << i;
      for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(runner.s(48 + i), memory[32 + i]) << i;
      for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(runner.s(44 + i), memory[4 + i]) << i;
    }
  }
}

}  // namespace
}  // namespace Atoll

// Each line of the table of measured results (measured.txt), by the engine under test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/wave_runner.h"
#include "machine/wave/wave.h"
#include "measured/measured_table.h"

namespace Atoll::test {
namespace {

using Kind = MeasuredRegister::Kind;
using machine::WaveState;

/// The table, or why it cannot be read.
const support::Result<std::vector<Measurement>>& table() {
  static const auto read = [] {
    std::ifstream file(MEASURED_TABLE);
    std::stringstream text;
    text << file.rdbuf();
    return read_measurements(text.str());
  }();
  return read;
}

/// The measurements of one name on one GPU.
struct Group {
  std::string name;  ///< "gfx1100_v_add_f32"
  std::vector<const Measurement*> lines;
};
void PrintTo(const Group& group, std::ostream* stream) { *stream << group.name; }

std::vector<Group> groups() {
  std::map<std::string, std::vector<const Measurement*>> all;
  if (table()) {
    for (const Measurement& line : *table()) all[line.gpu + "_" + line.name].push_back(&line);
  }
  std::vector<Group> list;
  list.reserve(all.size());
  for (auto& [name, lines] : all) list.push_back({name, std::move(lines)});
  return list;
}

void set(WaveRunner& runner, const MeasuredRegister& input, unsigned wave_size) {
  machine::Wave& wave = runner.wave();
  const auto word = static_cast<uint32_t>(input.value);
  switch (input.kind) {
    case Kind::vgpr:
      for (unsigned lane = 0; lane < wave_size; ++lane) {
        if (input.lane >= 0 && static_cast<unsigned>(input.lane) != lane) continue;
        runner.v(input.number)[lane] = input.is_lane_number ? lane : word;
      }
      break;
    case Kind::sgpr:
      runner.s(input.number) = word;
      break;
    case Kind::vcc:
      wave.set_vcc(input.value);
      break;
    case Kind::scc:
      wave.scc = input.value != 0;
      break;
    case Kind::exec:
      wave.set_exec(input.value);
      break;
    case Kind::m0:
      wave.scalar[isa::scalar::m0] = word;
      break;
    case Kind::mode:
      wave.mode = word;
      wave.float_mode = machine::float_mode_of(word, *target::find_processor(runner.processor()));
      break;
  }
}

testing::AssertionResult is_as_measured(const MeasuredRegister& expected, uint64_t got) {
  const auto word = static_cast<uint32_t>(got);
  if (expected.is_nan) {
    if ((word & 0x7FFFFFFF) > 0x7F800000) return testing::AssertionSuccess();
  } else {
    const uint64_t difference = std::max(got, expected.value) - std::min(got, expected.value);
    if (difference <= expected.tolerance) return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "measured " << expected.text << ", computed 0x" << std::hex << got;
}

void compare(const Measurement& line) {
  WaveRunner runner(line.gpu, "", line.wave_size);
  std::ranges::fill(runner.v(0), 0);
  const uint64_t all = line.wave_size == 64 ? ~uint64_t{0} : 0xFFFFFFFF;
  MeasuredRegister mode;
  mode.kind = Kind::mode;
  mode.value = line.mode;
  set(runner, mode, line.wave_size);
  runner.wave().set_exec(all);
  for (const MeasuredRegister& input : line.inputs) set(runner, input, line.wave_size);
  const uint64_t active = runner.wave().exec() & all;
  ASSERT_EQ(runner.run(line.code), WaveState::ended);
  const machine::Wave& wave = runner.wave();
  for (const MeasuredRegister& expected : line.results) {
    switch (expected.kind) {
      case Kind::vgpr:
        for (unsigned lane = 0; lane < line.wave_size; ++lane) {
          const bool is_meant =
              expected.lane >= 0 ? static_cast<unsigned>(expected.lane) == lane : (active >> lane & 1) != 0;
          if (is_meant) EXPECT_TRUE(is_as_measured(expected, runner.v(expected.number)[lane])) << "in lane " << lane;
        }
        break;
      case Kind::sgpr:
        EXPECT_TRUE(is_as_measured(expected, runner.s(expected.number)));
        break;
      case Kind::vcc:
        EXPECT_TRUE(is_as_measured(expected, wave.vcc() & all));
        break;
      case Kind::scc:
        EXPECT_TRUE(is_as_measured(expected, wave.scc ? 1 : 0));
        break;
      case Kind::exec:
        EXPECT_TRUE(is_as_measured(expected, wave.exec() & all));
        break;
      case Kind::m0:
        EXPECT_TRUE(is_as_measured(expected, wave.scalar[isa::scalar::m0]));
        break;
      case Kind::mode:
        EXPECT_TRUE(is_as_measured(expected, wave.mode));
        break;
    }
  }
}

class Measured : public testing::TestWithParam<Group> {};

TEST_P(Measured, ResultIsTheHardwares) {
  for (const Measurement* line : GetParam().lines) {
    std::ostringstream where;
    where << "line " << line->line << " (" << line->source << "): " << line->code;
    SCOPED_TRACE(where.str());
    compare(*line);
  }
}

INSTANTIATE_TEST_SUITE_P(On, Measured, testing::ValuesIn(groups()), [](const auto& test) { return test.param.name; });

TEST(MeasuredTable, IsWellFormed) {
  ASSERT_TRUE(table()) << MEASURED_TABLE << ": " << table().error().message;
  EXPECT_GT(table()->size(), 600u);
}

/// What the reader says of a table of these lines; empty: it has read it.
std::string error_in(const std::string& text) {
  const auto read = read_measurements(text);
  return read ? "" : read.error().message;
}

TEST(MeasuredTable, NamesTheLineOfAMistake) {
  const std::string place = "@ gfx1100 wave32 mode=0x3f0 somewhere\n", after = " | v_nop | v1=0";
  EXPECT_EQ(error_in(place + "# comment\n\nnop | v1=0 v2[31]=lane s3=0x10 exec=1" + after), "");
  EXPECT_EQ(error_in(place + "nop | v1=1 | v_add_f32 v2, |v1|, |v1| | v2=2"), "");
  EXPECT_EQ(error_in("nop | v1=0" + after), "line 1: no line with @ says where this was measured");
  EXPECT_EQ(error_in("@ gfx1100 wave32 mode=0\n"), "line 1: @ needs a GPU, a wave size, a mode and a source");
  EXPECT_EQ(error_in("\n@ gfx9999 wave32 mode=0 x\n"), "line 2: there is no GPU 'gfx9999'");
  EXPECT_EQ(error_in("@ gfx90a wave32 mode=0 x\n"), "line 1: 'wave32' is not a wave size of gfx90a");
  EXPECT_EQ(error_in("@ gfx90a wave64 mode=no x\n"), "line 1: 'mode=no' is not a mode");
  EXPECT_EQ(error_in(place + "nop | v_nop | v1=0"), "line 2: 3 parts instead of NAME | INPUTS | CODE | RESULTS");
  EXPECT_EQ(error_in(place + "No p | " + after), "line 2: the name 'No p' does not consist of a-z, 0-9 and _");
  EXPECT_EQ(error_in(place + "nop | v1" + after), "line 2: 'v1' has no value");
  EXPECT_EQ(error_in(place + "nop | v256=1" + after), "line 2: 'v256' is not a register");
  EXPECT_EQ(error_in(place + "nop | v1[32]=1" + after), "line 2: 'v1[32]' is not a register");
  EXPECT_EQ(error_in(place + "nop | s100=1" + after), "line 2: 's100' is not a register");
  EXPECT_EQ(error_in(place + "nop | v1=0x1g" + after), "line 2: 'v1=0x1g' has a bad value");
  EXPECT_EQ(error_in(place + "nop | v1=0x100000000" + after), "line 2: 'v1=0x100000000' has a bad value");
  EXPECT_EQ(error_in(place + "nop | v1=nan" + after), "line 2: 'v1=nan' has a bad value");
  EXPECT_EQ(error_in(place + "nop | | v_nop | v1=1~x"), "line 2: 'v1=1~x' has a bad tolerance");
  EXPECT_EQ(error_in(place + "nop | | v_nop; | v1=1"), "line 2: an instruction is missing");
  EXPECT_EQ(error_in(place + "nop | | v_nop |"), "line 2: there is no result");
}

}  // namespace
}  // namespace Atoll::test

// Floating-point atomics on fine-grained memory, of each family and generation, against what ROCm's documentation says
// of the GPUs ("Hardware atomics operation support"): gfx9 with MI100 and MI200, gfx10 and gfx11 drop them, and the
// lane gets 0; MI300, MI350 and gfx12 do them. Integer atomics, and those on coarse-grained memory, are always done.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "engine/instruction_programs.h"
#include "engine/wave_runner.h"
#include "machine/memory/memory_grain.h"

namespace Atoll {
namespace {

using test::Machine;
using test::registers;
using test::WaveRunner;

struct Operation {
  std::string_view name;  ///< the row's, without its family
  unsigned bits;
  uint64_t old, data, result;  ///< of a lane
  bool is_float = true;
};
constexpr uint64_t one = 0x3FF0'0000'0000'0000, two = 0x4000'0000'0000'0000, three = 0x4008'0000'0000'0000;
constexpr Operation operations[] = {
    {"add_f32", 32, 0x3F80'0000, 0x4000'0000, 0x4040'0000},
    {"add_f64", 64, one, two, three},
    {"min_f64", 64, two, one, one},
    {"max_f64", 64, one, two, two},
    {"fmin", 32, 0x4000'0000, 0x3F80'0000, 0x3F80'0000},
    {"fmax", 32, 0x3F80'0000, 0x4000'0000, 0x4000'0000},
    {"fmin_x2", 64, two, one, one},
    {"fmax_x2", 64, one, two, two},
    {"pk_add_f16", 32, 0x3C00'3C00, 0x4000'4000, 0x4200'4200},
    {"pk_add_bf16", 32, 0x3F80'3F80, 0x4000'4000, 0x4040'4040},
    {"add", 32, 5, 7, 12, false},
    {"or", 32, 5, 2, 7, false},
};

class FineGrainedAtomics : public testing::TestWithParam<Machine> {};

TEST_P(FineGrainedAtomics, AreThoseThatTheFabricHas) {
  const target::Processor& processor = *target::find_processor(GetParam().processor);
  const unsigned wave_size = GetParam().wave_size;
  using enum target::Generation;
  const auto generation = processor.generation;
  const bool drops = (generation >= gfx9 && generation < gfx940) || (generation >= gfx10 && generation < gfx12);
  alignas(4096) static std::array<uint64_t, 512> memory;  // half of it is fine-grained
  const auto begin = reinterpret_cast<uint64_t>(memory.data()), middle = begin + sizeof memory / 2;
  machine::MemoryGrain::of_process().set(begin, middle, true);
  unsigned count = 0;
  for (const std::string_view family : {"flat", "global", "buffer"}) {
    for (const Operation& operation : operations) {
      const std::string name = test::name_on(processor, fmt::format("{}_atomic_{}", family, operation.name));
      if (name.empty()) continue;
      const bool fadd = operation.name == "add_f32" || operation.name == "pk_add_f16";
      for (const bool returns : {false, true}) {
        if (returns && fadd && !processor.has(target::Feature::atomic_fadd_rtn_insts)) continue;
        const unsigned words = operation.bits / 32;
        const std::string data = registers('v', 10, words);
        const unsigned result = family == "buffer" ? 10 : 20;
        std::string text = name + " ";
        if (family == "buffer") {
          text += fmt::format("{}, v1, s[4:7], s40 offen", data);
        } else {
          if (returns) text += registers('v', result, words) + ", ";
          text += family == "flat" ? fmt::format("v[2:3], {}", data) : fmt::format("v1, {}, s[16:17]", data);
        }
        if (returns) text += test::returning(processor);
        SCOPED_TRACE(text);
        ++count;
        WaveRunner runner(GetParam().processor, "", wave_size);
        test::set_buffer(runner, 4, memory.data(), sizeof memory);
        runner.set_pair(16, memory.data());
        // Even lanes access the fine-grained half.
        const auto index = [](unsigned lane) { return lane % 2 * (memory.size() / 2) + lane; };
        memory.fill(operation.old);
        for (unsigned lane = 0; lane < wave_size; ++lane) {
          runner.v(1)[lane] = static_cast<uint32_t>(index(lane) * 8);
          const uint64_t address = reinterpret_cast<uint64_t>(&memory[index(lane)]);
          runner.v(2)[lane] = static_cast<uint32_t>(address);
          runner.v(3)[lane] = static_cast<uint32_t>(address >> 32);
          for (unsigned word = 0; word < words; ++word) {
            runner.v(10 + word)[lane] = static_cast<uint32_t>(operation.data >> (32 * word));
            if (result == 20) runner.v(result + word)[lane] = 0x5555'5555;
          }
        }
        runner.run(text);
        for (unsigned lane = 0; lane < wave_size; ++lane) {
          const bool is_dropped = drops && operation.is_float && lane % 2 == 0;
          const uint64_t low = operation.bits == 64 ? ~uint64_t{0} : 0xFFFF'FFFF;
          EXPECT_EQ(memory[index(lane)] & low, is_dropped ? operation.old : operation.result) << "lane " << lane;
          if (!returns) continue;
          uint64_t returned = runner.v(result)[lane];
          if (words == 2) returned = runner.v64(result, lane);
          EXPECT_EQ(returned, is_dropped ? 0 : operation.old) << "lane " << lane;
        }
      }
    }
  }
  EXPECT_GT(count, 2u);
  std::printf("%s: %u forms\n", GetParam().processor, count);
  machine::MemoryGrain::of_process().reset(begin, middle);
}

INSTANTIATE_TEST_SUITE_P(Generations, FineGrainedAtomics, testing::ValuesIn(test::all_machines),
                         [](const auto& info) { return test::name_of_machine(info.param); });

TEST(MemoryGrain, IsSetAndResetByRange) {
  machine::MemoryGrain grain;
  EXPECT_FALSE(grain.is_fine(0x5000));
  grain.set(0x4000, 0x8000, true);
  EXPECT_TRUE(grain.is_fine(0x4000));
  EXPECT_TRUE(grain.is_fine(0x7FFF));
  EXPECT_FALSE(grain.is_fine(0x8000));
  EXPECT_FALSE(grain.is_fine(0x3FFF));
  grain.set(0x5000, 0x6000, false);
  EXPECT_TRUE(grain.is_fine(0x4FFF));
  EXPECT_FALSE(grain.is_fine(0x5000));
  EXPECT_TRUE(grain.is_fine(0x6000));
  grain.reset(0x4000, 0x6800);
  EXPECT_FALSE(grain.is_fine(0x4000));
  EXPECT_TRUE(grain.is_fine(0x6800));
}

}  // namespace
}  // namespace Atoll

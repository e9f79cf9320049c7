// The kernels of kernels.h on every processor that executes, compiled by clang for each size of its waves, against the
// same source on the host, by the engine that ATOLL_ENGINE names.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "engine/engines.h"
#include "engine/kernels.h"
#include "machine/gpu.h"
#include "support/command.h"
#include "target/product.h"

namespace Atoll {
namespace {

std::vector<unsigned> input() {
  std::vector<unsigned> words(in_words);
  unsigned state = 12345;
  for (unsigned& word : words) {
    state = state * 1664525 + 1013904223;
    word = state ^ state >> 15;
  }
  words[3] = 0;
  words[10] = 0xFFFFFFFF;
  words[11] = 0x80000000;
  return words;
}

/// Runs a kernel over all items; the number of items is no multiple of what one work-group has.
std::vector<unsigned> run(machine::Gpu& gpu, const machine::LoadedCode& code, const std::string& name,
                          const std::vector<unsigned>& in) {
  std::vector<unsigned> out(item_count * out_words_per_item);
  const void* arguments[2] = {in.data(), out.data()};
  const machine::LoadedSymbol* kernel = code.find(name + ".kd");
  if (kernel == nullptr) {
    ADD_FAILURE() << "no kernel " << name;
    return out;
  }
  machine::aql::KernelDispatchPacket packet{};
  packet.setup = 1;
  packet.workgroup_size_x = 64;
  packet.workgroup_size_y = packet.workgroup_size_z = 1;
  packet.grid_size_x = item_count - 5;
  packet.grid_size_y = packet.grid_size_z = 1;
  packet.private_segment_size = 4096;
  packet.kernel_object = kernel->address;
  packet.kernarg_address = reinterpret_cast<uint64_t>(arguments);
  const auto result = gpu.run(packet);
  if (!result) ADD_FAILURE() << name << ": " << result.error().message;
  return out;
}

class Kernels : public testing::TestWithParam<std::tuple<const char*, const char*, unsigned>> {};

TEST_P(Kernels, GiveWhatTheHostGives) {
  const auto [processor, level, wave_size] = GetParam();
  const test::TemporaryDirectory directory;
  const auto compiled =
      test::run_command("clang-22 -x c -std=c23 -target amdgcn-amd-amdhsa -nogpulib -ffp-contract=off " +
                        std::string(level) + (wave_size == 32 ? " -mno-wavefrontsize64" : " -mwavefrontsize64") +
                        " -w -mcpu=" + processor + " " KERNELS_SOURCE " -o " + (directory / "kernels.co") + " 2>&1");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  const auto model = target::find_gpu(processor);
  ASSERT_TRUE(model) << model.error().message;
  const char* engine_name = std::getenv("ATOLL_ENGINE");
  const auto engine = engine::find_engine(engine_name != nullptr ? engine_name : "");
  ASSERT_TRUE(engine) << engine.error().message;
  const auto gpu = machine::Gpu::create(*model, *engine, {.threads = 2});
  ASSERT_TRUE(gpu) << gpu.error().message;
  const auto code = (*gpu)->load(test::read_bytes(directory / "kernels.co"), {}, "kernels");
  ASSERT_TRUE(code) << code.error().message;

  const std::vector<unsigned> in = input();
  const struct {
    const char* name;
    void (*item)(unsigned, const unsigned*, unsigned*);
  } kernels[] = {{"integers", integers_item}, {"floats", floats_item}, {"sorting", sorting_item},
                 {"branches", branches_item}, {"calls", calls_item},   {"memory", memory_item}};
  for (const auto& kernel : kernels) {
    std::vector<unsigned> expected(item_count * out_words_per_item);
    for (unsigned item = 0; item < item_count - 5; ++item) kernel.item(item, in.data(), expected.data());
    const std::vector<unsigned> got = run(**gpu, **code, kernel.name, in);
    for (unsigned i = 0; i < expected.size(); ++i) {
      if (expected[i] == got[i]) continue;
      ADD_FAILURE() << kernel.name << ": item " << i / out_words_per_item << " word " << i % out_words_per_item
                    << " is " << got[i] << ", on the host " << expected[i];
      break;
    }
  }
}

std::string name_of(const testing::TestParamInfo<Kernels::ParamType>& info) {
  const auto& [processor, level, wave_size] = info.param;
  return fmt::format("{}_{}_wave{}", processor, std::string_view(level) == "-O0" ? "unoptimised" : "optimised",
                     wave_size);
}

INSTANTIATE_TEST_SUITE_P(Gfx9, Kernels,
                         testing::Combine(testing::Values("gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx90a",
                                                          "gfx90c", "gfx942", "gfx950"),
                                          testing::Values("-O0", "-O3"), testing::Values(64)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Rdna, Kernels,
                         testing::Combine(testing::Values("gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201"),
                                          testing::Values("-O0", "-O3"), testing::Values(32, 64)),
                         name_of);
// Of generations that the above have as well, so that one way is enough.
INSTANTIATE_TEST_SUITE_P(OtherRdna, Kernels,
                         testing::Values(std::tuple("gfx1011", "-O3", 32), std::tuple("gfx1012", "-O0", 64),
                                         std::tuple("gfx1013", "-O3", 64), std::tuple("gfx1103", "-O0", 32),
                                         std::tuple("gfx1150", "-O3", 32), std::tuple("gfx1200", "-O0", 64)),
                         name_of);

}  // namespace
}  // namespace Atoll

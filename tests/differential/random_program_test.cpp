// Random C programs, compiled for a GPU and for the host: the results must be the same, bit for bit. This takes in the
// decoder, the semantics, the engine, scratch, calls and the ABI all at once, as the compiler uses them.
//
// When a program fails, compile it with -O0 too: a difference that goes away may be the compiler's. Program 2 is such
// a one: clang 22 forgets the upper half of an `or` with a negative constant.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "atoll/atoll.h"
#include "differential/random_program.h"
#include "support/command.h"

namespace Atoll::test {
namespace {

constexpr unsigned items = 192;

/// Options for both compilers: no contraction, which only one might do, and halves rounded at each step.
constexpr const char* common_options =
    "clang-22 -x c -std=c17 -w -fwrapv -fno-strict-aliasing -ffp-contract=off -Xclang -ffloat16-excess-precision=none";

void compile(const std::string& source, const std::string& options, const std::string& output) {
  const auto run =
      run_command(fmt::format("{} -I{} {} {} -o {} 2>&1", common_options, ATOLL_DIFFERENTIAL, options, source, output));
  ASSERT_EQ(run.exit_code, 0) << run.output;
}

/// Inputs of all sizes: small, sparse, dense.
std::vector<uint64_t> inputs(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> values(items * 3);
  for (uint64_t& value : values) {
    value = random();
    switch (random() % 8) {
      case 0:
        value &= 0xFF;
        break;
      case 1:
        value |= 0xFFFF'FFFF'0000'0000;
        break;
      case 2:
        value = uint64_t{1} << (value % 64);
        break;
      case 3:
        value = value % 2 == 0 ? 0 : ~uint64_t{0};
        break;
      default:
        break;
    }
  }
  return values;
}

void check_program(uint64_t seed, const std::string& processor, const std::string& optimisation) {
  SCOPED_TRACE(fmt::format("random program {} at {} for {}", seed, optimisation, processor));
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("atoll-random-{}-{}", getpid(), seed);
  std::filesystem::create_directories(directory);
  const std::string source = directory / "program.c", host_file = directory / "host.so",
                    gpu_file = directory / "gpu.co";
  write_file(source, random_program(seed));
  compile(source, "-O1 -shared -fPIC -mfma -mf16c", host_file);
  compile(
      source,
      fmt::format("{} -target amdgcn-amd-amdhsa -mcpu={} -nogpulib -fvisibility=protected", optimisation, processor),
      gpu_file);
  if (testing::Test::HasFatalFailure()) return;

  void* library = dlopen(host_file.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* host_entry = reinterpret_cast<void (*)(const uint64_t*, uint64_t*)>(dlsym(library, "host_entry"));
  ASSERT_NE(host_entry, nullptr);

  const auto gpu = Gpu::create(processor, {.timeout_seconds = 600});
  ASSERT_TRUE(gpu.has_value()) << gpu.error().message;
  const auto code = gpu->load_file(gpu_file);
  ASSERT_TRUE(code.has_value()) << code.error().message;
  const std::vector<uint64_t> in = inputs(seed);
  const auto in_buffer = gpu->allocate<uint64_t>(in.size());
  const auto out_buffer = gpu->allocate<uint64_t>(items * random_functions);
  ASSERT_TRUE(in_buffer && out_buffer);
  in_buffer->write(in);
  const auto launched = gpu->launch(*code, "kernel_entry", {.grid = {items}, .block = {64}}, *in_buffer, *out_buffer);
  ASSERT_TRUE(launched.has_value()) << launched.error().message;

  unsigned failures = 0;
  for (unsigned item = 0; item < items && failures < 3; ++item) {
    uint64_t expected[random_functions];
    host_entry(&in[item * 3], expected);
    for (unsigned i = 0; i < random_functions; ++i) {
      const uint64_t actual = out_buffer->span()[item * random_functions + i];
      if (actual == expected[i]) continue;
      ++failures;
      ADD_FAILURE() << fmt::format("function{} of work-item {}: {:#x}, on the host {:#x}; inputs {:#x}, {:#x}, {:#x}",
                                   i, item, actual, expected[i], in[item * 3], in[item * 3 + 1], in[item * 3 + 2])
                    << "\nprogram kept in " << directory;
    }
  }
  dlclose(library);
  if (failures == 0) std::filesystem::remove_all(directory);
}

TEST(RandomPrograms, GiveTheSameResultsOnGpuAndHost) {
  constexpr const char* processors[] = {"gfx900",  "gfx906",  "gfx908",  "gfx90a",  "gfx942",
                                        "gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201"};
  constexpr const char* optimisations[] = {"-O0", "-O1", "-O2", "-O3"};
  // The compiled engine takes 20 seconds for one: without a range every fifth.
  const char* engine = std::getenv("ATOLL_ENGINE");
  uint64_t first = 11, last = 20, step = engine != nullptr && std::string_view(engine) == "compiled" ? 5 : 1;
  if (const char* range = std::getenv("ATOLL_RANDOM_PROGRAMS")) {
    ASSERT_EQ(std::sscanf(range, "%lu:%lu", &first, &last), 2) << "ATOLL_RANDOM_PROGRAMS=FIRST:LAST";
    step = 1;
  }
  for (uint64_t seed = first; seed <= last; seed += step) {
    check_program(seed, processors[seed % std::size(processors)], optimisations[seed % std::size(optimisations)]);
  }
}

}  // namespace
}  // namespace Atoll::test

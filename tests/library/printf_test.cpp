// printf() of kernels, OpenCL's and HIP's, against the host's printf() for the same arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include <fmt/format.h>

#include "atoll/atoll.h"
#include "support/command.h"
#include "support/parameter_name.h"

namespace Atoll {
namespace {

// The compiler lowers printf() to a call of the device library for room, whose part is here: a word says how much of
// the buffer is taken, the next one how large it is. The buffer's address is the implicit argument of that number.
constexpr const char* opencl_source = R"(
__attribute__((used)) global char* __printf_alloc(uint bytes) {
  global uint* buffer = (global uint*)((constant size_t*)__builtin_amdgcn_implicitarg_ptr())[BUFFER];
  uint begin = __atomic_load_n(buffer, __ATOMIC_RELAXED);
  do {
    if (begin + bytes + 8 > buffer[1]) return 0;
  } while (!__atomic_compare_exchange_n(buffer, &begin, begin + bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return (global char*)buffer + 8 + begin;
}
int printf(constant const char* format, ...) __attribute__((format(printf, 1, 2)));
kernel void conversions(int i, uint u, long l, double d) {
  printf("int %d, %5d|%-5d|%05d, unsigned %u, hex %#x, char %c, percent %%\n", i, i, i, i, u, u, 'q');
  printf("long %ld, %lx, real %.3f %e %g: [%s] [%7s]\n", l, l, d, d, d, "a text: with a colon\t", "right");
  printf("float %f\n", (float)d);
  printf("vectors %v4d %v2f %v3hd\n", (int4)(1, -2, 3, -4), (float2)(0.5f, 1.5f), (short3)(-1, 2, 3));
  printf("no arguments\n");
}
kernel void lanes(void) {
  int i = __builtin_amdgcn_workgroup_id_x() * 100 + __builtin_amdgcn_workitem_id_x();
  if (i % 3 == 0) printf("work-item %d of %s\n", i, "some");  // strings must be constants
}
kernel void before_a_fault(global int* out) {
  printf("still here\n");
  out[1 << 28] = 1;
}
)";

constexpr const char* hip_source = R"(
#include <hip/hip_runtime.h>
#include <cassert>
extern "C" __global__ void conversions(int i, unsigned u, long l, double d, int* written) {
  written[0] = printf("int %d, %5d|%-5d|%05d, unsigned %u, hex %#x, char %c, percent %%\n", i, i, i, i, u, u, 'q');
  written[1] = printf("long %ld, %lx, real %.3f %e %g: [%s]\n", l, l, d, d, d, "a text that is longer than one packet: "
                      "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789");
  written[2] = printf("no arguments\n");
}
extern "C" __global__ void lanes() {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3 == 0) printf("line %u of %u: %d %d %d %f %s\n", i, unsigned(blockIdx.x), 1, 2, 3, i * 0.5, "end");
}
extern "C" __global__ void fails(int i) { assert(i == 2); }
int main() {}
)";

class Printing : public testing::Test {
 protected:
  /// Compiles a source with this command; the GPU collects what it prints.
  void build(const char* source, const std::string& file, const std::string& command) {
    test::write_file(directory / file, source);
    const auto compiled = test::run_command(fmt::format("cd {} && {} 2>&1", directory.path().string(), command));
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
    gpu = value_of(Gpu::create("gfx90a", {.timeout_seconds = 60, .on_output = [this](std::string_view text, Output to) {
                                            (to == Output::standard_error ? errors : output) += text;
                                          }}));
    auto loaded = gpu.load_file(directory / "code");
    ASSERT_TRUE(loaded) << loaded.error().message;
    code = *loaded;
  }
  void build_opencl(int version) {
    build(
        opencl_source, "k.cl",
        fmt::format("clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -mcode-object-version={} -cl-std=CL2.0 "
                    "-O2 -w -DBUFFER={} -Xclang -finclude-default-header k.cl -o code",
                    version, version == 4 ? 3 : 9));
  }
  void build_hip() { build(hip_source, "k.hip", "hipcc --offload-arch=gfx90a -O2 -w k.hip -o code"); }

  std::vector<std::string> sorted_lines() const {
    std::vector<std::string> lines;
    std::istringstream text(output);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    std::ranges::sort(lines);
    return lines;
  }

  test::TemporaryDirectory directory;
  std::string output, errors;
  Gpu gpu;
  Code code;
  static constexpr int i = -42;
  static constexpr unsigned u = 3'000'000'000;
  static constexpr long l = -1'234'567'890'123'456'789;
  static constexpr double d = -2.5e-7;
};

std::string host(const char* format, auto... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);  // NOLINT(clang-diagnostic-format-nonliteral)
  return text;
}

class PrintingOpenCL : public Printing, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(CodeObjectVersions, PrintingOpenCL, testing::Values(4, 5), test::NamedByParameter());

TEST_P(PrintingOpenCL, IsTheHosts) {
  build_opencl(GetParam());
  const auto done = gpu.launch(code, "conversions", {}, i, u, l, d);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(output,
            host("int %d, %5d|%-5d|%05d, unsigned %u, hex %#x, char %c, percent %%\n", i, i, i, i, u, u, 'q') +
                host("long %ld, %lx, real %.3f %e %g: [%s] [%7s]\n", l, l, d, d, d, "a text: with a colon\t", "right") +
                host("float %f\n", static_cast<double>(static_cast<float>(d))) +
                "vectors 1,-2,3,-4 0.500000,1.500000 -1,2,3\nno arguments\n");

  output.clear();
  ASSERT_TRUE(gpu.launch(code, "lanes", {.grid = {300}, .block = {100}}));
  std::vector<std::string> expected;
  for (int item = 0; item < 300; item += 3) expected.push_back(host("work-item %d of %s", item, "some"));
  std::ranges::sort(expected);
  EXPECT_EQ(sorted_lines(), expected);

  output.clear();
  EXPECT_FALSE(gpu.launch(code, "before_a_fault", {}, value_of(gpu.allocate<int>(1))));
  EXPECT_EQ(output, "still here\n");
}

TEST_F(Printing, Hip) {
  build_hip();
  const auto written = value_of(gpu.allocate<int>(3));
  const auto done = gpu.launch(code, "conversions", {}, i, u, l, d, written);
  ASSERT_TRUE(done) << done.error().message;
  const std::string lines[] = {
      host("int %d, %5d|%-5d|%05d, unsigned %u, hex %#x, char %c, percent %%\n", i, i, i, i, u, u, 'q'),
      host("long %ld, %lx, real %.3f %e %g: [%s]\n", l, l, d, d, d,
           "a text that is longer than one packet: 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
           "0123456789"),
      "no arguments\n"};
  EXPECT_EQ(output, lines[0] + lines[1] + lines[2]);
  for (size_t line = 0; line < 3; line++) EXPECT_EQ(written.read()[line], static_cast<int>(lines[line].size()));

  // Many lanes of many waves at once, twice, and after a kernel that has left a call unanswered.
  std::vector<std::string> expected;
  for (unsigned item = 0; item < 8 * 96; item += 3)
    expected.push_back(host("line %u of %u: %d %d %d %f %s", item, item / 96, 1, 2, 3, item * 0.5, "end"));
  std::ranges::sort(expected);
  for (int round = 0; round < 2; round++) {
    output.clear();
    const auto ended = gpu.launch(code, "lanes", {.grid = {8 * 96}, .block = {96}});
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(sorted_lines(), expected);
    const auto failed = gpu.launch(code, "fails", {}, 3);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().fault->kind, KernelFault::Kind::abort);
    EXPECT_THAT(errors, testing::HasSubstr("i == 2"));
  }
  EXPECT_TRUE(gpu.launch(code, "fails", {}, 2));
}

}  // namespace
}  // namespace Atoll

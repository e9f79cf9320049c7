// The public library, as its users see it: kernels launched with arguments of every kind, results against what the
// same arithmetic gives on the host, and what it says of mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <optional>
#include <thread>

#include "atoll/atoll.h"
#include "library/kernels.h"
#include "support/parameter_name.h"

namespace Atoll {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct Target {
  const char* compiler;
  int version;
  const char* gpu;
};
void PrintTo(const Target& target, std::ostream* out) {
  *out << target.compiler << " V" << target.version << " " << target.gpu;
}

class Launch : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    const auto& [compiler, version, name] = GetParam();
    test::compile_kernels(compiler, version, name, directory / "kernels.co");
    auto created = Gpu::create_for_file(directory / "kernels.co", {.timeout_seconds = 60});
    ASSERT_TRUE(created) << created.error().message;
    gpu = *created;
    auto loaded = gpu.load_file(directory / "kernels.co");
    ASSERT_TRUE(loaded) << loaded.error().message;
    code = *loaded;
  }
  template <typename... Args>
  std::string launch(std::string_view kernel, const LaunchShape& shape, const Args&... arguments) {
    const auto done = gpu.launch(code, kernel, shape, arguments...);
    return done ? "done" : done.error().message;
  }

  test::TemporaryDirectory directory;
  Gpu gpu;
  Code code;
};

INSTANTIATE_TEST_SUITE_P(Targets, Launch,
                         testing::Values(Target{"clang-15", 3, "gfx900"}, Target{"clang-15", 4, "gfx900"},
                                         Target{"clang-22", 5, "gfx906"}, Target{"clang-19", 4, "gfx908"},
                                         Target{"clang-22", 5, "gfx90a"}, Target{"clang-22", 6, "gfx942"},
                                         Target{"clang-22", 6, "gfx9-generic"}),
                         test::NamedByParameter());

TEST_P(Launch, ComputesAndCounts) {
  auto data = gpu.allocate<float>(1000).value();
  std::iota(data.span().begin(), data.span().end(), 0.0f);
  const auto done = gpu.launch(code, "scale", {.grid = {1000}, .block = {256}}, data, 2.5f, 990);
  ASSERT_TRUE(done) << done.error().message;
  for (size_t i = 0; i < 1000; i++) ASSERT_EQ(data.read()[i], static_cast<float>(i) * (i < 990 ? 2.5f : 1.0f)) << i;
  EXPECT_EQ(done->work_groups, 4u);
  EXPECT_EQ(done->waves, 16u);  // the last work-group has 232 work-items
  EXPECT_GT(done->wave_instructions, 16u * 5);
}

TEST_P(Launch, VariablesAreVisible) {
  const auto launches = code.variable("launches");
  ASSERT_EQ(launches.size(), 4u);
  auto data = gpu.allocate<float>(64).value();
  for (int i = 0; i < 3; i++) ASSERT_EQ(launch("scale", {.grid = {64}, .block = {64}}, data, 1.0f, 64), "done");
  int count = 0;
  std::memcpy(&count, launches.data(), sizeof count);
  EXPECT_EQ(count, 3);
  EXPECT_TRUE(code.variable("nothing").empty());
  EXPECT_TRUE(code.variable("scale").empty());
}

TEST_P(Launch, ThreeDimensionsWithPartialWorkGroups) {
  constexpr uint32_t nx = 10, ny = 7, nz = 3;  // in blocks of 4 x 3 x 2
  auto out = gpu.allocate<uint32_t>(nx * ny * nz).value();
  ASSERT_EQ(launch("places", {.grid = {nx, ny, nz}, .block = {4, 3, 2}}, out), "done");
  const auto seen = out.read();
  for (uint32_t z = 0; z < nz; z++)
    for (uint32_t y = 0; y < ny; y++)
      for (uint32_t x = 0; x < nx; x++) {
        const uint32_t expected = 4 | 3 << 8 | 2 << 16 | (x / 4 + y / 3 + z / 2) << 24;
        ASSERT_EQ(seen[x + nx * (y + ny * z)], expected) << x << " " << y << " " << z;
      }
}

TEST_P(Launch, LocalMemoryArguments) {
  auto data = gpu.allocate<int>(128).value();
  std::iota(data.span().begin(), data.span().end(), 0);
  ASSERT_EQ(launch("reverse", {.grid = {128}, .block = {64}}, data, LocalMemory{256}, LocalMemory{256}), "done");
  const auto result = data.read();
  for (int i = 0; i < 128; i++) ASSERT_EQ(result[static_cast<size_t>(i)], i / 64 * 64 + 63 - i % 64);
}

TEST_P(Launch, ArgumentsOfEverySize) {
  struct Mixed {
    int a;
    double b;
    char c;
  };
  auto out = gpu.allocate<double>(7).value();
  ASSERT_EQ(launch("mixed", {}, out, char{-3}, short{-300}, -3'000'000'000L, 2.5, Mixed{7, 0.125, 'x'}), "done");
  EXPECT_THAT(out.read(), ElementsAre(-3, -300, -3e9, 2.5, 7, 0.125, 'x'));
}

TEST_P(Launch, DescribesKernels) {
  EXPECT_THAT(code.kernels(), testing::IsSupersetOf({"scale", "places", "reverse", "mixed", "fixed"}));
  const auto reverse = code.describe("reverse");
  ASSERT_TRUE(reverse) << reverse.error().message;
  ASSERT_EQ(reverse->parameters.size(), 3u);
  EXPECT_EQ(reverse->parameters[0].kind, Parameter::Kind::pointer);
  EXPECT_EQ(reverse->parameters[0].name, "data");
  EXPECT_EQ(reverse->parameters[2].kind, Parameter::Kind::local_memory);
  EXPECT_THAT(code.describe("fixed")->required_block, ElementsAre(8, 4, 1));
  EXPECT_FALSE(code.describe("nothing"));
}

TEST_P(Launch, SaysWhatIsWrong) {
  auto data = gpu.allocate<float>(64).value();
  const auto ints = gpu.allocate<int>(64).value();
  const LaunchShape shape{.grid = {64}, .block = {64}};
  EXPECT_EQ(launch("nothing", shape), "there is no kernel nothing");
  EXPECT_EQ(launch("scale", shape, data, 1.0f), "kernel scale takes 3 arguments, 2 are given");
  EXPECT_EQ(launch("scale", shape, data, 1.0, 64), "kernel scale: cannot pass an f64 for parameter 'float factor'");
  EXPECT_EQ(launch("scale", shape, data, 1, 64), "kernel scale: cannot pass an i32 for parameter 'float factor'");
  EXPECT_EQ(launch("scale", shape, gpu.allocate<double>(64).value(), 1.0f, 64),
            "kernel scale: cannot pass a buffer of f64 for parameter 'float* data'");
  EXPECT_EQ(launch("scale", shape, 1.5, 1.0f, 64), "kernel scale: cannot pass an f64 for parameter 'float* data'");
  for (const std::array<uint32_t, 3>& empty : {std::array<uint32_t, 3>{0}, {0, 4, 1}, {64, 0, 2}}) {
    EXPECT_THAT(launch("scale", {.grid = empty, .block = {64}}, data, 1.0f, 64), HasSubstr("has no work-items"));
    EXPECT_THAT(launch("scale", {.grid = {64}, .block = empty}, data, 1.0f, 64), HasSubstr("has no work-items"));
  }
  EXPECT_EQ(launch("scale", shape, gpu.allocate_bytes(256).value(), 1.0f, 64u), "done");  // untyped; another sign
  EXPECT_THAT(launch("reverse", shape, ints, 1, LocalMemory{4}), HasSubstr("is a pointer to local memory"));
  EXPECT_THAT(launch("scale", shape, LocalMemory{4}, 1.0f, 64), HasSubstr("is not a pointer to local memory"));
  EXPECT_EQ(launch("fixed", shape, data), "kernel fixed was compiled for work-groups of 8 x 4 x 1");
  EXPECT_THAT(launch("scale", {.grid = {64}, .block = {64, 64}}, data, 1.0f, 64),
              HasSubstr("work-groups of 64 x 64 x 1; a GPU has at most 1024"));
  EXPECT_THAT(launch("reverse", shape, ints, LocalMemory{1 << 20}, LocalMemory{4}), HasSubstr("LDS"));
  EXPECT_THAT(gpu.load_file("/nonexistent").error().message, HasSubstr("/nonexistent: No such file"));
  EXPECT_THAT(gpu.load_file("/bin/true").error().message, HasSubstr("no GPU code"));
}

TEST_P(Launch, SignaturesHaveTheKernelsTypes) {
  const auto refusal = [](const auto& kernel) { return kernel ? "accepted" : kernel.error().message; };
  EXPECT_EQ(refusal(gpu.kernel<void(float*, float, int)>(code, "scale")), "accepted");
  EXPECT_EQ(refusal(gpu.kernel<void(void*, float, unsigned)>(code, "scale")), "accepted");
  EXPECT_EQ(refusal(gpu.kernel<void(int*, float, int)>(code, "scale")),
            "argument 1 (float* data) of kernel scale points to a floating-point number, in the signature an integer");
  EXPECT_EQ(refusal(gpu.kernel<void(double*, float, int)>(code, "scale")),
            "argument 1 (float* data) of kernel scale points to numbers of 4 bytes, in the signature 8");
}

TEST_P(Launch, AFaultNamesItsPlaceAndTheGpuLivesOn) {
  auto data = gpu.allocate<int>(64).value();
  const auto address = reinterpret_cast<uint64_t>(data.data()) + (uint64_t{4} << 28);
  EXPECT_THAT(launch("stray", {}, data), AllOf(HasSubstr("stray"), HasSubstr(fmt::format("{:x}", address))));
  EXPECT_EQ(launch("places", {.grid = {1}, .block = {1}}, data), "done");
}

TEST_P(Launch, AKernelThatNeverEndsIsTimedOut) {
  const auto impatient = Gpu::create(gpu.target_id(), {.timeout_seconds = 0.2}).value();
  const auto loaded = impatient.load_file(directory / "kernels.co").value();
  const auto done = impatient.launch(loaded, "forever", {}, impatient.allocate<int>(1).value());
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("forever"));
}

TEST_P(Launch, HandlesOutliveTheirGpusHandle) {
  std::optional<TypedBuffer<int>> buffer;
  {
    const auto other = Gpu::create(gpu.target_id()).value();
    buffer = other.allocate<int>(4).value();
  }
  buffer->span()[3] = 5;
  EXPECT_EQ(buffer->read()[3], 5);
}

TEST_P(Launch, FromTwoThreads) {
  std::array<TypedBuffer<float>, 2> data{gpu.allocate<float>(4096).value(), gpu.allocate<float>(4096).value()};
  const auto work = [&](size_t which) {
    std::ranges::fill(data[which].span(), 1.0f);
    for (int i = 0; i < 20; i++)
      if (launch("scale", {.grid = {4096}, .block = {256}}, data[which], which == 0 ? 2.0f : 0.5f, 4096) != "done")
        break;
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_THAT(data[0].read(), testing::Each(1048576.0f));
  EXPECT_THAT(data[1].read(), testing::Each(1.0f / 1048576.0f));
}

/// A kernel that may be launched with few work-groups, and constructors and destructors, of which LLVM makes kernels of
/// the kinds init and fini.
constexpr const char* constructed_source = R"(
#define VARIABLE __attribute__((visibility("default"), address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel, visibility("default")))
typedef __attribute__((address_space(1))) int* Ints;
VARIABLE volatile int made;
VARIABLE Ints after;
__attribute__((constructor(200))) void second(void) { made = made * 10 + 2; }
__attribute__((constructor(100))) void first(void) { made = made * 10 + 1; }
__attribute__((destructor)) void end(void) { if (after) *after = made; }
KERNEL void look(Ints out) { *out = made; made = 7; }
KERNEL __attribute__((amdgpu_max_num_work_groups(4, 2, 1))) void few(Ints out) {
  __atomic_fetch_add(out, 1, __ATOMIC_RELAXED);
}
)";

/// The compiler, and whether it has the attribute.
class Constructed : public testing::TestWithParam<std::pair<std::string, bool>> {
 protected:
  void SetUp() override {
    test::write_file(directory / "kernels.c", constructed_source);
    const auto compiled =
        test::run_command(fmt::format("{} -x c -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O2 -w {} -o {} 2>&1",
                                      GetParam().first, directory / "kernels.c", directory / "kernels.co"));
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  }
  test::TemporaryDirectory directory;
  Gpu gpu = Gpu::create("gfx90a", {.timeout_seconds = 60}).value();
};

INSTANTIATE_TEST_SUITE_P(Compilers, Constructed,
                         testing::Values(std::pair("clang-15", false), std::pair("clang-19", true),
                                         std::pair("clang-22", true)),
                         test::NamedByParameter());

TEST_P(Constructed, InitKernelsRunWhenLoadedAndFiniKernelsWhenUnloaded) {
  auto out = gpu.allocate<int>(1).value();
  {
    const auto code = gpu.load_file(directory / "kernels.co").value();
    EXPECT_THAT(code.kernels(), testing::IsSupersetOf({"look", "amdgcn.device.init", "amdgcn.device.fini"}));
    EXPECT_TRUE(code.describe("amdgcn.device.init")->on_load);
    EXPECT_TRUE(code.describe("amdgcn.device.fini")->on_unload);
    EXPECT_FALSE(code.describe("look")->on_load || code.describe("look")->on_unload);
    // clang 15 leaves the order of constructors to chance.
    EXPECT_THAT(*reinterpret_cast<int*>(code.variable("made").data()), testing::AnyOf(12, 21));
    const Code copy = code;
    ASSERT_TRUE(gpu.launch(copy, "look", {}, out));
    EXPECT_THAT(out.read()[0], testing::AnyOf(12, 21));
    void* const address = out.data();
    std::memcpy(code.variable("after").data(), &address, sizeof address);
  }
  EXPECT_EQ(out.read()[0], 7);
}

TEST_P(Constructed, AsManyWorkGroupsAsTheCodeIsCompiledFor) {
  const auto code = gpu.load_file(directory / "kernels.co").value();
  auto out = gpu.allocate<int>(1).value();
  ASSERT_TRUE(gpu.launch(code, "few", {.grid = {8, 4}, .block = {2, 2}}, out));
  EXPECT_EQ(out.read()[0], 32);
  const auto more = gpu.launch(code, "few", {.grid = {4, 5}, .block = {2, 2}}, out);
  if (!GetParam().second) return;
  EXPECT_THAT(code.describe("few")->max_blocks, ElementsAre(4, 2, 1));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().message,
            "kernel few was compiled for at most 2 work-groups in Y: a grid of 4 x 5 x 1 in work-groups of 2 x 2 x 1 "
            "is 2 x 3 x 1");
}

// Assumptions of clang about HIP's kernels, and about OpenCL's before 2.0.
TEST(WholeWorkGroups, AreWantedByKernelsThatAreCompiledForThem) {
  const test::TemporaryDirectory directory;
  test::write_file(directory / "k.cl", "kernel void one(global int* out) { *out = 1; }\n");
  const auto gpu = Gpu::create("gfx90a").value();
  auto out = gpu.allocate<int>(1).value();
  for (const bool whole : {false, true}) {
    const auto compiled = test::run_command(
        fmt::format("clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -cl-std={} {} -o {} 2>&1",
                    whole ? "CL1.2" : "CL2.0", directory / "k.cl", directory / "k.co"));
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
    const auto code = gpu.load_file(directory / "k.co").value();
    EXPECT_EQ(code.describe("one")->whole_blocks, whole);
    EXPECT_TRUE(gpu.launch(code, "one", {.grid = {128, 2}, .block = {64, 2}}, out));
    const auto partial = gpu.launch(code, "one", {.grid = {100, 2}, .block = {64, 2}}, out);
    EXPECT_EQ(partial ? "done" : partial.error().message,
              whole ? "kernel one was compiled for whole work-groups: of a grid of 100 x 2 x 1 in work-groups of "
                      "64 x 2 x 1, the last in X would be partial"
                    : "done");
  }
}

TEST(GpuCreation, ChoosesByNameOrSaysWhatThereIs) {
  EXPECT_EQ(Gpu::create("vega64")->product(), "AMD Radeon RX Vega 64");
  EXPECT_EQ(Gpu::create("gfx90a:xnack+")->target_id(), "gfx90a:sramecc+:xnack+");
  EXPECT_THAT(Gpu::create("voodoo2").error().message, HasSubstr("unknown GPU 'voodoo2'"));
}

}  // namespace
}  // namespace Atoll

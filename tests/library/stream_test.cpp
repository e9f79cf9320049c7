// Streams, events, kernels with a signature, and several GPUs in one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "atoll/atoll.h"
#include "library/kernels.h"

namespace Atoll {
namespace {

using testing::HasSubstr;

using Scale = void(float*, float, int);

// What the compiler is to refuse, and what not.
template <typename... Args>
constexpr bool takes = std::is_invocable_v<Kernel<Scale>, LaunchShape, Args...>;
static_assert(takes<TypedBuffer<float>, float, int>);
static_assert(takes<TypedBuffer<float>, int, unsigned>);  // as a function of C++ does
static_assert(takes<float*, double, short>);
static_assert(!takes<TypedBuffer<int>, float, int>);
static_assert(!takes<Buffer, float, int>);
static_assert(!takes<TypedBuffer<float>, float, double>);
static_assert(!takes<TypedBuffer<float>, float>);
static_assert(!takes<std::vector<float>, float, int>);
static_assert(!takes<LocalMemory, float, int>);
static_assert(std::is_invocable_v<Kernel<void(const float*)>, LaunchShape, TypedBuffer<float>>);
static_assert(!std::is_invocable_v<Kernel<void(float*)>, LaunchShape, TypedBuffer<const float>>);

class Streams : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory = new test::TemporaryDirectory;
    for (const char* name : {"gfx90a", "gfx1100"})
      test::compile_kernels("clang-22", 5, name, *directory / (std::string(name) + ".co"));
  }
  static void TearDownTestSuite() { delete directory; }
  static Code load(const Gpu& gpu, const std::string& name) {
    return value_of(gpu.load_file(*directory / (name + ".co")));
  }

  static inline test::TemporaryDirectory* directory = nullptr;
  Gpu gpu = value_of(Gpu::create("gfx90a", {.timeout_seconds = 60}));
  Code code = load(gpu, "gfx90a");
  Stream stream = value_of(gpu.create_stream());
  static constexpr LaunchShape shape{.grid = {64}, .block = {64}};
};

TEST_F(Streams, DoOneThingAfterTheOther) {
  const auto data = value_of(gpu.allocate<float>(64));
  std::vector<float> seen;
  std::ranges::fill(data.span(), 1.0F);
  const auto scale = value_of(gpu.kernel<Scale>(code, "scale"));
  for (int i = 0; i < 10; i++) {
    const auto event = stream.launch(scale, shape, data, 2, 64);
    ASSERT_TRUE(event) << event.error().message;
    stream.call([&] { seen.push_back(data.span()[63]); });
  }
  const Event last = stream.record();
  ASSERT_TRUE(last.wait());
  EXPECT_TRUE(last.is_done());
  EXPECT_THAT(seen, testing::ElementsAre(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024));
}

TEST_F(Streams, AnEventHasWhatItsLaunchTook) {
  const auto data = value_of(gpu.allocate<float>(1000));
  const auto event = stream.launch(code, "scale", {.grid = {1000}, .block = {256}}, data, 2.0F, 1000);
  ASSERT_TRUE(event) << event.error().message;
  const auto done = event->wait();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->work_groups, 4u);
  EXPECT_EQ(done->waves, 16u);
}

TEST_F(Streams, MistakesAreFoundAtOnceAndHarmNothing) {
  EXPECT_EQ(stream.launch(code, "nothing", shape).error().kind, FailureKind::not_found);
  EXPECT_EQ(stream.launch(code, "scale", shape, 1).error().kind, FailureKind::invalid_argument);
  EXPECT_TRUE(stream.synchronize());
}

TEST_F(Streams, AfterAFailureNothingIsDoneUntilItHasBeenTold) {
  const auto data = value_of(gpu.allocate<int>(64));
  bool called = false;
  const auto bad = stream.launch(code, "stray", {}, data);
  ASSERT_TRUE(bad) << bad.error().message;
  const Event after = stream.call([&] { called = true; });
  EXPECT_EQ(bad->wait().error().kind, FailureKind::memory_fault);
  const auto not_done = after.wait();
  ASSERT_FALSE(not_done);
  EXPECT_THAT(not_done.error().message, HasSubstr("stray"));
  EXPECT_FALSE(called);
  const auto told = stream.synchronize();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().fault->kernel, "stray");
  ASSERT_TRUE(stream.call([&] { called = true; }).wait());
  EXPECT_TRUE(called);
  EXPECT_TRUE(stream.synchronize());
}

TEST_F(Streams, WaitForEachOther) {
  const auto other = value_of(gpu.create_stream());
  std::atomic<bool> go = false;
  int order = 0, first = 0, second = 0;
  const Event event = stream.call([&] {
    go.wait(false);
    first = ++order;
  });
  other.wait(event);
  const Event later = other.call([&] { second = ++order; });
  EXPECT_FALSE(later.is_done());
  go = true;
  go.notify_all();
  ASSERT_TRUE(later.wait());
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
}

TEST_F(Streams, FinishWhenTheirHandlesGo) {
  const auto data = value_of(gpu.allocate<float>(64));
  std::ranges::fill(data.span(), 1.0F);
  {
    const Stream own = value_of(gpu.create_stream());
    // The code and a copy of the buffer live in the stream only.
    const Code loaded = load(gpu, "gfx90a");
    for (int i = 0; i < 5; i++) ASSERT_TRUE(own.launch(loaded, "scale", shape, TypedBuffer<float>(data), 2.0F, 64));
  }
  EXPECT_THAT(data.read(), testing::Each(32.0F));
}

TEST_F(Streams, AFunctionThatThrowsFails) {
  const auto done = stream.call([] { throw std::runtime_error("no luck"); }).wait();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("no luck"));
  EXPECT_FALSE(stream.synchronize());
}

TEST_F(Streams, SignaturesAreCheckedAgainstTheMetadata) {
  const auto message = [](const auto& kernel) { return kernel ? std::string("fits") : kernel.error().message; };
  EXPECT_EQ(message(gpu.kernel<Scale>(code, "scale")), "fits");
  EXPECT_EQ(message(gpu.kernel<void(int*, LocalMemory, LocalMemory)>(code, "reverse")), "fits");
  EXPECT_EQ(message(gpu.kernel<void(float*, float)>(code, "scale")),
            "kernel scale takes 3 arguments, the signature has 2");
  EXPECT_EQ(message(gpu.kernel<void(float*, int, int)>(code, "scale")),
            "argument 2 (float factor) of kernel scale is a floating-point number, in the signature an integer");
  EXPECT_EQ(message(gpu.kernel<void(float*, float, float)>(code, "scale")),
            "argument 3 (int count) of kernel scale is an integer, in the signature a floating-point number");
  EXPECT_EQ(message(gpu.kernel<void(float*, double, int)>(code, "scale")),
            "argument 2 (float factor) of kernel scale has 4 bytes, in the signature 8");
  EXPECT_EQ(message(gpu.kernel<void(LocalMemory, float, int)>(code, "scale")),
            "argument 1 (float* data) of kernel scale is not a pointer to local memory");
  EXPECT_EQ(message(gpu.kernel<void()>(code, "nothing")), "there is no kernel nothing");
}

// Several GPUs of different kinds, at work at the same time; each has code, variables and memory of its own.
TEST_F(Streams, SeveralGpus) {
  struct One {
    Gpu gpu;
    Code code;
    Stream stream;
    TypedBuffer<float> data;
  };
  std::vector<One> all;
  for (const char* name : {"gfx90a", "gfx1100", "gfx90a"}) {
    const Gpu each = value_of(Gpu::create(name, {.timeout_seconds = 60}));
    all.push_back({each, load(each, name), value_of(each.create_stream()), value_of(each.allocate<float>(256))});
    std::ranges::fill(all.back().data.span(), 1.0F);
  }
  for (int i = 0; i < 8; i++)
    for (const One& one : all)
      ASSERT_TRUE(one.stream.launch(one.code, "scale", {.grid = {256}, .block = {64}}, one.data,
                                    &one == all.data() ? 0.5F : 2.0F, 256));
  for (const One& one : all) ASSERT_TRUE(one.stream.synchronize());
  EXPECT_THAT(all[0].data.read(), testing::Each(1.0F / 256));
  EXPECT_THAT(all[1].data.read(), testing::Each(256.0F));
  EXPECT_THAT(all[2].data.read(), testing::Each(256.0F));
  for (const One& one : all) {
    int launches = 0;
    std::memcpy(&launches, one.code.variable("launches").data(), sizeof launches);
    EXPECT_EQ(launches, 8);
  }
  // A GPU's kernels can use another's memory, and not another's code.
  EXPECT_TRUE(all[1].gpu.launch(all[1].code, "scale", {.grid = {256}, .block = {64}}, all[0].data, 256.0F, 256));
  EXPECT_THAT(all[0].data.read(), testing::Each(1.0F));
  EXPECT_THAT(all[2].gpu.launch(all[0].code, "scale", shape, all[2].data, 1.0F, 1).error().message,
              HasSubstr("loaded on another GPU"));
}

}  // namespace
}  // namespace Atoll

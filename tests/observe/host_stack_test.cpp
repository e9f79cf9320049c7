// Which function of a language runtime a host stack shows, where that function has left no frame.
#include <gtest/gtest.h>

#include <functional>

#include "observe/report/host_stack.h"

extern "C" void allocates(const std::function<void()>& allocate);
extern "C" void creates_a_stream(const std::function<void()>& allocate);

namespace Atoll::test {
namespace {

using observe::HostFrames;
using observe::HostStack;

HostFrames frames_in(void (&program)(const std::function<void()>&)) {
  HostStack stack;
  program([&] { stack = HostStack::here(); });
  return observe::describe(stack);
}

TEST(HostStack, NamesTheFunctionThatTheProgramCalled) {
  const HostFrames allocation = frames_in(allocates);
  EXPECT_EQ(allocation.call, "hipMalloc");
  EXPECT_TRUE(allocation.by_program);
  ASSERT_FALSE(allocation.frames.empty());
  EXPECT_TRUE(allocation.frames.front().starts_with("allocates")) << allocation.frames.front();
}

TEST(HostStack, MemoryOfTheRuntimesOwnIsNotTheProgramsAllocation) {
  const HostFrames stream = frames_in(creates_a_stream);
  EXPECT_EQ(stream.call, "hipStreamCreate");
  EXPECT_FALSE(stream.by_program);
}

}  // namespace
}  // namespace Atoll::test

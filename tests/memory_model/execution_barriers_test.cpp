// The checker of execution barriers, by the rules and remarks of the user guide ("Execution Barriers").
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory_model/execution_barriers.h"

namespace Atoll {
namespace {

using memory_model::BarrierOrder;
using memory_model::BarrierRule;
using memory_model::BarrierTrace;
using memory_model::BarrierViolation;
using memory_model::parse_barrier_trace;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

BarrierTrace trace(const char* text) {
  auto parsed = parse_barrier_trace(text);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? *parsed : BarrierTrace{};
}

std::vector<BarrierRule> broken(const char* text) {
  std::vector<BarrierRule> rules;
  for (const BarrierViolation& each : BarrierOrder(trace(text)).violations()) rules.push_back(each.rule);
  return rules;
}

/// Two waves meet at the work-group's barrier, which hardware initialises and has them join.
constexpr const char* meeting = R"(
0 init 1 2     # 0
0 join 1       # 1
1 join 1       # 2
0 other        # 3
0 arrive 1     # 4
1 arrive 1     # 5
1 wait 1       # 6
1 other        # 7
0 wait 1       # 8
0 other        # 9
)";

TEST(ExecutionBarriers, WhatIsBeforeAnArrivalComesBeforeWhatIsAfterTheWait) {
  const BarrierOrder order(trace(meeting));
  EXPECT_THAT(order.violations(), IsEmpty());
  EXPECT_THAT(order.participants(6), ElementsAre(4, 5));
  EXPECT_THAT(order.participants(8), ElementsAre(4, 5));
  EXPECT_TRUE(order.executes_before(3, 7));  // X -> arrive -> wait -> Y
  EXPECT_TRUE(order.executes_before(5, 9));
  EXPECT_FALSE(order.executes_before(7, 9));  // after the wait of one and of the other: no order
  EXPECT_FALSE(order.executes_before(9, 7));
  EXPECT_FALSE(order.executes_before(3, 5));  // an arrival does not wait
}

TEST(ExecutionBarriers, EachWaitOfAThreadDependsOnAPhaseOfItsOwn) {
  const BarrierOrder order(trace(R"(
0 init 1 2
0 join 1
1 join 1
0 arrive 1
1 arrive 1
0 wait 1
0 arrive 1
1 wait 1
1 arrive 1
1 wait 1
0 wait 1
)"));
  EXPECT_THAT(order.violations(), IsEmpty());
  EXPECT_THAT(order.participants(7), ElementsAre(3, 4));
  EXPECT_THAT(order.participants(9), ElementsAre(6, 8));
  EXPECT_THAT(order.participants(10), ElementsAre(6, 8));
}

TEST(ExecutionBarriers, AWaitEndsOnlyWhenAllHaveArrived) {
  EXPECT_THAT(broken("0 init 1 2\n0 join 1\n0 arrive 1\n0 wait 1\n"), ElementsAre(BarrierRule::wait_ends_after_phase));
  // The phase that was complete is the one that it has waited for already.
  EXPECT_THAT(broken("0 init 1 1\n0 join 1\n0 arrive 1\n0 wait 1\n0 wait 1\n"),
              ElementsAre(BarrierRule::wait_ends_after_phase));
  const BarrierOrder order(trace("0 init 1 2\n0 join 1\n0 arrive 1\n0 wait 1\n"));
  EXPECT_THAT(order.violations()[0].message, HasSubstr("event 3 (thread 0 waits for barrier 1)"));
  EXPECT_THAT(order.violations()[0].message, HasSubstr("1 of 2 arrivals"));
}

TEST(ExecutionBarriers, ObjectsAreInitialisedFirst) {
  EXPECT_THAT(broken("0 join 1\n0 arrive 1\n"), ElementsAre(BarrierRule::starts_with_init));
  EXPECT_THAT(broken("0 init 1 0\n"), ElementsAre(BarrierRule::positive_count));
}

TEST(ExecutionBarriers, WaitAndDropNeedAJoin) {
  EXPECT_THAT(broken("0 init 1 1\n0 arrive 1\n0 wait 1\n"), ElementsAre(BarrierRule::joined_before_wait));
  EXPECT_THAT(broken("0 init 1 1\n0 drop 1\n"), ElementsAre(BarrierRule::joined_before_drop));
  // A drop ends what the join allowed.
  EXPECT_THAT(broken("0 init 1 2\n0 join 1\n0 drop 1\n1 arrive 1\n0 wait 1\n"),
              ElementsAre(BarrierRule::joined_before_wait));
  EXPECT_THAT(broken("0 init 1 2\n0 join 1\n0 drop 1\n0 drop 1\n"), ElementsAre(BarrierRule::joined_before_drop));
  // It is not mandatory to drop a barrier after joining it; arriving needs no join.
  EXPECT_THAT(broken("0 init 1 1\n0 join 1\n1 arrive 1\n"), IsEmpty());
}

TEST(ExecutionBarriers, JoiningAnObjectLeavesThoseThatItExcludes) {
  const std::string both = "0 init 1 1\n0 init 2 1\n0 join 1\n0 join 2\n0 arrive 1\n0 wait 1\n";
  EXPECT_THAT(broken(both.c_str()), IsEmpty());
  EXPECT_THAT(broken(("exclusive 2 1\n" + both).c_str()), ElementsAre(BarrierRule::joined_before_wait));
  // Joining the NULL barrier is how a thread leaves a named one without a drop.
  EXPECT_THAT(broken("exclusive 0 1\n0 init 1 1\n0 join 1\n0 join 0\n0 arrive 1\n0 wait 1\n"),
              ElementsAre(BarrierRule::joined_before_wait));
}

TEST(ExecutionBarriers, ADropCompletesABarrierThatTheOthersHaveArrivedAt) {
  const BarrierOrder order(trace(R"(
0 init 1 3
0 join 1
1 join 1
2 join 1
0 arrive 1
1 arrive 1
2 drop 1
0 wait 1
1 wait 1
0 arrive 1
1 arrive 1
1 wait 1
)"));
  EXPECT_THAT(order.violations(), IsEmpty());
  EXPECT_THAT(order.participants(7), ElementsAre(4, 5, 6));
  EXPECT_THAT(order.participants(11), ElementsAre(9, 10));  // two are expected now
  EXPECT_TRUE(order.executes_before(6, 8));
}

TEST(ExecutionBarriers, NoMoreDropThanAreExpected) {
  EXPECT_THAT(broken("0 init 1 1\n0 join 1\n1 join 1\n0 drop 1\n1 drop 1\n"),
              ElementsAre(BarrierRule::drop_leaves_count));
}

TEST(ExecutionBarriers, AThreadThatArrivedDropsOnlyAfterTheBarrierIsComplete) {
  EXPECT_THAT(broken(R"(
0 init 1 3
0 join 1
1 join 1
0 arrive 1
1 arrive 1
0 drop 1
1 wait 1
)"),
              ElementsAre(BarrierRule::arrive_ends_before_drop));
  EXPECT_THAT(broken(R"(
0 init 1 2
0 join 1
1 join 1
0 arrive 1
1 arrive 1
0 wait 1
0 drop 1
1 wait 1
)"),
              IsEmpty());
}

TEST(ExecutionBarriers, AnArrivalCanChangeTheCountThatIsExpected) {
  EXPECT_THAT(broken("0 init 1 5\n0 join 1\n1 arrive 1\n0 arrive 1 2\n0 wait 1\n"), IsEmpty());
  EXPECT_THAT(broken("0 init 1 5\n1 arrive 1\n2 arrive 1\n0 arrive 1 2\n"), ElementsAre(BarrierRule::positive_count));
}

TEST(ExecutionBarriers, AJoinAfterThePhaseIsTooLateForIt) {
  // The arrival that completes the barrier does not know of the join.
  EXPECT_THAT(broken("0 init 1 1\n0 arrive 1\n1 join 1\n1 wait 1\n"), ElementsAre(BarrierRule::join_precedes_phase));
  EXPECT_THAT(broken("0 init 1 1\n1 join 1\n1 arrive 1\n1 wait 1\n"), IsEmpty());
}

TEST(ExecutionBarriers, AWaitDoesNotEndByAPhaseThatALaterOneHasFollowed) {
  // Thread 0 has gone on to the second phase without a wait: its wait is for the second.
  const BarrierOrder order(trace(R"(
0 init 1 2
0 join 1
1 join 1
0 arrive 1
1 arrive 1
1 wait 1
0 arrive 1
1 arrive 1
0 wait 1
)"));
  EXPECT_THAT(order.violations(), IsEmpty());
  EXPECT_THAT(order.participants(8), ElementsAre(6, 7));
}

TEST(ExecutionBarriers, MistakesInTheTextAreToldByLine) {
  const auto error = [](const char* text) { return parse_barrier_trace(text).error().message; };
  EXPECT_THAT(error("0 arive 1"), HasSubstr("line 1: should be THREAD and init"));
  EXPECT_THAT(error("\n0 init 1"), HasSubstr("line 2: init takes an object and a count"));
  EXPECT_THAT(error("0 wait"), HasSubstr("wait takes an object"));
  EXPECT_THAT(error("0 wait 1 2"), HasSubstr("wait takes an object"));
  EXPECT_THAT(error("0 wait x"), HasSubstr("'x' should be a number"));
  EXPECT_THAT(error("99999999999 wait 1"), HasSubstr("line 1"));
  EXPECT_THAT(error("exclusive 1"), HasSubstr("line 1"));
}

}  // namespace
}  // namespace Atoll

// Signals: values, waits, groups, handlers.
#include <atomic>
#include <thread>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

using HsaSignal = HsaTest;

TEST_F(HsaSignal, OperationsComputeWhatTheirNamesSay) {
  const hsa_signal_t signal = make_signal(10);
  hsa_signal_add_scacq_screl(signal, 5);
  EXPECT_EQ(hsa_signal_load_scacquire(signal), 15);
  hsa_signal_subtract_screlease(signal, 20);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), -5);
  hsa_signal_and_relaxed(signal, 0xF0);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 0xF0);
  hsa_signal_or_acq_rel(signal, 0x0F);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 0xFF);
  hsa_signal_xor_acquire(signal, 0x3C);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 0xC3);
  EXPECT_EQ(hsa_signal_exchange_scacquire(signal, 7), 0xC3);
  EXPECT_EQ(hsa_signal_cas_relaxed(signal, 8, 9), 7);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 7);
  EXPECT_EQ(hsa_signal_cas_release(signal, 7, 9), 7);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 9);
  hsa_signal_silent_store_relaxed(signal, 4);
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 4);
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSignal, TheValuePointerIsWhereKernelsWrite) {
  hsa_signal_t signal{};
  ASSERT_EQ(hsa_amd_signal_create(3, 0, nullptr, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signal), HSA_STATUS_SUCCESS);
  volatile hsa_signal_value_t* value = nullptr;
  ASSERT_EQ(hsa_amd_signal_value_pointer(signal, &value), HSA_STATUS_SUCCESS);
  EXPECT_EQ(*value, 3);
  *value = 12;
  EXPECT_EQ(hsa_signal_load_relaxed(signal), 12);
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSignal, DestroyedAndForeignSignalsAreRefused) {
  const hsa_signal_t signal = make_signal(0);
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_ERROR_INVALID_SIGNAL);
  EXPECT_EQ(hsa_signal_destroy({0}), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(HsaSignal, WaitsEndWhenTheConditionHolds) {
  const hsa_signal_t signal = make_signal(100);
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) hsa_signal_subtract_relaxed(signal, 1);
  });
  for (const auto hint : {HSA_WAIT_STATE_BLOCKED, HSA_WAIT_STATE_ACTIVE}) {
    EXPECT_LT(hsa_signal_wait_relaxed(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, hint), 1);
  }
  other.join();
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSignal, WaitsEndWithTheirTimeout) {
  const hsa_signal_t signal = make_signal(1);
  EXPECT_EQ(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, 1000, HSA_WAIT_STATE_BLOCKED), 1);
  EXPECT_EQ(hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_GTE, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 1);
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSignal, WaitAnyFindsTheOneThatChanged) {
  hsa_signal_t signals[3] = {make_signal(1), make_signal(1), make_signal(1)};
  hsa_signal_condition_t conditions[3] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_GTE, HSA_SIGNAL_CONDITION_NE};
  hsa_signal_value_t values[3] = {0, 5, 1};
  std::thread other([&] { hsa_signal_store_screlease(signals[1], 6); });
  hsa_signal_value_t seen = 0;
  EXPECT_EQ(hsa_amd_signal_wait_any(3, signals, conditions, values, UINT64_MAX, HSA_WAIT_STATE_BLOCKED, &seen), 1U);
  EXPECT_EQ(seen, 6);
  other.join();
  hsa_signal_store_relaxed(signals[1], 0);
  EXPECT_EQ(hsa_amd_signal_wait_any(3, signals, conditions, values, 1000, HSA_WAIT_STATE_BLOCKED, &seen), UINT32_MAX);

  hsa_signal_group_t group{};
  ASSERT_EQ(hsa_signal_group_create(3, signals, 0, nullptr, &group), HSA_STATUS_SUCCESS);
  hsa_signal_store_relaxed(signals[2], 8);
  hsa_signal_t found{};
  ASSERT_EQ(hsa_signal_group_wait_any_relaxed(group, conditions, values, HSA_WAIT_STATE_BLOCKED, &found, &seen),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(found.handle, signals[2].handle);
  EXPECT_EQ(seen, 8);
  EXPECT_EQ(hsa_signal_group_destroy(group), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_signal_group_destroy(group), HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP);
  for (const hsa_signal_t signal : signals) EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSignal, AHandlerIsCalledAgainAsLongAsItSaysSo) {
  const hsa_signal_t signal = make_signal(0), done = make_signal(1);
  struct State {
    hsa_signal_t signal, done;
    std::atomic<int> calls;
  } state{signal, done, 0};
  ASSERT_EQ(hsa_amd_signal_async_handler(
                signal, HSA_SIGNAL_CONDITION_NE, 0,
                [](hsa_signal_value_t value, void* data) {
                  auto* shared = static_cast<State*>(data);
                  EXPECT_NE(value, 0);
                  const bool again = ++shared->calls < 3;
                  hsa_signal_store_relaxed(again ? shared->signal : shared->done, 0);
                  return again;
                },
                &state),
            HSA_STATUS_SUCCESS);
  for (int i = 1; i <= 3; ++i) {
    hsa_signal_store_relaxed(signal, 1);
    if (i < 3) await_zero(signal);
  }
  await_zero(done);
  EXPECT_EQ(state.calls, 3);
  EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSignal, AnAsyncFunctionIsCalledOnce) {
  const hsa_signal_t done = make_signal(1);
  hsa_signal_t handle = done;
  ASSERT_EQ(hsa_amd_async_function(
                [](void* data) { hsa_signal_subtract_relaxed(*static_cast<hsa_signal_t*>(data), 1); }, &handle),
            HSA_STATUS_SUCCESS);
  await_zero(done);
  EXPECT_EQ(hsa_signal_destroy(done), HSA_STATUS_SUCCESS);
}

// hsa_ext_amd.h 1.7: what is no signal counts as satisfied, with the value 0.
TEST_F(HsaSignal, AllOfSeveralAreAwaited) {
  hsa_signal_t signals[] = {make_signal(3), {0}, make_signal(5)};
  hsa_signal_condition_t conditions[] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_LT};
  hsa_signal_value_t values[] = {3, 77, 5}, found[] = {9, 9, 9};
  const auto wait = [&](uint64_t timeout) {
    return hsa_amd_signal_wait_all(3, signals, conditions, values, timeout, HSA_WAIT_STATE_BLOCKED, found);
  };
  EXPECT_EQ(wait(1'000'000), UINT32_MAX);
  std::thread other([&] { hsa_signal_store_screlease(signals[2], 4); });
  EXPECT_EQ(wait(30'000'000'000), 0U);
  other.join();
  EXPECT_EQ(found[0], 3);
  EXPECT_EQ(found[1], 0);
  EXPECT_EQ(found[2], 4);
  EXPECT_EQ(hsa_amd_signal_wait_all(1, signals + 1, conditions, values, 0, HSA_WAIT_STATE_ACTIVE, nullptr), 0U);
  for (const hsa_signal_t signal : {signals[0], signals[2]}) EXPECT_EQ(hsa_signal_destroy(signal), HSA_STATUS_SUCCESS);
}

TEST_F(HsaSignal, WaitingForAnyPassesOverWhatIsNoSignal) {
  hsa_signal_t signals[] = {{0}, {64}, make_signal(1)};
  hsa_signal_condition_t conditions[] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ};
  hsa_signal_value_t values[] = {0, 0, 1}, found = 0;
  EXPECT_EQ(hsa_amd_signal_wait_any(3, signals, conditions, values, 0, HSA_WAIT_STATE_ACTIVE, &found), 2U);
  EXPECT_EQ(found, 1);
  EXPECT_EQ(hsa_amd_signal_wait_any(2, signals, conditions, values, 0, HSA_WAIT_STATE_ACTIVE, &found), UINT32_MAX);
  EXPECT_EQ(hsa_amd_signal_wait_any(3, nullptr, conditions, values, 0, HSA_WAIT_STATE_ACTIVE, &found), UINT32_MAX);
  EXPECT_EQ(hsa_amd_signal_wait_any(3, signals, nullptr, nullptr, 0, HSA_WAIT_STATE_ACTIVE, &found), UINT32_MAX);
  EXPECT_EQ(hsa_signal_destroy(signals[2]), HSA_STATUS_SUCCESS);
}

// Any number may come as a handle: one that looks like a signal's, in memory that is there or not.
TEST_F(HsaSignal, WildHandlesAreNoSignals) {
  alignas(64) uint64_t words[32]{};
  const hsa_signal_t real = make_signal(0);
  for (const uint64_t handle :
       {uint64_t{64}, reinterpret_cast<uint64_t>(words), uint64_t{0xdead'beef'0000}, uint64_t{1} << 63,
        real.handle + 64, real.handle + 8, real.handle + (uint64_t{1} << 29)}) {
    EXPECT_EQ(hsa_signal_destroy({handle}), HSA_STATUS_ERROR_INVALID_SIGNAL) << handle;
    volatile hsa_signal_value_t* pointer = nullptr;
    EXPECT_EQ(hsa_amd_signal_value_pointer({handle}, &pointer), HSA_STATUS_ERROR_INVALID_SIGNAL);
  }
  EXPECT_EQ(hsa_signal_destroy(real), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_signal_destroy(real), HSA_STATUS_ERROR_INVALID_SIGNAL);
}

// A handler that waits for the end of the runtime keeps another, whose signal is satisfied, waiting. That one must not
// be called any more: its program may have freed what it is about.
TEST_F(HsaSignal, HandlersAreDroppedByShuttingDown) {
  static std::atomic<bool> waiting, both_added, second_called;
  static std::atomic<hsa_status_t> shut_down;
  waiting = both_added = second_called = false;
  shut_down = HSA_STATUS_ERROR;
  const auto await_both = [](void*) {
    waiting = true;
    while (!both_added) std::this_thread::yield();
  };
  const auto end = [](hsa_signal_value_t, void*) {
    shut_down = hsa_shut_down();
    return false;
  };
  const auto report = [](hsa_signal_value_t, void*) {
    second_called = true;
    return false;
  };
  // Both are added before the runtime's thread looks, so that it calls them one after the other.
  ASSERT_EQ(hsa_amd_async_function(await_both, nullptr), HSA_STATUS_SUCCESS);
  while (!waiting) std::this_thread::yield();
  const hsa_signal_t first = make_signal(0), second = make_signal(0);
  ASSERT_EQ(hsa_amd_signal_async_handler(first, HSA_SIGNAL_CONDITION_EQ, 0, end, nullptr), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_amd_signal_async_handler(second, HSA_SIGNAL_CONDITION_EQ, 0, report, nullptr), HSA_STATUS_SUCCESS);
  both_added = true;
  while (shut_down == HSA_STATUS_ERROR) std::this_thread::yield();
  EXPECT_EQ(shut_down, HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_init(), HSA_STATUS_SUCCESS);  // waits for the end
  EXPECT_FALSE(second_called);
}

}  // namespace

// What the environment asks for, right and wrong, and what is printed at the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hsa/hsa.h>

#include <array>
#include <cstdlib>
#include <string>

#include "hsa/interface/rocm_7_2.h"
#include "hsa/runtime.h"
#include "support/command.h"

using namespace Atoll::test;

namespace {

/// Starts the runtime in a process of its own, which ends with the status's low bits.
void start() {
  const hsa_status_t status = hsa_init();
  std::_Exit(status == HSA_STATUS_SUCCESS ? 0 : 1);
}

/// Starts the runtime with HSA_CU_MASK, and ends well if a queue has these compute units, and cannot get others.
void expect_compute_units(const char* variable, std::array<uint32_t, 4> expected, bool reduces) {
  setenv("ATOLL_GPU", "mi250x", 1);
  setenv("HSA_CU_MASK", variable, 1);
  hsa_agent_t gpu{};
  const auto find = [](hsa_agent_t agent, void* found) {
    hsa_device_type_t type{};
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type == HSA_DEVICE_TYPE_GPU) *static_cast<hsa_agent_t*>(found) = agent;
    return HSA_STATUS_SUCCESS;
  };
  hsa_queue_t* queue = nullptr;
  if (hsa_init() != HSA_STATUS_SUCCESS || hsa_iterate_agents(find, &gpu) != HSA_STATUS_SUCCESS ||
      hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &queue) != HSA_STATUS_SUCCESS)
    std::_Exit(2);
  std::array<uint32_t, 4> mask{};
  if (hsa_amd_queue_cu_get_mask(queue, 128, mask.data()) != HSA_STATUS_SUCCESS || mask != expected) std::_Exit(3);
  const std::array<uint32_t, 4> all{~0U, ~0U, ~0U, (1U << (110 - 96)) - 1};
  const int status = hsa_amd_queue_cu_set_mask(queue, 128, all.data());
  if (status != (reduces ? HSA_STATUS_CU_MASK_REDUCED : int{HSA_STATUS_SUCCESS})) std::_Exit(4);
  if (hsa_amd_queue_cu_get_mask(queue, 128, mask.data()) != HSA_STATUS_SUCCESS || mask != expected) std::_Exit(5);
  std::_Exit(0);
}

TEST(HsaConfiguration, UnknownGpusAreNamed) {
  EXPECT_EXIT((setenv("ATOLL_GPU", "voodoo2", 1), start()), testing::ExitedWithCode(1), "voodoo2.*atoll gpus");
}

TEST(HsaConfiguration, NumbersMustBeNumbers) {
  EXPECT_EXIT((setenv("ATOLL_TIMEOUT", "soon", 1), start()), testing::ExitedWithCode(1), "ATOLL_TIMEOUT=soon");
  EXPECT_EXIT((setenv("ATOLL_TIMEOUT", "-1", 1), start()), testing::ExitedWithCode(1), "ATOLL_TIMEOUT=-1");
  EXPECT_EXIT((setenv("ATOLL_THREADS", "2x", 1), start()), testing::ExitedWithCode(1), "ATOLL_THREADS=2x");
  EXPECT_EXIT((setenv("ATOLL_TIMEOUT", "0.5", 1), setenv("ATOLL_THREADS", "3", 1), start()), testing::ExitedWithCode(0),
              "");
}

/// Starts the runtime, and ends well if xnack is on as expected.
void expect_xnack(const char* gpu, const char* variable, bool expected) {
  setenv("ATOLL_GPU", gpu, 1);
  setenv("HSA_XNACK", variable, 1);
  bool is_on = !expected;
  const bool known = hsa_init() == HSA_STATUS_SUCCESS &&
                     hsa_system_get_info(static_cast<hsa_system_info_t>(HSA_AMD_SYSTEM_INFO_XNACK_ENABLED), &is_on) ==
                         HSA_STATUS_SUCCESS;
  std::_Exit(known && is_on == expected ? 0 : 1);
}

// ROCr's variable ("Environment variables" of ROCm's documentation): for GPUs that can have it either way.
TEST(HsaConfiguration, XnackIsOnIfItIsAskedFor) {
  EXPECT_EXIT(expect_xnack("gfx90a", "1", true), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(expect_xnack("gfx90a", "0", false), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(expect_xnack("gfx90a:xnack-", "1", false), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(expect_xnack("gfx1100", "1", false), testing::ExitedWithCode(0), "");
}

// Programs that find the runtime without `atoll run` have their settings validated, too.
TEST(HsaConfiguration, NamesOfVariablesAreChecked) {
  EXPECT_EXIT((setenv("ATOLL_TIMOUT", "1", 1), start()), testing::ExitedWithCode(1),
              "unknown environment variable ATOLL_TIMOUT; did you mean ATOLL_TIMEOUT");
  EXPECT_EXIT((setenv("HSA_XNACK", "yes", 1), start()), testing::ExitedWithCode(1), "HSA_XNACK=yes: use 0 or 1");
  EXPECT_EXIT((setenv("ATOLL_COMPILE", "1", 1), start()), testing::ExitedWithCode(1),
              "ATOLL_COMPILE=1: use wait or background");
  EXPECT_EXIT((setenv("ATOLL_CHECK_EXIT_CODE", "9", 1), start()), testing::ExitedWithCode(1),
              "ATOLL_CHECK_EXIT_CODE requires --check or ATOLL_CHECK");
}

TEST(HsaConfiguration, SeveralGpusMakeSense) {
  EXPECT_EXIT((setenv("ATOLL_GPUS", "0", 1), start()), testing::ExitedWithCode(1), "ATOLL_GPUS=0");
  EXPECT_EXIT((setenv("ATOLL_GPUS", "65", 1), start()), testing::ExitedWithCode(1), "ATOLL_GPUS=65: .* 64");
  EXPECT_EXIT((setenv("ATOLL_GPU", "mi50,mi100", 1), setenv("ATOLL_GPUS", "3", 1), start()), testing::ExitedWithCode(1),
              "ATOLL_GPU=mi50,mi100: a list of 2 GPUs, and 3");
  EXPECT_EXIT((setenv("ATOLL_MEMORY", "1X", 1), start()), testing::ExitedWithCode(1), "ATOLL_MEMORY=1X: '1X'");
  EXPECT_EXIT((setenv("ATOLL_MEMORY", "4G", 1), setenv("ATOLL_GPUS", "64", 1), start()), testing::ExitedWithCode(0),
              "");
}

// The variable's two forms (ROCm's documentation, "Setting the number of compute units").
TEST(HsaConfiguration, QueuesHaveTheComputeUnitsOfTheVariable) {
  constexpr std::array<uint32_t, 4> all{~0U, ~0U, ~0U, (1U << (110 - 96)) - 1};
  const auto ends_well = testing::ExitedWithCode(0);
  EXPECT_EXIT(expect_compute_units("0: 3-5, 40", {0x38, 0x100, 0, 0}, true), ends_well, "");
  EXPECT_EXIT(expect_compute_units("1:0;0-2:0x1F00000001", {1, 0x1F, 0, 0}, true), ends_well, "");
  EXPECT_EXIT(expect_compute_units("0:0-109", all, false), ends_well, "");
  EXPECT_EXIT(expect_compute_units("0:100-999", {0, 0, 0, 0x3FF0}, true), ends_well, "");
  EXPECT_EXIT(expect_compute_units("1:0-3", all, false), ends_well, "");
  for (const char* wrong : {"0", "0:", "0:5-3", "0:0x", "0:x", ":3"})
    EXPECT_EXIT(expect_compute_units(wrong, all, false), testing::ExitedWithCode(2), "is not a set of compute units")
        << wrong;
  for (const char* none : {"0:0x0", "0:200"})
    EXPECT_EXIT(expect_compute_units(none, all, false), testing::ExitedWithCode(2),
                "HSA_CU_MASK=.*: selects none of the 110 compute units of GPU 0")
        << none;
}

// HIP crashes, or says that there is no device.
TEST(HsaConfiguration, ALineSaysThatNoGpuIsVisible) {
  for (const char* none : {"", "7", "GPU-x"})
    EXPECT_EXIT((setenv("ROCR_VISIBLE_DEVICES", none, 1), start()), testing::ExitedWithCode(0),
                std::string("^atoll: ROCR_VISIBLE_DEVICES=") + none + " leaves the program no GPU");
  EXPECT_EXIT((setenv("HIP_VISIBLE_DEVICES", "1", 1), start()), testing::ExitedWithCode(0),
              "^atoll: HIP_VISIBLE_DEVICES=1 leaves the program no GPU");
  EXPECT_EXIT((setenv("HIP_VISIBLE_DEVICES", "1", 1), setenv("ATOLL_GPUS", "2", 1), start()),
              testing::ExitedWithCode(0), "^$");
}

TEST(HsaConfiguration, HostVectorsHaveNames) {
  EXPECT_EXIT((setenv("ATOLL_HOST_VECTORS", "mmx", 1), start()), testing::ExitedWithCode(1),
              "ATOLL_HOST_VECTORS=mmx: there are avx512, avx2 and portable");
  EXPECT_EXIT((setenv("ATOLL_HOST_VECTORS", "portable", 1), start()), testing::ExitedWithCode(0), "");
}

TEST(HsaConfiguration, StatisticsComeAtExitThoughNobodyShutsDown) {
  const auto run = [](const char* gpus, const std::string& statistics = "1") {
    setenv("ATOLL_STATS", statistics.c_str(), 1);
    setenv("ATOLL_GPU", gpus, 1);
    if (hsa_init() != HSA_STATUS_SUCCESS) std::_Exit(1);
    std::exit(0);
  };
  EXPECT_EXIT(run("vega64"), testing::ExitedWithCode(0),
              "AMD Radeon RX Vega 64 .gfx900:xnack-.\nkernel +calls +work-groups");
  EXPECT_EXIT(run("vega64,mi100"), testing::ExitedWithCode(0),
              "GPU 0, AMD Radeon RX Vega 64 .*: no kernels\natoll: GPU 1, AMD Instinct MI100 .*: no kernels\n");
  const TemporaryDirectory directory;
  const std::string file = directory / "stats.json";
  EXPECT_EXIT(run("vega64,mi100", file), testing::ExitedWithCode(0), "^$");
  EXPECT_THAT(
      run_command("python3 -c 'import json, sys; print([(g[\"number\"], g[\"target\"], g[\"kernels\"]) for g in "
                  "json.load(open(sys.argv[1]))[\"gpus\"]])' " +
                  file)
          .output,
      testing::Eq("[(0, 'gfx900:xnack-', []), (1, 'gfx908:sramecc+:xnack-', [])]\n"));
  EXPECT_EXIT(run("vega64", directory / "nowhere/stats.json"), testing::ExitedWithCode(0),
              "atoll: the statistics cannot be written to .*nowhere/stats.json: No such file or directory");
}

}  // namespace

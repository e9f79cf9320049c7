// What the environment asks for, right and wrong, and what is printed at the end.
#include <gtest/gtest.h>
#include <hsa/hsa.h>

#include <cstdlib>

#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

/// Starts the runtime in a process of its own, which ends with the status's low bits.
void start() {
  const hsa_status_t status = hsa_init();
  std::_Exit(status == HSA_STATUS_SUCCESS ? 0 : 1);
}

TEST(HsaConfiguration, UnknownGpusAreNamed) {
  EXPECT_EXIT((setenv("ATOLL_GPU", "voodoo2", 1), start()), testing::ExitedWithCode(1), "voodoo2.*mi250x");
}

TEST(HsaConfiguration, NumbersMustBeNumbers) {
  EXPECT_EXIT((setenv("ATOLL_TIMEOUT", "soon", 1), start()), testing::ExitedWithCode(1), "ATOLL_TIMEOUT=soon");
  EXPECT_EXIT((setenv("ATOLL_TIMEOUT", "-1", 1), start()), testing::ExitedWithCode(1), "ATOLL_TIMEOUT=-1");
  EXPECT_EXIT((setenv("ATOLL_THREADS", "2x", 1), start()), testing::ExitedWithCode(1), "ATOLL_THREADS=2x");
  EXPECT_EXIT((setenv("ATOLL_TIMEOUT", "0.5", 1), setenv("ATOLL_THREADS", "3", 1), start()), testing::ExitedWithCode(0),
              "");
}

TEST(HsaConfiguration, HostVectorsHaveNames) {
  EXPECT_EXIT((setenv("ATOLL_HOST_VECTORS", "mmx", 1), start()), testing::ExitedWithCode(1),
              "ATOLL_HOST_VECTORS=mmx: there are avx512, avx2 and portable");
  EXPECT_EXIT((setenv("ATOLL_HOST_VECTORS", "portable", 1), start()), testing::ExitedWithCode(0), "");
}

TEST(HsaConfiguration, StatisticsComeAtExitThoughNobodyShutsDown) {
  const auto run = [] {
    setenv("ATOLL_STATS", "1", 1);
    setenv("ATOLL_GPU", "vega64", 1);
    if (hsa_init() != HSA_STATUS_SUCCESS) std::_Exit(1);
    std::exit(0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "AMD Radeon RX Vega 64 .gfx900:xnack-.\nkernel +calls +work-groups");
}

}  // namespace

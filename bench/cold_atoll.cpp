// Launches the benchmark's kernels on a gfx90a by Atoll: cold_comparison runs this as a whole program.
//
//     cold_atoll KERNELS.co LAUNCHES kernel-by-kernel|in-turns [RESULTS-DIRECTORY]
//
// $ATOLL_ENGINE is the engine's name.
#include <cstdlib>
#include <memory>

#include "atoll_kernel.h"
#include "launch_cases.h"

using namespace Atoll;
using namespace Atoll::bench;

int main(int argc, char** argv) {
  const LaunchOrders orders = LaunchOrders::parse(argc, argv);
  const char* const engine = std::getenv("ATOLL_ENGINE");
  const Gpu gpu = value_of(Gpu::create("gfx90a", {.engine = engine != nullptr ? engine : ""}));
  const Code code = value_of(gpu.load_file(argv[1]));
  launch_cases(orders, [&](const KernelCase& work) { return std::make_unique<AtollKernel>(gpu, code, work); });
}

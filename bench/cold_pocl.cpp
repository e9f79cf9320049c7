// Launches the benchmark's kernels on this host by pocl: cold_comparison runs this as a whole program.
//
//     cold_pocl KERNELS.cl LAUNCHES kernel-by-kernel|in-turns [RESULTS-DIRECTORY]
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "launch_cases.h"
#include "pocl.h"

using namespace Atoll::bench;

int main(int argc, char** argv) {
  const LaunchOrders orders = LaunchOrders::parse(argc, argv);
  std::ifstream file(argv[1]);
  const std::string source{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (source.empty()) die(fmt::format("cannot read {}", argv[1]));
  const Pocl pocl(source);
  launch_cases(orders, [&](const KernelCase& work) { return std::make_unique<PoclKernel>(pocl, work); });
}

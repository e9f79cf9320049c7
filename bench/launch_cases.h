// A program that launches each of the benchmark's kernels some times, as cold_atoll.cpp and cold_pocl.cpp do.
#pragma once

#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_case.h"
#include "measure.h"

namespace Atoll::bench {

/// What such a program is told on its command line, after what its kernels are in.
struct LaunchOrders {
  int launches = 0;       ///< of each kernel
  bool in_turns = false;  ///< a launch of each kernel after the other; or all of one, then all of the next
  std::string results;    ///< a directory that gets a file with each kernel's results; empty: none

  static LaunchOrders parse(int argc, char** argv) {
    const std::string_view order = argc > 3 ? argv[3] : "";
    if ((argc != 4 && argc != 5) || (order != "kernel-by-kernel" && order != "in-turns")) {
      die("usage: KERNELS LAUNCHES kernel-by-kernel|in-turns [RESULTS-DIRECTORY]");
    }
    return {.launches = std::atoi(argv[2]), .in_turns = order == "in-turns", .results = argc == 5 ? argv[4] : ""};
  }
};

/// `make` yields the kernel of a case with its arguments in place.
template <typename Make>
void launch_cases(const LaunchOrders& orders, const Make& make) {
  const std::vector<KernelCase> cases = kernel_cases();
  const auto keep = [&](const KernelCase& work, const auto& kernel) {
    if (orders.results.empty()) return;
    const std::vector<std::byte> result = kernel.result();
    std::ofstream(orders.results + "/" + work.kernel, std::ios::binary)
        .write(reinterpret_cast<const char*>(result.data()), static_cast<std::streamsize>(result.size()));
  };
  if (!orders.in_turns) {
    for (const KernelCase& work : cases) {
      const auto kernel = make(work);
      for (int i = 0; i < orders.launches; ++i) kernel->launch();
      keep(work, *kernel);
    }
    return;
  }
  std::vector<decltype(make(cases.front()))> kernels;
  for (const KernelCase& work : cases) kernels.push_back(make(work));
  for (int i = 0; i < orders.launches; ++i) {
    for (const auto& kernel : kernels) kernel->launch();
  }
  for (size_t i = 0; i < cases.size(); ++i) keep(cases[i], *kernels[i]);
}

}  // namespace Atoll::bench

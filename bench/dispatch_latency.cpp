// How long an empty kernel takes through a queue: write the packet, ring the doorbell, wait for the completion signal.
// Run under `atoll run`. Prints a Markdown table.
//
//     dispatch_latency KERNELS.co
#include <hsa/hsa.h>

#include <vector>

#include "hsa_program.h"
#include "measure.h"

using namespace Atoll::bench;

int main(int argc, char** argv) {
  check(hsa_init(), "hsa_init");
  if (argc == 2) {
    const HsaProgram program(argv[1]);
    const HsaProgram::Kernel kernel = program.kernel("empty");
    hsa_signal_t done{};
    check(hsa_signal_create(0, 0, nullptr, &done), "hsa_signal_create");
    const auto dispatch = [&] { program.dispatch(kernel, {64, 1}, {64, 1}, nullptr, done); };

    constexpr int rounds = 2000;
    const auto waited_for = [&] {
      hsa_signal_store_relaxed(done, 1);
      dispatch();
      wait(done);
    };
    const auto in_a_row = [&] {
      hsa_signal_store_relaxed(done, rounds);
      for (int i = 0; i < rounds; ++i) dispatch();
      wait(done);
    };
    const Contestant contestants[] = {{.run = waited_for, .rounds = rounds}, {.run = in_a_row, .rounds = 1}};
    const std::vector<double> seconds = median_seconds(contestants);
    fmt::print("| an empty dispatch | time |\n| --- | ---: |\n");
    fmt::print("| each waited for, median of {} | {:.1f} us |\n", rounds, seconds[0] * 1e6);
    fmt::print("| {} in a row, for each | {:.1f} us |\n\n", rounds, seconds[1] * 1e6 / rounds);
    print_goal("an empty dispatch, waited for", seconds[0] * 1e6, "at most", 5, " us");
    check(hsa_signal_destroy(done), "hsa_signal_destroy");
  }
  // Without an argument: a program that does nothing but start and stop the runtime.
  check(hsa_shut_down(), "hsa_shut_down");
  return 0;
}

// The n-body kernel run by Atoll as gfx90a, against the same thing written by hand for this host's vector unit, on as
// many threads, which are awake when it begins. Prints a Markdown table; ends with 1 when the results differ.
//
//     nbody_comparison DIRECTORY_OF_CODE [THREADS]
#include <thread>

#include "atoll_kernel.h"
#include "measure.h"
#include "native_kernel.h"
#include "nbody_native.h"
#include "whole_host.h"

using namespace Atoll;
using namespace Atoll::bench;

namespace {

constexpr uint32_t bodies = 8192;
constexpr int rounds = 31;

void run_native(const NativeArguments& arguments, size_t begin, size_t end) {
  native_nbody(static_cast<const float*>(arguments[0]), static_cast<float*>(arguments[1]), bodies,
               begin * native_nbody_step, end * native_nbody_step);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) die("usage: nbody_comparison DIRECTORY_OF_CODE [THREADS]");
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : std::thread::hardware_concurrency();
  wait_for_compiled_code();
  const KernelCase work = nbody_case(bodies);
  fmt::print("| n-body, {}, on {} threads | time | of the native loop's |\n| --- | ---: | ---: |\n", work.size,
             threads);
  const Gpu gpu = value_of(Gpu::create("gfx90a", {.threads = threads, .engine = "compiled"}));
  const Code code = value_of(gpu.load_file(fmt::format("{}/gfx90a.co", argv[1])));
  const AtollKernel kernel(gpu, code, work);
  kernel.launch();
  const NativeLoop loop{.kernel = "nbody", .items_of_a_piece = native_nbody_step, .run = run_native};
  NativeKernel native(gpu, code, work, loop, threads);
  native.gather();
  native.launch();
  if (!agree(work, kernel.result(), native.result())) {
    fmt::print(stderr, "nbody_comparison: the results differ\n");
    return 1;
  }
  WholeHost host(threads);
  Turns turns({{.run = [&] { native.launch(); }, .rounds = rounds, .prepare = [&] { native.gather(); }},
               {.run = [&] { kernel.launch(); }, .rounds = rounds}});
  turns.take_part(0, 1, [&] { host.wait(); });
  const std::vector<double> seconds = turns.medians();
  const double ratio = seconds[1] / seconds[0];
  fmt::print("| native loop ({}) | {:.2f} ms | |\n", native_vector_unit(), seconds[0] * 1e3);
  fmt::print("| Atoll, gfx90a | {:.2f} ms | {:.2f} |\n", seconds[1] * 1e3, ratio);
  host.print_late_rounds();
  fmt::print("\n");
  print_goal("n-body, of the native loop's time", ratio, "at most", 2);
  return 0;
}

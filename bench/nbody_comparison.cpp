// The n-body kernel run by Atoll as gfx90a, against the same thing written by hand for this host's vector unit, on as
// many threads. Prints a Markdown table; ends with 1 when the results differ.
//
//     nbody_comparison DIRECTORY_OF_CODE [THREADS]
#include <cstring>
#include <thread>
#include <vector>

#include "atoll_kernel.h"
#include "measure.h"
#include "nbody_native.h"

using namespace Atoll;
using namespace Atoll::bench;

namespace {

constexpr uint32_t bodies = 8192;

/// The bodies in equal parts, a part for each thread.
std::vector<float> run_native(const std::vector<float>& places, unsigned threads) {
  std::vector<float> accelerations(places.size());
  const size_t part = bodies / threads / native_nbody_step * native_nbody_step;
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads; ++i) {
    others.emplace_back([&, i] {
      native_nbody(places.data(), accelerations.data(), bodies, i * part, i + 1 == threads ? bodies : (i + 1) * part);
    });
  }
  native_nbody(places.data(), accelerations.data(), bodies, 0, threads == 1 ? bodies : part);
  others.clear();
  return accelerations;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) die("usage: nbody_comparison DIRECTORY_OF_CODE [THREADS]");
  const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : std::thread::hardware_concurrency();
  wait_for_compiled_code();
  const KernelCase work = nbody_case(bodies);
  std::vector<float> places(bodies * 4);
  std::memcpy(places.data(), work.arguments[0].bytes.data(), work.arguments[0].bytes.size());

  fmt::print("| n-body, {}, on {} threads | time | of the native loop's |\n| --- | ---: | ---: |\n", work.size,
             threads);
  const auto native = run_native(places, threads);
  std::vector<std::byte> want(native.size() * sizeof(float));
  std::memcpy(want.data(), native.data(), want.size());
  const Gpu gpu = value_of(Gpu::create("gfx90a", {.threads = threads, .engine = "compiled"}));
  const Code code = value_of(gpu.load_file(fmt::format("{}/gfx90a.co", argv[1])));
  const AtollKernel kernel(gpu, code, work);
  kernel.launch();
  if (!agree(work, kernel.result(), want)) {
    fmt::print(stderr, "nbody_comparison: the results differ\n");
    return 1;
  }
  const Contestant contestants[] = {{.run = [&] { run_native(places, threads); }}, {.run = [&] { kernel.launch(); }}};
  const std::vector<double> seconds = median_seconds(contestants);
  const double ratio = seconds[1] / seconds[0];
  fmt::print("| native loop ({}) | {:.2f} ms | |\n", native_vector_unit(), seconds[0] * 1e3);
  fmt::print("| Atoll, gfx90a | {:.2f} ms | {:.2f} |\n\n", seconds[1] * 1e3, ratio);
  print_goal("n-body, of the native loop's time", ratio, "at most", 2);
  return 0;
}

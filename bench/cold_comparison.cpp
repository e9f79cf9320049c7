// Whole programs, cold: each of the benchmark's kernels launched some times, by Atoll with nothing in its cache and by
// pocl with nothing in its own, from the program's start to its end. Prints a section of docs/performance.md; ends with
// 1 when results differ.
//
//     cold_comparison DIRECTORY_OF_PROGRAMS KERNELS.cl KERNELS.co [MOST-ROUNDS]
//
// Both read their kernels from a file, pocl the source and Atoll the GPU's code, which is what programs of either kind
// come with. The programs take turns. Processor time is that of all threads, and of Atoll's compiler as far as it got
// before the program ended: it can be compared even while the host is busy.
#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernel_case.h"
#include "measure.h"
#include "whole_host.h"
#include "whole_program.h"

using namespace Atoll::bench;
namespace fs = std::filesystem;

namespace {

/// A way to run the kernels.
struct Way {
  const char* name;
  bool has_cache;      ///< from runs before
  const char* engine;  ///< of Atoll's; null: it is pocl
  bool is_pocl() const { return engine == nullptr; }
};
constexpr std::array ways = {
    Way{"pocl, nothing in its cache", false, nullptr}, Way{"Atoll, nothing in its cache", false, "compiled"},
    Way{"Atoll, the interpreter", false, "interpreter"}, Way{"pocl, kernels in its cache", true, nullptr},
    Way{"Atoll, kernels in its cache", true, "compiled"}};

/// What the programs do.
struct Task {
  const char* title;
  int launches;  ///< of each kernel
  const char* order;
  int rounds;
  const char* goal;  ///< null: none
};
constexpr std::array tasks = {
    Task{"Five launches of each kernel, then of the next", 5, "kernel-by-kernel", 11,
         "a cold program of five launches of each kernel, of pocl's time"},
    Task{"Five rounds of a launch of each kernel", 5, "in-turns", 7,
         "a cold program of five rounds of a launch of each kernel, of pocl's time"},
    Task{"Forty launches of each kernel, then of the next", 40, "kernel-by-kernel", 3, nullptr}};

class Comparison {
 public:
  Comparison(fs::path programs, std::string source, std::string code)
      : programs_(std::move(programs)), source_(std::move(source)), code_(std::move(code)) {}

  /// Fills the caches, and compares the results of the first two ways.
  bool prepare() {
    const RunDirectory ours, theirs;
    setenv("ATOLL_COMPILE", "wait", 1);
    for (const Way& way : ways) {
      if (way.has_cache) (void)run(way, tasks[0], (way.is_pocl() ? theirs : ours).path());
    }
    unsetenv("ATOLL_COMPILE");
    bool all_agree = true;
    for (const KernelCase& work : kernel_cases()) {
      if (agree(work, read(ours.path() / work.kernel), read(theirs.path() / work.kernel))) continue;
      fmt::print(stderr, "cold_comparison: Atoll and pocl differ on {}\n", work.kernel);
      all_agree = false;
    }
    return all_agree;
  }

  Taken run(const Way& way, const Task& task, const fs::path& results = {}) const {
    const char* const variable = way.is_pocl() ? "POCL_CACHE_DIR" : "ATOLL_CACHE";
    const RunDirectory empty;
    setenv(variable, (way.has_cache ? cache_ : empty).path().c_str(), 1);
    setenv("ATOLL_ENGINE", way.is_pocl() ? "" : way.engine, 1);
    std::vector<std::string> command{programs_ / (way.is_pocl() ? "cold_pocl" : "cold_atoll"),
                                     way.is_pocl() ? source_ : code_, std::to_string(task.launches), task.order};
    if (!results.empty()) command.push_back(results);
    return run_program(command);
  }

 private:
  static std::vector<std::byte> read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
    return {data, data + bytes.size()};
  }

  fs::path programs_;
  std::string source_, code_;
  const RunDirectory cache_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) die("usage: cold_comparison DIRECTORY_OF_PROGRAMS KERNELS.cl KERNELS.co [MOST-ROUNDS]");
  const int max_rounds = argc == 5 ? std::max(1, std::atoi(argv[4])) : INT_MAX;
  adopt_what_is_left();
  Comparison comparison(argv[1], argv[2], argv[3]);
  const bool all_agree = comparison.prepare();
  fmt::print(
      "Programs that launch each of the kernels above some times and wait for each launch, from their start to their "
      "end: seconds by\nthe clock, and processor seconds of all threads, those of Atoll's compiler as far as it got "
      "before "
      "the program's end. Medians\nof rounds in which the programs take turns; results compared. Atoll is a gfx90a on "
      "all "
      "of the host's threads.\n");
  WholeHost host(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::pair<const char*, double>> goals;
  for (const Task& task : tasks) {
    struct Figures {
      std::vector<double> wall, processor;
    };
    std::array<Figures, ways.size()> figures;
    const int rounds = std::min(max_rounds, task.rounds);
    for (int round = 0; round < rounds; ++round) {
      host.wait();
      for (size_t turn = 0; turn < ways.size(); ++turn) {
        const size_t way = (turn + static_cast<size_t>(round)) % ways.size();
        const Taken taken = comparison.run(ways[way], task);
        figures[way].wall.push_back(taken.wall);
        figures[way].processor.push_back(taken.processor);
      }
    }
    fmt::print(
        "\n{}; {} rounds:\n\n| program | seconds | of cold pocl's | processor seconds | of cold pocl's |\n"
        "| --- | ---: | ---: | ---: | ---: |\n",
        task.title, rounds);
    const double pocl_wall = median(figures[0].wall), pocl_processor = median(figures[0].processor);
    for (size_t way = 0; way < ways.size(); ++way) {
      const double wall = median(figures[way].wall), processor = median(figures[way].processor);
      fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", ways[way].name, wall, wall / pocl_wall, processor,
                 processor / pocl_processor);
    }
    std::fflush(stdout);
    if (task.goal != nullptr) goals.emplace_back(task.goal, median(figures[1].wall) / pocl_wall);
  }
  host.print_late_rounds();
  fmt::print("\n");
  for (const auto& [what, ratio] : goals) print_goal(what, ratio, "at most", 0.5);
  return all_agree ? 0 : 1;
}

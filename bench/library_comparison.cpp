// Whole programs, cold: routines of Debian's rocSPARSE and rocPRIM on gfx90a, each a program of its own, by the
// compiled engine with nothing in its cache and by the interpreter. Prints a section of docs/performance.md.
//
//     library_comparison ATOLL PROGRAMS [ROUTINE]
//
// A program takes a third of a second, and one run differs from the next by more than there may be to lose. So they
// take turns, and the interpreter has two turns in each round: the compiled engine is compared with both, and how far
// the first and the second are apart shows what of a ratio may be chance. Of few rounds some routine of many is always
// slower by chance, so routines that seem to be are measured anew, with more rounds, and what they take then counts.
// These say within which bounds the median of ever more rounds would be, whatever the times are distributed like: a
// routine is slower when the lower one is above 1. Processor time differs less, and shows what a busy host would
// notice; the compiler's counts, as far as it got while the program ran.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <vector>

#include "measure.h"
#include "whole_program.h"

using namespace Atoll::bench;
namespace fs = std::filesystem;

namespace {

constexpr int rounds = 5, rounds_anew = 21;
/// Above this a ratio is doubted.
constexpr double seems_slower = 1.005;
/// How probable it is at most that a median is below its lower bound, or above the upper one.
constexpr double beyond_bound = 0.005;

/// Elements, or rows of a matrix with some ten entries each. What solves a system takes its rows one after the other.
int size_of(std::string_view library, std::string_view routine) {
  const auto is_one_of = [&](auto... names) { return ((routine == names) || ...); };
  if (library == "rocprim" || is_one_of("axpyi", "doti", "gthr", "sctr", "roti")) return 4'000'000;
  return is_one_of("csrsv", "csric0", "csrilu0") ? 10'000 : 40'000;
}

std::vector<std::string> routines_of(const std::string& program) {
  std::vector<std::string> routines;
  std::FILE* list = popen((program + " --list").c_str(), "r");
  if (list == nullptr) die("cannot run " + program);
  for (char line[256]; std::fgets(line, sizeof line, list) != nullptr;) {
    routines.emplace_back(line, std::string_view(line).find('\n'));
  }
  if (pclose(list) != 0 || routines.empty()) die(program + " does not say what it has");
  return routines;
}

enum Engine : uint8_t { interpreter, compiled, interpreter_again, engines };

using Turns = std::array<std::vector<double>, engines>;  ///< seconds, for each round

/// How much longer one takes than another, or others in the mean, in each round: they had the host in about the same
/// state. In order.
std::vector<double> ratios_of(const Turns& turns, Engine engine, std::initializer_list<Engine> others) {
  std::vector<double> ratios;
  for (size_t round = 0; round < turns[engine].size(); ++round) {
    double sum = 0;
    for (const Engine other : others) sum += turns[other][round];
    ratios.push_back(turns[engine][round] * static_cast<double>(others.size()) / sum);
  }
  std::ranges::sort(ratios);
  return ratios;
}

/// Which of so many values in order bounds their distribution's median from below, from 0 on: each of them is below the
/// median with a probability of one half. 0, too, when they are too few for a bound.
size_t lower_bound_of_median(size_t values) {
  double probability = std::pow(0.5, values), sum = 0;  // of exactly `below` below it; of fewer
  size_t below = 0;
  for (; sum + probability <= beyond_bound; ++below) {
    sum += probability;
    probability *= static_cast<double>(values - below) / static_cast<double>(below + 1);
  }
  return below == 0 ? 0 : below - 1;
}

struct Row {
  std::array<double, engines> wall{}, processor{};  ///< medians
  double ratio = 0, least_ratio = 0, max_ratio = 0, chance = 0, processor_ratio = 0;
};

Row compare(const std::string& atoll, const std::string& program, const std::string& routine, int size, int turns) {
  Turns wall, processor;
  for (int round = 0; round < turns; ++round) {
    for (unsigned turn = 0; turn < engines; ++turn) {
      const unsigned engine = (turn + static_cast<unsigned>(round)) % engines;
      const RunDirectory cache;
      setenv("ATOLL_CACHE", cache.path().c_str(), 1);
      const Taken taken =
          run_program({atoll, "run", "--gpu", "gfx90a", "--engine", engine == compiled ? "compiled" : "interpreter",
                       "--", program, routine, std::to_string(size)});
      wall[engine].push_back(taken.wall);
      processor[engine].push_back(taken.processor);
    }
  }
  Row row;
  for (unsigned engine = 0; engine < engines; ++engine) {
    row.wall[engine] = median(wall[engine]);
    row.processor[engine] = median(processor[engine]);
  }
  const auto ratios = ratios_of(wall, compiled, {interpreter, interpreter_again});
  const size_t bound = lower_bound_of_median(ratios.size());
  row.ratio = median(ratios);
  row.least_ratio = ratios[bound];
  row.max_ratio = ratios[ratios.size() - 1 - bound];
  row.chance = median(ratios_of(wall, interpreter_again, {interpreter}));
  row.processor_ratio = median(ratios_of(processor, compiled, {interpreter, interpreter_again}));
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) die("which atoll, and where are the programs?");
  const std::string_view wanted = argc == 4 ? argv[3] : "";
  unsetenv("ATOLL_COMPILE");
  adopt_what_is_left();

  fmt::print(
      "| library | routine | size | interpreter, s | compiled, cold, s | ratio | bounds | interpreter again, ratio | "
      "processor time, interpreter, s | compiled, cold, s | ratio |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  std::vector<double> ratios, chances, processor_ratios;
  int anew = 0, slower = 0;
  for (const std::string library : {"rocsparse", "rocprim"}) {
    const std::string program = fs::path(argv[2]) / library;
    for (const std::string& routine : routines_of(program)) {
      if (!wanted.empty() && wanted != routine) continue;
      const int size = size_of(library, routine);
      Row row = compare(argv[1], program, routine, size, rounds);
      std::string bounds;
      if (row.ratio > seems_slower) {
        row = compare(argv[1], program, routine, size, rounds_anew);
        bounds = fmt::format("{:.3f} to {:.3f}", row.least_ratio, row.max_ratio);
        ++anew;
        if (row.least_ratio > 1) ++slower;
      }
      ratios.push_back(row.ratio);
      chances.push_back(row.chance);
      processor_ratios.push_back(row.processor_ratio);
      fmt::print("| {} | {} | {} | {:.2f} | {:.2f} | {:.3f} | {} | {:.3f} | {:.2f} | {:.2f} | {:.3f} |\n", library,
                 routine, size, row.wall[interpreter], row.wall[compiled], row.ratio, bounds, row.chance,
                 row.processor[interpreter], row.processor[compiled], row.processor_ratio);
      std::fflush(stdout);
    }
  }
  if (ratios.empty()) die("no library has this routine");
  fmt::print("| **geometric mean** | | | | | **{:.3f}** | | **{:.3f}** | | | **{:.3f}** |\n\n", geometric_mean(ratios),
             geometric_mean(chances), geometric_mean(processor_ratios));
  fmt::print(
      "Whole programs, medians of {} rounds, in which they take turns; each checks its results against the host's. The "
      "interpreter\nhas two turns, and the ratio is to both. {} routines seemed slower by more than {:.3f} then, and "
      "were measured anew in {}\nrounds, which alone are shown, with the bounds that the true median is in ({:.0f}%). "
      "The interpreter's second turns have {:.2f} to\n{:.2f} of the first ones' time: that is chance. The processor "
      "time is the program's and the compiler's, until the program ends.\n\n",
      rounds, anew, seems_slower - 1, rounds_anew, 100 * (1 - 2 * beyond_bound), std::ranges::min(chances),
      std::ranges::max(chances));
  print_goal(fmt::format("of {} routines, those that take longer compiled and cold than by the interpreter, beyond "
                         "chance (the slowest: {:.3f} of its time)",
                         ratios.size(), std::ranges::max(ratios)),
             slower, "at most", 0);
}

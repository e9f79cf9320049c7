// The same OpenCL C kernels on the same data: run by Atoll as GPUs of several generations, and by pocl on this host
// through OpenCL. Prints a Markdown table for each GPU, and one of what a second thread gives to native loops beside
// Atoll; ends with 1 when results differ.
//
//     pocl_comparison [--denormals] KERNELS.cl DIRECTORY_OF_CODE [KERNEL|all [GPU...]]
//
// With --denormals: the kernels that read floating-point numbers, beside the same with denormals in the place of 2% of
// these.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atoll_kernel.h"
#include "kernel_case.h"
#include "measure.h"
#include "native_kernel.h"
#include "pocl.h"
#include "whole_host.h"

using namespace Atoll;
using namespace Atoll::bench;

namespace {

/// Runs of each, but of the interpreter: they take milliseconds, and other users of the host disturb some of them, for
/// seconds at times: so a kernel's runs are in three parts, and between them are those of all other kernels.
constexpr int rounds = 61, interpreter_rounds = 3, parts = 3;

/// An engine with a number of threads, and the code on it.
struct Setup {
  const char* name;
  Gpu gpu;
  Code code;

  Setup(const char* title, const std::string& processor, const std::string& path, const GpuOptions& options)
      : name(title), gpu(value_of(Gpu::create(processor, options))), code(value_of(gpu.load_file(path))) {}
};

/// A kernel on everything that it is measured on.
struct Entry {
  const KernelCase& work;
  std::unique_ptr<PoclKernel> pocl;
  std::vector<std::unique_ptr<AtollKernel>> kernels = {};
  std::vector<std::unique_ptr<NativeKernel>> natives = {};
  std::optional<Turns> turns = {};
};

class Comparison {
 public:
  Comparison(WholeHost& host, const Pocl& pocl, std::string processor, const std::string& path)
      : host_(host),
        pocl_(pocl),
        processor_(std::move(processor)),
        compiled_("the compiled engine", processor_, path, {.threads = pocl.threads(), .engine = "compiled"}),
        one_thread_("one thread", processor_, path, {.threads = 1, .engine = "compiled"}),
        interpreter_("the interpreter", processor_, path, {.threads = pocl.threads(), .engine = "interpreter"}) {}

  void print_table(const std::vector<KernelCase>& cases) {
    fmt::print("\n### {}\n\n", processor_);
    fmt::print(
        "| kernel | size | pocl, ms | Atoll, ms | of pocl's time | one thread, ms | speed-up | interpreter, ms "
        "| compiled is faster |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    std::vector<Entry> entries;
    for (const KernelCase& work : cases) entries.push_back(prepare(work));
    for (int part = 0; part < parts; ++part) {
      for (Entry& entry : entries) entry.turns->take_part(part, parts, [&] { host_.wait(); });
    }
    for (const Entry& entry : entries) print_row(entry);
    fmt::print("| **geometric mean** | | | | **{:.2f}** | | **{:.2f}** | | **{:.1f} times** |\n\n",
               geometric_mean(ratios_), geometric_mean(speed_ups_), geometric_mean(gains_));
    if (!native_rows_.empty()) {
      fmt::print(
          "What this host's threads give to native loops in the same rounds, all awake before they begin, each with an "
          "equal part (`bench/native_loops.cpp`):\n\n"
          "| native loop | one thread, ms | {} threads, ms | speed-up | Atoll's speed-up |\n"
          "| --- | ---: | ---: | ---: | ---: |\n{}\n",
          pocl_.threads(), native_rows_);
    }
    print_goal(fmt::format("{}'s geometric mean of pocl's time", processor_), geometric_mean(ratios_), "at most",
               processor_.starts_with("gfx9") || processor_ == "gfx803" ? 0.5 : 0.45);
    print_goal(fmt::format("{}'s slowest kernel, of pocl's time", processor_), std::ranges::max(ratios_), "at most",
               1.5);
    print_goal(fmt::format("{}: speed on {} threads over one, geometric mean", processor_, pocl_.threads()),
               geometric_mean(speed_ups_), "at least", 0.9 * pocl_.threads());
  }

  bool all_agree() const { return all_agree_; }

 private:
  /// The kernel, run once on everything and its results compared.
  Entry prepare(const KernelCase& work) {
    Entry entry{.work = work, .pocl = std::make_unique<PoclKernel>(pocl_, work)};
    const PoclKernel& pocl = *entry.pocl;
    pocl.launch();
    const std::vector<std::byte> want = pocl.result();
    const auto check = [&](std::string_view name, const std::vector<std::byte>& got) {
      if (agree(work, got, want)) return;
      fmt::print(stderr, "pocl_comparison: {}: {} and pocl differ on {}\n", processor_, name, work.kernel);
      all_agree_ = false;
    };
    std::vector<Contestant> contestants{{.run = [&pocl] { pocl.launch(); }, .rounds = rounds}};
    for (const Setup* setup : {&compiled_, &one_thread_, &interpreter_}) {
      const AtollKernel& kernel =
          *entry.kernels.emplace_back(std::make_unique<AtollKernel>(setup->gpu, setup->code, work));
      kernel.launch();
      check(setup->name, kernel.result());
      contestants.push_back(
          {.run = [&kernel] { kernel.launch(); }, .rounds = setup == &interpreter_ ? interpreter_rounds : rounds});
    }
    for (const unsigned threads : {pocl_.threads(), 1u}) {
      const NativeLoop* const loop = native_loop(work.kernel);
      if (loop == nullptr) break;
      NativeKernel& native = *entry.natives.emplace_back(
          std::make_unique<NativeKernel>(one_thread_.gpu, one_thread_.code, work, *loop, threads));
      native.gather();
      native.launch();
      check("a native loop", native.result());
      contestants.push_back(
          {.run = [&native] { native.launch(); }, .rounds = rounds, .prepare = [&native] { native.gather(); }});
    }
    entry.turns.emplace(std::move(contestants));
    return entry;
  }

  void print_row(const Entry& entry) {
    const KernelCase& work = entry.work;
    const std::vector<double> seconds = entry.turns->medians();
    const double host = seconds[0], compiled = seconds[1], one_thread = seconds[2], interpreter = seconds[3];
    ratios_.push_back(compiled / host);
    speed_ups_.push_back(one_thread / compiled);
    gains_.push_back(interpreter / compiled);
    fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.1f} | {:.1f} times |\n", work.kernel,
               work.size, host * 1e3, compiled * 1e3, ratios_.back(), one_thread * 1e3, speed_ups_.back(),
               interpreter * 1e3, gains_.back());
    if (entry.natives.empty()) return;
    native_rows_ += fmt::format("| {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", work.kernel, seconds[5] * 1e3,
                                seconds[4] * 1e3, seconds[5] / seconds[4], speed_ups_.back());
  }

  WholeHost& host_;
  const Pocl& pocl_;
  std::string processor_;
  Setup compiled_, one_thread_, interpreter_;
  std::vector<double> ratios_, speed_ups_, gains_;
  std::string native_rows_;
  bool all_agree_ = true;
};

/// The times of a kernel with and without denormals, by pocl and by Atoll on as many threads.
class DenormalComparison {
 public:
  DenormalComparison(WholeHost& host, const Pocl& pocl, const std::string& processor, const std::string& path)
      : host_(host),
        pocl_(pocl),
        processor_(processor),
        setup_("the compiled engine", processor, path, {.threads = pocl.threads(), .engine = "compiled"}) {}

  /// A row of the table. `work` without denormals.
  void compare(const KernelCase& work) {
    const std::optional<KernelCase> denormal = with_denormals(work);
    if (!denormal) return;
    const PoclKernel pocl[] = {{pocl_, work}, {pocl_, *denormal}};
    const AtollKernel atoll[] = {{setup_.gpu, setup_.code, work}, {setup_.gpu, setup_.code, *denormal}};
    std::vector<Contestant> contestants;
    for (size_t i = 0; i < std::size(pocl); ++i) {
      pocl[i].launch();
      atoll[i].launch();
      if (!agree(work, atoll[i].result(), pocl[i].result())) {
        fmt::print(stderr, "pocl_comparison: {}: Atoll and pocl differ on {} {} denormals\n", processor_, work.kernel,
                   i == 0 ? "without" : "with");
        all_agree_ = false;
      }
      contestants.push_back({.run = [&kernel = pocl[i]] { kernel.launch(); }, .rounds = rounds});
      contestants.push_back({.run = [&kernel = atoll[i]] { kernel.launch(); }, .rounds = rounds});
    }
    Turns turns(std::move(contestants));
    turns.take_part(0, 1, [&] {
      if (!counts_processor_time()) host_.wait();
    });
    const std::vector<double> seconds = turns.medians();
    fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", processor_, work.kernel,
               seconds[0] * 1e3, seconds[2] * 1e3, seconds[2] / seconds[0], seconds[1] * 1e3, seconds[3] * 1e3,
               seconds[3] / seconds[1]);
  }

  bool all_agree() const { return all_agree_; }

 private:
  WholeHost& host_;
  const Pocl& pocl_;
  std::string processor_;
  Setup setup_;
  bool all_agree_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  const bool denormals = argc > 1 && argv[1] == std::string_view("--denormals");
  argc -= denormals;
  argv += denormals;
  if (argc < 3) die("usage: pocl_comparison [--denormals] KERNELS.cl DIRECTORY_OF_CODE [KERNEL|all [GPU...]]");
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // each row as soon as it is measured
  wait_for_compiled_code();
  std::ifstream file(argv[1]);
  const std::string source{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (source.empty()) die(fmt::format("cannot read {}", argv[1]));
  const Pocl pocl(source);
  std::vector<KernelCase> cases = kernel_cases();
  if (argc > 3 && argv[3] != std::string_view("all")) {
    std::erase_if(cases, [&](const KernelCase& work) { return work.kernel != argv[3]; });
  }
  if (cases.empty()) die(fmt::format("there is no kernel {}", argv[3]));

  bool all_agree = true;
  WholeHost host(pocl.threads());
  std::vector<std::string> processors(argv + std::min(argc, 4), argv + argc);
  if (denormals) {
    fmt::print(
        "pocl {} and Atoll on {} host threads; medians of {} runs, which take turns; results compared.\n\n"
        "| GPU | kernel | pocl, ms | 2% denormals, ms | of the time without | Atoll, ms | 2% denormals, ms "
        "| of the time without |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        pocl.version(), pocl.threads(), rounds);
    if (processors.empty()) processors = {"gfx90a", "gfx1100"};
  } else {
    fmt::print(
        "pocl {} and Atoll on {} host threads, and Atoll on one; medians of {} runs, which take turns, of {} with the "
        "interpreter; results compared.\n",
        pocl.version(), pocl.threads(), rounds, interpreter_rounds);
    if (processors.empty()) {
      processors = {"gfx90a", "gfx900", "gfx803", "gfx1030", "gfx1100", "gfx1201", "gfx1250"};
    }
  }
  for (const std::string& processor : processors) {
    const std::string path = fmt::format("{}/{}.co", argv[2], processor);
    if (denormals) {
      DenormalComparison comparison(host, pocl, processor, path);
      for (const KernelCase& work : cases) comparison.compare(work);
      all_agree = all_agree && comparison.all_agree();
      continue;
    }
    Comparison comparison(host, pocl, processor, path);
    comparison.print_table(cases);
    all_agree = all_agree && comparison.all_agree();
  }
  host.print_late_rounds();
  return all_agree ? 0 : 1;
}

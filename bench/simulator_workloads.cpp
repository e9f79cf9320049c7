// The workloads by which another simulator of AMD's GPUs measures itself (simulator_workloads.cl), run by Atoll on one
// host thread. Prints a Markdown table of the medians, beside what that one publishes; ends with 1 when a result is
// wrong.
//
//     simulator_workloads CODE_OBJECT...
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "atoll/atoll.h"
#include "measure.h"

using namespace Atoll;
using namespace Atoll::bench;

namespace {

constexpr uint32_t groups = 512, lanes = 32;
constexpr LaunchShape shape{.grid = {groups * lanes, 1, 1}, .block = {lanes, 1, 1}};
constexpr int rounds = 11, interpreted_rounds = 3;

/// Something to run on a GPU again and again.
class Workload {
 public:
  Workload(const Gpu& gpu, const std::string& file) : gpu_(gpu), code_(value_of(gpu.load_file(file))) {}
  virtual ~Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  virtual void prepare() {}
  virtual void run() = 0;
  virtual bool is_right() const = 0;  ///< what the last run left

 protected:
  const Gpu gpu_;
  const Code code_;
};

/// All elements of A's matrix i are i + 1, all of B's 2: each round adds 16 (i + 1) 2 to every sum, exactly.
class MatrixChains final : public Workload {
 public:
  static constexpr uint32_t chains = 4, registers = 8, depth = 16, count = 128;
  MatrixChains(const Gpu& gpu, const std::string& file)
      : Workload(gpu, file),
        a_(value_of(gpu.allocate<_Float16>(size_t{chains} * lanes * depth))),
        b_(value_of(gpu.allocate<_Float16>(size_t{chains} * lanes * depth))),
        c_(value_of(gpu.allocate<float>(size_t{groups} * chains * lanes * registers))) {
    // GFX12's lanes have half as many elements each.
    const size_t in_lane = gpu.target_id().starts_with("gfx12") ? depth / 2 : depth;
    for (size_t i = 0; i < chains * lanes * in_lane; ++i) {
      const size_t chain = i / (lanes * in_lane);
      a_.span()[i] = static_cast<_Float16>(static_cast<float>(chain + 1));
      b_.span()[i] = static_cast<_Float16>(2);
    }
  }
  void run() override { value_of(gpu_.launch(code_, "matrix_chains", shape, a_, b_, c_, count)); }
  bool is_right() const override {
    for (size_t i = 0; i < c_.count(); ++i) {
      const size_t chain = i / (size_t{lanes} * registers) % chains;
      if (c_.span()[i] != static_cast<float>(count * depth * 2 * (chain + 1))) return false;
    }
    return true;
  }

 private:
  TypedBuffer<_Float16> a_, b_;
  TypedBuffer<float> c_;
};

class VolatileMemory final : public Workload {
 public:
  static constexpr uint32_t count = 256;
  VolatileMemory(const Gpu& gpu, const std::string& file)
      : Workload(gpu, file),
        a_(value_of(gpu.allocate<uint32_t>(size_t{groups} * lanes))),
        b_(value_of(gpu.allocate<uint32_t>(size_t{groups} * lanes))) {}
  void prepare() override {
    for (uint32_t i = 0; i < a_.count(); ++i) a_.span()[i] = i;
  }
  void run() override { value_of(gpu_.launch(code_, "volatile_memory", shape, a_, b_, count)); }
  bool is_right() const override {
    for (uint32_t i = 0; i < a_.count(); ++i) {
      uint32_t a = i, b = 0;
      for (uint32_t round = 0; round < count; ++round) {
        b = a * 1664525 + 1013904223;
        b ^= b >> 13;
        a = b * 5 + b + round;
      }
      if (a_.span()[i] != a || b_.span()[i] != b) return false;
    }
    return true;
  }

 private:
  TypedBuffer<uint32_t> a_, b_;
};

/// What the other simulator publishes, seconds on one thread of a Threadripper 9995WX.
struct Published {
  const char* processor;
  double matrix_chains, volatile_memory;
};
constexpr std::array published{Published{"gfx1100", 13.0, 1.38}, Published{"gfx1201", 3.7, 1.38}};

template <typename Kind>
bool measure(const std::string& name, const std::string& file, const std::string& target, double seconds_published,
             double goal) {
  const auto gpu = [&](const char* engine) { return value_of(Gpu::create(target, {.threads = 1, .engine = engine})); };
  Kind compiled(gpu("compiled"), file), interpreted(gpu("interpreter"), file);
  const std::string processor = target.substr(0, target.find(':'));
  bool right = true;
  for (Workload* const each : {static_cast<Workload*>(&compiled), static_cast<Workload*>(&interpreted)}) {
    each->prepare();
    each->run();
    right = right && each->is_right();
  }
  if (!right) fmt::print(stderr, "simulator_workloads: {} of {}: wrong result\n", name, processor);
  const std::vector<double> seconds = median_seconds(std::vector<Contestant>{
      {.run = [&] { compiled.run(); }, .rounds = rounds, .prepare = [&] { compiled.prepare(); }},
      {.run = [&] { interpreted.run(); }, .rounds = interpreted_rounds, .prepare = [&] { interpreted.prepare(); }}});
  fmt::print("| {} | {} | {:.2f} | {:.3f} | {:.0f} | {:.3f} |\n", name, processor, seconds_published, seconds[0],
             seconds_published / seconds[0], seconds[1]);
  print_goal(fmt::format("{} of {}, as fast as published by another simulator", name, processor),
             seconds_published / seconds[0], "at least", goal, " times");
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> files(argv + 1, argv + argc);
  if (files.empty()) die("usage: simulator_workloads CODE_OBJECT...");
  wait_for_compiled_code();
  fmt::print(
      "Atoll on one thread; medians of {} runs, of {} with the interpreter; results checked.\n\n"
      "| workload | GPU | published, s | Atoll, s | times as fast | interpreter, s |\n"
      "| --- | --- | ---: | ---: | ---: | ---: |\n",
      rounds, interpreted_rounds);
  bool right = true;
  for (const std::string& file : files) {
    const std::string target = value_of(Gpu::create_for_file(file)).target_id();
    for (const Published& each : published) {
      if (target.substr(0, target.find(':')) != each.processor) continue;
      constexpr double matrix_goal = 100, memory_goal = 20;
      right = measure<MatrixChains>("matrix chains", file, target, each.matrix_chains, matrix_goal) && right;
      right = measure<VolatileMemory>("volatile memory", file, target, each.volatile_memory, memory_goal) && right;
    }
  }
  return right ? 0 : 1;
}

// Executes all shaders of shader_cases.h, and Mesa3D's kernels, on every generation from GFX6 to GFX12 in both engines,
// and compares with the host: `shader_sweep [--note FILE] [GPU...]`. Prints a line for each GPU and engine, and one for
// each difference. FILE gets a line for each ABI and GPU: ABI GPU CASES.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "shader_cases.h"
#include "support/command.h"

namespace Atoll::test {
namespace {

struct Counts {
  unsigned executed = 0, wrong = 0;
};

/// Runs everything on one GPU.
Expected<Counts> run_all(const ShaderTarget& target, const char* engine, const std::string& directory) {
  const auto gpu = Gpu::create(target.gpu, {.timeout_seconds = 60, .engine = engine});
  if (!gpu) return std::unexpected(gpu.error());
  Counts counts;
  const auto count = [&](std::string_view name, const std::string& difference) {
    ++counts.executed;
    if (difference.empty()) return;
    ++counts.wrong;
    fmt::print("{} {} {}: {}\n", target.gpu, engine, name, difference);
  };
  for (const ShaderCase& shader : shader_cases())
    if (runs_on(shader, target)) count(shader.name, run_case(shader, target, *gpu, directory));
  count("mesa3d", run_mesa_kernels(target, *gpu, directory));
  return counts;
}

int sweep(std::vector<std::string_view> wanted) {
  std::string note_file, notes;
  if (wanted.size() >= 2 && wanted[0] == "--note") {
    note_file = wanted[1];
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  }
  const TemporaryDirectory directory;
  unsigned differences = 0;
  for (const ShaderTarget& target : shader_targets()) {
    if (!wanted.empty() && std::ranges::find(wanted, target.gpu) == wanted.end()) continue;
    unsigned executed = 0, wrong = 0;
    for (const char* engine : {"interpreter", "compiled"}) {
      const auto counts = run_all(target, engine, directory.path().string());
      if (!counts) {
        fmt::print("{}: {}\n", target.gpu, counts.error().message);
        return 1;
      }
      fmt::print("{} {}: {} cases, {} wrong\n", target.gpu, engine, counts->executed, counts->wrong);
      std::fflush(stdout);
      executed = counts->executed;
      wrong += counts->wrong;
    }
    differences += wrong;
    if (wrong == 0) notes += fmt::format("amdpal {0} {1}\nmesa3d {0} 3\n", target.gpu, executed - 1);
  }
  if (!note_file.empty()) write_file(note_file, notes);
  return differences == 0 ? 0 : 1;
}

}  // namespace
}  // namespace Atoll::test

int main(int argc, char** argv) { return Atoll::test::sweep({argv + 1, argv + argc}); }

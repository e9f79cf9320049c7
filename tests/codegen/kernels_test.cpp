// The kernels of tests/kernels, compiled by `atoll cc` and executed, against the host's results.
//
// Kernels that use what the code generator lacks are named in refused.txt, each with its reason: one that is refused
// and not named there is a failure, and so is one that is named and compiles everywhere.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "engine/engines.h"
#include "kernels/kernel.h"
#include "kernels/references.h"
#include "machine/gpu.h"
#include "machine/guest_vector.h"
#include "observe/checkers.h"
#include "support/command.h"
#include "target/product.h"

namespace Atoll::test {
namespace {

struct Source {
  std::string_view file, options;
  std::span<const Kernel> (*kernels)();
  unsigned items, group_size;
};

constexpr std::string_view as_c = "-x c --std c2x", as_opencl = "-x cl --std CL2.0";
constexpr unsigned items_alone = work_group_size * 3 - 5;
const Source sources[] = {
    {"integers.h", as_c, integer_kernels, items_alone, work_group_size},
    {"floats.h", as_c, float_kernels, items_alone, work_group_size},
    {"control_flow.h", as_c, control_flow_kernels, items_alone, work_group_size},
    {"memory.h", as_c, memory_kernels, items_alone, work_group_size},
    {"algorithms.h", as_c, algorithm_kernels, items_alone, work_group_size},
    {"classes.h", "-x c++ --std c++20 --clang-option=-fno-rtti --clang-option=-fno-exceptions", class_kernels,
     items_alone, work_group_size},
    {"groups.cl", as_opencl, group_kernels, 128 * 3, 128},
    {"atomics.cl", as_opencl, atomic_kernels, 128 * 3, 128},
};

constexpr const char* processors[] = {"gfx600",  "gfx700",  "gfx803",  "gfx900",  "gfx90a", "gfx942",
                                      "gfx1010", "gfx1030", "gfx1100", "gfx1201", "gfx1250"};

/// The kernels that may be refused: "KERNEL PROCESSOR... # reason", or no processor for all.
std::map<std::string, std::set<std::string>> known_refusals() {
  std::map<std::string, std::set<std::string>> known;
  std::ifstream file(ATOLL_SOURCES "/tests/codegen/refused.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string kernel, processor;
    if (!(words >> kernel)) continue;
    auto& on = known[kernel];
    while (words >> processor) on.insert(processor);
  }
  return known;
}

GuestVector<unsigned> input() {
  GuestVector<unsigned> words(in_words);
  unsigned state = 54321;
  for (unsigned& word : words) {
    state = state * 1664525 + 1013904223;
    word = state ^ state >> 15;
  }
  words[3] = 0;
  words[10] = 0xFFFFFFFF;
  words[11] = 0x80000000;
  return words;
}

class GeneratedKernels : public testing::TestWithParam<std::tuple<size_t, size_t>> {};

TEST_P(GeneratedKernels, GiveWhatTheHostGives) {
  const auto [processor_number, source_number] = GetParam();
  const std::string processor_name = processors[processor_number];
  const Source& source = sources[source_number];
  const target::Processor& processor = *target::find_processor(processor_name);
  const bool optimizes = (processor_number + source_number) % 2 == 0;
  const TemporaryDirectory directory;
  const CommandResult compiled = run_command(
      fmt::format(ATOLL " cc " KERNELS "/{} --gpu {} {} -O{} --keep-going --nogpulib --clang-option=-ffp-contract=off "
                        "--clang-option=-fvisibility=default --clang-option=-w --clang-option=-Xclang "
                        "--clang-option=-fdenormal-fp-math-f32=ieee -o {} 2>&1",
                  source.file, processor_name, source.options, optimizes ? 3 : 0, directory / "code"));
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  const auto model = target::find_gpu(processor_name);
  ASSERT_TRUE(model) << model.error().message;
  const auto engine = engine::find_engine("interpreter");
  ASSERT_TRUE(engine) << engine.error().message;
  const auto gpu = machine::Gpu::create(*model, *engine, {.threads = 2});
  ASSERT_TRUE(gpu) << gpu.error().message;
  const std::vector<uint8_t> bytes = read_bytes(directory / "code");
  const auto code = (*gpu)->load(bytes, {}, "kernels");
  ASSERT_TRUE(code) << code.error().message;

  const auto known = known_refusals();
  const GuestVector<unsigned> in = input();
  unsigned executed = 0;
  for (const Kernel& kernel : source.kernels()) {
    const machine::LoadedSymbol* symbol = (*code)->find(std::string(kernel.name) + ".kd");
    const auto refusal = known.find(kernel.name);
    const bool may_be_refused =
        refusal != known.end() && (refusal->second.empty() || refusal->second.contains(processor_name));
    if (symbol == nullptr) {
      EXPECT_TRUE(may_be_refused) << kernel.name << " is refused\n" << compiled.output;
      continue;
    }
    GuestVector<unsigned> expected(8192), got(8192);
    const unsigned wave_size = processor.has_wave_size(32) ? 32 : 64;
    kernel.expect({in.data(), expected.data(), source.items, wave_size, &processor});
    GuestVector<const void*> arguments(64);
    arguments[0] = in.data();
    arguments[1] = got.data();
    // Hidden arguments of code object version 5 that code until GFX8 has of them (user guide, "Kernel Argument
    // Metadata").
    constexpr size_t hidden = 16, private_base = hidden + 192, shared_base = hidden + 196;
    auto* bytes_of_arguments = reinterpret_cast<uint8_t*>(arguments.data());
    std::memcpy(bytes_of_arguments + private_base, &machine::private_aperture_hi, 4);
    std::memcpy(bytes_of_arguments + shared_base, &machine::shared_aperture_hi, 4);
    machine::aql::KernelDispatchPacket packet{};
    packet.setup = 1;
    packet.workgroup_size_x = static_cast<uint16_t>(source.group_size);
    packet.workgroup_size_y = packet.workgroup_size_z = 1;
    packet.grid_size_x = source.items;
    packet.grid_size_y = packet.grid_size_z = 1;
    packet.kernel_object = symbol->address;
    packet.private_segment_size = 16384;
    packet.group_segment_size = 16384;
    packet.kernarg_address = reinterpret_cast<uint64_t>(arguments.data());
    const auto result = (*gpu)->run(packet);
    ASSERT_TRUE(result) << kernel.name << ": " << result.error().message;
    ++executed;
    for (unsigned i = 0; i < expected.size(); ++i) {
      if (expected[i] == got[i]) continue;
      ADD_FAILURE() << fmt::format("{}: word {} of item {} is {:#x}, on the host {:#x}", kernel.name,
                                   i % out_words_per_item, i / out_words_per_item, got[i], expected[i]);
      break;
    }
  }
  EXPECT_GE(executed, 1u);
}

std::string name_of(const testing::TestParamInfo<GeneratedKernels::ParamType>& info) {
  const auto [processor, source] = info.param;
  const std::string_view file = sources[source].file;
  return fmt::format("{}_{}", processors[processor], file.substr(0, file.find('.')));
}

INSTANTIATE_TEST_SUITE_P(Of, GeneratedKernels,
                         testing::Combine(testing::Range<size_t>(0, std::size(processors)),
                                          testing::Range<size_t>(0, std::size(sources))),
                         name_of);

}  // namespace
}  // namespace Atoll::test

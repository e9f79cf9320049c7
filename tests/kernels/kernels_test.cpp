// The kernels of this directory on every processor that executes, compiled by clang, against the host's results, in
// both engines.
//
// A file is compiled in several ways for a processor: without and with optimization, for each size of its waves, by
// clang 22 and by clang 15 where that knows processor and builtins. With ATOLL_KERNELS=all each way is tried in each
// engine. Otherwise it is one way, another from file to file and from processor to processor, in the interpreter; and
// one more in the compiled engine for every third file, so that each pair of processor, file and engine meets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "assembler/assembler.h"
#include "engine/engines.h"
#include "kernels/kernel.h"
#include "kernels/references.h"
#include "machine/gpu.h"
#include "machine/guest_vector.h"
#include "object/link.h"
#include "observe/checkers.h"
#include "support/command.h"
#include "support/llvm_processors.h"
#include "target/product.h"

namespace Atoll::test {
namespace {

/// A file of kernels.
struct Source {
  std::string_view file, options;
  std::span<const Kernel> (*kernels)();
  unsigned items, group_size;
  bool clang15 = true;
};

constexpr std::string_view as_c = "-x c -std=c2x", as_opencl = "-x cl -cl-std=CL2.0";
/// Number of work-items, such that the last work-group is partial.
constexpr unsigned items_alone = work_group_size * 3 - 5;
const Source sources[] = {
    {"integers.h", as_c, integer_kernels, items_alone, work_group_size},
    {"floats.h", as_c, float_kernels, items_alone, work_group_size},
    {"control_flow.h", as_c, control_flow_kernels, items_alone, work_group_size},
    {"memory.h", as_c, memory_kernels, items_alone, work_group_size},
    {"algorithms.h", as_c, algorithm_kernels, items_alone, work_group_size},
    {"classes.h", "-x c++ -std=c++20 -fno-rtti -fno-exceptions", class_kernels, items_alone, work_group_size},
    {"recent.h", as_c, recent_kernels, items_alone, work_group_size, false},
    {"brains.c", as_c, brain_kernels, items_alone, work_group_size, false},
    {"groups.cl", as_opencl, group_kernels, 128 * 3, 128},
    {"atomics.cl", as_opencl, atomic_kernels, 128 * 3, 128},
    {"waves.c", as_c, wave_kernels, 64 * 3, 64, false},
};
/// Of GFX11 and GFX12.
const Source wave_matrices = {"wave_matrices.c", as_c, gfx11_matrix_kernels, 64 * 3, 64, false};

/// For GFX12.5 alone, which has the registers and the matrices.
const Source deep_matrices = {"deep_matrices.c", as_c, deep_matrix_kernels, 64 * 3, 64, false};
const Source registers = {"registers.h", as_c, register_kernels, items_alone, work_group_size, false};

/// A way to compile a file.
struct Way {
  std::string_view compiler, level;
  unsigned wave_size;
  bool real_true16 = false;  ///< halves of registers by name where clang 22 does not have them by default

  std::string name() const {
    return fmt::format("{} {} in waves of {}{}", compiler, level, wave_size, real_true16 ? ", real-true16" : "");
  }
};

std::vector<Way> ways_of(const target::Processor& processor, const Source& source) {
  const bool known_to_clang15 = processor.generation <= target::Generation::gfx10_3 &&
                                processor.generation != target::Generation::gfx940 &&
                                processor.generation != target::Generation::gfx950;
  const bool chooses_halves = !halves_feature(processor.name).empty();
  std::vector<Way> ways;
  for (const std::string_view compiler : {"clang-22", "clang-15"}) {
    if (compiler == "clang-15" && !(known_to_clang15 && source.clang15)) continue;
    for (const std::string_view level : {"-O0", "-O3"}) {
      for (const unsigned wave_size : {32u, 64u}) {
        if (!processor.has_wave_size(wave_size)) continue;
        ways.push_back({compiler, level, wave_size});
        if (chooses_halves) ways.push_back({compiler, level, wave_size, true});
      }
    }
  }
  return ways;
}

/// Compiler options for the processor, and the kernels that exist with them.
struct Choice {
  std::string options;
  std::vector<Kernel> kernels;
};

Choice choose(const target::Processor& processor, const Source& source, const Way& way) {
  Choice choice;
  choice.options = fmt::format("{} {} -mcpu={}", source.options, way.level, llvm_processor(processor.name));
  if (processor.has_wave_size(32))
    choice.options += way.wave_size == 32 ? " -mno-wavefrontsize64" : " -mwavefrontsize64";
  if (way.wave_size == 64) choice.options += " -DWIDE_WAVES";
  if (way.real_true16) choice.options += " -Xclang -target-feature -Xclang +real-true16";
  // Until GFX8 apertures are hidden arguments in version 5, for which clang 22 without optimization looks at address 0.
  // And clang has denormals flushed for some of them, which the host does not do.
  if (processor.generation < target::Generation::gfx9) {
    choice.options += " -mcode-object-version=4 -Xclang -fdenormal-fp-math-f32=ieee";
  }
  const auto add = [&](std::span<const Kernel> kernels) {
    choice.kernels.insert(choice.kernels.end(), kernels.begin(), kernels.end());
  };
  const target::Generation generation = processor.generation;
  if (&source == &wave_matrices) {
    const bool gfx12 = generation == target::Generation::gfx12;
    if (gfx12) choice.options += " -DGFX12";
    add(gfx12 ? gfx12_matrix_kernels() : gfx11_matrix_kernels());
    return choice;
  }
  add(source.kernels());
  // GFX7 has no arithmetic of halves, and LLVM leaves out roundings between the instructions that take its place.
  if (generation < target::Generation::gfx8) {
    std::erase_if(choice.kernels, [](const Kernel& kernel) { return std::string_view(kernel.name) == "halves"; });
  }
  if (source.file != "waves.c") return choice;
  if (generation >= target::Generation::gfx10) {
    choice.options += " -DPERMLANES";
    add(permlane_kernels());
  }
  if (generation >= target::Generation::gfx11 && way.wave_size == 64) {
    choice.options += " -DPERMLANE64";
    add(permlane64_kernels());
  }
  // GFX11.7 lacks an instruction that clang takes for them on the processor in its place.
  if (processor.has(target::Feature::dot7_insts) && !is_gfx11_7(processor.name)) {
    choice.options += " -DDOTS";
    if (processor.has(target::Feature::dot1_insts)) choice.options += " -DSIGNED_DOTS";
    if (generation < target::Generation::gfx12_5) choice.options += " -DHALF_DOTS";
    add(dot_kernels());
  }
  return choice;
}

machine::aql::KernelDispatchPacket packet_of(const machine::LoadedSymbol& kernel, const Source& source,
                                             const GuestVector<const void*>& arguments) {
  machine::aql::KernelDispatchPacket packet{};
  packet.setup = 1;
  packet.workgroup_size_x = static_cast<uint16_t>(source.group_size);
  packet.workgroup_size_y = packet.workgroup_size_z = 1;
  packet.grid_size_x = source.items;
  packet.grid_size_y = packet.grid_size_z = 1;
  packet.private_segment_size = 16384;
  packet.group_segment_size = 16384;
  packet.kernel_object = kernel.address;
  packet.kernarg_address = reinterpret_cast<uint64_t>(arguments.data());
  return packet;
}

GuestVector<unsigned> input() {
  GuestVector<unsigned> words(in_words);
  unsigned state = 12345;
  for (unsigned& word : words) {
    state = state * 1664525 + 1013904223;
    word = state ^ state >> 15;
  }
  words[3] = 0;
  words[10] = 0xFFFFFFFF;
  words[11] = 0x80000000;
  return words;
}

/// Adds the instructions that were interpreted.
void run(machine::Gpu& gpu, const machine::LoadedCode& code, const char* name, const Source& source,
         const GuestVector<unsigned>& in, GuestVector<unsigned>& out, uint64_t& interpreted) {
  const machine::LoadedSymbol* kernel = code.find(std::string(name) + ".kd");
  ASSERT_NE(kernel, nullptr) << "no kernel " << name;
  GuestVector<const void*> arguments(64);  // the others are hidden arguments, which no kernel requests
  arguments[0] = in.data();
  arguments[1] = out.data();
  const auto packet = packet_of(*kernel, source, arguments);
  const auto result = gpu.run(packet);
  ASSERT_TRUE(result) << name << ": " << result.error().message;
  interpreted += result->interpreted_instructions;
}

/// The code object that clang makes. For a processor that clang 22 does not know: Atoll's assembler of what clang makes
/// for the one in its place, as text, in which names of instructions are what it is about and opcodes may change.
std::vector<uint8_t> compile(const std::string& processor, const Source& source, const Way& way,
                             const std::string& options) {
  const TemporaryDirectory directory;
  const std::string clang_processor(llvm_processor(processor)), file = directory / "kernels";
  const bool is_known = processor == clang_processor;
  const auto compiled = run_command(fmt::format(
      "{} -target amdgcn-amd-amdhsa -nogpulib -fvisibility=default -ffp-contract=off -w {} {}{}/{} -o {} 2>&1",
      way.compiler, options, is_known ? "" : "-S ", KERNELS, source.file, file));
  EXPECT_EQ(compiled.exit_code, 0) << compiled.output;
  const std::vector<uint8_t> made = read_bytes(file);
  if (is_known || made.empty()) return made;
  std::string text(made.begin(), made.end());
  for (size_t at = 0; (at = text.find(clang_processor, at)) != std::string::npos; at += processor.size()) {
    text.replace(at, clang_processor.size(), processor);
  }
  // Fields of descriptors that GFX11.7 has not, and halves of dual instructions that it calls otherwise, as GFX12 does.
  if (is_gfx11_7(processor)) {
    text = std::regex_replace(text, std::regex(R"(v_dual_(max|min)_f32)"), "v_dual_$1_num_f32");
    text = std::regex_replace(text, std::regex(R"(\n\s*\.amdhsa_(dx10_clamp|ieee_mode) \d)"), "");
  }
  assembler::Options assembling;
  assembling.target = target::parse_target_id(processor).value();
  assembling.wave32 = way.wave_size == 32;
  auto assembled = assembler::assemble("kernels.s", std::move(text), assembling);
  EXPECT_TRUE(assembled.object.has_value()) << assembled.messages;
  if (!assembled.object) return {};
  const object::LinkInput input{.name = "kernels", .object = std::move(*assembled.object)};
  auto linked = object::link({&input, 1});
  EXPECT_TRUE(linked.has_value()) << linked.error().message;
  return linked ? std::move(*linked) : std::vector<uint8_t>();
}

/// `all_compiled`: nothing may be left to the interpreter.
void try_way(const char* processor_name, const Source& source, const Way& way, std::string_view engine_name,
             bool all_compiled = false) {
  SCOPED_TRACE(fmt::format("{} {}, {}", source.file, way.name(), engine_name));
  const target::Processor& processor = *target::find_processor(processor_name);
  const Choice choice = choose(processor, source, way);
  const std::vector<uint8_t> bytes = compile(processor_name, source, way, choice.options);
  ASSERT_FALSE(bytes.empty());
  const auto model = target::find_gpu(processor_name);
  ASSERT_TRUE(model) << model.error().message;
  const auto engine = engine::find_engine(engine_name);
  ASSERT_TRUE(engine) << engine.error().message;
  const auto gpu = machine::Gpu::create(*model, *engine, {.threads = 2});
  ASSERT_TRUE(gpu) << gpu.error().message;
  const auto code = (*gpu)->load(bytes, {}, "kernels");
  ASSERT_TRUE(code) << code.error().message;

  const GuestVector<unsigned> in = input();
  uint64_t interpreted = 0;
  for (const Kernel& kernel : choice.kernels) {
    GuestVector<unsigned> expected(8192), got(8192);
    kernel.expect({in.data(), expected.data(), source.items, way.wave_size, &processor});
    run(**gpu, **code, kernel.name, source, in, got, interpreted);
    for (unsigned i = 0; i < expected.size(); ++i) {
      if (expected[i] == got[i]) continue;
      ADD_FAILURE() << fmt::format("{}: word {} of item {} is {:#x}, on the host {:#x}", kernel.name,
                                   i % out_words_per_item, i / out_words_per_item, got[i], expected[i]);
      break;
    }
  }
  if (!all_compiled) return;
  EXPECT_EQ(interpreted, 0u);
  const machine::EngineReport report = (*gpu)->engine_report();
  for (const auto& [reason, count] : report.failures) ADD_FAILURE() << "not compiled: " << reason;
  for (const auto& [name, count] : report.untranslated) ADD_FAILURE() << name << " is left to the interpreter";
}

/// Whether all is to be tried, which takes long.
bool tries_all() {
  const char* which = std::getenv("ATOLL_KERNELS");
  return which != nullptr && std::string_view(which) == "all";
}

/// `turn`: a number that differs from file to file and from processor to processor.
void try_ways(const char* processor_name, const Source& source, size_t turn) {
  setenv("ATOLL_COMPILE", "wait", 1);  // nothing that can be compiled is left to the interpreter
  const std::vector<Way> ways = ways_of(*target::find_processor(processor_name), source);
  if (tries_all()) {
    for (const Way& way : ways) {
      try_way(processor_name, source, way, "interpreter");
      try_way(processor_name, source, way, "compiled");
    }
    return;
  }
  try_way(processor_name, source, ways[turn % ways.size()], "interpreter");
  if (turn % 3 == 0) try_way(processor_name, source, ways[(turn + ways.size() / 2) % ways.size()], "compiled");
}

/// One processor or more of each generation.
constexpr const char* processors[] = {"gfx900",  "gfx906",  "gfx908",  "gfx90a",  "gfx942",  "gfx950",  "gfx1010",
                                      "gfx1012", "gfx1030", "gfx1100", "gfx1103", "gfx1150", "gfx1151", "gfx1170",
                                      "gfx1200", "gfx1201", "gfx1250", "gfx1251", "gfx803"};
constexpr const char* with_wave_matrices[] = {"gfx1100", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201"};
/// With the instructions of one of those, so that a file for each is enough; and GFX7, for which clang 22 cannot
/// compile some.
constexpr const char* other_processors[] = {"gfx902",  "gfx904",  "gfx90c",  "gfx1011", "gfx1013",
                                            "gfx1036", "gfx1154", "gfx1172", "gfx701"};

class Kernels : public testing::TestWithParam<std::tuple<size_t, size_t>> {};

TEST_P(Kernels, GiveWhatTheHostGives) {
  const auto [processor, source] = GetParam();
  try_ways(processors[processor], sources[source], processor * 7 + source);
}

std::string name_of(const testing::TestParamInfo<Kernels::ParamType>& info) {
  const auto& [processor, source] = info.param;
  const std::string_view file = sources[source].file;
  return fmt::format("{}_{}", processors[processor], file.substr(0, file.find('.')));
}

INSTANTIATE_TEST_SUITE_P(Of, Kernels,
                         testing::Combine(testing::Range<size_t>(0, std::size(processors)),
                                          testing::Range<size_t>(0, std::size(sources))),
                         name_of);

class WaveMatrixKernels : public testing::TestWithParam<size_t> {};

TEST_P(WaveMatrixKernels, GiveWhatTheHostGives) {
  try_ways(with_wave_matrices[GetParam()], wave_matrices, GetParam() * 3);
}

INSTANTIATE_TEST_SUITE_P(Of, WaveMatrixKernels, testing::Range<size_t>(0, std::size(with_wave_matrices)),
                         [](const auto& info) { return std::string(with_wave_matrices[info.param]); });

/// In each engine, with optimization: without it values are in scratch.
void try_optimized(const char* processor, const Source& source) {
  setenv("ATOLL_COMPILE", "wait", 1);
  const Way way{"clang-22", "-O3", 32};
  try_way(processor, source, way, "interpreter");
  try_way(processor, source, way, "compiled", /*all_compiled=*/true);
}
TEST(RegisterKernels, GiveWhatTheHostGives) { try_optimized("gfx1250", registers); }
TEST(DeepMatrixKernels, GiveWhatTheHostGives) {
  for (const char* processor : {"gfx1250", "gfx1251"}) try_optimized(processor, deep_matrices);
}

/// Code that names halves of registers, as clang makes by default after version 22.
TEST(HalvesOfRegisters, GiveWhatTheHostGives) {
  setenv("ATOLL_COMPILE", "wait", 1);
  std::vector<const char*> tried{"gfx1201", "gfx1250"};
  if (std::getenv("ATOLL_KERNELS") != nullptr) tried.insert(tried.end(), {"gfx1200", "gfx1251"});
  for (const char* processor : tried) {
    for (const Source& source : sources) {
      if (source.file != "floats.h" && source.file != "recent.h" && source.file != "brains.c") continue;
      const Way way{"clang-22", "-O3", 32, /*real_true16=*/true};
      try_way(processor, source, way, "interpreter");
      try_way(processor, source, way, "compiled");
    }
  }
}

/// What compilers generate waits for all that it has to wait for: whatever the checker of waits finds there is wrong.
/// Adds the instructions that were interpreted.
void run_observed(const char* processor_name, const Source& source, const Way& way, machine::Observer& observer,
                  std::string_view engine_name, uint64_t& interpreted) {
  SCOPED_TRACE(fmt::format("{} {}", source.file, way.name()));
  const Choice choice = choose(*target::find_processor(processor_name), source, way);
  const auto model = target::find_gpu(processor_name);
  ASSERT_TRUE(model) << model.error().message;
  const auto gpu = machine::Gpu::create(*model, engine::observed_engine(observer, engine_name),
                                        {.threads = 2, .observer = &observer});
  ASSERT_TRUE(gpu) << gpu.error().message;
  const auto code = (*gpu)->load(compile(processor_name, source, way, choice.options), {}, "kernels");
  ASSERT_TRUE(code) << code.error().message;
  const GuestVector<unsigned> in = input();
  for (const Kernel& kernel : choice.kernels) {
    const machine::LoadedSymbol* symbol = (*code)->find(std::string(kernel.name) + ".kd");
    ASSERT_NE(symbol, nullptr) << kernel.name;
    GuestVector<unsigned> out(8192);
    GuestVector<const void*> arguments(64);
    arguments[0] = in.data();
    arguments[1] = out.data();
    const auto ran = (*gpu)->run(packet_of(*symbol, source, arguments));
    ASSERT_TRUE(ran) << kernel.name << ": " << ran.error().message;
    interpreted += ran->interpreted_instructions;
  }
}

void run_observed(const char* processor_name, const Source& source, const Way& way, machine::Observer& observer) {
  uint64_t interpreted = 0;
  run_observed(processor_name, source, way, observer, "", interpreted);
}

// Matrix instructions do not synchronise, so that compiled code need not report them to the race checker.
TEST(DeepMatrixKernels, StayCompiledUnderTheRaceChecker) {
  setenv("ATOLL_COMPILE", "wait", 1);
  auto checkers = observe::Checkers::create({.checkers = {"race"}}, {.report = [](std::string_view) {}});
  ASSERT_TRUE(checkers) << checkers.error().message;
  uint64_t interpreted = 0;
  run_observed("gfx1250", deep_matrices, {"clang-22", "-O3", 32}, **checkers, "compiled", interpreted);
  EXPECT_EQ(interpreted, 0u);
}

class Waits : public testing::TestWithParam<std::string> {};

TEST_P(Waits, OfCompilersAreAllThere) {
  const target::Processor& processor = *target::find_processor(GetParam());
  const bool is_newest = processor.generation >= target::Generation::gfx12_5;
  std::string told;
  auto checkers =
      observe::Checkers::create({.checkers = {"wait"}}, {.report = [&](std::string_view text) { told += text; }});
  ASSERT_TRUE(checkers) << checkers.error().message;
  for (const Source& source : sources) {
    const unsigned wave_size = processor.has_wave_size(32) ? 32 : 64;
    run_observed(GetParam().c_str(), source, {"clang-22", "-O3", wave_size}, **checkers);
    if (is_newest) run_observed(GetParam().c_str(), source, {"clang-22", "-O0", wave_size}, **checkers);
  }
  if (is_newest) run_observed(GetParam().c_str(), registers, {"clang-22", "-O3", 32}, **checkers);
  EXPECT_EQ((*checkers)->findings().errors(), 0u) << told;
}

std::vector<std::string> processors_with_waits() {
  if (tries_all()) return {"gfx803", "gfx900", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"};
  return {"gfx90a", "gfx1250"};
}
INSTANTIATE_TEST_SUITE_P(Of, Waits, testing::ValuesIn(processors_with_waits()),
                         [](const auto& info) { return std::string(info.param); });

class OtherKernels : public testing::TestWithParam<size_t> {};

TEST_P(OtherKernels, GiveWhatTheHostGives) {
  const size_t files = std::size(sources);
  for (size_t i = 0; i < 2; ++i) {
    try_ways(other_processors[GetParam()], sources[(GetParam() * 2 + i) % files], GetParam() + i);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, OtherKernels, testing::Range<size_t>(0, std::size(other_processors)),
                         [](const auto& info) { return std::string(other_processors[info.param]); });

}  // namespace
}  // namespace Atoll::test

// The table of processors against LLVM's assembler: the ELF numbers that it writes and the instructions that it knows;
// of processors newer than LLVM 22, against what LLVM's main branch says.
#include "target/processor.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstring>
#include <set>
#include <sstream>

#include "support/command.h"
#include "support/llvm_processors.h"

namespace Atoll::target {
namespace {

// llvm-project's main branch: llvm/include/llvm/BinaryFormat/ELF.h and llvm/lib/TargetParser/AMDGPUTargetParser.cpp.
TEST(Processors, NewerOnesAreAsLlvmsMainBranchHasThem) {
  struct Newer {
    std::string_view name, generic;
    uint32_t elf_machine;
    IsaVersion version;
  };
  constexpr Newer all[] = {
      {"gfx1154", "gfx11-generic", 0x57, {11, 5, 4}},   {"gfx1170", "gfx11-7-generic", 0x5D, {11, 7, 0}},
      {"gfx1171", "gfx11-7-generic", 0x5E, {11, 7, 1}}, {"gfx1172", "gfx11-7-generic", 0x5C, {11, 7, 2}},
      {"gfx11-7-generic", "", 0x62, {11, 7, 0}},        {"gfx12-5-generic", "", 0x5B, {12, 5, 0}}};
  size_t unknown = 0;
  for (const Processor& processor : processors()) unknown += test::is_known_to_llvm(processor.name) ? 0 : 1;
  EXPECT_EQ(unknown, std::size(all));
  for (const Newer& newer : all) {
    SCOPED_TRACE(newer.name);
    const Processor* processor = find_processor(newer.name);
    ASSERT_NE(processor, nullptr);
    EXPECT_EQ(find_processor(newer.elf_machine), processor);
    EXPECT_EQ(processor->generic_processor, newer.generic);
    const bool has_settings = newer.name == "gfx12-5-generic";
    EXPECT_EQ(processor->supports_xnack, has_settings);
    EXPECT_EQ(processor->supports_sramecc, has_settings);
    const IsaVersion version = isa_version(*processor);
    EXPECT_EQ(version.major, newer.version.major);
    EXPECT_EQ(version.minor, newer.version.minor);
    EXPECT_EQ(version.stepping, newer.version.stepping);
    const Processor& other = *find_processor(test::llvm_processor(newer.name));
    const auto bit = [](Feature feature) { return uint64_t{1} << static_cast<unsigned>(feature); };
    const uint64_t changed = test::is_gfx11_7(newer.name) ? bit(Feature::dot5_insts) | bit(Feature::dot11_insts) |
                                                                bit(Feature::fp8_conversion_insts)
                                                          : 0;
    EXPECT_EQ(processor->features, other.features ^ changed);
  }
}

TEST(Processors, ElfNumbersAreTheAssemblers) {
  const test::TemporaryDirectory directory;
  const std::string object = directory / "empty.o";
  for (const Processor& processor : processors()) {
    if (!test::is_known_to_llvm(processor.name)) continue;
    SCOPED_TRACE(processor.name);
    const auto run = test::run_command(fmt::format(
        "llvm-mc-22 -triple amdgcn-amd-amdhsa -mcpu={} -filetype=obj -o {} /dev/null 2>&1", processor.name, object));
    ASSERT_EQ(run.exit_code, 0) << run.output;
    const auto bytes = test::read_bytes(object);
    ASSERT_GE(bytes.size(), 52u);
    uint32_t flags = 0;
    std::memcpy(&flags, bytes.data() + 48, sizeof flags);  // e_flags of an Elf64_Ehdr
    EXPECT_EQ(processor.elf_machine, flags & 0xFF);
    EXPECT_EQ(processor.supports_xnack, (flags & 0x300) != 0);
    EXPECT_EQ(processor.supports_sramecc, (flags & 0xC00) != 0);
    EXPECT_EQ(processor.generic, (flags >> 24) != 0);
    EXPECT_EQ(find_processor(processor.name), &processor);
    EXPECT_EQ(find_processor(processor.elf_machine), &processor);
  }
}

TEST(Processors, NamesAreTheAssemblers) {
  const auto help = test::run_command("llvm-mc-22 -triple amdgcn -mcpu=help /dev/null 2>&1");
  std::istringstream lines(help.output.substr(0, help.output.find("Available features")));
  const test::TemporaryDirectory directory;
  const std::string object = directory / "empty.o";
  unsigned alternatives = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ") || !line.contains(" - Select the ")) continue;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    if (name == "generic" || name == "generic-hsa") continue;  // no processor, but what all have
    const Processor* processor = find_processor(name);
    ASSERT_NE(processor, nullptr) << name;
    if (processor->name == name) continue;
    ++alternatives;
    const auto run = test::run_command(
        fmt::format("llvm-mc-22 -triple amdgcn-amd-amdhsa -mcpu={} -filetype=obj -o {} /dev/null 2>&1", name, object));
    ASSERT_EQ(run.exit_code, 0) << run.output;
    EXPECT_EQ(processor->elf_machine, test::read_bytes(object).at(48)) << name;
  }
  EXPECT_EQ(alternatives, alternative_names().size());
}

TEST(Processors, FeaturesAreTheAssemblers) {
  // One instruction of each group, in a spelling that every processor with the group takes.
  struct Probe {
    Feature feature;
    const char* instruction;
  };
  const Probe probes[] = {
      {Feature::fma_mix_insts, "v_fma_mix_f32 v0, v1, v2, v3"},
      {Feature::mad_mix_insts, "v_mad_mix_f32 v0, v1, v2, v3"},
      {Feature::dl_insts, "v_xnor_b32 v0, v1, v2"},
      {Feature::dot2_insts, "v_dot2_u32_u16 v0, v1, v2, v3"},
      {Feature::dot4_insts, "v_dot2c_i32_i16 v0, v1, v2"},
      {Feature::dot3_insts, "v_dot8c_i32_i4 v0, v1, v2"},
      {Feature::dot6_insts, "v_dot4c_i32_i8 v0, v1, v2"},
      {Feature::dot7_insts, "v_dot4_u32_u8 v0, v1, v2, v3"},
      {Feature::dot8_insts, "v_dot4_i32_iu8 v0, v1, v2, v3"},
      {Feature::dot9_insts, "v_dot2_bf16_bf16 v0, v1, v2, v3"},
      {Feature::dot10_insts, "v_dot2_f32_f16 v0, v1, v2, v3"},
      {Feature::dot11_insts, "v_dot4_f32_fp8_bf8 v0, v1, v2, v3"},
      {Feature::dot12_insts, "v_dot2_f32_bf16 v0, v1, v2, v3"},
      {Feature::mai_insts, "v_accvgpr_read_b32 v0, a1"},
      {Feature::gfx950_insts, "v_cvt_scalef32_pk_f32_fp4 v[0:1], v2, v3"},
      {Feature::atomic_fadd_no_rtn_insts, "global_atomic_add_f32 v0, v1, s[0:1]"},
      {Feature::fp8_conversion_insts, "v_cvt_f32_fp8 v0, v1"},
  };
  const test::TemporaryDirectory directory;
  const std::string source = directory / "probes.s";
  std::string text;
  for (const Probe& probe : probes) text += std::string(probe.instruction) + "\n";
  test::write_file(source, text);
  for (const Processor& processor : processors()) {
    if (!test::is_known_to_llvm(processor.name)) continue;
    // One run tells all: an instruction that the processor lacks is an error that names its line.
    const auto run = test::run_command(
        fmt::format("llvm-mc-22 -triple amdgcn -mcpu={} {} -o /dev/null 2>&1", processor.name, source));
    size_t line = 0;
    for (const Probe& probe : probes) {
      const bool refused = run.output.find(fmt::format("{}:{}:", source, ++line)) != std::string::npos;
      if (probe.feature == Feature::gfx950_insts && processor.generation == Generation::gfx12_5)
        continue;  // has it too
      EXPECT_EQ(processor.has(probe.feature), !refused) << processor.name << ": " << probe.instruction;
    }
  }
}

TEST(Processors, EveryGenericProcessorCoversSomeAndIsInTheTable) {
  std::set<std::string_view> covering;
  for (const Processor& processor : processors()) {
    if (processor.generic_processor.empty()) continue;
    const Processor* generic = find_processor(processor.generic_processor);
    ASSERT_NE(generic, nullptr) << processor.generic_processor;
    EXPECT_TRUE(generic->generic);
    EXPECT_FALSE(processor.generic);
    EXPECT_GE(processor.generic_since, 1);
    covering.insert(generic->name);
    // What every covered processor must have, the generic one's code may use.
    EXPECT_EQ(generic->features & ~processor.features, 0u) << processor.name;
  }
  for (const Processor& processor : processors()) EXPECT_EQ(processor.generic, covering.contains(processor.name));
}

}  // namespace
}  // namespace Atoll::target

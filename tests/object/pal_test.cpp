// PAL code objects as llc and llvm-mc write them: what Atoll reads in them against what llvm-readobj prints.
#include "object/pal/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "object/code_object.h"
#include "support/command.h"

namespace Atoll::object {
namespace {

using testing::HasSubstr;

/// A compute shader with a table in user data, LDS, scratch and a work-group id.
constexpr const char* shader = R"(
@lds = internal addrspace(3) global [64 x i32] poison, align 4
define amdgpu_cs void @reduce(i32 inreg %table, i32 inreg %spill, i32 inreg %count, i32 inreg %group, <3 x i32> %id) {
  %slot = alloca [16 x i32], align 4, addrspace(5)
  %x = extractelement <3 x i32> %id, i32 0
  %low = zext i32 %table to i64
  %base = inttoptr i64 %low to ptr addrspace(1)
  %from = getelementptr i32, ptr addrspace(1) %base, i32 %x
  %value = load i32, ptr addrspace(1) %from
  %at = and i32 %value, 15
  %element = getelementptr [16 x i32], ptr addrspace(5) %slot, i32 0, i32 %at
  store volatile i32 %value, ptr addrspace(5) %element
  %shared = getelementptr [64 x i32], ptr addrspace(3) @lds, i32 0, i32 %x
  %again = load volatile i32, ptr addrspace(5) %element
  store i32 %again, ptr addrspace(3) %shared
  call void @llvm.amdgcn.s.barrier()
  %read = load i32, ptr addrspace(3) %shared
  %sum = add i32 %read, %count
  store i32 %sum, ptr addrspace(1) %from
  ret void
}
declare void @llvm.amdgcn.s.barrier()
!amdgpu.pal.metadata.msgpack = !{!0}
!0 = !{!"\81\B0amdpal.pipelines\91\84\AA.registers\84\CD.@\CE\10\00\00\00\CD.A\CE\10\00\00\02\CD.B\00\CD.\13\CD\01\08\B0.user_data_limit\01\B0.spill_threshold\CD\FF\FF\A5.type\A2Cs"}
)";

/// Compiles the shader.
std::vector<uint8_t> compile(const std::string& processor) {
  const test::TemporaryDirectory directory;
  const std::string path = directory / processor;
  test::write_file(path + ".ll", shader);
  const auto run = test::run_command(
      fmt::format("llc-22 -mtriple=amdgcn--amdpal -mcpu={} -filetype=obj {}.ll -o {}.o 2>&1", processor, path, path));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  return test::read_bytes(path + ".o");
}

/// Assembles a text for PAL by llvm-mc.
std::vector<uint8_t> assemble(const std::string& text, const std::string& processor) {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "text";
  test::write_file(path + ".s", text);
  const auto run = test::run_command(
      fmt::format("llvm-mc-22 -triple=amdgcn--amdpal -mcpu={} -filetype=obj {}.s -o {}.o 2>&1", processor, path, path));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  return test::read_bytes(path + ".o");
}

/// The metadata as llvm-readobj prints it, from "---" to "...".
std::string metadata_by_llvm(const std::vector<uint8_t>& object) {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "notes.o";
  test::write_file(path, {object.begin(), object.end()});
  const std::string output = test::run_command(fmt::format("llvm-readobj-22 --notes {}", path)).output;
  const size_t begin = output.find("---\n"), end = output.find("\n...\n");
  return begin == std::string::npos || end == std::string::npos ? output : output.substr(begin, end + 5 - begin);
}

support::Result<std::vector<PalMetadata>> read(const std::vector<uint8_t>& object) {
  const auto file = read_elf_file(object);
  if (!file) return std::unexpected(file.error());
  const auto target = read_target(*file);
  if (!target) return std::unexpected(target.error());
  return read_pal_metadata(*file, target->processor->generation);
}

/// Lines of YAML with decimal numbers and one space after a key, so that both programs' texts compare.
std::string normal(const std::string& yaml) {
  std::string result;
  std::istringstream lines(yaml);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    static const std::regex entry("^( *(?:- )?)'?([^ ']+)'?: *(.*)$"), hexadecimal("^'?(0x[0-9a-f]+)'?$");
    if (std::regex_match(line, match, entry)) {
      std::string key = match[2], value = match[3];
      if (std::regex_match(key, hexadecimal)) key = std::to_string(std::stoull(key, nullptr, 16));
      if (std::regex_match(value, hexadecimal)) value = std::to_string(std::stoull(value, nullptr, 16));
      line = fmt::format("{}{}: {}", match[1].str(), key, value);
    } else if (const size_t at = line.find("0x"); at != std::string::npos) {
      line = line.substr(0, at) + std::to_string(std::stoull(line.substr(at), nullptr, 16));
    }
    result += line + '\n';
  }
  return result;
}

class PalShader : public testing::TestWithParam<const char*> {};

TEST_P(PalShader, MetadataIsWhatLlvmReads) {
  const std::vector<uint8_t> object = compile(GetParam());
  const auto all = read(object);
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 1u);
  const PalMetadata& metadata = all->front();
  EXPECT_EQ(normal(to_yaml(metadata.document)), normal(metadata_by_llvm(object)));
  EXPECT_TRUE(metadata.unknown_keys.empty());
  EXPECT_EQ(metadata.version_major, 2u);
  EXPECT_EQ(metadata.version_minor, 6u);
  ASSERT_EQ(metadata.pipelines.size(), 1u);
  const PalPipeline& pipeline = metadata.pipelines[0];
  EXPECT_EQ(pipeline.type, "Cs");
  EXPECT_EQ(pipeline.user_data_limit, 1u);
  EXPECT_EQ(pipeline.spill_threshold, 0xFFFFu);
  const PalStage* const stage = pipeline.find_stage(HardwareStage::cs);
  ASSERT_NE(stage, nullptr);
  EXPECT_EQ(stage->entry_point_symbol, "reduce");
  EXPECT_EQ(stage->entry_point, "_amdgpu_cs_main");
  EXPECT_TRUE(stage->vgprs && stage->sgprs && stage->scratch_bytes && stage->scratch_bytes > 0u);
}

TEST_P(PalShader, RegistersHaveNamesAndFields) {
  const auto all = read(compile(GetParam()));
  ASSERT_TRUE(all) << all.error().message;
  const PalPipeline& pipeline = all->front().pipelines[0];
  const target::Generation generation = target::find_processor(GetParam())->generation;
  for (const PalRegisterValue& each : pipeline.registers)
    EXPECT_TRUE(find_register(each.number, generation)) << fmt::format("{:#x}", each.number);
  const auto rsrc2 = find_register(0x2e13, generation);
  ASSERT_TRUE(rsrc2);
  EXPECT_EQ(rsrc2->name, "COMPUTE_PGM_RSRC2");
  // The source's metadata sets USER_SGPR to 4 and TGID_Y_EN; llc adds scratch and LDS (64 dwords).
  const uint32_t value = pipeline.register_value(0x2e13).value();
  EXPECT_EQ(rsrc2->find_field("USER_SGPR")->of(value), 4u);
  if (generation < target::Generation::gfx12) {  // where they are in TTMP registers, all are enabled
    EXPECT_EQ(rsrc2->find_field("TGID_X_EN")->of(value), 0u);
  }
  EXPECT_EQ(rsrc2->find_field("TGID_Y_EN")->of(value), 1u);
  EXPECT_EQ(rsrc2->find_field("SCRATCH_EN")->of(value), 1u);
  EXPECT_EQ(rsrc2->find_field("LDS_SIZE")->of(value), 1u);
  ASSERT_EQ(pipeline.user_data.size(), 3u);
  EXPECT_EQ(user_data_mapping(pipeline.user_data[0].mapping).name, "GlobalTable");
  EXPECT_EQ(user_data_mapping(pipeline.user_data[1].mapping).kind, UserDataKind::spill_table);
  EXPECT_EQ(user_data_mapping(pipeline.user_data[2].mapping).name, "user data entry 0");
  EXPECT_EQ(pipeline.user_data[2].stage, HardwareStage::cs);
  EXPECT_EQ(pipeline.user_data[2].sgpr, 2u);
}

INSTANTIATE_TEST_SUITE_P(Processors, PalShader,
                         testing::Values("gfx600", "gfx700", "gfx803", "gfx900", "gfx1010", "gfx1030", "gfx1100",
                                         "gfx1150", "gfx1200"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(PalMetadata, Version3HasKeysInsteadOfRegisters) {
  const auto all = read(assemble(R"(.amdgpu_pal_metadata
---
amdpal.pipelines:
  - .api: Vulkan
    .compute_registers:
      .tg_size_en: true
      .tgid_x_en: true
      .tidig_comp_cnt: 2
    .hardware_stages:
      .cs:
        .entry_point_symbol: main
        .float_mode: 0xc0
        .ieee_mode: false
        .lds_size: 0x200
        .sgpr_count: 14
        .threadgroup_dimensions: [8, 4, 1]
        .user_data_reg_map: [0x10000000, 0xffffffff, 5, 0x10000006]
        .user_sgprs: 4
        .vgpr_count: 7
        .wavefront_size: 32
        .wgp_mode: true
    .registers: {}
    .shader_functions:
      helper: {.lds_size: 16, .stack_frame_size_in_bytes: 32, .vgpr_count: 9, .sgpr_count: 33}
amdpal.version: [3, 6]
...
.end_amdgpu_pal_metadata
)",
                                 "gfx1100"));
  ASSERT_TRUE(all) << all.error().message;
  const PalMetadata& metadata = all->at(0);
  EXPECT_TRUE(metadata.unknown_keys.empty()) << metadata.unknown_keys[0];
  EXPECT_EQ(metadata.version_major, 3u);
  const PalPipeline& pipeline = metadata.pipelines.at(0);
  EXPECT_EQ(pipeline.api, "Vulkan");
  ASSERT_TRUE(pipeline.compute_registers);
  EXPECT_EQ(pipeline.compute_registers->tgid_x, true);
  EXPECT_FALSE(pipeline.compute_registers->tgid_y);
  EXPECT_EQ(pipeline.compute_registers->work_item_ids, 2u);
  const PalStage* const stage = pipeline.find_stage(HardwareStage::cs);
  ASSERT_NE(stage, nullptr);
  EXPECT_EQ(stage->work_group_size, (std::array<uint32_t, 3>{8, 4, 1}));
  EXPECT_EQ(stage->wave_size, 32u);
  EXPECT_EQ(stage->user_sgprs, 4u);
  EXPECT_EQ(stage->wgp_mode, true);
  ASSERT_EQ(pipeline.user_data.size(), 3u);
  EXPECT_EQ(pipeline.user_data[1].sgpr, 2u);
  EXPECT_EQ(user_data_mapping(pipeline.user_data[1].mapping).index, 5u);
  EXPECT_EQ(user_data_mapping(pipeline.user_data[2].mapping).kind, UserDataKind::work_groups);
  ASSERT_EQ(pipeline.functions.size(), 1u);
  EXPECT_EQ(pipeline.functions[0].name, "helper");
  EXPECT_EQ(pipeline.functions[0].stack_bytes, 32u);
}

TEST(PalMetadata, PairsOfTheOlderNoteAreRead) {
  const auto all =
      read(assemble(".amd_amdgpu_pal_metadata 0x2e12, 0xac00c1, 0x2e13, 0x8, 0x2e40, 0x10000000, 0x2e41, 3, "
                    "0x10000027, 0x7, 0x1000002e, 0x12, 0x1000004a, 0x40, 0x1000001a, 4\n",
                    "gfx900"));
  ASSERT_TRUE(all) << all.error().message;
  const PalMetadata& metadata = all->at(0);
  EXPECT_EQ(metadata.form, PalNote::register_pairs);
  EXPECT_EQ(metadata.pairs.size(), 8u);
  EXPECT_TRUE(metadata.unknown_keys.empty());
  const PalPipeline& pipeline = metadata.pipelines.at(0);
  EXPECT_EQ(pipeline.register_value(0x2e12), 0xac00c1u);
  EXPECT_EQ(pipeline.user_data_limit, 4u);
  const PalStage* const stage = pipeline.find_stage(HardwareStage::cs);
  ASSERT_NE(stage, nullptr);
  EXPECT_EQ(stage->vgprs, 7u);
  EXPECT_EQ(stage->sgprs, 0x12u);
  EXPECT_EQ(stage->scratch_bytes, 0x40u);
  EXPECT_EQ(pipeline.user_data.size(), 2u);
  EXPECT_EQ(pal_key_name(0x1000004a), "CS_SCRATCH_BYTE_SIZE");
}

/// The error of a document, or what is unknown in it.
std::string problem_of(const std::string& yaml) {
  const auto all = read(assemble(".amdgpu_pal_metadata\n---\n" + yaml + "...\n.end_amdgpu_pal_metadata\n", "gfx1030"));
  if (!all) return all.error().message;
  return fmt::format("{}", fmt::join(all->at(0).unknown_keys, ", "));
}

TEST(PalMetadata, MistakesAreErrorsByName) {
  EXPECT_EQ(problem_of("amdpal.pipelines:\n  - .hardware_stages:\n      .cs: {.vgpr_cuont: 3}\n"),
            "amdpal.pipelines[0].hardware_stages.cs.vgpr_cuont");
  EXPECT_EQ(problem_of("amdpal.pipelines:\n  - .hardware_stages:\n      .xs: {.vgpr_count: 3}\n"),
            "amdpal.pipelines[0].hardware_stages.xs");
  EXPECT_EQ(problem_of("amdpal.pipelines:\n  - .hardware_stages:\n      .cs: {.vgpr_count: many}\n"),
            "PAL metadata: 'amdpal.pipelines[0].hardware_stages.cs.vgpr_count' is not a 32-bit integer");
  EXPECT_EQ(problem_of("amdpal.pipelines:\n  - .hardware_stages:\n      .cs: {.threadgroup_dimensions: [1, 2]}\n"),
            "PAL metadata: '.threadgroup_dimensions' has 2 values instead of 3");
  EXPECT_EQ(problem_of("amdpal.pipelines:\n  - .registers: {0x2e12: big}\n"),
            "PAL metadata: 'amdpal.pipelines[0].registers' is not a map of 32-bit register numbers to 32-bit values");
  EXPECT_EQ(problem_of("amdpal.version: [4, 0]\n"), "PAL metadata: version 4.0 is not supported; 2.x and 3.x are");
  EXPECT_EQ(problem_of("vendor.key: 3\n"), "");
}

TEST(PalMetadata, CutNotesAreErrors) {
  const std::vector<uint8_t> object = compile("gfx900");
  const auto file = read_elf_file(object);
  ASSERT_TRUE(file);
  for (const ElfNote& note : read_notes(*file)) {
    if (note.owner != "AMDGPU") continue;
    for (size_t size = 0; size < note.description.size(); ++size) {
      const ElfNote cut{.owner = note.owner, .type = note.type, .description = note.description.first(size)};
      const auto read = read_pal_metadata(cut, target::Generation::gfx9);
      ASSERT_FALSE(read) << size;
      EXPECT_THAT(read.error().message, HasSubstr("PAL metadata"));
    }
  }
  const std::vector<uint8_t> pairs(12);
  const auto read =
      read_pal_metadata({.owner = "AMD", .type = nt_amd_pal_metadata, .description = pairs}, target::Generation::gfx9);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("12 bytes, which is not a multiple of 8"));
}

/// llvm-mc prints the names that LLVM has for registers, without regard to the generation.
TEST(GpuRegisters, NamesAreLlvms) {
  std::string text = ".amdgpu_pal_metadata\n---\namdpal.pipelines:\n  - .registers:\n";
  for (const auto& [first, last] : {std::pair(0x2c00u, 0x2effu), {0xa000u, 0xa3ffu}, {0xc240u, 0xc27fu}})
    for (uint32_t number = first; number <= last; ++number) text += fmt::format("      {:#x}: 0\n", number);
  text += "...\n.end_amdgpu_pal_metadata\n";
  const test::TemporaryDirectory directory;
  const std::string path = directory / "names.s";
  test::write_file(path, text);
  const auto run = test::run_command(fmt::format("llvm-mc-22 -triple=amdgcn--amdpal -mcpu=gfx1030 {}", path));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  size_t same = 0, others = 0;
  const std::regex named("'(0x[0-9a-f]+) \\((\\w+)\\)'");
  for (std::sregex_iterator at(run.output.begin(), run.output.end(), named), end; at != end; ++at) {
    const auto number = static_cast<uint32_t>(std::stoul((*at)[1], nullptr, 16));
    // LLVM lists registers of all generations until GFX10.3. The table has each name in one of them.
    bool found = false;
    using enum target::Generation;
    for (const target::Generation generation : {gfx6, gfx7, gfx8, gfx9, gfx10, gfx10_3}) {
      const auto known = find_register(number, generation);
      found |= known && known->name == (*at)[2];
    }
    (found ? same : others)++;
    EXPECT_TRUE(found) << (*at)[0];
  }
  EXPECT_GE(same, 300u);
  EXPECT_EQ(others, 0u);
}

TEST(GpuRegisters, FieldsDoNotOverlap) {
  for (const target::Processor& processor : target::processors()) {
    for (uint32_t number = 0; number < 0x10000; ++number) {
      const auto found = find_register(number, processor.generation);
      uint32_t covered = 0;
      for (const RegisterField& field : found ? found->fields : std::span<const RegisterField>()) {
        ASSERT_LE(field.low_bit + field.bits, 32);
        const uint32_t mask = field.of(UINT32_MAX) << field.low_bit;
        EXPECT_EQ(covered & mask, 0u) << processor.name << ' ' << found->name << ' ' << field.name;
        covered |= mask;
      }
      if (found) {
        EXPECT_EQ(register_number(found->name, processor.generation), number) << processor.name << ' ' << found->name;
      }
    }
    if (processor.generation == target::Generation::gfx12_5) break;
  }
}

}  // namespace
}  // namespace Atoll::object

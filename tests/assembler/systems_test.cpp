// Objects for PAL and Mesa3D: Atoll's assembler against llvm-mc-22, byte for byte, and back through the disassembly of
// the metadata.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "assembler/assembler.h"
#include "object/elf.h"
#include "object/elf_file.h"
#include "object/pal/metadata.h"
#include "object/relocatable.h"
#include "support/command.h"

namespace Atoll::test {
namespace {

struct System {
  const char* name;
  const char* triple;
  uint8_t os_abi;
};
constexpr System pal{"amdpal", "amdgcn--amdpal", object::elf::osabi_amdgpu_pal};
constexpr System mesa{"mesa3d", "amdgcn-mesa-mesa3d", object::elf::osabi_amdgpu_mesa3d};

std::vector<uint8_t> by_llvm(const std::string& text, const System& system, const std::string& processor) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("atoll-systems-{}", getpid())).string();
  write_file(path + ".s", text);
  const auto run = run_command(fmt::format("llvm-mc-22 -triple={} -mcpu={} -filetype=obj {}.s -o {}.o 2>&1",
                                           system.triple, processor, path, path));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  return run.exit_code == 0 ? read_bytes(path + ".o") : std::vector<uint8_t>();
}

std::vector<uint8_t> by_atoll(const std::string& text, const System& system, const std::string& processor) {
  assembler::Options options;
  options.target = target::parse_target_id(processor).value();
  options.os_abi = system.os_abi;
  options.wave32 = options.target.processor->has_wave_size(32);
  const auto assembled = assembler::assemble("test.s", text, options);
  EXPECT_TRUE(assembled.object) << assembled.messages;
  return assembled.object ? object::write_relocatable(*assembled.object) : std::vector<uint8_t>();
}

constexpr const char* document = R"(.text
.globl main
.type main,@function
main:
s_getpc_b64 s[2:3]
s_add_u32 s2, s2, table@rel32@lo+4
s_addc_u32 s3, s3, table@rel32@hi+12
s_endpgm
.size main, .-main
.data
.globl table
table: .quad main+8
.long other
.amdgpu_pal_metadata
---
amdpal.pipelines:
  - .hardware_stages:
      .cs:
        .entry_point_symbol: main
        .sgpr_count: 0xa
        .vgpr_count: 3
        .wavefront_size: 0x40
        .scratch_en: false
    .registers:
      '0x2e12 (COMPUTE_PGM_RSRC1)': 0x2f0000
      '0x2e40 (COMPUTE_USER_DATA_0)': 0x10000000
    .name: !str '7'
    .user_data_limit: 1
amdpal.version: [2, 6]
...
.end_amdgpu_pal_metadata
)";

class Systems : public testing::TestWithParam<const char*> {};

TEST_P(Systems, PalObjectIsLlvms) {
  EXPECT_EQ(by_atoll(document, pal, GetParam()), by_llvm(document, pal, GetParam()));
  const std::string pairs = "s_endpgm\n.amd_amdgpu_pal_metadata 0x2e12,0x2f0000,0x2e13,8,0x10000027,3\n";
  EXPECT_EQ(by_atoll(pairs, pal, GetParam()), by_llvm(pairs, pal, GetParam()));
}

TEST_P(Systems, MesaObjectIsLlvms) {
  const std::string text =
      ".globl main\n.type main,@function\nmain:\ns_endpgm\n.size main, .-main\n"
      ".section .AMDGPU.config\n.long 47176, 0x2c0041, 47180, 0x90, 47200, 0, 4, 0, 8, 0\n"
      ".data\n.quad main+16\n.amd_amdgpu_isa \"amdgcn-mesa-mesa3d--" +
      std::string(GetParam()) + "\"\n";
  EXPECT_EQ(by_atoll(text, mesa, GetParam()), by_llvm(text, mesa, GetParam()));
}

TEST_P(Systems, MetadataIsPrintedAsItIsAssembled) {
  const std::vector<uint8_t> object = by_atoll(document, pal, GetParam());
  const auto file = object::read_elf_file(object);
  ASSERT_TRUE(file);
  const auto all = object::read_pal_metadata(*file, target::find_processor(GetParam())->generation);
  ASSERT_TRUE(all) << all.error().message;
  const std::string text =
      ".amdgpu_pal_metadata\n" + object::to_yaml(all->at(0).document) + ".end_amdgpu_pal_metadata\n";
  const std::vector<uint8_t> again = by_atoll(text, pal, GetParam());
  const auto note_of = [](const std::vector<uint8_t>& bytes) {
    const auto read = object::read_elf_file(bytes);
    const auto notes = read ? object::read_notes(*read) : std::vector<object::ElfNote>();
    return notes.empty() ? std::vector<uint8_t>()
                         : std::vector<uint8_t>(notes[0].description.begin(), notes[0].description.end());
  };
  EXPECT_EQ(note_of(again), note_of(object));
}

TEST_P(Systems, RelocatablesAreWrittenAsTheyWereRead) {
  for (const System& system : {pal, mesa}) {
    const std::vector<uint8_t> object = by_llvm(document, system, GetParam());
    const auto read = object::read_relocatable(object);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(object::write_relocatable(*read), object) << system.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, Systems,
                         testing::Values("gfx600", "gfx700", "gfx803", "gfx900", "gfx1010", "gfx1030"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace Atoll::test

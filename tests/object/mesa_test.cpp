// Mesa3D objects as llc writes them, and what a launch needs from PAL and Mesa3D objects: against llc's own assembly
// output of the same shaders.
#include "object/mesa_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "object/code_object.h"
#include "object/loadable_code.h"
#include "support/command.h"

namespace Atoll::object {
namespace {

using testing::HasSubstr;

constexpr const char* kernels = R"(
@lds = internal addrspace(3) global [64 x i32] poison, align 4
define amdgpu_kernel void @fill(ptr addrspace(1) %to, i32 %value) {
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %at = getelementptr i32, ptr addrspace(1) %to, i32 %x
  store i32 %value, ptr addrspace(1) %at
  ret void
}
define amdgpu_cs void @shader(i32 inreg %low, i32 inreg %high, i32 %x) {
  %shared = getelementptr [64 x i32], ptr addrspace(3) @lds, i32 0, i32 %x
  store volatile i32 %low, ptr addrspace(3) %shared
  ret void
}
define amdgpu_ps void @pixel(float %x) {
  call void @llvm.amdgcn.exp.f32(i32 0, i32 15, float %x, float %x, float %x, float %x, i1 true, i1 true)
  ret void
}
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.exp.f32(i32, i32, float, float, float, float, i1, i1)
)";

std::vector<uint8_t> compile(const std::string& source, const std::string& triple, const std::string& processor) {
  const test::TemporaryDirectory directory;
  const std::string path = directory / processor;
  test::write_file(path + ".ll", source);
  const auto run = test::run_command(
      fmt::format("llc-22 -mtriple={} -mcpu={} -filetype=obj {}.ll -o {}.o 2>&1", triple, processor, path, path));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  return test::read_bytes(path + ".o");
}

support::Result<std::vector<MesaShader>> read(const ElfFile& file, const std::vector<ElfSymbol>& symbols,
                                              const std::string& processor) {
  return read_mesa_config(file, symbols, target::find_processor(processor)->generation);
}

class MesaObject : public testing::TestWithParam<const char*> {};

TEST_P(MesaObject, ConfigurationIsRead) {
  const std::vector<uint8_t> object = compile(kernels, "amdgcn-mesa-mesa3d", GetParam());
  const auto file = read_elf_file(object);
  ASSERT_TRUE(file);
  const auto symbols = read_symbols(*file, *file->find_section(uint32_t{SHT_SYMTAB}));
  ASSERT_TRUE(symbols);
  const auto shaders = read(*file, *symbols, GetParam());
  ASSERT_TRUE(shaders) << shaders.error().message;
  ASSERT_EQ(shaders->size(), 3u);
  EXPECT_EQ((*shaders)[0].symbol, "fill");
  EXPECT_EQ((*shaders)[1].symbol, "shader");
  EXPECT_EQ((*shaders)[2].symbol, "pixel");
  EXPECT_EQ((*shaders)[2].stage, HardwareStage::ps);
  ASSERT_TRUE((*shaders)[0].kernel_code);
  EXPECT_FALSE((*shaders)[1].kernel_code);
  // 8 bytes of pointer, 4 of value, and 16 of implicit arguments, which LLVM adds for mesa3d.
  EXPECT_EQ(kernel_code_field("kernarg_segment_byte_size").of(*(*shaders)[0].kernel_code), 28u);
  EXPECT_EQ((*shaders)[0].spilled_sgprs, 0u);
  const auto rsrc2 = (*shaders)[1].register_value(0x2e13);
  ASSERT_TRUE(rsrc2);
  const auto row = find_register(0x2e13, target::find_processor(GetParam())->generation);
  EXPECT_EQ(row->find_field("LDS_SIZE")->of(*rsrc2), 1u);
  EXPECT_TRUE(mesa_contradictions(*shaders, *file, *symbols, *target::find_processor(GetParam())).empty());
}

TEST_P(MesaObject, EntryPointsAreLoadable) {
  const auto loaded = read_loadable_code(compile(kernels, "amdgcn-mesa-mesa3d", GetParam()));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->abi, Abi::mesa3d);
  const EntryPoint* const fill = loaded->find("fill");
  ASSERT_TRUE(fill != nullptr && fill->state);
  EXPECT_TRUE(fill->state->kernarg_segment_ptr);
  EXPECT_EQ(fill->state->kernarg_size, 28u);
  EXPECT_GE(fill->state->vgprs, 2u);
  const EntryPoint* const shader_entry = loaded->find("shader");
  ASSERT_TRUE(shader_entry != nullptr && shader_entry->state);
  EXPECT_GE(shader_entry->state->group_segment_fixed_size, 256u);
  const EntryPoint* const pixel = loaded->find("pixel");
  ASSERT_NE(pixel, nullptr);
  EXPECT_FALSE(pixel->state);
  EXPECT_EQ(pixel->stage, HardwareStage::ps);
  for (const EntryPoint& each : loaded->entry_points) {
    const auto& segments = loaded->code.segments;
    EXPECT_TRUE(std::ranges::any_of(segments, [&](const Segment& segment) {
      return segment.executable && each.address >= segment.address &&
             each.address - segment.address < segment.bytes.size();
    })) << each.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, MesaObject,
                         testing::Values("gfx600", "gfx700", "gfx803", "gfx900", "gfx1010", "gfx1030"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(MesaConfig, DamagedSectionsAreErrors) {
  std::vector<uint8_t> object = compile(kernels, "amdgcn-mesa-mesa3d", "gfx900");
  const auto problem = [&](auto change) {
    std::vector<uint8_t> changed = object;
    const auto file = read_elf_file(changed);
    const ElfSection* const section = file->find_section(mesa_config_section);
    change(changed.data() + section->header.sh_offset);
    const auto again = read_elf_file(changed);
    const auto symbols = read_symbols(*again, *again->find_section(uint32_t{SHT_SYMTAB}));
    const auto shaders = read(*again, *symbols, "gfx900");
    return shaders ? std::string() : shaders.error().message;
  };
  EXPECT_THAT(problem([](uint8_t* bytes) { bytes[0] = 0x4c; }), HasSubstr("begins with 0xb84c"));
  EXPECT_THAT(problem([](uint8_t* bytes) { bytes[8] = 0x48; }), HasSubstr("4 shaders, the file has 3 functions"));
  EXPECT_THAT(problem([](uint8_t* bytes) { bytes[16] = 0x4c; }), HasSubstr("sets register 0xb84c twice"));
  EXPECT_THAT(problem([](uint8_t* bytes) { bytes[16] = 0x4d; }), HasSubstr("neither a register nor a count"));
}

constexpr const char* shader = R"(
define amdgpu_cs void @main(i32 inreg %table, i32 inreg %value, i32 %x) {
  %low = zext i32 %table to i64
  %base = inttoptr i64 %low to ptr addrspace(1)
  %to = getelementptr i32, ptr addrspace(1) %base, i32 %x
  store i32 %value, ptr addrspace(1) %to
  ret void
}
!amdgpu.pal.metadata.msgpack = !{!0}
!0 = !{!"\81\B0amdpal.pipelines\91\83\AA.registers\83\CD.@\CE\10\00\00\00\CD.A\00\CD.\13\CC\84\B0.user_data_limit\01\A5.type\A2Cs"}
)";

class PalLaunch : public testing::TestWithParam<const char*> {};

TEST_P(PalLaunch, EntryPointHasRegistersAndUserData) {
  const auto loaded = read_loadable_code(compile(shader, "amdgcn--amdpal", GetParam()));
  ASSERT_TRUE(loaded) << loaded.error().message;
  const target::Processor& processor = *target::find_processor(GetParam());
  EXPECT_EQ(loaded->abi, Abi::amdpal);
  ASSERT_EQ(loaded->entry_points.size(), 1u);
  const EntryPoint& entry = loaded->entry_points[0];
  EXPECT_EQ(entry.name, "main");
  ASSERT_TRUE(entry.state);
  EXPECT_EQ(entry.state->user_sgprs, 2u);
  EXPECT_TRUE(entry.state->work_group_id_x);
  EXPECT_EQ(entry.state->mode & 0xF0, 0xF0u);  // llc keeps denormals
  EXPECT_EQ(entry.wave_size, processor.has_wave_size(32) ? 32u : 64u);
  ASSERT_EQ(entry.user_data.size(), 2u);
  EXPECT_EQ(user_data_mapping(entry.user_data[0].mapping).kind, UserDataKind::global_table);
  EXPECT_EQ(user_data_mapping(entry.user_data[1].mapping).kind, UserDataKind::entry);
  EXPECT_EQ(entry.user_data_limit, 1u);
}

INSTANTIATE_TEST_SUITE_P(Processors, PalLaunch,
                         testing::Values("gfx700", "gfx803", "gfx900", "gfx1010", "gfx1030", "gfx1100", "gfx1200"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(PalLaunch, ContradictionsAreErrors) {
  const auto problem = [](std::string_view from, std::string_view to) {
    std::string source = shader;
    source.replace(source.find(from), from.size(), to);
    const auto loaded = read_loadable_code(compile(source, "amdgcn--amdpal", "gfx900"));
    return loaded ? std::string() : loaded.error().message;
  };
  EXPECT_THAT(problem("user_data_limit\\01", "user_data_limit\\00"), HasSubstr(".user_data_limit is 0"));
  EXPECT_THAT(problem("CD.A\\00", "CD.A\\CE\\10\\00\\00\\7F"), HasSubstr("unknown mapping 0x1000007f"));
  EXPECT_THAT(problem("CD.A\\00", "CD.C\\02"), HasSubstr("only 2 are loaded"));
  EXPECT_THAT(problem("user_data_limit", "user_data_limot"), HasSubstr("user_data_limot' is unknown"));
  EXPECT_THAT(problem("CD.A\\00", "CD.\\FF\\00"), HasSubstr("gfx900 has no register 0x2eff"));
}

}  // namespace
}  // namespace Atoll::object

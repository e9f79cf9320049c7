// Containers of Catalyst's OpenCL 2.0 and launches of both kinds, against files built by hand after public binaries.
#include <gtest/gtest.h>

#include "object/catalyst_files.h"
#include "object/catalyst_launch.h"

using namespace Atoll;
using namespace Atoll::object;
using namespace Atoll::object::catalyst;
using test::Bytes;
using test::words;

namespace {

struct TestArgument {
  std::string name = {}, type_name = {};
  uint32_t size = 1, type = 0, space = 0, is_pointer = 0, flags = 0, kind = 4, is_const = 0;
};

/// The metadata record. Places of fields are CLRX's: the 64-bit form has wider sizes.
Bytes metadata(bool wide, const std::vector<TestArgument>& arguments) {
  const unsigned word = wide ? 8 : 4;
  Bytes record(wide ? 0xA8 : 0x70);
  const auto put = [&](Bytes& to, size_t at, uint64_t value) { std::memcpy(to.data() + at, &value, word); };
  put(record, 0, record.size());
  for (unsigned i = 0; i < 3; ++i) put(record, (wide ? 0x38 : 0x30) + i * word, 8u << i);
  put(record, wide ? 0x60 : 0x48, 3);
  put(record, wide ? 0x68 : 0x4C, 2);
  put(record, wide ? 0xA0 : 0x68, arguments.size());
  record = test::joined({record, test::bytes_of(std::string_view("abc\0de\0", 7))});
  Bytes texts;
  for (const TestArgument& argument : arguments) {
    Bytes entry(wide ? 0x58 : 0x40);
    put(entry, 0, entry.size());
    put(entry, word, argument.name.size());
    put(entry, 2 * word, argument.type_name.size());
    const uint32_t fields[] = {
        argument.size,    0, 0, argument.type, 0, 0, argument.space, argument.is_pointer, argument.flags, argument.kind,
        argument.is_const};
    std::memcpy(entry.data() + 5 * word, fields, sizeof fields);
    record.insert(record.end(), entry.begin(), entry.end());
    texts = test::joined({texts, test::bytes_of(argument.name + '\0' + argument.type_name + '\0')});
  }
  return test::joined({record, Bytes(wide ? 0x58 : 0x40), texts});
}

/// A setup record with these enabled user SGPRs and one s_endpgm behind it.
Bytes code(uint32_t properties, uint32_t user_sgprs) {
  RawKernelCode record{};
  kernel_code_field("kernel_code_entry_byte_offset").set(record, 256);
  kernel_code_field("user_sgpr_count").set(record, user_sgprs);
  kernel_code_field("granulated_wavefront_sgpr_count").set(record, 3);
  kernel_code_field("granulated_workitem_vgpr_count").set(record, 5);
  kernel_code_field("workgroup_group_segment_byte_size").set(record, 512);
  record[56] = static_cast<uint8_t>(properties);
  return test::joined({Bytes(record.begin(), record.end()), words({0xBF810000})});
}

std::vector<TestArgument> arguments() {
  return {{.name = "_.global_offset_0", .type_name = "size_t", .type = 9},
          {.name = "n", .type_name = "int", .type = 8},
          {.name = "v", .type_name = "float3", .size = 3, .type = 11},
          {.name = "p", .type_name = "int*", .type = 7, .space = 4, .is_pointer = 1, .flags = 0x0101, .is_const = 1},
          {.name = "l", .type_name = "int*", .type = 7, .space = 3, .is_pointer = 1},
          {.name = "i", .type_name = "image2d_t", .type = 2, .kind = 2},
          {.name = "s", .type_name = "sampler_t", .type = 0, .kind = 1},
          {.name = "q", .type_name = "queue_t", .type = 18, .kind = 7},
          {.name = "t", .type_name = "T", .size = 52, .type = 15}};
}

template <typename Types>
Bytes older_container(const Bytes& record, const Bytes& kernel, uint32_t flags = 6) {
  const Bytes stub = test::joined({words({8, 0}), kernel});
  return test::elf_file<Types>(Types::elf_class == ELFCLASS64 ? 0xAF5B : 0xAF5A,
                               {{".comment", SHT_PROGBITS, test::bytes_of("-cl-std=CL2.0AMD-COMP-LIB")},
                                {".rodata", SHT_PROGBITS, record},
                                {".text", SHT_PROGBITS, stub}},
                               {{"__OpenCL_compiler_options", ".comment", 0, 13},
                                {"acl_version_string", ".comment", 13, 12},
                                {"__OpenCL_&__OpenCL_k_kernel_metadata", ".rodata", 0, record.size()},
                                {"__ISA_&__OpenCL_k_kernel_binary", ".text", 0, stub.size(), STT_FUNC}},
                               flags);
}

template <typename T>
std::string message(const support::Result<T>& result) {
  return result ? "no error" : result.error().message;
}

TEST(CatalystCl2, ReadsTheOlderForm) {
  for (const bool wide : {false, true}) {
    const Bytes record = metadata(wide, arguments()), kernel_code = code(0xB, 8);
    const Bytes file = wide ? older_container<test::Elf64Types>(record, kernel_code)
                            : older_container<test::Elf32Types>(record, kernel_code);
    ASSERT_TRUE(is_cl2_container(file));
    const auto container = read_cl2_container(file);
    ASSERT_TRUE(container) << container.error().message;
    EXPECT_EQ(container->is_64_bit, wide);
    EXPECT_EQ(container->compile_options, "-cl-std=CL2.0");
    EXPECT_EQ(container->acl_version, "AMD-COMP-LIB");
    EXPECT_EQ(container->processor->name, "gfx704");  // flags 6: Bonaire
    ASSERT_EQ(container->kernels.size(), 1u);
    const Cl2Kernel& kernel = container->kernels[0];
    EXPECT_EQ(kernel.name, "k");
    EXPECT_EQ(kernel.stub.size(), 8u);
    EXPECT_EQ(Bytes(kernel.code.begin(), kernel.code.end()), words({0xBF810000}));
    EXPECT_EQ(kernel.required_work_group_size, (std::array<uint32_t, 3>{8, 16, 32}));
    ASSERT_EQ(kernel.arguments.size(), 9u);
    const ArgumentType types[] = {ArgumentType::int64,   ArgumentType::int32,   ArgumentType::float32,
                                  ArgumentType::pointer, ArgumentType::pointer, ArgumentType::image,
                                  ArgumentType::sampler, ArgumentType::queue,   ArgumentType::structure};
    for (size_t i = 0; i < 9; ++i) {
      EXPECT_EQ(kernel.arguments[i].name, arguments()[i].name);
      EXPECT_EQ(kernel.arguments[i].type_name, arguments()[i].type_name);
      EXPECT_EQ(kernel.arguments[i].shape.type, types[i]);
    }
    EXPECT_EQ(kernel.arguments[2].shape.elements, 3);
    EXPECT_EQ(kernel.arguments[3].space, "global");
    EXPECT_TRUE(kernel.arguments[3].is_const && kernel.arguments[3].is_restrict && kernel.arguments[3].is_volatile);
    EXPECT_EQ(kernel.arguments[4].space, "local");
    EXPECT_EQ(kernel.arguments[5].access, "write_only");

    const auto launch = launch_info(*container, kernel);
    ASSERT_TRUE(launch) << launch.error().message;
    EXPECT_EQ(launch->user_sgprs.first(UserSgprs::argument_pointer), 6);
    EXPECT_EQ(launch->state.group_segment_fixed_size, 512u);
    EXPECT_EQ(launch->state.vgprs, 24u);
    EXPECT_EQ(launch->arguments.size(), 8u);  // the setup argument is not the kernel's own
    EXPECT_EQ(launch->argument_layout.arguments[0].offset, wide ? 48u : 24u);
    EXPECT_EQ(launch->argument_layout.arguments[1].size, 16u);
  }
}

TEST(CatalystCl2, ReadsTheNewerForm) {
  const Bytes kernel = code(0x2F, 12);
  const Bytes isa = test::joined({words({4, 27, 3}),
                                  test::bytes_of(std::string_view("AMD\0", 4)),
                                  {4, 0, 7, 0},
                                  words({8, 0, 3}),
                                  test::bytes_of(std::string_view("AMD\0AMDGPU\0\0", 12))});
  const Bytes inner =
      test::elf_file<test::Elf64Types>(0xE0,
                                       {{".hsatext", SHT_PROGBITS, kernel},
                                        {".note", SHT_NOTE, isa},
                                        {".hsadata_readonly_agent", SHT_PROGBITS, Bytes(12)}},
                                       {{"&__OpenCL_k_kernel", ".hsatext", 0, kernel.size(), 10}}, 0, 64);
  const Bytes record = metadata(true, arguments());
  const Bytes file =
      test::elf_file<test::Elf64Types>(0xAF5B, {{".rodata", SHT_PROGBITS, record}, {".text", SHT_PROGBITS, inner}},
                                       {{"__OpenCL_&__OpenCL_k_kernel_metadata", ".rodata", 0, record.size()}}, 14);
  const auto container = read_cl2_container(file);
  ASSERT_TRUE(container) << container.error().message;
  EXPECT_EQ(container->read_only_data.size(), 12u);
  ASSERT_NE(container->processor, nullptr);
  EXPECT_EQ(container->processor->name, "gfx803");  // the note's version, as the flags mean another GPU in each driver
  const auto launch = launch_info(*container, container->kernels[0]);
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->user_sgprs.count, 12);
}

TEST(CatalystCl2, NamesWhatIsWrong) {
  const auto error = [](const std::vector<TestArgument>& list) {
    return message(read_cl2_container(older_container<test::Elf64Types>(metadata(true, list), code(9, 6))));
  };
  const std::string where = "symbol '__OpenCL_&__OpenCL_k_kernel_metadata': ";
  EXPECT_EQ(error({{.name = "x", .type = 10}}), where + "argument 0 (x) has unknown type 10 of kind 4");
  EXPECT_EQ(error({{.name = "x", .type = 4, .kind = 2}}), where + "argument 0 (x) has unknown type 4 of kind 2");
  EXPECT_EQ(error({{.name = "x", .type = 7, .space = 9, .is_pointer = 1}}),
            where + "argument 0 (x) points to unknown address space 9");
  EXPECT_EQ(error({{.name = "x", .size = 17, .type = 8}}), where + "argument 0 (x) is a vector of 17 elements");
  const Bytes file = older_container<test::Elf64Types>(metadata(true, {}), code(9, 8));
  const auto container = read_cl2_container(file);
  ASSERT_TRUE(container) << container.error().message;
  EXPECT_EQ(message(launch_info(*container, container->kernels[0])),
            "kernel k: its features take 6 user SGPRs, COMPUTE_PGM_RSRC2 has 8");
  const Bytes unknown = older_container<test::Elf64Types>(metadata(true, {}), code(9, 6), 99);
  const auto other = read_cl2_container(unknown);
  ASSERT_TRUE(other);
  EXPECT_EQ(message(launch_info(*other, other->kernels[0])), "the file does not name its processor (flags 0x63)");
}

TEST(CatalystCl2, SurvivesEveryCut) {
  const Bytes file = older_container<test::Elf64Types>(metadata(true, arguments()), code(9, 6));
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(read_cl2_container(std::span(file).first(size))) << size;
}

Bytes cl1_container(uint16_t machine, std::string_view lines, uint32_t rsrc2) {
  const Bytes info =
      words({0x80001000, 1,  0x80001001, 23,   0x80001002, 0, 0x80001003, 2,     0x80001004, 2,  0x80001041, 11,
             0x80001042, 24, 0x80001043, 0xC0, 0x80001045, 3, 0x2E13,     rsrc2, 0x80000082, 512});
  return test::cal_container<test::Elf32Types>(
      machine, fmt::format(";ARGSTART:k\n{}\n;ARGEND:k\n", lines),
      test::cal_image({{.notes = test::cal_note(1, info), .text = words({0xBF810000}), .data = {}}}));
}

TEST(CatalystLaunch, DescribesKernelsOfOpenCl1) {
  const Bytes file =
      cl1_container(1021, ";memory:hwlocal:256\n;pointer:p:i32:1:1:0:uav:10:4:RW:0:0\n;value:v:float:8:1:16", 0x998);
  const auto container = read_container(file);
  ASSERT_TRUE(container) << container.error().message;
  const auto launch = launch_info(*container, container->kernels[0]);
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->processor->name, "gfx600");
  EXPECT_EQ(launch->user_data.size(), 1u);
  EXPECT_EQ(launch->state.user_sgprs, 12);
  EXPECT_TRUE(launch->state.work_group_id_x && launch->state.work_group_id_y && !launch->state.work_group_id_z);
  EXPECT_EQ(launch->state.work_item_ids, 1);
  EXPECT_EQ(launch->state.vgprs, 12);
  EXPECT_EQ(launch->state.group_segment_fixed_size, 256u);
  EXPECT_EQ(launch->state.private_segment_fixed_size, 12u);
  EXPECT_EQ(launch->constant_buffer_1_bytes, 48u);
  EXPECT_EQ(launch->constant_arguments.size(), 2u);
}

TEST(CatalystLaunch, RefusesContradictions) {
  const auto error = [](uint16_t machine, std::string_view lines, uint32_t rsrc2) {
    const Bytes file = cl1_container(machine, lines, rsrc2);
    const auto container = read_container(file);
    return container ? message(launch_info(*container, container->kernels[0])) : container.error().message;
  };
  EXPECT_EQ(error(1021, ";memory:hwlocal:1024", 0x998), "kernel k: metadata has 1024 bytes of LDS, ATI_PROGINFO 512");
  EXPECT_EQ(error(1021, ";value:v:float:8:1:20", 0x998), "kernel k: argument v is at byte 20, not a multiple of 16");
  EXPECT_EQ(error(1021, ";uavid:1", 0x4),
            "kernel k: PTR_UAV_TABLE is in SGPRs up to 3, COMPUTE_PGM_RSRC2 has 2 user SGPRs");
  EXPECT_EQ(error(1001 + 5, ";uavid:1", 0x998), "kernel k is R700 code for rv770, which cannot be executed");
}

}  // namespace

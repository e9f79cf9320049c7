// Containers of Catalyst's OpenCL 2.0 and launches of both kinds, against files built by hand after public binaries.
#include <gtest/gtest.h>

#include "object/catalyst_cl2_files.h"
#include "object/catalyst_files.h"
#include "object/catalyst_launch.h"

using namespace Atoll;
using namespace Atoll::object;
using namespace Atoll::object::catalyst;
using test::Bytes;
using test::Cl2TestArgument;
using test::words;

namespace {

std::vector<Cl2TestArgument> arguments() {
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

template <typename T>
std::string message(const support::Result<T>& result) {
  return result ? "no error" : result.error().message;
}

TEST(CatalystCl2, ReadsTheOlderForm) {
  for (const bool wide : {false, true}) {
    const Bytes record = test::cl2_metadata(wide, arguments()), kernel_code = test::cl2_kernel(0xB, 8);
    const Bytes file = wide ? test::cl2_older_container<test::Elf64Types>(record, kernel_code)
                            : test::cl2_older_container<test::Elf32Types>(record, kernel_code);
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
  const Bytes kernel = test::cl2_kernel(0x2F, 12);
  const Bytes file =
      test::cl2_newer_container<test::Elf64Types>(test::cl2_metadata(true, arguments()), kernel, {8, 0, 3});
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
  const auto error = [](const std::vector<Cl2TestArgument>& list) {
    return message(read_cl2_container(
        test::cl2_older_container<test::Elf64Types>(test::cl2_metadata(true, list), test::cl2_kernel(9, 6))));
  };
  const std::string where = "symbol '__OpenCL_&__OpenCL_k_kernel_metadata': ";
  EXPECT_EQ(error({{.name = "x", .type = 10}}), where + "argument 0 (x) has unknown type 10 of kind 4");
  EXPECT_EQ(error({{.name = "x", .type = 4, .kind = 2}}), where + "argument 0 (x) has unknown type 4 of kind 2");
  EXPECT_EQ(error({{.name = "x", .type = 7, .space = 9, .is_pointer = 1}}),
            where + "argument 0 (x) points to unknown address space 9");
  EXPECT_EQ(error({{.name = "x", .size = 17, .type = 8}}), where + "argument 0 (x) is a vector of 17 elements");
  const Bytes file = test::cl2_older_container<test::Elf64Types>(test::cl2_metadata(true, {}), test::cl2_kernel(9, 8));
  const auto container = read_cl2_container(file);
  ASSERT_TRUE(container) << container.error().message;
  EXPECT_EQ(message(launch_info(*container, container->kernels[0])),
            "kernel k: its features take 6 user SGPRs, COMPUTE_PGM_RSRC2 has 8");
  const Bytes unknown =
      test::cl2_older_container<test::Elf64Types>(test::cl2_metadata(true, {}), test::cl2_kernel(9, 6), 99);
  const auto other = read_cl2_container(unknown);
  ASSERT_TRUE(other);
  EXPECT_EQ(message(launch_info(*other, other->kernels[0])), "the file does not name its processor (flags 0x63)");
}

TEST(CatalystCl2, SurvivesEveryCut) {
  const Bytes file =
      test::cl2_older_container<test::Elf64Types>(test::cl2_metadata(true, arguments()), test::cl2_kernel(9, 6));
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

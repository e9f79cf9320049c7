// Containers of Catalyst's OpenCL 1.x, against files built by hand after the layout of public binaries.
#include <gtest/gtest.h>

#include "object/catalyst_container.h"
#include "object/catalyst_files.h"
#include "target/processor.h"

using namespace Atoll;
using namespace Atoll::object::catalyst;
using test::Bytes;
using test::cal_note;
using test::words;

namespace {

constexpr std::string_view metadata = ";ARGSTART:__OpenCL_k_kernel\n;device:tahiti\n;ARGEND:__OpenCL_k_kernel\n";
const Bytes s_endpgm = words({0xBF810000});

Bytes image() {
  const Bytes info = words({0x80001000, 2,     0x80001001, 23,       0x80001002, 0,   0x80001003, 2,    0x80001004, 2,
                            0x80001005, 2,     0x80001006, 1,        0x80001007, 4,   0x80001008, 4,    0x80001041, 11,
                            0x80001042, 24,    0x80001863, 102,      0x80001864, 256, 0x80001043, 0xC0, 0x80001044, 1,
                            0x80001045, 3,     0x2E13,     0x400998, 0x8000001C, 64,  0x8000001D, 2,    0x8000001E, 1,
                            0x80000082, 0x8000});
  return test::cal_image(
      {{.machine = 0x19, .notes = cal_note(2, {}), .text = words({0x47, 0x3D}), .data = {}},
       {.machine = 0x1A,
        .notes = test::joined({cal_note(2, {}), cal_note(16, words({12, 4, 0, 5})), cal_note(1, info)}),
        .text = s_endpgm,
        .data = Bytes(8)}});
}

template <typename T>
std::string message(const support::Result<T>& result) {
  return result ? "no error" : result.error().message;
}

TEST(CatalystContainer, ReadsBothClasses) {
  for (const bool wide : {false, true}) {
    const Bytes file = wide ? test::cal_container<test::Elf64Types>(1021, metadata, image())
                            : test::cal_container<test::Elf32Types>(1021, metadata, image());
    ASSERT_TRUE(is_container(file));
    const auto container = read_container(file);
    ASSERT_TRUE(container) << container.error().message;
    EXPECT_EQ(container->device->name, "tahiti");
    EXPECT_EQ(container->is_64_bit, wide);
    EXPECT_EQ(container->compile_options, "-DX=1");
    EXPECT_EQ(container->driver, "driver 923.1");
    ASSERT_EQ(container->global_data.size(), 1u);
    EXPECT_EQ(container->global_data[0].id, 2u);
    EXPECT_EQ(container->global_data[0].bytes[3], 4);
    ASSERT_EQ(container->kernels.size(), 1u);
    const Kernel& kernel = container->kernels[0];
    EXPECT_EQ(kernel.name, "k");
    EXPECT_EQ(kernel.header.size(), 32u);
    EXPECT_EQ(kernel.metadata_text, metadata);
    EXPECT_EQ(kernel.text()->find("device")->text("name"), "tahiti");
    ASSERT_EQ(kernel.encodings.size(), 2u);
    EXPECT_TRUE(kernel.encodings[0].is_amd_il());
    EXPECT_EQ(kernel.encodings[0].text.size(), 8u);
    EXPECT_EQ(kernel.gcn(), &kernel.encodings[1]);
    EXPECT_EQ(kernel.gcn()->notes.size(), 3u);
    EXPECT_EQ(Bytes(kernel.gcn()->text.begin(), kernel.gcn()->text.end()), s_endpgm);
    EXPECT_EQ(kernel.gcn()->data.size(), 8u);
  }
}

TEST(CatalystContainer, DecodesProgramInfo) {
  const Bytes file = test::cal_container<test::Elf32Types>(1021, metadata, image());
  const auto container = read_container(file);
  ASSERT_TRUE(container);
  const auto info = read_program_info(container->kernels[0].gcn()->find(CalNoteType::program_info)->description);
  ASSERT_TRUE(info) << info.error().message;
  ASSERT_EQ(info->user_data.size(), 2u);
  EXPECT_EQ(user_data_class_name(info->user_data[0].data_class), "PTR_UAV_TABLE");
  EXPECT_EQ(info->user_data[0].first_sgpr, 2u);
  EXPECT_EQ(user_data_class_name(info->user_data[1].data_class), "IMM_CONST_BUFFER");
  EXPECT_EQ(info->user_data[1].api_slot, 1u);
  EXPECT_EQ(info->user_data[1].num_sgprs, 4u);
  EXPECT_EQ(info->vgprs, 11u);
  EXPECT_EQ(info->sgprs, 24u);
  EXPECT_EQ(info->max_sgprs, 102u);
  EXPECT_EQ(info->max_vgprs, 256u);
  EXPECT_EQ(info->float_mode, 0xC0u);
  EXPECT_EQ(info->ieee_mode, 1u);
  EXPECT_EQ(info->scratch_dwords, 3u);
  EXPECT_EQ(info->compute_pgm_rsrc2, 0x400998u);
  EXPECT_EQ(info->work_group_size, (std::array<uint32_t, 3>{64, 2, 1}));
  EXPECT_EQ(info->lds_bytes, 0x8000u);
}

TEST(CatalystContainer, RefusesWrongProgramInfo) {
  EXPECT_EQ(message(read_program_info(Bytes(12))), "ATI_PROGINFO of 12 bytes is not a multiple of 8");
  EXPECT_EQ(message(read_program_info(words({0x80001000, 17}))),
            "ATI_PROGINFO has 17 elements of user data; 16 are possible");
  EXPECT_EQ(message(read_program_info(words({0x80001000, 1, 0x80001001, 33}))),
            "ATI_PROGINFO has user data of unknown class 33");
  EXPECT_EQ(message(read_program_info(words({0x80001000, 1, 0x80001003, 14, 0x80001004, 4}))),
            "ATI_PROGINFO has user data in SGPRs 14 to 17; 16 are available");
  EXPECT_EQ(message(read_program_info(words({0x80001041, 1, 0x80001041, 2}))),
            "ATI_PROGINFO sets 0x80001041 to 1 and to 2");
}

TEST(CatalystContainer, KnowsEveryDevice) {
  // e_machine is 1001 plus AMD's CALtargetEnum; processors are those of the target table.
  EXPECT_EQ(find_device("tahiti")->elf_machine, 1001 + 20);
  EXPECT_EQ(find_device("cypress")->elf_machine, 1001 + 8);
  EXPECT_EQ(find_device("cypress")->family, Family::evergreen);
  EXPECT_EQ(find_device("rv770")->family, Family::r700);
  EXPECT_EQ(find_device_of_encoding(0x1B)->name, "pitcairn");
  EXPECT_EQ(find_device_of_encoding(encoding_amd_il), nullptr);
  for (const Device& device : devices()) {
    EXPECT_EQ(find_device(device.elf_machine), &device);
    EXPECT_EQ(device.family == Family::gcn, target::find_processor(device.processor) != nullptr) << device.name;
    EXPECT_EQ(device.family == Family::gcn, device.encoding.has_value()) << device.name;
  }
  EXPECT_EQ(find_device(uint16_t{1000}), nullptr);
}

TEST(CatalystContainer, ShowsOlderDevicesWithoutReadingTheirCode) {
  const Bytes file = test::cal_container<test::Elf32Types>(1001 + 8, metadata, Bytes(100, 0xEE));
  const auto container = read_container(file);
  ASSERT_TRUE(container) << container.error().message;
  EXPECT_EQ(container->device->name, "cypress");
  EXPECT_EQ(container->kernels[0].image.size(), 100u);
  EXPECT_EQ(container->kernels[0].gcn(), nullptr);
}

TEST(CatalystContainer, NamesWhatIsWrong) {
  const auto error = [](const Bytes& inner) {
    return message(read_container(test::cal_container<test::Elf32Types>(1021, metadata, inner)));
  };
  EXPECT_EQ(error(Bytes(100)), "kernel k: not an ELF file");
  Bytes inner = image();
  inner[18] = 0x7E;
  EXPECT_EQ(error(inner), "kernel k: machine 0x7e instead of 0x7d (ATI CAL)");
  inner = image();
  inner[sizeof(Elf32_Ehdr)] = 9;
  EXPECT_EQ(error(inner), "kernel k: no encoding dictionary");
  // A note whose size is cut.
  const Bytes notes = test::joined({words({8, 400, 16}), test::bytes_of(std::string_view("ATI CAL\0", 8)), Bytes(16)});
  EXPECT_EQ(error(test::cal_image({{.notes = notes, .text = s_endpgm, .data = {}}})),
            "kernel k: encoding 0: note 0 (ATI_UAV) has 400 bytes; 16 remain");
  EXPECT_EQ(error(test::cal_image({{.notes = Bytes(20), .text = s_endpgm, .data = {}}})),
            "kernel k: encoding 0: note 0 at byte 0 is not a note of the owner 'ATI CAL'");
  EXPECT_EQ(message(read_container(
                test::cal_container<test::Elf32Types>(1021, ";ARGSTART:k\n;bogus:1\n;ARGEND:k\n", image()))),
            "kernel k: metadata: line 2: unknown token 'bogus'");
  EXPECT_EQ(message(read_container(test::cal_container<test::Elf32Types>(999, metadata, image()))),
            "machine 0x3e7 is not a device of Catalyst's OpenCL 1.x");
}

TEST(CatalystContainer, SurvivesEveryCut) {
  const Bytes file = test::cal_container<test::Elf32Types>(1021, metadata, image());
  for (size_t size = 0; size < file.size(); ++size) EXPECT_FALSE(read_container(std::span(file).first(size))) << size;
}

}  // namespace

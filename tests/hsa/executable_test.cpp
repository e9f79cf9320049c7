// Code object readers, executables, symbols, AMD's loader extension.
#include <elf.h>
#include <fcntl.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <set>

#include "hsa/kernels.h"
#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

class HsaExecutable : public HsaTest {
 protected:
  static void SetUpTestSuite() { code = compile_kernels(test_kernels); }

  hsa_executable_t load(const std::vector<uint8_t>& bytes) {
    EXPECT_EQ(hsa_code_object_reader_create_from_memory(bytes.data(), bytes.size(), &reader), HSA_STATUS_SUCCESS);
    hsa_executable_t executable{};
    EXPECT_EQ(
        hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable),
        HSA_STATUS_SUCCESS);
    load_status = hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, &loaded);
    return executable;
  }
  template <typename T>
  T symbol_info(hsa_executable_t executable, const char* name, hsa_executable_symbol_info_t attribute) {
    hsa_executable_symbol_t symbol{};
    EXPECT_EQ(hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol), HSA_STATUS_SUCCESS) << name;
    T value{};
    EXPECT_EQ(hsa_executable_symbol_get_info(symbol, attribute, &value), HSA_STATUS_SUCCESS) << name;
    return value;
  }

  static std::vector<uint8_t> code;
  hsa_code_object_reader_t reader{};
  hsa_loaded_code_object_t loaded{};
  hsa_status_t load_status = HSA_STATUS_SUCCESS;
};
std::vector<uint8_t> HsaExecutable::code;

TEST_F(HsaExecutable, SymbolsSayWhatTheyAre) {
  const hsa_executable_t executable = load(code);
  ASSERT_EQ(load_status, HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_executable_freeze(executable, nullptr), HSA_STATUS_SUCCESS);
  EXPECT_EQ(symbol_info<hsa_symbol_kind_t>(executable, "add.kd", HSA_EXECUTABLE_SYMBOL_INFO_TYPE),
            HSA_SYMBOL_KIND_KERNEL);
  EXPECT_NE(symbol_info<uint64_t>(executable, "add.kd", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT), 0U);
  EXPECT_GE(symbol_info<uint32_t>(executable, "add.kd", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE), 12U);
  EXPECT_EQ(symbol_info<uint32_t>(executable, "add.kd", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE), 0U);
  EXPECT_EQ(symbol_info<uint32_t>(executable, "add.kd", HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH), 6U);
  EXPECT_EQ(symbol_info<hsa_symbol_kind_t>(executable, "counter", HSA_EXECUTABLE_SYMBOL_INFO_TYPE),
            HSA_SYMBOL_KIND_VARIABLE);
  EXPECT_EQ(symbol_info<uint32_t>(executable, "table", HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE), 16U);
  EXPECT_EQ(*symbol_info<const int*>(executable, "counter", HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS), 5);
  hsa_executable_symbol_t symbol{};
  EXPECT_EQ(hsa_executable_get_symbol_by_name(executable, "missing", &gpu, &symbol),
            HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);

  std::set<std::string> kernels;
  ASSERT_EQ(hsa_executable_iterate_agent_symbols(
                executable, gpu,
                [](hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t each, void* data) {
                  hsa_symbol_kind_t kind{};
                  EXPECT_EQ(hsa_executable_symbol_get_info(each, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind),
                            HSA_STATUS_SUCCESS);
                  uint32_t length = 0;
                  EXPECT_EQ(hsa_executable_symbol_get_info(each, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length),
                            HSA_STATUS_SUCCESS);
                  std::string name(length, ' ');
                  EXPECT_EQ(hsa_executable_symbol_get_info(each, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name.data()),
                            HSA_STATUS_SUCCESS);
                  if (kind == HSA_SYMBOL_KIND_KERNEL) static_cast<std::set<std::string>*>(data)->insert(name);
                  return HSA_STATUS_SUCCESS;
                },
                &kernels),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(kernels, (std::set<std::string>{"add.kd", "bump.kd", "stray.kd", "trap.kd", "where.kd"}));
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kernels),
            HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
}

TEST_F(HsaExecutable, AFrozenOneTakesNothingMore) {
  const hsa_executable_t executable = load(code);
  ASSERT_EQ(hsa_executable_freeze(executable, nullptr), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_executable_freeze(executable, nullptr), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
  EXPECT_EQ(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr),
            HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
  int variable = 0;
  EXPECT_EQ(hsa_executable_global_variable_define(executable, "late", &variable), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
  hsa_executable_state_t state{};
  EXPECT_EQ(hsa_executable_get_info(executable, HSA_EXECUTABLE_INFO_STATE, &state), HSA_STATUS_SUCCESS);
  EXPECT_EQ(state, HSA_EXECUTABLE_STATE_FROZEN);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
}

TEST_F(HsaExecutable, WhatTheProgramDefinesIsLinkedIn) {
  const auto bytes = compile_kernels(
      "extern __global int outside __attribute__((visibility(\"default\"))); __kernel void use(void) { outside = 4; }");
  testing::internal::CaptureStderr();
  const hsa_executable_t without = load(bytes);
  EXPECT_EQ(load_status, HSA_STATUS_ERROR_VARIABLE_UNDEFINED);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("outside"), std::string::npos);
  EXPECT_EQ(hsa_executable_destroy(without), HSA_STATUS_SUCCESS);

  hsa_executable_t executable{};
  ASSERT_EQ(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable),
            HSA_STATUS_SUCCESS);
  int outside = 0;
  ASSERT_EQ(hsa_executable_agent_global_variable_define(executable, gpu, "outside", &outside), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_executable_agent_global_variable_define(executable, gpu, "outside", &outside),
            HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
  EXPECT_EQ(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr), HSA_STATUS_SUCCESS);
  EXPECT_EQ(symbol_info<int*>(executable, "outside", HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS), &outside);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
}

TEST_F(HsaExecutable, CodeForAnotherGpuAndBrokenCodeAreRefused) {
  testing::internal::CaptureStderr();
  hsa_executable_t executable = load(compile_kernels(test_kernels, "gfx900"));
  EXPECT_EQ(load_status, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("gfx900"), std::string::npos);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);

  testing::internal::CaptureStderr();
  const std::vector<uint8_t> half(code.begin(), code.begin() + static_cast<ptrdiff_t>(code.size() / 2));
  executable = load(half);
  EXPECT_EQ(load_status, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  EXPECT_FALSE(testing::internal::GetCapturedStderr().empty());
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
}

// Each byte of the ELF header and of the program headers with other values. Whatever a load makes of it, it is one of
// the statuses that hsa.h lists for it.
TEST_F(HsaExecutable, DamagedHeadersAreInvalidCodeObjects) {
  const auto status_with = [&](size_t offset, uint8_t value) {
    std::vector<uint8_t> bytes = code;
    bytes[offset] = value;
    EXPECT_EQ(hsa_executable_destroy(load(bytes)), HSA_STATUS_SUCCESS);
    return load_status;
  };
  const auto header = reinterpret_cast<const Elf64_Ehdr*>(code.data());
  const size_t end = header->e_phoff + header->e_phnum * sizeof(Elf64_Phdr);
  ASSERT_LT(end, code.size());
  testing::internal::CaptureStderr();
  for (size_t offset = 0; offset < end; offset++) {
    for (const int change : {0x01, 0x02, 0x80, 0xFF}) {
      const hsa_status_t status = status_with(offset, static_cast<uint8_t>(code[offset] ^ change));
      EXPECT_TRUE(status == HSA_STATUS_SUCCESS || status == HSA_STATUS_ERROR_INVALID_CODE_OBJECT ||
                  status == HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS || status == HSA_STATUS_ERROR_OUT_OF_RESOURCES)
          << "byte " << offset << " ^ " << change << ": " << status;
    }
  }
  for (const uint8_t os_abi : std::initializer_list<uint8_t>{0, 3, 65, 66, 200}) {
    EXPECT_EQ(status_with(EI_OSABI, os_abi), HSA_STATUS_ERROR_INVALID_CODE_OBJECT) << "OS ABI " << int{os_abi};
  }
  for (const uint8_t abi : std::initializer_list<uint8_t>{5, 6, 255}) {
    EXPECT_EQ(status_with(EI_ABIVERSION, abi), HSA_STATUS_ERROR_INVALID_CODE_OBJECT) << "ABI version " << int{abi};
  }
  EXPECT_EQ(status_with(offsetof(Elf64_Ehdr, e_flags), 0xFE), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  testing::internal::GetCapturedStderr();
}

TEST_F(HsaExecutable, UnknownRelocationTypesAreInvalidCodeObjects) {
  auto bytes = compile_kernels(
      "__attribute__((visibility(\"default\"))) __global int target = 1; __attribute__((visibility(\"default\"))) "
      "__global "
      "int* __global pointer = &target; __kernel void use(__global int* o) { *o = *pointer; }");
  EXPECT_EQ(hsa_executable_destroy(load(bytes)), HSA_STATUS_SUCCESS);
  ASSERT_EQ(load_status, HSA_STATUS_SUCCESS);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  Elf64_Rela* relocation = nullptr;
  for (unsigned i = 0; i < header.e_shnum; i++) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type == SHT_RELA) relocation = reinterpret_cast<Elf64_Rela*>(bytes.data() + section.sh_offset);
  }
  ASSERT_NE(relocation, nullptr);
  const Elf64_Xword before = relocation->r_info;
  testing::internal::CaptureStderr();
  unsigned refused = 0;
  for (unsigned type = 0; type < 256; type++) {
    relocation->r_info = ELF64_R_INFO(ELF64_R_SYM(before), type);
    EXPECT_EQ(hsa_executable_destroy(load(bytes)), HSA_STATUS_SUCCESS);
    if (load_status == HSA_STATUS_SUCCESS) continue;
    refused++;
    EXPECT_EQ(load_status, HSA_STATUS_ERROR_INVALID_CODE_OBJECT) << "relocation type " << type;
  }
  EXPECT_GT(refused, 240u);  // R_AMDGPU_* has 15 types
  testing::internal::GetCapturedStderr();
}

TEST_F(HsaExecutable, ReadersTakeFilesAndPartsOfFiles) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a padded+file\xC3\xA9.bin";
  write_file(path, std::string(100, 'x') + std::string(code.begin(), code.end()) + "tail");
  const int file = open(path.c_str(), O_RDONLY);
  ASSERT_GE(file, 0);
  ASSERT_EQ(hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(file, 100, code.size(), &reader),
            HSA_STATUS_SUCCESS);
  hsa_code_object_reader_t beyond{};
  EXPECT_EQ(
      hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(file, 100, code.size() + 5, &beyond),
      HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_code_object_reader_create_from_file(-1, &beyond), HSA_STATUS_ERROR_INVALID_FILE);
  hsa_executable_t executable{};
  ASSERT_EQ(hsa_executable_create(HSA_PROFILE_FULL, HSA_EXECUTABLE_STATE_UNFROZEN, nullptr, &executable),
            HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, &loaded), HSA_STATUS_SUCCESS);

  uint32_t length = 0;
  ASSERT_EQ(hsa_ven_amd_loader_loaded_code_object_get_info(
                loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH, &length),
            HSA_STATUS_SUCCESS);
  std::string uri(length, ' ');
  ASSERT_EQ(hsa_ven_amd_loader_loaded_code_object_get_info(loaded, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI,
                                                           uri.data()),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(uri, fmt::format("file://{}/a%20padded%2Bfile%C3%A9.bin#offset=100&size={}", directory.path().string(),
                             code.size()));
  EXPECT_EQ(hsa_code_object_reader_destroy(reader), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_code_object_reader_destroy(reader), HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
  close(file);
}

TEST_F(HsaExecutable, TheLoaderExtensionFindsCodeByAddress) {
  const hsa_executable_t executable = load(code);
  ASSERT_EQ(hsa_executable_freeze(executable, nullptr), HSA_STATUS_SUCCESS);
  const auto* kernel = symbol_info<const void*>(executable, "add.kd", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
  const void* host = nullptr;
  EXPECT_EQ(hsa_ven_amd_loader_query_host_address(kernel, &host), HSA_STATUS_SUCCESS);
  EXPECT_EQ(host, kernel);
  hsa_executable_t around{};
  EXPECT_EQ(hsa_ven_amd_loader_query_executable(kernel, &around), HSA_STATUS_SUCCESS);
  EXPECT_EQ(around.handle, executable.handle);
  int elsewhere = 0;
  EXPECT_EQ(hsa_ven_amd_loader_query_executable(&elsewhere, &around), HSA_STATUS_ERROR_INVALID_ARGUMENT);

  size_t count = 0;
  ASSERT_EQ(hsa_ven_amd_loader_query_segment_descriptors(nullptr, &count), HSA_STATUS_SUCCESS);
  ASSERT_EQ(count, 1U);
  hsa_ven_amd_loader_segment_descriptor_t descriptor{};
  ASSERT_EQ(hsa_ven_amd_loader_query_segment_descriptors(&descriptor, &count), HSA_STATUS_SUCCESS);
  EXPECT_EQ(descriptor.code_object_storage_base, code.data());
  EXPECT_GE(kernel, descriptor.segment_base);
  EXPECT_LT(kernel, static_cast<const char*>(descriptor.segment_base) + descriptor.segment_size);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
}

TEST_F(HsaExecutable, TheOldInterfaceLoadsTheSameBytes) {
  hsa_code_object_t object{};
  ASSERT_EQ(hsa_code_object_deserialize(code.data(), code.size(), nullptr, &object), HSA_STATUS_SUCCESS);
  hsa_isa_t isa{};
  ASSERT_EQ(hsa_code_object_get_info(object, HSA_CODE_OBJECT_INFO_ISA, &isa), HSA_STATUS_SUCCESS);
  char name[64]{};
  ASSERT_EQ(hsa_isa_get_info(isa, HSA_ISA_INFO_NAME, 0, name), HSA_STATUS_SUCCESS);
  EXPECT_STREQ(name, "amdgcn-amd-amdhsa--gfx90a");
  hsa_executable_t executable{};
  ASSERT_EQ(hsa_executable_create(HSA_PROFILE_FULL, HSA_EXECUTABLE_STATE_UNFROZEN, nullptr, &executable),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_executable_load_code_object(executable, gpu, object, nullptr), HSA_STATUS_SUCCESS);
  hsa_executable_symbol_t symbol{};
  EXPECT_EQ(hsa_executable_get_symbol(executable, nullptr, "add.kd", gpu, 0, &symbol), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_code_object_destroy(object), HSA_STATUS_SUCCESS);
}

class HsaCodeObjectV2 : public HsaExecutable {
 protected:
  HsaCodeObjectV2() { gpu_name = "gfx900:xnack+"; }
};

/// Code object V2, whose kernel symbols are those of the code.
TEST_F(HsaCodeObjectV2, HasKernels) {
  const TemporaryDirectory directory;
  write_file(
      directory / "k.s",
      ".hsa_code_object_version 2,1\n.hsa_code_object_isa\n.text\n.p2align 8\n.amdgpu_hsa_kernel k\n.globl k\nk:\n"
      ".amd_kernel_code_t\n kernarg_segment_byte_size = 24\n workgroup_group_segment_byte_size = 96\n"
      " workitem_private_segment_byte_size = 8\n user_sgpr_count = 2\n.end_amd_kernel_code_t\ns_endpgm\n"
      ".Lend:\n.size k, .Lend-k\n.data\n.globl counter\n.type counter,@object\n.size counter, 4\n"
      "counter: .long 7\n");
  const auto made = run_command(
      fmt::format("cd {} && llvm-mc-15 -triple amdgcn-amd-amdhsa -mcpu=gfx900 --amdhsa-code-object-version=2 "
                  "-filetype=obj k.s -o k.o && ld.lld-22 -shared k.o -o k.co 2>&1",
                  directory.path().string()));
  ASSERT_EQ(made.exit_code, 0) << made.output;
  std::vector<uint8_t> bytes = read_bytes(directory / "k.co");
  const hsa_executable_t executable = load(bytes);
  ASSERT_EQ(load_status, HSA_STATUS_SUCCESS);
  EXPECT_EQ(symbol_info<hsa_symbol_kind_t>(executable, "k", HSA_EXECUTABLE_SYMBOL_INFO_TYPE), HSA_SYMBOL_KIND_KERNEL);
  EXPECT_NE(symbol_info<uint64_t>(executable, "k", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT), 0U);
  EXPECT_EQ(symbol_info<uint32_t>(executable, "k", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE), 24U);
  EXPECT_EQ(symbol_info<uint32_t>(executable, "k", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE), 96U);
  EXPECT_EQ(symbol_info<uint32_t>(executable, "k", HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE), 8U);
  EXPECT_EQ(*symbol_info<const int*>(executable, "counter", HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS), 7);
  EXPECT_EQ(hsa_executable_destroy(executable), HSA_STATUS_SUCCESS);

  hsa_code_object_t code_object{};
  ASSERT_EQ(hsa_code_object_deserialize(bytes.data(), bytes.size(), nullptr, &code_object), HSA_STATUS_SUCCESS);
  char version[64];
  EXPECT_EQ(hsa_code_object_get_info(code_object, HSA_CODE_OBJECT_INFO_VERSION, version), HSA_STATUS_SUCCESS);
  EXPECT_STREQ(version, "2.0");
  hsa_code_symbol_t symbol{};
  ASSERT_EQ(hsa_code_object_get_symbol(code_object, "k", &symbol), HSA_STATUS_SUCCESS);
  uint32_t bytes_of_lds = 0;
  EXPECT_EQ(hsa_code_symbol_get_info(symbol, HSA_CODE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &bytes_of_lds),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(bytes_of_lds, 96U);
  EXPECT_EQ(hsa_code_object_destroy(code_object), HSA_STATUS_SUCCESS);
}

}  // namespace

// The kernel argument segment against the layouts of the user guide: clang's own metadata says where each hidden
// argument lies, the launch says what must be there.
#include "library/kernel_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "library/element_type.h"
#include "library/kernel_names.h"
#include "library/kernels.h"
#include "machine/memory/memory.h"

namespace Atoll::library {
namespace {

class Packing : public testing::Test {
 protected:
  /// The segment of kernel scale, compiled for this code object version, with three arguments.
  void pack(int version) {
    const std::string path = directory / "kernels.co";
    test::compile_kernels("clang-22", version, "gfx900", path);
    file = test::read_bytes(path);
    auto read = object::read_code_object(file);
    ASSERT_TRUE(read) << read.error().message;
    object = std::move(*read);
    kernel = object.find_kernel("scale");
    ASSERT_NE(kernel, nullptr);
    const Argument arguments[] = {uint64_t{0x123456789A}, 2.5f, 77};
    auto packed = pack_arguments(*kernel, arguments, launch);
    ASSERT_TRUE(packed) << packed.error().message;
    segment = *packed;
    EXPECT_EQ(segment.size(), kernel->kernarg_segment_size);
  }

  template <typename T>
  T at(size_t offset) const {
    T value{};
    if (offset + sizeof value <= segment.size()) std::memcpy(&value, segment.data() + offset, sizeof value);
    return value;
  }

  test::TemporaryDirectory directory;
  std::vector<uint8_t> file;
  object::CodeObject object;
  const object::KernelMetadata* kernel = nullptr;
  Launch launch{.grid = {1000, 20, 3}, .block = {256, 8, 2}, .dynamic_lds_bytes = 512, .queue_address = 0xABCDEF00};
  std::vector<std::byte> segment;
};

TEST_F(Packing, ExplicitArgumentsLieAtTheirOffsets) {
  pack(4);
  EXPECT_EQ(at<uint64_t>(0), 0x123456789Au);
  EXPECT_EQ(at<float>(8), 2.5f);
  EXPECT_EQ(at<int>(12), 77);
}

// The implicit arguments of V5 start at a multiple of 8 after the explicit ones, 16 here; their offsets from there on
// are fixed by the ABI.
TEST_F(Packing, Version5HiddenArguments) {
  pack(5);
  constexpr size_t implicit = 16;
  EXPECT_EQ(at<uint32_t>(implicit + 0), 3u);    // whole work-groups: 1000 / 256
  EXPECT_EQ(at<uint32_t>(implicit + 4), 2u);    // 20 / 8
  EXPECT_EQ(at<uint32_t>(implicit + 8), 1u);    // 3 / 2
  EXPECT_EQ(at<uint16_t>(implicit + 12), 256);  // work-group size
  EXPECT_EQ(at<uint16_t>(implicit + 14), 8);
  EXPECT_EQ(at<uint16_t>(implicit + 16), 2);
  EXPECT_EQ(at<uint16_t>(implicit + 18), 1000 - 3 * 256);  // remainders
  EXPECT_EQ(at<uint16_t>(implicit + 20), 20 - 2 * 8);
  EXPECT_EQ(at<uint16_t>(implicit + 22), 1);
  EXPECT_EQ(at<uint64_t>(implicit + 40), 0u);  // global offset
  EXPECT_EQ(at<uint16_t>(implicit + 64), 3);   // dimensions
}

// A grid that is as flat as a line in work-groups that are not: the partial work-groups make it two-dimensional.
TEST_F(Packing, AWorkGroupsSizeMakesADimension) {
  launch.grid = {64, 1, 1};
  launch.block = {64, 4, 1};
  pack(5);
  constexpr size_t implicit = 16;
  EXPECT_EQ(at<uint16_t>(implicit + 64), 2);  // dimensions
  EXPECT_EQ(at<uint32_t>(implicit + 0), 1u);
  EXPECT_EQ(at<uint32_t>(implicit + 4), 0u);  // no whole work-group
  EXPECT_EQ(at<uint16_t>(implicit + 14), 4);
  EXPECT_EQ(at<uint16_t>(implicit + 20), 1);  // remainder
  EXPECT_EQ(at<uint32_t>(implicit + 8), 1u);  // what is not there: one work-group of one, and nothing after it
  EXPECT_EQ(at<uint16_t>(implicit + 16), 1);
  EXPECT_EQ(at<uint16_t>(implicit + 22), 0);
}

TEST_F(Packing, LocalMemoryFollowsTheStaticPartAndCounts) {
  object::KernelMetadata metadata;
  metadata.name = "k";
  metadata.kernarg_segment_size = 16;
  metadata.group_segment_fixed_size = 100;
  for (uint32_t i = 0; i < 2; i++) {
    object::KernelArgument argument;
    argument.kind = object::ArgumentKind::dynamic_shared_pointer;
    argument.kind_name = "dynamic_shared_pointer";
    argument.offset = 4 * i;
    argument.size = 4;
    argument.pointee_align = i == 0 ? 8 : 64;
    metadata.arguments.push_back(argument);
  }
  object::KernelArgument size;
  size.kind = object::ArgumentKind::hidden_dynamic_lds_size;
  size.kind_name = "hidden_dynamic_lds_size";
  size.offset = 8;
  size.size = 4;
  metadata.arguments.push_back(size);
  launch.dynamic_lds_bytes = 0;
  const Argument arguments[] = {LocalMemory{10}, LocalMemory{20}};
  const auto packed = pack_arguments(metadata, arguments, launch);
  ASSERT_TRUE(packed) << packed.error().message;
  segment = *packed;
  EXPECT_EQ(at<uint32_t>(0), 104u);
  EXPECT_EQ(at<uint32_t>(4), 128u);
  EXPECT_EQ(launch.dynamic_lds_bytes, 128u + 20 - 100);
  EXPECT_EQ(at<uint32_t>(8), launch.dynamic_lds_bytes);

  launch = {.lds_guard_bytes = 256};
  const auto apart = pack_arguments(metadata, arguments, launch);
  ASSERT_TRUE(apart) << apart.error().message;
  segment = *apart;
  EXPECT_EQ(at<uint32_t>(0), 360u);
  EXPECT_EQ(at<uint32_t>(4), 640u);
  EXPECT_EQ(launch.dynamic_lds_bytes, 640u + 20 - 100);
  ASSERT_EQ(launch.lds.size(), 3u);
  EXPECT_EQ(launch.lds[0].end, 100u);
  EXPECT_EQ(launch.lds[1].end, 370u);
  EXPECT_EQ(launch.lds[2].begin, 640u);
}

TEST_F(Packing, UnknownKindsAreNamed) {
  object::KernelMetadata metadata;
  metadata.name = "k";
  metadata.kernarg_segment_size = 16;
  object::KernelArgument argument;
  argument.kind_name = "hidden_teapot";
  argument.size = 8;
  metadata.arguments.push_back(argument);
  EXPECT_THAT(pack_arguments(metadata, {}, launch).error().message, testing::HasSubstr("hidden_teapot"));
  metadata.arguments[0].kind_name = "image";
  metadata.arguments[0].kind = object::ArgumentKind::image;
  const Argument one[] = {uint64_t{1}};
  EXPECT_THAT(pack_arguments(metadata, one, launch).error().message, testing::HasSubstr("image"));
}

/// The names of OpenCL's types, with the size of each by its standard (6.3.1).
struct CType {
  const char* name;
  uint8_t size;
  bool is_floating;
};
constexpr CType c_types[] = {{"char", 1, false}, {"uchar", 1, false}, {"short", 2, false}, {"ushort", 2, false},
                             {"int", 4, false},  {"uint", 4, false},  {"long", 8, false},  {"ulong", 8, false},
                             {"half", 2, true},  {"float", 4, true},  {"double", 8, true}};

NumberType number_type(const CType& type, bool is_pointer) {
  return {.size = type.size, .is_floating = type.is_floating, .is_pointer = is_pointer};
}

// Every type of a parameter with every type of an argument: by clang's metadata of OpenCL, by names in C++, as values,
// as pointers and as pointers to vectors. The numbers must have the same size and be floating-point or not alike.
TEST(ArgumentTypes, MustBeThoseOfTheParameters) {
  const test::TemporaryDirectory directory;
  std::string source = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
  for (const auto& [name, size, is_floating] : c_types)
    source += fmt::format(
        "kernel void k_{0}(global {0}* p, {0} v, global const {0}4* q, global const {0} * restrict r) {{ *p = v + q->x "
        "+ *r; "
        "}}\n",
        name);
  test::write_file(directory / "k.cl", source);
  unsigned compared = 0;
  for (const char* options :
       {"clang-22 -mcode-object-version=5 -cl-kernel-arg-info", "clang-15 -mcode-object-version=2 -w"}) {
    SCOPED_TRACE(options);
    const auto run = test::run_command(
        fmt::format("cd {} && {} -target amdgcn-amd-amdhsa -mcpu=gfx900 -nogpulib -O1 -cl-std=CL2.0 k.cl -o k.co 2>&1",
                    directory.path().string(), options));
    ASSERT_EQ(run.exit_code, 0) << run.output;
    const auto file = test::read_bytes(directory / "k.co");
    const auto object = object::read_code_object(file);
    ASSERT_TRUE(object) << object.error().message;
    for (const CType& wanted : c_types) {
      const auto* kernel = object->find_kernel(std::string("k_") + wanted.name);
      ASSERT_NE(kernel, nullptr);
      const auto parameters = parameters_of(*kernel);
      ASSERT_EQ(parameters.size(), 4u);
      for (size_t i = 0; i < 4; i++) {
        ASSERT_NE(parameters[i].element, "") << wanted.name << " " << i;
        for (const CType& given : c_types) {
          Argument argument(uint64_t{0});
          argument.type = number_type(given, i != 1);
          const bool same = given.size == wanted.size && given.is_floating == wanted.is_floating;
          EXPECT_EQ(check_type(parameters[i], i, argument).has_value(), same)
              << given.name << " for parameter " << i << ", " << parameters[i].type;
          compared++;
          argument.type.is_pointer = !argument.type.is_pointer;  // a number for a pointer, a buffer for a number
          EXPECT_EQ(check_type(parameters[i], i, argument).has_value(), i != 1 && !given.is_floating)
              << given.name << " for parameter " << i << ", " << parameters[i].type;
        }
        EXPECT_TRUE(check_type(parameters[i], i, Argument(Buffer())).has_value() == (i != 1));  // void*
      }
    }
  }
  EXPECT_EQ(compared, 2u * 11 * 4 * 11);
}

TEST(ArgumentTypes, AreReadFromEverySpelling) {
  const auto element = [](std::string_view c_type) {
    const ElementType* const type = element_type_of_c(c_type);
    return type == nullptr ? "" : std::string(type->name);
  };
  // Names by LLVM's demangler and by clang's metadata.
  for (const auto& [c_type, name] :
       std::initializer_list<std::pair<const char*, const char*>>{{"float*", "f32"},
                                                                  {"float const*", "f32"},
                                                                  {"float const* restrict", "f32"},
                                                                  {"float volatile const*", "f32"},
                                                                  {"float4*", "f32"},
                                                                  {"uint16*", "u32"},
                                                                  {"HIP_vector_type<float, 4u>*", "f32"},
                                                                  {"HIP_vector_type<unsigned char, 2u> const*", "u8"},
                                                                  {"unsigned long long", "u64"},
                                                                  {"_Float16 const*", "f16"},
                                                                  {"uint8_t*", "u8"},
                                                                  {"size_t", "u64"},
                                                                  {"float4", ""},  // by value it is not a number
                                                                  {"void*", ""},
                                                                  {"Pair*", ""},
                                                                  {"int**", ""},
                                                                  {"std::pair<float, int>*", ""},
                                                                  {"", ""}})
    EXPECT_EQ(element(c_type), name) << c_type;
}

// Names by clang of the declarations beside them.
TEST(ParameterTypes, AreThoseOfTheNameInCxx) {
  using Types = std::vector<std::string>;
  EXPECT_EQ(parameter_types("_Z3addPfPKfi"),
            (Types{"float*", "float const*", "int"}));  // add(float*, const float*, int)
  EXPECT_EQ(parameter_types("_Z4nonev"), Types{});      // none()
  EXPECT_EQ(parameter_types("plain"), Types{});         // extern "C"
  // template <class T, class U> void f(std::pair<T, U>*, T), with float and int, in an unnamed namespace
  EXPECT_EQ(parameter_types("_ZN12_GLOBAL__N_11fIfiEEvPSt4pairIT_T0_ES2_"), (Types{"std::pair<float, int>*", "float"}));
  // halves(const _Float16*, _Float16)
  EXPECT_THAT(parameter_types("_Z6halvesPKDF16_DF16_"),
              testing::AnyOf(Types{"half const*", "half"}, Types{"_Float16 const*", "_Float16"}));
  // map(void (*)(int, float), unsigned char)
  EXPECT_EQ(parameter_types("_Z3mapPFvifEh"), (Types{"void (*)(int, float)", "unsigned char"}));
}

}  // namespace
}  // namespace Atoll::library

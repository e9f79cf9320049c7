// `atoll launch`: arguments of every form, results printed and saved, and what it says of mistakes. What the kernels
// compute is known here (tests/library/kernels.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

#include "library/kernels.h"
#include "support/command.h"

namespace Atoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LaunchCommand : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory = new test::TemporaryDirectory;
    test::compile_kernels("clang-22", 5, "gfx90a", *directory / "kernels.co");
    test::write_file(*directory / "two.hip",
                     "#include <hip/hip_runtime.h>\n"
                     "__global__ void twice(int* p, float f, double d) { p[threadIdx.x] *= 2; p[0] += f + d; }\n"
                     "namespace a { __global__ void same(int*) {} }\nnamespace b { __global__ void same(int*) {} }\n"
                     "__global__ void kinds(float* p, const unsigned* q, _Float16 h, unsigned char c, float f) {\n"
                     "  p[0] = h; p[1] = c; p[2] = f; p[3] = q[1]; }\n"
                     "extern \"C\" __global__ void bare(float* p, float f) { *p = f; }\n"
                     "extern \"C\" __global__ void nothing(void*) {}\n"
                     "__global__ void same(int*) {}\n__global__ void same(float*) {}\n");
    const auto run = test::run_command(fmt::format(
        "hipcc --genco --offload-arch=gfx900 --offload-arch=gfx908 {0}.hip -o {0} 2>/dev/null", *directory / "two"));
    ASSERT_EQ(run.exit_code, 0);
    test::write_file(*directory / "differ.cl",
                     "kernel void differ(global int* a, global const int* b) {\n"
                     "  uint i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();\n"
                     "  a[i] = a[i] - b[i]; }\n");
    const auto compiled =
        test::run_command(fmt::format("clang-22 -x cl -cl-std=CL2.0 -cl-kernel-arg-info -O2 -nogpulib "
                                      "--target=amdgcn-amd-amdhsa -mcpu=gfx90a {0}.cl -o {0}.co",
                                      *directory / "differ"));
    ASSERT_EQ(compiled.exit_code, 0);
  }
  static void TearDownTestSuite() { delete directory; }

  static test::CommandResult launch(const std::string& arguments) {
    return test::run_command(
        fmt::format("cd {} && {} launch {} 2>&1", directory->path().string(), ATOLL_COMMAND, arguments));
  }

  static inline test::TemporaryDirectory* directory = nullptr;
};

TEST_F(LaunchCommand, ListsKernels) {
  const auto opencl = launch("kernels.co");
  EXPECT_EQ(opencl.exit_code, 0);
  EXPECT_THAT(opencl.output,
              AllOf(HasSubstr("\nscale\n"), HasSubstr("--arg 2: 4 bytes, value, float factor"),
                    HasSubstr("--arg 3: 4 bytes, pointer to LDS, int* part"), HasSubstr("needs --block 8,4,1")));
  const auto hip = launch("two");
  EXPECT_THAT(hip.output,
              AllOf(HasSubstr("_Z5twicePifd\n    twice(int*, float, double)"), HasSubstr("for gfx900:xnack-")));
  EXPECT_THAT(launch("two --gpu gfx908").output, HasSubstr("for gfx908:sramecc+:xnack-"));
  EXPECT_THAT(hip.output, AllOf(HasSubstr("--arg 2: 8 bytes, pointer, unsigned int const*\n"),
                                HasSubstr("--arg 5: 4 bytes, value, float\n"), HasSubstr("\nbare\n"),
                                HasSubstr("--arg 2: 4 bytes, value\n")));
}

TEST_F(LaunchCommand, PrintsResults) {
  EXPECT_EQ(
      launch("kernels.co --kernel scale --grid 20 --block 64 --arg buf:20=ramp --arg 2.5 --arg 18 --print 1").output,
      "1: 20 x f32\n"
      "       0: 0 2.5 5 7.5 10 12.5 15 17.5\n"
      "       8: 20 22.5 25 27.5 30 32.5 35 37.5\n"
      "      16: 40 42.5 18 19\n");
  EXPECT_EQ(launch("kernels.co --kernel scale --grid 64 --arg buf:100=const:4 --arg 0.5 --arg 1 --print data:3").output,
            "data: 100 x f32\n       0: 2 4 4\n       3: 97 more (--print data:all shows them)\n");
}

TEST_F(LaunchCommand, ComparesEngines) {
  const auto equal = launch(
      "kernels.co --kernel reverse --grid 640 --arg buf:640=ramp --arg lds:256 --arg lds:256 "
      "--compare-engines");
  EXPECT_EQ(equal.exit_code, 0);
  EXPECT_THAT(equal.output, HasSubstr("reverse: the engines' results are equal: 1 buffers, 2560 bytes; "));
  const auto fault = launch("kernels.co --kernel stray --grid 1 --arg buf:1 --compare-engines");
  EXPECT_EQ(fault.exit_code, 0);
  EXPECT_THAT(fault.output, HasSubstr("both: kernel 'stray'"));
  for (const char* wrong : {"--engine compiled", "--print 1", "--save 1=x", "--schedule 1", "--check", "--stats"}) {
    EXPECT_EQ(launch(fmt::format("kernels.co --kernel scale --grid 1 --compare-engines {}", wrong)).exit_code, 2);
  }
}

// The compiler is made to swap the sources of a subtraction, whose address LLVM's disassembler gives.
TEST_F(LaunchCommand, FindsAWrongTranslation) {
  const auto found = test::run_command(
      fmt::format("llvm-objdump-22 -d --disassemble-symbols=differ {} | grep v_sub_", *directory / "differ.co"));
  uint64_t address = 0;
  const size_t at = found.output.find("// ");
  ASSERT_NE(at, std::string::npos) << found.output;
  ASSERT_EQ(std::sscanf(found.output.c_str() + at, "// %lx:", &address), 1);
  const std::string command = fmt::format(
      "cd {} && ATOLL_COMPILE_SWAPPED={:#x} {} launch differ.co --kernel differ --grid 256 --block 64 --arg "
      "buf:256=ramp --arg buf:256=const:5 --compare-engines",
      directory->path().string(), address, ATOLL_COMMAND);
  const auto differs = test::run_command(command);
  EXPECT_EQ(differs.exit_code, 3);
  EXPECT_THAT(
      differs.output,
      AllOf(HasSubstr("differ: the engines' results differ\n"),
            HasSubstr("a, element 0 of 256 x i32 (byte 0): interpreter -5 (0xfffffffb), compiled 5 (0x00000005)"),
            HasSubstr("255 of 256 elements differ"), HasSubstr("last written by global_store_dword"),
            HasSubstr("at differ+0x"), HasSubstr("work-group 0,0,0, wave 0, lane 0"),
            HasSubstr("first wrong translation: v_sub_"), HasSubstr(fmt::format("({:#x})", address)),
            HasSubstr(fmt::format("ATOLL_COMPILE_LIMIT={:#x} gives the interpreter's result", address))));
}

TEST_F(LaunchCommand, TakesArgumentsOfEveryForm) {
  const std::string to = "kernels.co --kernel mixed --grid 1 --print out ";
  const std::string structure = "hex:0700000000000000000000000000c03f7800000000000000";  // {7, 0.125, 'x'}
  EXPECT_EQ(launch(to + "--arg buf:7 --arg -3 --arg -300 --arg=-3000000000 --arg 2.5 --arg " + structure).output,
            "out: 7 x f64\n       0: -3 -300 -3000000000 2.5 7 0.125 120\n");
  EXPECT_EQ(
      launch(to + "--arg buf:7 --arg u8:0xfe --arg i16:0x7fff --arg 0x10 --arg f64:-1e300 --arg " + structure).output,
      "out: 7 x f64\n       0: -2 32767 16 -1e+300 7 0.125 120\n");
  // HIP's metadata does not tell types, but the name in C++ does.
  EXPECT_EQ(launch("two --kernel kinds --gpu gfx908 --grid 1 --block 1 --arg buf:4 --arg buf:2=ramp --arg 2 --arg 0xff "
                   "--arg 3 --print 1")
                .output,
            "1: 4 x f32\n       0: 2 255 3 1\n");
  EXPECT_THAT(launch("two --kernel twice --gpu gfx908 --grid 1 --block 1 --arg buf:4 --arg 1 --arg ten").output,
              HasSubstr("--arg 3: 'ten' is not a number of type f64"));
  // Where nothing does, what a number looks like decides.
  EXPECT_EQ(launch("two --kernel bare --gpu gfx908 --grid 1 --block 1 --arg buf:1:i32 --arg 2 --print 1").output,
            "1: 1 x i32\n       0: 2\n");
  EXPECT_EQ(launch("two --kernel twice --gpu gfx908 --block 4 --grid 4 --arg buf:4:i32=ramp --arg 1.0 --arg 2.5 "
                   "--print 1")
                .output,
            "1: 4 x i32\n       0: 3 2 4 6\n");
}

TEST_F(LaunchCommand, LocalMemoryAndThreeDimensions) {
  EXPECT_EQ(
      launch("kernels.co --kernel reverse --grid 64 --arg buf:64=ramp --arg lds:256 --arg lds:256 --print 1:4").output,
      "1: 64 x i32\n       0: 63 62 61 60\n       4: 60 more (--print 1:all shows them)\n");
  EXPECT_EQ(launch("kernels.co --kernel places --grid 2,2,2 --block 4,3,2 --arg buf:8 --print 1").output,
            fmt::format("1: 8 x u32\n       0:{}\n", [] {
              std::string row;
              for (int i = 0; i < 8; i++) row += fmt::format(" {}", 4 | 3 << 8 | 2 << 16);
              return row;
            }()));
}

TEST_F(LaunchCommand, ProgramsOfSeveralSourceFilesHaveTheKernelsOfAll) {
  for (const char* name : {"first", "second"})
    test::write_file(*directory / fmt::format("{}.hip", name),
                     fmt::format("#include <hip/hip_runtime.h>\n"
                                 "__global__ void {0}(char* p) {{ p[threadIdx.x] = \"{0}\"[threadIdx.x]; }}\n"
                                 "void use_{0}(char* p) {{ {0}<<<1, 8>>>(p); }}\n",
                                 name));
  const auto compiled = test::run_command(
      fmt::format("cd {} && hipcc --offload-arch=gfx900 -shared -fPIC first.hip second.hip -o library.so 2>/dev/null",
                  directory->path().string()));
  ASSERT_EQ(compiled.exit_code, 0);
  EXPECT_EQ(launch("library.so --kernel first --grid 5 --block 5 --arg buf:5 --print 1").output,
            "1: 5 x i8\n       0: 102 105 114 115 116\n");
  EXPECT_EQ(launch("library.so --kernel second --grid 5 --block 5 --arg buf:5 --print 1").output,
            "1: 5 x i8\n       0: 115 101 99 111 110\n");
}

TEST_F(LaunchCommand, ReadsAndSavesFiles) {
  const std::vector<float> input{1, -2, 3.5f, 1e10f};
  std::string bytes(16, '\0');
  std::memcpy(bytes.data(), input.data(), 16);
  test::write_file(*directory / "in", bytes);
  const auto run =
      launch("kernels.co --kernel scale --grid 64 --arg buf:=file:in --arg 2 --arg 4 --save data=out --save 1=again");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output, "");
  const auto out = test::read_bytes(*directory / "out");
  ASSERT_EQ(out.size(), 16u);
  for (size_t i = 0; i < 4; i++) {
    float value = 0;
    std::memcpy(&value, out.data() + 4 * i, 4);
    EXPECT_EQ(value, input[i] * 2);
  }
  EXPECT_EQ(test::read_bytes(*directory / "again"), out);
  // A longer buffer than the file is zero after it, a shorter one takes the file's start.
  EXPECT_EQ(launch("kernels.co --kernel scale --grid 64 --arg buf:6=file:in --arg 1 --arg 6 --print 1").output,
            "1: 6 x f32\n       0: 1 -2 3.5 10000000000 0 0\n");
  EXPECT_EQ(launch("kernels.co --kernel scale --grid 64 --arg buf:1=file:in --arg 1 --arg 1 --print 1").output,
            "1: 1 x f32\n       0: 1\n");
}

TEST_F(LaunchCommand, PrintsMatrices) {
  const std::string to = "kernels.co --kernel scale --grid 64 --arg buf:12=ramp --arg 10 --arg 12 ";
  EXPECT_EQ(launch(to + "--print data:3x4").output,
            "data: 12 x f32\n"
            "       0:   0  10  20  30\n"
            "       1:  40  50  60  70\n"
            "       2:  80  90 100 110\n");
  EXPECT_EQ(launch(to + "--print 1:1x2").output,
            "1: 12 x f32\n       0:  0 10\n       2: 10 more (--print 1:all shows them)\n");
  for (const char* wrong :
       {"1:3x5", "1:x4", "1:3x", "1:3x4x1", "1:0x4", "1:-1x4", "1:4294967296x4294967296", "1:3y4"}) {
    const auto refused = launch(to + "--print " + wrong);
    EXPECT_EQ(refused.exit_code, 2) << wrong;
    EXPECT_THAT(refused.output, testing::StartsWith("atoll: --print ")) << wrong;
  }
}

// As NumPy itself reads them.
TEST_F(LaunchCommand, SavesFilesOfNumPy) {
  const auto read = [](const std::string& file) {
    return test::run_command(
               fmt::format("/usr/bin/python3 -c \"import numpy; a = numpy.load('{}'); print(a.dtype, a.shape, "
                           "a.tolist())\" 2>&1",
                           *directory / file))
        .output;
  };
  const std::string to = "kernels.co --kernel scale --grid 64 --arg buf:6=ramp --arg 2 --arg 6 ";
  EXPECT_EQ(launch(to + "--save data=line.npy --save 1:2x3=matrix.npy").output, "");
  EXPECT_EQ(read("line.npy"), "float32 (6,) [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]\n");
  EXPECT_EQ(read("matrix.npy"), "float32 (2, 3) [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]\n");
  for (const auto& [type, name] : std::initializer_list<std::pair<const char*, const char*>>{{"i8", "int8"},
                                                                                             {"u8", "uint8"},
                                                                                             {"i16", "int16"},
                                                                                             {"u16", "uint16"},
                                                                                             {"u32", "uint32"},
                                                                                             {"i64", "int64"},
                                                                                             {"u64", "uint64"},
                                                                                             {"f16", "float16"},
                                                                                             {"f64", "float64"}}) {
    const std::string bare =
        fmt::format("two --kernel nothing --gpu gfx908 --grid 1 --block 1 --arg buf:3:{}=ramp", type);
    EXPECT_EQ(launch(bare + " --save 1=typed.npy").output, "");
    EXPECT_THAT(read("typed.npy"), testing::StartsWith(std::string(name) + " (3,) [0")) << type;
  }
  EXPECT_EQ(launch(to + "--save 1:2x3=raw.bin").exit_code, 2);
  EXPECT_EQ(launch(to + "--save 1:4x3=matrix.npy").exit_code, 2);
}

TEST_F(LaunchCommand, ASeedGivesTheSameNumbersEachTime) {
  const std::string once =
      launch("kernels.co --kernel scale --grid 64 --arg buf:1K=seed:42 --arg 1 --arg 1 --print 1:all").output;
  EXPECT_EQ(launch("kernels.co --kernel scale --grid 64 --arg buf:1024=seed:42 --arg 1 --arg 1 --print 1:all").output,
            once);
  EXPECT_NE(launch("kernels.co --kernel scale --grid 64 --arg buf:1K=seed:43 --arg 1 --arg 1 --print 1:all").output,
            once);
}

TEST_F(LaunchCommand, StatisticsGoToStandardError) {
  const auto run = test::run_command(fmt::format(
      "cd {} && {} launch kernels.co --kernel scale --grid 512 --block 128 --arg buf:512 --arg 1 --arg 512 --stats "
      "2>&1 >/dev/null",
      directory->path().string(), ATOLL_COMMAND));
  EXPECT_THAT(run.output, AllOf(testing::StartsWith("scale on AMD Instinct MI250X (gfx90a:sramecc+:xnack-): "),
                                HasSubstr("4 work-groups, 8 waves")));
}

TEST_F(LaunchCommand, StatisticsGoToAFileAsJson) {
  const auto run = launch(
      "two --kernel kinds --gpu gfx908 --grid 512 --block 128 --arg buf:4 --arg buf:2 --arg 1 --arg 1 "
      "--arg 1 --stats=stats.json");
  EXPECT_EQ(run.output, "");
  std::string text;
  for (const uint8_t byte : test::read_bytes(*directory / "stats.json")) text += static_cast<char>(byte);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  ASSERT_TRUE(json.is_object()) << text;
  const auto& gpu = json["gpus"][0];
  EXPECT_EQ(gpu["target"], "gfx908:sramecc+:xnack-");
  const auto& kernel = gpu["kernels"][0];
  EXPECT_EQ(kernel["name"], "_Z5kindsPfPKjDF16_hf");
  EXPECT_THAT(kernel["signature"].get<std::string>(), testing::StartsWith("kinds(float*, unsigned int const*, "));
  EXPECT_EQ(kernel["calls"], 1);
  EXPECT_EQ(kernel["work_groups"], 4);
  EXPECT_EQ(kernel["waves"], 8);
  EXPECT_GT(kernel["wave_instructions"], 8);
  EXPECT_GT(kernel["host_seconds"], 0);
  EXPECT_THAT(
      launch("two --kernel kinds --gpu gfx908 --grid 1 --block 1 --arg buf:4 --arg buf:2 --arg 1 --arg 1 --arg 1 "
             "--stats=nowhere/stats.json")
          .output,
      HasSubstr("atoll: nowhere/stats.json: "));
}

TEST_F(LaunchCommand, WrongUsageIsOneLineAndExitCode2) {
  struct Case {
    const char *arguments, *message;
  };
  for (const auto& [arguments, message] : {
           Case{"", "file is required"},
           Case{"kernels.co --kernel scale", "--grid X,Y,Z is required"},
           Case{"kernels.co --kernel scale --grid 0 --arg buf:1 --arg 1 --arg 1",
                "--grid 0: give one to three numbers"},
           Case{"kernels.co --kernel scale --grid 64 --block 4,x --arg buf:1 --arg 1 --arg 1", "--block 4,x"},
           Case{"kernels.co --kernel scale --grid 1,2,3,4 --arg buf:1 --arg 1 --arg 1", "--grid 1,2,3,4"},
           Case{"kernels.co --kernel scale --grid 64 --arg 1", "kernel scale takes 3 arguments, 1 --arg are given"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:1 --arg f33:1 --arg 1", "--arg 2: 'f33:1'"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:1 --arg one --arg 1",
                "--arg 2: 'one' is not a number of type f32"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:1 --arg 1 --arg 2147483648",
                "2147483648 does not fit into i32"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:1 --arg 1 --arg u8:-1", "does not fit into u8"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:x --arg 1 --arg 1", "'x' is not a size"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:1:f128 --arg 1 --arg 1",
                "unknown element type 'f128'; use one of i8, u8"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:1=noise --arg 1 --arg 1",
                "'noise': a buffer is filled with"},
           Case{"kernels.co --kernel mixed --grid 64 --arg buf:7 --arg 1 --arg 1 --arg 1 --arg 1 --arg hex:0",
                "not pairs of hexadecimal digits"},
           Case{"kernels.co --kernel mixed --grid 64 --arg buf:7 --arg 1 --arg 1 --arg 1 --arg 1 --arg 5",
                "give it as hex:BYTES"},
           // Arguments of another type than the parameter's, and shapes that are none.
           Case{"kernels.co --kernel scale --grid 64 --arg buf:128:f64 --arg 1 --arg 1",
                "--arg 1: cannot pass a buffer of f64 for parameter 'float* data'"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:128:i32 --arg 1 --arg 1",
                "cannot pass a buffer of i32 for parameter 'float* data'"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:1 --arg f64:1 --arg 1",
                "--arg 2: cannot pass an f64 for parameter 'float factor'"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:1 --arg i32:1 --arg 1",
                "cannot pass an i32 for parameter 'float factor'"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:1 --arg 1 --arg f32:1",
                "cannot pass an f32 for parameter 'int count'"},
           Case{"kernels.co --kernel scale --grid 64 --arg 5 --arg 1 --arg 1",
                "cannot pass the number 5 for parameter 'float* data', a pointer"},
           Case{"kernels.co --kernel scale --grid 64 --arg f64:5 --arg 1 --arg 1",
                "cannot pass an f64 for parameter 'float* data'"},
           Case{"kernels.co --kernel mixed --grid 64 --arg buf:7 --arg 1 --arg 1 --arg null --arg 1 --arg hex:00",
                "cannot pass a pointer for parameter 'long l'"},
           Case{"kernels.co --kernel mixed --grid 64 --arg buf:7 --arg 1 --arg 1 --arg buf:1 --arg 1 --arg hex:00",
                "cannot pass a buffer of i64 for parameter 'long l'"},
           Case{"two --kernel twice --gpu gfx908 --grid 64 --arg buf:64:f32 --arg 1 --arg 1",
                "cannot pass a buffer of f32 for parameter 1 'int*'"},
           Case{"kernels.co --kernel scale --grid -1 --arg buf:1 --arg 1 --arg 1", "--grid -1"},
           Case{"kernels.co --kernel scale --grid 4294967296 --arg buf:1 --arg 1 --arg 1", "--grid 4294967296"},
           Case{"kernels.co --kernel scale --grid 64 --block 0 --arg buf:1 --arg 1 --arg 1", "--block 0"},
           Case{"kernels.co --kernel scale --grid 64 --block 64,-1 --arg buf:1 --arg 1 --arg 1", "--block 64,-1"},
           Case{"kernels.co --kernel scale --grid 64 --lds -1 --arg buf:1 --arg 1 --arg 1", "--lds"},
           Case{"kernels.co --kernel scale --grid 64 --lds 4294967296 --arg buf:1 --arg 1 --arg 1", "--lds"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:-1 --arg 1 --arg 1", "'-1' is not a size"},
           Case{"kernels.co --kernel reverse --grid 64 --arg buf:64 --arg lds:-4 --arg lds:4", "'-4' is not a size"},
           Case{"kernels.co --kernel reverse --grid 64 --arg lds:4 --arg lds:4 --arg lds:4",
                "parameter 'int* data' does not point to LDS; use buf:COUNT"},
           Case{"kernels.co --kernel reverse --grid 64 --arg buf:64 --arg 4 --arg lds:4",
                "parameter 'int* other' points to LDS; use lds:BYTES"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:1 --arg 1 --arg 1 --print 4",
                "kernel scale has no such argument"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:1 --arg 1 --arg 1 --print factor",
                "that argument is not a buffer"},
           Case{"kernels.co --kernel scale --grid 64 --arg buf:1 --arg 1 --arg 1 --save 1", "write ARG=PATH"},
       }) {
    SCOPED_TRACE(arguments);
    const auto run = launch(arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.output, testing::StartsWith("atoll: "));
    EXPECT_THAT(run.output, HasSubstr(message));
    EXPECT_EQ(std::ranges::count(run.output, '\n'), 1) << run.output;
  }
}

// What a kernel was compiled for, and constructors: listed, and kept to. The constructor and the destructor count.
TEST_F(LaunchCommand, KeepsToWhatTheCodeIsCompiledFor) {
  test::write_file(*directory / "limits.c", R"(
typedef __attribute__((address_space(1))) int* Ints;
__attribute__((visibility("default"), address_space(1))) volatile int made;
__attribute__((constructor)) void begin(void) { made += 5; }
__attribute__((destructor)) void end(void) { made += 1; }
__attribute__((amdgpu_kernel, amdgpu_max_num_work_groups(4, 2, 1))) void few(Ints out) { *out = made; }
)");
  // OpenCL C before 2.0 has whole work-groups only, and so has HIP.
  test::write_file(*directory / "whole.cl", "kernel void whole(global int* out) { *out = 7; }\n");
  const std::string compiler = "clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O2 -w ";
  const auto compiled = test::run_command(
      fmt::format("cd {} && {} limits.c -o limits.co 2>&1 && {} -cl-std=CL1.2 whole.cl -o whole.co 2>&1",
                  directory->path().string(), compiler, compiler));
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  const std::string listed = launch("limits.co").output;
  EXPECT_THAT(
      listed,
      AllOf(HasSubstr("    up to 4 work-groups in X\n    up to 2 work-groups in Y\n    up to 1 work-group in Z\n"),
            HasSubstr("    runs by itself when the code is loaded\n"),
            HasSubstr("    runs by itself before the code is unloaded\n")));
  const std::string few = "limits.co --kernel few --arg buf:1:i32 --print 1 ";
  EXPECT_EQ(launch(few + "--grid 256 --block 64").output, "1: 1 x i32\n       0: 5\n");
  EXPECT_EQ(launch(few + "--grid 257 --block 64").output,
            "atoll: kernel few was compiled for at most 4 work-groups in X: a grid of 257 x 1 x 1 in work-groups of "
            "64 x 1 x 1 is 5 x 1 x 1\n");
  EXPECT_THAT(launch("whole.co").output, HasSubstr("    needs --grid to be a multiple of --block\n"));
  const std::string whole = "whole.co --kernel whole --arg buf:1:i32 --print 1 ";
  EXPECT_EQ(launch(whole + "--grid 128").output, "1: 1 x i32\n       0: 7\n");
  EXPECT_EQ(launch(whole + "--grid 100").output,
            "atoll: kernel whole was compiled for whole work-groups: of a grid of 100 x 1 x 1 in work-groups of "
            "64 x 1 x 1, the last in X would be partial\n");
}

TEST_F(LaunchCommand, FailuresSayWhatToDo) {
  const auto message = [](const std::string& arguments) {
    const auto run = launch(arguments);
    EXPECT_EQ(run.exit_code, 1) << run.output;
    EXPECT_THAT(run.output, testing::StartsWith("atoll: "));
    return run.output;
  };
  EXPECT_THAT(message("nothing.co"), HasSubstr("nothing.co: No such file or directory"));
  EXPECT_THAT(message("kernels.co.cl"), HasSubstr("neither a code object nor"));
  EXPECT_THAT(message("kernels.co --gpu gfx900"),
              HasSubstr("no GPU code for gfx900:xnack-; the file has code for gfx90a"));
  EXPECT_THAT(message("kernels.co --gpu mi9000"), HasSubstr("unknown GPU 'mi9000'"));
  EXPECT_THAT(message("kernels.co --kernel nope"), HasSubstr("there is no kernel nope in kernels.co: there are scale"));
  EXPECT_THAT(message("two --kernel same --grid 64 --arg null"),
              HasSubstr("more than one kernel same in two: say which of"));
  EXPECT_THAT(message("kernels.co --kernel fixed --grid 64 --block 8 --arg buf:32"),
              HasSubstr("was compiled for work-groups of 8 x 4 x 1"));
  EXPECT_THAT(message("kernels.co --kernel scale --grid 64 --arg buf:64 --arg 1 --arg 64 --save 1=/nonexistent/out"),
              HasSubstr("/nonexistent/out: no file can be made beside it"));
  EXPECT_THAT(message("kernels.co --kernel scale --grid 64 --arg buf:64=file:nothing --arg 1 --arg 64"),
              HasSubstr("nothing: No such file"));
  EXPECT_THAT(message("kernels.co --kernel stray --grid 64 --arg null"),
              AllOf(HasSubstr("kernel 'stray'"), HasSubstr("kernels.co.cl:"), HasSubstr("lane 0")));
  EXPECT_THAT(message("kernels.co --kernel forever --grid 64 --arg buf:1 --timeout 0.2"),
              HasSubstr("kernel 'forever' was stopped"));
}

TEST_F(LaunchCommand, SaysWhenThereIsNothingToLaunch) {
  const auto plain = launch("/bin/true --kernel k --grid 1");
  EXPECT_EQ(plain.exit_code, 1);
  EXPECT_EQ(plain.output, "atoll: /bin/true: the file contains no GPU code\n");
  test::write_file(*directory / "bare.s", ".globl k\n.type k,@function\nk: s_endpgm\n");
  ASSERT_EQ(test::run_command(fmt::format("cd {} && {} asm bare.s --gpu gfx900 -o bare.co 2>&1",
                                          directory->path().string(), ATOLL_COMMAND))
                .exit_code,
            0);
  EXPECT_THAT(launch("bare.co --gpu gfx900 --kernel k --grid 1").output,
              HasSubstr("there is no kernel k in bare.co: its metadata describes none\n"));
}

/// Code object V2, compiled, and assembled by Atoll from what the compiler writes as text.
TEST_F(LaunchCommand, RunsCodeObjectV2) {
  test::write_file(*directory / "mirror.cl",
                   "kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
                   "void mirror(global float *out, float factor, int count) {\n"
                   "  local float part[64];\n"
                   "  int lane = __builtin_amdgcn_workitem_id_x(), i = 64 * __builtin_amdgcn_workgroup_id_x() + lane;\n"
                   "  part[lane] = out[i] * factor;\n"
                   "  __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");\n"
                   "  __builtin_amdgcn_s_barrier();\n"
                   "  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");\n"
                   "  if (i < count) out[i] = part[63 - lane];\n"
                   "}\n");
  for (const char* gpu : {"gfx900", "gfx906:xnack-"}) {
    SCOPED_TRACE(gpu);
    const auto compiled = test::run_command(
        fmt::format("cd {0} && c='clang-15 --target=amdgcn-amd-amdhsa -mcpu={1} -nogpulib -O2 -mcode-object-version=2 "
                    "-Wno-deprecated mirror.cl' && $c -o v2.co && $c -S -o v2.s && {2} asm v2.s --gpu {1} "
                    "--code-object-version 2 -o own.co 2>&1",
                    directory->path().string(), gpu, ATOLL_COMMAND));
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
    for (const char* file : {"v2.co", "own.co"}) {
      SCOPED_TRACE(file);
      const auto run =
          launch(fmt::format("{} --kernel mirror --grid 128 --arg buf:128=ramp --arg 2 --arg 128 --print 1:all", file));
      EXPECT_EQ(run.exit_code, 0);
      EXPECT_THAT(run.output, AllOf(HasSubstr("0: 126 124 122 120 118 116 114 112\n"),
                                    HasSubstr("     120: 142 140 138 136 134 132 130 128\n")));
    }
  }
}

/// The file is described by `atoll inspect`, in text and in JSON.
TEST_F(LaunchCommand, LeavesACoreFile) {
  test::write_file(*directory / "stray.cl",
                   "kernel void stray(global int *p, int where) {\n"
                   "  p[__builtin_amdgcn_workitem_id_x()] = 7;\n"
                   "  p[where] = 1;\n"
                   "}\n");
  const auto compiled = test::run_command(fmt::format(
      "cd {} && clang-22 --target=amdgcn-amd-amdhsa -mcpu=gfx906 -nogpulib -g -O1 stray.cl -o stray.co 2>&1",
      directory->path().string()));
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
  const std::string arguments = "stray.co --kernel stray --grid 64 --arg buf:64 --arg 0x10000000";
  const auto fault = launch(arguments + " --core=stray.core");
  EXPECT_EQ(fault.exit_code, 1);
  EXPECT_THAT(fault.output, HasSubstr("core file    stray.core\n"));
  const auto inspect = [](const std::string& options) {
    return test::run_command(
        fmt::format("cd {} && {} inspect stray.core {} 2>&1", directory->path().string(), ATOLL_COMMAND, options));
  };
  const auto text = inspect("");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.output,
              AllOf(HasSubstr("Waves (1)"), HasSubstr("stopped: memory violation"), HasSubstr("stray.cl:3:12"),
                    HasSubstr("        global_store_dword "), HasSubstr("gfx906"), HasSubstr("wave memory violation")));
  const auto json = nlohmann::json::parse(inspect("--json").output, nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["agents"][0]["processor"], "gfx906");
  EXPECT_EQ(json["waves"][0]["kernel"], "stray");
  EXPECT_EQ(json["waves"][0]["exec"].get<uint64_t>(), UINT64_MAX);
  const auto wave = nlohmann::json::parse(inspect("--json --wave 0").output, nullptr, false);
  EXPECT_EQ(wave["waves"][0]["vector_registers"]["v"][1][63], 1);  // what is stored
  EXPECT_THAT(inspect("--wave 0").output, AllOf(HasSubstr("      v1[56]     00000001 00000001"), HasSubstr("exec")));
  EXPECT_THAT(inspect("--wave 1").output, HasSubstr("there is no wave 1"));

  // Without a name, it is called after the process.
  EXPECT_THAT(launch(arguments + " --core").output, testing::ContainsRegex("core file    gpucore\\.[0-9]+\n"));
  EXPECT_THAT(launch(arguments).output, testing::Not(HasSubstr("core file")));
}

}  // namespace
}  // namespace Atoll

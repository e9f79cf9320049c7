// Programs made at random, compiled by clang for a GPU and for the host: both must compute the same.
//
// A program is a C function of a work-item's number and the input: statements over variables of four types, nested
// conditions, loops and a private array. What C or IEEE 754 leaves open is not made: signed overflow, shifts past the
// width, division by zero, conversions out of range; a NaN's bits are not looked at.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "engine/engines.h"
#include "machine/gpu.h"
#include "machine/guest_vector.h"
#include "support/command.h"
#include "target/product.h"

namespace Atoll {
namespace {

constexpr unsigned items = 200, words_per_item = 16;

/// Number of programs for each processor; the environment may request more.
unsigned last_seed() {
  const char* wanted = std::getenv("ATOLL_RANDOM_PROGRAMS");
  return wanted != nullptr ? static_cast<unsigned>(std::strtoul(wanted, nullptr, 10)) : 4;
}

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string program() {
    std::string body;
    for (unsigned i = 0; i < 24; ++i) body += statement(3, "  ");
    return R"(
typedef unsigned u32; typedef unsigned long u64; typedef unsigned short u16; typedef unsigned char u8;
static inline float f_of(u32 x) { return __builtin_bit_cast(float, x); }
static inline u32 of_f(float x) { return x == x ? __builtin_bit_cast(u32, x) : 0x7FC00000u; }
static inline u64 of_d(double x) { return x == x ? __builtin_bit_cast(u64, x) : 0x7FF8000000000000ul; }
static inline void item_function(u32 item, const u32* in, u32* out) {
  u32 a0 = in[item], a1 = in[item + 1], a2 = in[item * 2 + 3], a3 = item, steps = 0;
  u64 b0 = (u64)a0 << 32 | a1, b1 = a2 * 0x9E3779B97F4A7C15ul, b2 = item;
  float f0 = (float)(int)a0, f1 = f_of((a1 & 0x807FFFFF) | 0x3F800000), f2 = (float)item + 0.5f;
  double d0 = (double)(int)a2 / 3.0, d1 = (double)f1, d2 = 1.5;
  u32 m[8];
  for (u32 i = 0; i < 8; ++i) m[i] = in[item + i] ^ i;
)" + body + R"(
  u32* o = out + item * 16;
  o[0] = a0; o[1] = a1; o[2] = a2; o[3] = a3; o[4] = (u32)b0; o[5] = (u32)(b0 >> 32); o[6] = (u32)(b1 ^ b1 >> 32);
  o[7] = (u32)(b2 ^ b2 >> 32); o[8] = of_f(f0); o[9] = of_f(f1); o[10] = of_f(f2);
  o[11] = (u32)(of_d(d0) ^ of_d(d0) >> 32); o[12] = (u32)(of_d(d1) ^ of_d(d1) >> 32);
  o[13] = (u32)(of_d(d2) ^ of_d(d2) >> 32); o[14] = m[a0 % 8]; o[15] = m[1] * 3 + m[6] + steps;
}
#ifdef __AMDGCN__
__attribute__((amdgpu_kernel)) void program(const u32* in, u32* out) {
  item_function(__builtin_amdgcn_workgroup_id_x() * 64u + __builtin_amdgcn_workitem_id_x(), in, out);
}
#else
void program(u32 item, const u32* in, u32* out) { item_function(item, in, out); }
#endif
)";
  }

 private:
  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
  template <size_t n>
  std::string one_of(const char* const (&choices)[n]) {
    return choices[pick(n)];
  }
  std::string constant() {
    return one_of({"1u", "3u", "64u", "0x7FFFu", "0x80000000u", "0xFFFFFFFFu", "12345u", "0x55AA33CCu"});
  }

  /// A 32-bit value.
  std::string word(unsigned depth) {
    if (depth == 0) return pick(4) == 0 ? constant() : one_of({"a0", "a1", "a2", "a3", "m[2]", "m[a3 % 8]"});
    const std::string x = word(depth - 1), y = word(depth - 1);
    switch (pick(15)) {
      case 0:
        return "(" + x + " + " + y + ")";
      case 1:
        return "(" + x + " - " + y + ")";
      case 2:
        return "(" + x + " * " + y + ")";
      case 3:
        return "(" + x + " ^ " + y + ")";
      case 4:
        return "(" + x + " & ~" + y + ")";
      case 5:
        return "(" + x + " << (" + y + " & 31))";
      case 6:
        return "(" + x + " >> (" + y + " & 31))";
      case 7:
        return "(u32)((int)" + x + " >> (" + y + " & 31))";
      case 8:
        return "(" + x + " / (" + y + " | 1))";
      case 9:
        return "(" + x + " % (" + y + " | 1))";
      case 10:
        return "(" + x + " < " + y + " ? " + y + " : " + x + ")";
      case 11:
        return "((u32)(u8)" + x + " + (u32)(u16)" + y + " + (u32)(int)(signed char)" + x + ")";
      case 12:
        return "(u32)__builtin_popcount(" + x + " | " + y + ")";
      case 13:
        return "(u32)(" + wide(depth - 1) + " >> (" + y + " & 63))";
      default:
        return "((int)" + x + " < (int)" + y + " ? " + x + " : " + y + " | 7)";
    }
  }
  std::string wide(unsigned depth) {
    if (depth == 0) return one_of({"b0", "b1", "b2", "(u64)a1", "0xFFFFFFFF00000001ul"});
    const std::string x = wide(depth - 1), y = wide(depth - 1);
    switch (pick(10)) {
      case 0:
        return "(" + x + " + " + y + ")";
      case 1:
        return "(" + x + " - " + y + ")";
      case 2:
        return "(" + x + " * " + y + ")";
      case 3:
        return "(" + x + " | " + y + ")";
      case 4:
        return "(" + x + " ^ " + y + " >> 7)";
      case 5:
        return "(" + x + " << (" + word(0) + " & 63))";
      case 6:
        return "(u64)((long)" + x + " >> (" + word(0) + " & 63))";
      case 7:
        return "(" + x + " / (" + y + " | 1))";
      case 8:
        return "(" + x + " % (" + y + " | 1))";
      default:
        return "(" + x + " > " + y + " ? " + x + " : (u64)" + word(0) + ")";
    }
  }
  std::string single(unsigned depth) {
    if (depth == 0) return one_of({"f0", "f1", "f2", "1.0f", "-0.25f", "3.14159f"});
    const std::string x = single(depth - 1), y = single(depth - 1);
    switch (pick(9)) {
      case 0:
        return "(" + x + " + " + y + ")";
      case 1:
        return "(" + x + " - " + y + ")";
      case 2:
        return "(" + x + " * " + y + ")";
      case 3:
        return "(" + x + " / " + y + ")";
      case 4:
        return "__builtin_fmaf(" + x + ", -(" + y + "), " + single(0) + ")";
      case 5:
        return "(" + x + " < " + y + " ? " + x + " : " + y + ")";
      case 6:
        return "(float)" + word(0);
      case 7:
        return "(float)(int)" + word(0) + " * __builtin_fabsf(" + x + ")";
      default:
        return "(float)" + twice(depth - 1);
    }
  }
  std::string twice(unsigned depth) {
    if (depth == 0) return one_of({"d0", "d1", "d2", "1.0", "-1e-3", "(double)f2"});
    const std::string x = twice(depth - 1), y = twice(depth - 1);
    switch (pick(8)) {
      case 0:
        return "(" + x + " + " + y + ")";
      case 1:
        return "(" + x + " - " + y + ")";
      case 2:
        return "(" + x + " * " + y + ")";
      case 3:
        return "(" + x + " / " + y + ")";
      case 4:
        return "__builtin_fma(" + x + ", " + y + ", -(" + twice(0) + "))";
      case 5:
        return "(double)" + word(0);
      case 6:
        return "(double)(long)" + wide(0);
      default:
        return "(" + x + " >= " + y + " ? " + x + " : -(" + y + "))";
    }
  }
  std::string condition() {
    switch (pick(4)) {
      case 0:
        return word(1) + " < " + word(0);
      case 1:
        return "(" + wide(1) + " & 1) != 0";
      case 2:
        return single(1) + " < " + single(0);
      default:
        return twice(0) + " > " + twice(0);
    }
  }
  std::string statement(unsigned depth, const std::string& indent) {
    switch (pick(depth == 0 ? 6 : 9)) {
      case 0:
      case 1:
        return indent + one_of({"a0", "a1", "a2", "a3"}) + " = " + word(2) + ";\n";
      case 2:
        return indent + one_of({"b0", "b1", "b2"}) + " = " + wide(2) + ";\n";
      case 3:
        return indent + one_of({"f0", "f1", "f2"}) + " = " + single(2) + ";\n";
      case 4:
        return indent + one_of({"d0", "d1", "d2"}) + " = " + twice(2) + ";\n";
      case 5:
        return indent + "m[" + word(1) + " % 8] = " + word(1) + ";\n";
      case 6:
      case 7:
        return indent + "if (" + condition() + ") {\n" + statement(depth - 1, indent + "  ") + indent + "} else {\n" +
               statement(depth - 1, indent + "  ") + indent + "}\n";
      default:  // as many rounds as the lane's value says
        return indent + "for (u32 i = " + word(0) + " % 5 + 1; i != 0; --i) {\n" + statement(depth - 1, indent + "  ") +
               indent + "  if (++steps > 200) break;\n" + indent + "}\n";
    }
  }

  std::mt19937 random_;
};

class RandomPrograms : public testing::TestWithParam<std::tuple<std::string, unsigned>> {};

TEST_P(RandomPrograms, ComputeWhatTheHostComputes) {
  const auto [processor, seed] = GetParam();
  const std::string program = Generator(seed).program();
  const test::TemporaryDirectory directory;
  test::write_file(directory / "program.c", program);
  const std::string compiler = "clang-22 -w -std=c23 -ffp-contract=off -fdenormal-fp-math=ieee -nostdlib ";
  const std::string level = seed % 3 == 0 ? "-O0 " : "-O2 ";
  const auto build = [&](const std::string& options, const std::string& output) {
    const auto result =
        test::run_command(compiler + options + (directory / "program.c") + " -o " + (directory / output) + " 2>&1");
    EXPECT_EQ(result.exit_code, 0) << result.output;
    return result.exit_code == 0;
  };
  ASSERT_TRUE(build("-target amdgcn-amd-amdhsa -nogpulib " + level + "-mcpu=" + processor + " ", "program.co"));
  ASSERT_TRUE(build("-O1 -fPIC -shared ", "program.so"));
  void* host = dlopen((directory / "program.so").c_str(), RTLD_NOW);
  ASSERT_NE(host, nullptr) << dlerror();
  auto* host_program = reinterpret_cast<void (*)(unsigned, const unsigned*, unsigned*)>(dlsym(host, "program"));
  ASSERT_NE(host_program, nullptr);

  test::GuestVector<unsigned> in(2 * items + 16), expected(items * words_per_item), got(expected.size());
  std::mt19937 random(seed + 1000);
  for (unsigned& word : in) word = static_cast<unsigned>(random()) >> random() % 32;
  for (unsigned item = 0; item < items; ++item) host_program(item, in.data(), expected.data());
  dlclose(host);

  setenv("ATOLL_COMPILE", "wait", 1);
  const auto model = target::find_gpu(processor);
  ASSERT_TRUE(model) << model.error().message;
  for (const char* engine : {"interpreter", "compiled"}) {
    const auto make_engine = engine::find_engine(engine);
    ASSERT_TRUE(make_engine) << make_engine.error().message;
    const auto gpu = machine::Gpu::create(*model, *make_engine, {.threads = 1});
    ASSERT_TRUE(gpu) << gpu.error().message;
    const auto code = (*gpu)->load(test::read_bytes(directory / "program.co"), {}, "program");
    ASSERT_TRUE(code) << code.error().message;
    const machine::LoadedSymbol* kernel = (*code)->find("program.kd");
    ASSERT_NE(kernel, nullptr);
    std::ranges::fill(got, 0);
    const test::GuestVector<const void*> arguments{in.data(), got.data()};
    machine::aql::KernelDispatchPacket packet{};
    packet.setup = 1;
    packet.workgroup_size_x = 64;
    packet.workgroup_size_y = packet.workgroup_size_z = 1;
    packet.grid_size_x = items;
    packet.grid_size_y = packet.grid_size_z = 1;
    packet.kernel_object = kernel->address;
    packet.kernarg_address = reinterpret_cast<uint64_t>(arguments.data());
    const auto result = (*gpu)->run(packet);
    ASSERT_TRUE(result) << result.error().message;
    for (unsigned i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(got[i], expected[i]) << engine << ", item " << i / words_per_item << ", word " << i % words_per_item
                                     << " of\n"
                                     << program;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gfx9, RandomPrograms,
                         testing::Combine(testing::Values("gfx900", "gfx908", "gfx90a", "gfx942"),
                                          testing::Range(1u, last_seed() + 1)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace Atoll

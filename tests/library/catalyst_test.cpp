// Kernels of Catalyst's OpenCL 2.0 and 1.x, launched through the library: each rule of "AMD Catalyst OpenCL 2.0 ABI
// description", and the constant buffers of OpenCL 1.x, with a kernel that reports what it started with. Code is
// LLVM's, results are worked out on the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "assembler/catalyst/catalyst_text.h"
#include "atoll/atoll.h"
#include "library/catalyst_kernels.h"
#include "object/catalyst_code.h"

namespace Atoll {
namespace {

using test::Bytes;
using test::Cl2Setup;
using test::Cl2TestArgument;
using test::Dialect;
using testing::ElementsAreArray;
using testing::HasSubstr;

struct TestGpu {
  Dialect dialect;
  std::array<uint32_t, 3> version;
};
const TestGpu gpus[] = {{{"gfx700", true, "v_add_i32"}, {7, 0, 0}},
                        {{"gfx803"}, {8, 0, 3}},
                        {{"gfx900", false, "v_add_co_u32", "v_addc_co_u32"}, {9, 0, 0}}};

// Bits of the setup record's properties.
constexpr uint32_t buffer = 1, setup_pointer = 2, flat_bases = 4, arguments_pointer = 8, flat_scratch = 32;

std::vector<Cl2TestArgument> with_setup_arguments(std::vector<Cl2TestArgument> own) {
  std::vector<Cl2TestArgument> all;
  for (const char* name : {"_.global_offset_0", "_.global_offset_1", "_.global_offset_2"})
    all.push_back({.name = name, .type_name = "size_t", .type = 9});
  all.push_back({.name = "_.printf_buffer", .type_name = "size_t", .type = 7, .space = 4, .is_pointer = 1});
  for (const char* name : {"_.vqueue_pointer", "_.aqlwrap_pointer"})
    all.push_back({.name = name, .type_name = "size_t", .type = 9});
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

class CatalystCl2Launch : public testing::Test {
 protected:
  void use(const TestGpu& wanted) {
    model = wanted;
    auto created = Gpu::create(wanted.dialect.processor, {.timeout_seconds = 60});
    ASSERT_TRUE(created) << created.error().message;
    gpu = *created;
    out = gpu.allocate<uint32_t>(words).value();
  }

  Expected<Code> load(const std::vector<Cl2TestArgument>& own, const Bytes& kernel) const {
    Bytes record = test::cl2_metadata(true, with_setup_arguments(own));
    std::memset(record.data() + 0x38, 0, 24);  // no required size
    const Bytes file = test::cl2_newer_container<test::Elf64Types>(record, kernel, model.version);
    return gpu.load(std::as_bytes(std::span(file)));
  }

  /// Runs a kernel once and returns what it has written.
  std::vector<uint32_t> run(const std::vector<Cl2TestArgument>& own, const Bytes& kernel, const LaunchShape& shape,
                            std::vector<Argument> arguments) {
    std::ranges::fill(out.span(), 0xDEADBEEF);
    const auto code = load(own, kernel);
    if (!code) {
      ADD_FAILURE() << code.error().message;
      return {};
    }
    const auto done = gpu.launch_with(*code, "k", shape, arguments);
    EXPECT_TRUE(done) << done.error().message;
    return out.read();
  }

  test::Probe probe() const { return {model.dialect, reinterpret_cast<uint64_t>(out.data())}; }
  bool is_gfx9() const { return model.version[0] == 9; }

  static constexpr size_t words = 256;
  TestGpu model;
  Gpu gpu;
  TypedBuffer<uint32_t> out{Buffer()};
};

/// A row of "Passing options": which user SGPRs there are.
struct Form {
  const char* features;
  uint32_t properties, count;
  int setup, arguments, bases;
  bool only_gfx9 = false, not_gfx9 = false;
};
constexpr Form forms[] = {
    {"none", buffer, 4, -1, -1, -1, false, true},
    {"useargs", buffer | arguments_pointer, 6, -1, 4, -1, false, true},
    {"usesetup", buffer | setup_pointer | arguments_pointer, 8, 4, 6, -1, false, true},
    {"useenqueue", buffer | setup_pointer | arguments_pointer | flat_scratch, 10, 4, 6, -1},
    {"usegeneric", buffer | setup_pointer | flat_bases | arguments_pointer | flat_scratch, 12, 4, 8, 6}};

TEST_F(CatalystCl2Launch, UserSgprsFollowFeatures) {
  for (const TestGpu& each : gpus) {
    use(each);
    for (const Form& form : forms) {
      if (form.not_gfx9 && is_gfx9()) continue;
      SCOPED_TRACE(each.dialect.processor + " " + form.features);
      auto probe = this->probe();
      // The work-group ids stand right behind the user SGPRs, so that they show how many there are.
      probe.put_scalars(form.count, 3);
      if (form.setup >= 0) probe.put_memory(static_cast<unsigned>(form.setup), 0, 6);
      if (form.arguments >= 0) probe.put_memory(static_cast<unsigned>(form.arguments), 48, 1);
      const Cl2Setup setup{.lds_bytes = 0, .work_group_ids = 3};
      const auto got = run({{.name = "n", .type_name = "uint", .type = 8}},
                           test::cl2_kernel(form.properties, form.count, probe.code(), setup),
                           {.grid = {6, 4, 2}, .block = {6, 4, 2}}, {uint32_t{77}});
      if (got.empty()) continue;
      std::vector<uint32_t> expected{0, 0, 0};
      // dword 0: dimensions in bits 16 to 31; 1: local X and Y; 2: local Z; 3 to 5: global sizes
      if (form.setup >= 0) expected.insert(expected.end(), {3u << 16, 6 | 4 << 16, 2, 6, 4, 2});
      if (form.arguments >= 0) expected.push_back(77);
      auto seen = std::vector(got.begin(), got.begin() + static_cast<ptrdiff_t>(expected.size()));
      if (form.setup >= 0) {
        seen[3] &= 0xFFFF0000;  // bits 0 to 15 of dword 0 and 16 to 31 of dword 2 are not described
        seen[5] &= 0xFFFF;
      }
      EXPECT_THAT(seen, ElementsAreArray(expected));
    }
  }
}

TEST_F(CatalystCl2Launch, SetupBufferHasSizesOfTheLaunch) {
  use(gpus[0]);
  const struct {
    LaunchShape shape;
    uint32_t dimensions;
  } launches[] = {{{.grid = {5}, .block = {64}}, 1},
                  {{.grid = {8, 3}, .block = {4, 2}}, 2},
                  {{.grid = {70000, 1, 2}, .block = {256, 1, 1}}, 3}};
  for (const auto& [shape, dimensions] : launches) {
    auto probe = this->probe();
    probe.put_memory(4, 0, 6);
    const auto got = run({}, test::cl2_kernel(buffer | setup_pointer | arguments_pointer, 8, probe.code()), shape, {});
    ASSERT_FALSE(got.empty());
    const auto size = [](uint32_t each) { return std::max(each, 1u); };
    EXPECT_EQ(got[0] >> 16, dimensions);
    EXPECT_EQ(got[1], size(shape.block[0]) | size(shape.block[1]) << 16);
    EXPECT_EQ(got[2] & 0xFFFF, size(shape.block[2]));
    for (size_t d = 0; d < 3; ++d) EXPECT_EQ(got[3 + d], size(shape.grid[d]));
  }
}

TEST_F(CatalystCl2Launch, SetupArgumentsPrecedeTheOthers) {
  struct Vector3 {
    uint16_t of[4];  // a vector of 3 takes the bytes of 4
  };
  for (const TestGpu& each : gpus) {
    use(each);
    auto probe = this->probe();
    probe.put_memory(6, 0, 32);
    const std::vector<Cl2TestArgument> own = {
        {.name = "c", .type_name = "char", .type = 2, .kind = 4},
        {.name = "v", .type_name = "short3", .size = 3, .type = 7},
        {.name = "l", .type_name = "long", .type = 9},
        {.name = "f", .type_name = "float", .type = 11},
        {.name = "w", .type_name = "float4", .size = 4, .type = 11},
        {.name = "p", .type_name = "int*", .type = 7, .space = 4, .is_pointer = 1},
        {.name = "d", .type_name = "double2", .size = 2, .type = 12},
        {.name = "s", .type_name = "T", .size = 20, .type = 15}};
    const auto data = gpu.allocate<int32_t>(4).value();
    const std::array<float, 4> floats{1, 2, 3, 4};
    const std::array<double, 2> doubles{0.5, -8};
    const uint32_t properties = buffer | setup_pointer | arguments_pointer | (is_gfx9() ? flat_scratch : 0);
    const auto got =
        run(own, test::cl2_kernel(properties, is_gfx9() ? 10 : 8, probe.code()), {.grid = {1}, .block = {1}},
            {int8_t{-3}, Vector3{{1, 2, 3, 0}}, int64_t{-5}, 2.5F, floats, data, doubles, data});
    ASSERT_FALSE(got.empty());
    // Alignment is that of the type, of vectors that of the element.
    struct Expected {
      uint64_t global_offset[3], printf_buffer, vqueue, aqlwrap;
      int8_t c;
      uint16_t v[4];
      int64_t l;
      float f, w[4];
      uint64_t p;
      double d[2];
      uint64_t s;
    };
    static_assert(offsetof(Expected, v) == 50 && offsetof(Expected, l) == 64 && offsetof(Expected, f) == 72 &&
                  offsetof(Expected, w) == 76 && offsetof(Expected, p) == 96 && offsetof(Expected, d) == 104 &&
                  offsetof(Expected, s) == 120);
    Expected seen;
    ASSERT_EQ(sizeof seen, 128u);
    std::memcpy(&seen, got.data(), sizeof seen);
    for (const uint64_t offset : seen.global_offset) EXPECT_EQ(offset, 0u);
    EXPECT_EQ(seen.printf_buffer | seen.vqueue | seen.aqlwrap, 0u);  // a bare launch has none of them
    EXPECT_EQ(seen.c, -3);
    EXPECT_THAT(seen.v, testing::ElementsAre(1, 2, 3, 0));
    EXPECT_EQ(seen.l, -5);
    EXPECT_EQ(seen.f, 2.5F);
    EXPECT_THAT(seen.w, ElementsAreArray(floats));
    EXPECT_EQ(seen.p, reinterpret_cast<uint64_t>(data.data()));
    EXPECT_THAT(seen.d, ElementsAreArray(doubles));
    EXPECT_EQ(seen.s, seen.p);  // structures are passed by their address
  }
}

TEST_F(CatalystCl2Launch, FirstFourSgprsDescribeScratch) {
  for (const TestGpu& each : gpus) {
    use(each);
    const bool is_9 = is_gfx9();
    const unsigned count = is_9 ? 10 : 8;
    // Each work-item keeps 3 * id + 1 in its scratch while the others do.
    const Bytes code = test::assembled(
        each.dialect.processor,
        fmt::format("s_load_dwordx2 s[12:13], s[6:7], {0}\n"
                    "v_mul_u32_u24 v1, v0, 3\n{1} v1, {2} 1, v1\n"
                    "buffer_store_dword v1, off, s[0:3], s{3} offset:8\ns_waitcnt vmcnt(0)\n"
                    "v_mov_b32 v1, 0\ns_barrier\n"
                    "buffer_load_dword v4, off, s[0:3], s{3} offset:8\n"
                    "v_lshlrev_b32 v2, 2, v0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v3, s13\n"
                    "{1} v2, vcc, s12, v2\n{4} v3, vcc, 0, v3, vcc\ns_waitcnt vmcnt(0)\n"
                    "flat_store_dword v[2:3], v4\ns_endpgm\n",
                    each.dialect.offset(48), each.dialect.add, "vcc,", count + 1, each.dialect.add_carry));
    const uint32_t properties = buffer | setup_pointer | arguments_pointer | (is_9 ? flat_scratch : 0);
    const auto got = run({{.name = "out", .type_name = "uint*", .type = 7, .space = 4, .is_pointer = 1}},
                         test::cl2_kernel(properties, count, code, {.scratch_bytes = 16, .work_group_ids = 1}),
                         {.grid = {192}, .block = {192}}, {out});
    ASSERT_FALSE(got.empty());
    for (uint32_t i = 0; i < 192; ++i) ASSERT_EQ(got[i], 3 * i + 1) << each.dialect.processor << ' ' << i;
  }
}

TEST_F(CatalystCl2Launch, FlatReachesLdsAndScratchByTheirBases) {
  for (const TestGpu& each : gpus) {
    use(each);
    const bool is_9 = is_gfx9();
    // s[6:7]: dword 16 has the upper half of LDS's base, 17 that of scratch's. s[10:11]: offset and size for
    // FLAT_SCRATCH; on GFX9, which the document does not describe with generic pointers, an address.
    const std::string flat_scratch_setup =
        is_9 ? "s_add_u32 flat_scratch_lo, s10, s13\ns_addc_u32 flat_scratch_hi, s11, 0\n"
             : "s_add_u32 s10, s10, s13\ns_mov_b32 flat_scratch_lo, s11\ns_lshr_b32 flat_scratch_hi, s10, 8\n";
    const Bytes code = test::assembled(
        each.dialect.processor,
        flat_scratch_setup + fmt::format("s_load_dwordx2 s[14:15], s[6:7], {0}\ns_load_dwordx2 s[16:17], s[8:9], {1}\n"
                                         "s_waitcnt lgkmcnt(0)\ns_mov_b32 m0, -1\n"
                                         "v_lshlrev_b32 v2, 2, v0\nv_mov_b32 v3, s14\n"  // LDS, at 4 * id
                                         "v_mov_b32 v4, 8\nv_mov_b32 v5, s15\n"          // scratch, at 8
                                         "{2} v6, vcc, 100, v0\n{2} v7, vcc, 7, v0\n"
                                         "flat_store_dword v[2:3], v6\nflat_store_dword v[4:5], v7\n"
                                         "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                                         "ds_read_b32 v8, v2\nflat_load_dword v9, v[4:5]\n"
                                         "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                                         "v_lshlrev_b32 v10, 16, v9\nv_or_b32 v10, v10, v8\n"
                                         "v_mov_b32 v3, s17\n{2} v2, vcc, s16, v2\n{3} v3, vcc, 0, v3, vcc\n"
                                         "flat_store_dword v[2:3], v10\ns_endpgm\n",
                                         each.dialect.offset(64), each.dialect.offset(48), each.dialect.add,
                                         each.dialect.add_carry));
    const uint32_t properties = buffer | setup_pointer | flat_bases | arguments_pointer | flat_scratch;
    const auto got =
        run({{.name = "out", .type_name = "uint*", .type = 7, .space = 4, .is_pointer = 1}},
            test::cl2_kernel(properties, 12, code, {.lds_bytes = 512, .scratch_bytes = 16, .work_group_ids = 1}),
            {.grid = {128}, .block = {128}}, {out});
    ASSERT_FALSE(got.empty());
    for (uint32_t i = 0; i < 128; ++i)
      ASSERT_EQ(got[i], (i + 7) << 16 | (i + 100)) << each.dialect.processor << ' ' << i;
  }
}

TEST_F(CatalystCl2Launch, ImagesAreResourceTypeAndOrder) {
  constexpr uint32_t width = 64, unsigned_int8 = 11, rgba = 8;
  for (const TestGpu& each : gpus) {
    use(each);
    const auto pixels = gpu.allocate<uint32_t>(width * 4).value();
    for (uint32_t i = 0; i < width * 4; ++i) pixels.span()[i] = 0x01020304 * (i % 60);
    const auto block = gpu.allocate<test::ImageBlock>(1).value();
    const auto describe = [&](semantics::ImageType type, uint32_t order) {
      block.span()[0] = test::image_block(each.dialect.processor, pixels.data(), type, {width, 4, 1}, width, 4, 8,
                                          semantics::NumberFormat::uint, unsigned_int8, order);
    };
    describe(semantics::ImageType::two_d, rgba);
    // Each work-item loads the element of row 2 at its number; the words after the resource are stored behind.
    const bool is_9 = is_gfx9();
    const unsigned args = 6;
    const Bytes code = test::assembled(
        each.dialect.processor,
        fmt::format("s_load_dwordx2 s[12:13], s[{0}:{1}], {2}\ns_load_dwordx2 s[14:15], s[{0}:{1}], {3}\n"
                    "s_waitcnt lgkmcnt(0)\ns_load_dwordx8 s[16:23], s[14:15], 0\n"
                    "s_load_dwordx2 s[24:25], s[14:15], {4}\ns_waitcnt lgkmcnt(0)\n"
                    "v_mov_b32 v1, 2\n"
                    "image_load v[4:7], v[0:1], s[16:23] dmask:0xf unorm\ns_waitcnt vmcnt(0)\n"
                    "v_lshlrev_b32 v5, 8, v5\nv_lshlrev_b32 v6, 16, v6\nv_lshlrev_b32 v7, 24, v7\n"
                    "v_or_b32 v4, v4, v5\nv_or_b32 v6, v6, v7\nv_or_b32 v4, v4, v6\n"
                    "v_lshlrev_b32 v2, 2, v0\nv_mov_b32 v3, s13\n"
                    "{5} v2, vcc, s12, v2\n{6} v3, vcc, 0, v3, vcc\nflat_store_dword v[2:3], v4\n"
                    "v_mov_b32 v2, s12\nv_mov_b32 v3, s13\n{5} v2, vcc, 0x100, v2\n{6} v3, vcc, 0, v3, vcc\n"
                    "v_mov_b32 v8, s24\nv_mov_b32 v9, s25\nflat_store_dwordx2 v[2:3], v[8:9]\ns_endpgm\n",
                    args, args + 1, each.dialect.offset(48), each.dialect.offset(56), each.dialect.offset(32),
                    each.dialect.add, each.dialect.add_carry));
    const uint32_t properties = buffer | setup_pointer | arguments_pointer | (is_9 ? flat_scratch : 0);
    const std::vector<Cl2TestArgument> own = {
        {.name = "out", .type_name = "uint*", .type = 7, .space = 4, .is_pointer = 1},
        {.name = "image", .type_name = "image2d_t", .type = 1, .kind = 2}};
    const Bytes kernel = test::cl2_kernel(properties, is_9 ? 10 : 8, code);
    const auto got = run(own, kernel, {.grid = {64}, .block = {64}}, {out, block});
    ASSERT_FALSE(got.empty());
    for (uint32_t i = 0; i < width; ++i) ASSERT_EQ(got[i], pixels.span()[2 * width + i]) << each.dialect.processor;
    EXPECT_EQ(got[64] & 0xF, unsigned_int8);
    EXPECT_EQ(got[65] & 0x1F, rgba);
    const auto code_of_kernel = load(own, kernel).value();
    const auto error = [&](const Argument& image) {
      const auto done =
          gpu.launch_with(code_of_kernel, "k", {.grid = {64}, .block = {64}}, std::vector<Argument>{out, image});
      return done ? "no error" : done.error().message;
    };
    describe(semantics::ImageType::three_d, rgba);
    EXPECT_EQ(error(block), "kernel k: argument image: the image is of type image3d_t, the kernel takes image2d_t");
    describe(semantics::ImageType::two_d, 23);
    EXPECT_EQ(error(block), "kernel k: argument image: the image has channel order 23, which does not exist");
    EXPECT_EQ(error(uint64_t{0}), "kernel k: argument image: the image at 0x0 is not in memory");
  }
}

TEST_F(CatalystCl2Launch, Arguments32BitsWideHaveTheirLayout) {
  use(gpus[1]);
  auto probe = this->probe();
  probe.put_memory(6, 0, 12);
  std::vector<Cl2TestArgument> own = {{.name = "c", .type_name = "char", .type = 2},
                                      {.name = "p", .type_name = "int*", .type = 7, .space = 4, .is_pointer = 1},
                                      {.name = "l", .type_name = "long", .type = 9},
                                      {.name = "n", .type_name = "int", .type = 8}};
  auto all = with_setup_arguments(own);
  for (Cl2TestArgument& each : all)
    if (each.name.starts_with("_.") && each.type == 9) each.type = 8;
  Bytes record = test::cl2_metadata(false, all);
  std::memset(record.data() + 0x30, 0, 12);  // no required size
  const Bytes file = test::cl2_newer_container<test::Elf32Types>(
      record, test::cl2_kernel(buffer | setup_pointer | arguments_pointer, 8, probe.code()), model.version);
  const auto code = gpu.load(std::as_bytes(std::span(file)));
  ASSERT_TRUE(code) << code.error().message;
  const auto done = gpu.launch_with(*code, "k", {.grid = {1}, .block = {1}},
                                    std::vector<Argument>{int8_t{5}, 0x1234u, int64_t{-2}, 77});
  ASSERT_TRUE(done) << done.error().message;
  const auto got = out.read();
  EXPECT_EQ(got[0] | got[1] | got[2] | got[3] | got[4] | got[5], 0u);  // six setup arguments of 4 bytes
  EXPECT_EQ(got[6] & 0xFF, 5u);
  EXPECT_EQ(got[7], 0x1234u);
  EXPECT_EQ(got[8], static_cast<uint32_t>(-2));
  EXPECT_EQ(got[9], UINT32_MAX);
  EXPECT_EQ(got[10], 77u);
  const auto refused =
      gpu.launch_with(*code, "k", {.grid = {1}, .block = {1}}, std::vector<Argument>{int8_t{5}, out, int64_t{-2}, 77});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is a 32-bit pointer; GPU memory is not in their range"));
}

TEST_F(CatalystCl2Launch, DescribesParameters) {
  use(gpus[0]);
  const auto code = load({{.name = "n", .type_name = "uint", .type = 8},
                          {.name = "p", .type_name = "float*", .type = 7, .space = 4, .is_pointer = 1},
                          {.name = "l", .type_name = "int*", .type = 7, .space = 3, .is_pointer = 1},
                          {.name = "q", .type_name = "queue_t", .type = 18, .kind = 7}},
                         test::cl2_kernel(buffer | setup_pointer | arguments_pointer, 8));
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_THAT(code->kernels(), testing::ElementsAre("k"));
  const auto info = code->describe("k").value();
  ASSERT_EQ(info.parameters.size(), 4u);
  EXPECT_EQ(info.parameters[0].element, "u32");
  EXPECT_EQ(info.parameters[1].kind, Parameter::Kind::pointer);
  EXPECT_EQ(info.parameters[1].element, "f32");
  EXPECT_EQ(info.parameters[2].kind, Parameter::Kind::local_memory);
  EXPECT_EQ(info.parameters[3].kind, Parameter::Kind::unsupported);
  const auto refused =
      gpu.launch_with(*code, "k", {.grid = {1}, .block = {1}},
                      std::vector<Argument>{1u, gpu.allocate<float>(4).value(), LocalMemory{64}, uint64_t{0}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("(queue_t q) of kernel k is of a kind that Atoll cannot pass: Queue"));
}

// --- OpenCL 1.x

struct TestDevice {
  const char* name;
  Dialect dialect;
};
const TestDevice devices[] = {{"tahiti", {"gfx600", true}}, {"spectre", {"gfx700", true}}, {"fiji", {"gfx803"}}};

/// Writes dwords of constant buffers 0 and 1 to UAV 10, the 4 SGPRs from s8 on.
std::string dump_constants(const Dialect& dialect, unsigned of_buffer_0, unsigned of_buffer_1) {
  std::string text;
  unsigned at = 0;
  for (const auto& [descriptor, count] : {std::pair("s[0:3]", of_buffer_0), {"s[4:7]", of_buffer_1}})
    for (unsigned i = 0; i < count; ++i, at += 4)
      text += fmt::format(
          "\ts_buffer_load_dword s20, {}, {:#x}\n\ts_waitcnt lgkmcnt(0)\n\tv_mov_b32_e32 v4, s20\n"
          "\tbuffer_store_dword v4, off, s[8:11], 0 offset:{}\n",
          descriptor, dialect.offset(4 * i), at);
  return text + "\ts_endpgm\n";
}

std::string container_text(const TestDevice& device, unsigned bits, const std::string& arguments,
                           const std::string& code) {
  std::string text =
      fmt::format(".catalyst_target \"{}\", {}\n.catalyst_kernel k\n.catalyst_metadata\n", device.name, bits);
  text += "\t.ascii \";ARGSTART:__OpenCL_k_kernel\\n\"\n";
  if (bits == 64) text += "\t.ascii \";memory:64bitABI\\n\"\n";
  for (size_t at = 0; at < arguments.size();) {
    const size_t end = arguments.find('\n', at);
    text += fmt::format("\t.ascii \"{}\\n\"\n", arguments.substr(at, end - at));
    at = end + 1;
  }
  return text +
         "\t.ascii \";ARGEND:__OpenCL_k_kernel\\n\"\n"
         ".catalyst_user_data IMM_CONST_BUFFER, 0, 0, 4\n.catalyst_user_data IMM_CONST_BUFFER, 1, 4, 4\n"
         ".catalyst_user_data IMM_UAV, 10, 8, 4\n.catalyst_vgprs 8\n.catalyst_sgprs 24\n.catalyst_lds 4096\n"
         ".catalyst_float_mode 0xc0\n.catalyst_dimensions 3\n.catalyst_text\n" +
         code;
}

class CatalystCl1Launch : public testing::Test {
 protected:
  std::vector<uint32_t> run(const TestDevice& device, unsigned bits, const std::string& arguments,
                            const std::string& code, const LaunchShape& shape, std::vector<Argument> others) {
    return run(device, container_text(device, bits, arguments, code), shape, std::move(others));
  }
  std::vector<uint32_t> run(const TestDevice& device, const std::string& text, const LaunchShape& shape,
                            std::vector<Argument> others) {
    const auto made = assembler::assemble_catalyst("k.s", text, {});
    EXPECT_EQ(made.messages, "");
    if (!made.bytes) return {};
    auto created = Gpu::create(device.dialect.processor, {.timeout_seconds = 60});
    EXPECT_TRUE(created) << created.error().message;
    if (!created) return {};
    const auto loaded = created->load(std::as_bytes(std::span(*made.bytes)));
    EXPECT_TRUE(loaded) << loaded.error().message;
    if (!loaded) return {};
    const auto out = created->allocate<uint32_t>(256).value();
    others.insert(others.begin(), out);
    const auto done = created->launch_with(*loaded, "k", shape, others);
    error = done ? "" : done.error().message;
    return out.read();
  }

  std::string error;
};

TEST_F(CatalystCl1Launch, ConstantBuffer0HasSizesOfTheLaunch) {
  for (const TestDevice& device : devices) {
    for (const unsigned bits : {32u, 64u}) {
      const auto got = run(device, bits, ";pointer:out:u32:1:1:0:uav:10:4\n", dump_constants(device.dialect, 40, 4),
                           {.grid = {8, 6, 4}, .block = {4, 3, 2}}, {});
      ASSERT_EQ(error, "");
      ASSERT_FALSE(got.empty());
      const std::vector<uint32_t> sizes(got.begin(), got.begin() + 11);
      EXPECT_THAT(sizes, testing::ElementsAre(8, 6, 4, 3, 4, 3, 2, 0, 2, 2, 2)) << device.name << bits;
      for (size_t i = 24; i < 40; ++i) EXPECT_EQ(got[i], 0u) << i;  // offsets, and no constant data
      EXPECT_EQ(got[40], 0u);                                       // the pointer is the offset into its own buffer
    }
  }
}

TEST_F(CatalystCl1Launch, ConstantBuffer1HasArgumentsInSlots) {
  struct Pair {
    uint32_t a[5];
  };
  for (const TestDevice& device : devices) {
    const std::array<float, 4> floats{1, 2, 3, 4};
    const std::array<double, 4> doubles{1, -2, 4, -8};
    const std::array<uint8_t, 8> bytes{1, 2, 3, 4, 5, 6, 7, 8};
    const auto got =
        run(device, 32,
            ";pointer:out:u32:1:1:0:uav:10:4\n;value:c:i8:1:1:16\n;value:l:i64:1:1:32\n"
            ";value:f:float:4:1:48\n;value:d:double:4:1:64\n;value:v:u8:8:1:96\n;value:b:i1:1:1:128\n"
            ";value:s:struct:20:1:144\n;pointer:lds:i32:1:1:176:hl:1:4\n;value:n:i32:1:1:192\n",
            dump_constants(device.dialect, 0, 52), {.grid = {1}, .block = {1}},
            {int8_t{-3}, int64_t{-5}, floats, doubles, bytes, 3, Pair{{1, 2, 3, 4, 5}}, LocalMemory{256}, 99});
    ASSERT_EQ(error, "");
    ASSERT_FALSE(got.empty());
    const auto at = [&](size_t byte) { return reinterpret_cast<const uint8_t*>(got.data()) + byte; };
    EXPECT_EQ(static_cast<int8_t>(*at(16)), -3);
    EXPECT_EQ(std::memcmp(at(32), std::array{int64_t{-5}}.data(), 8), 0);
    EXPECT_EQ(std::memcmp(at(48), floats.data(), 16), 0);
    EXPECT_EQ(std::memcmp(at(64), doubles.data(), 32), 0);
    EXPECT_EQ(std::memcmp(at(96), bytes.data(), 4), 0);  // every 4 components start a slot
    EXPECT_EQ(std::memcmp(at(112), bytes.data() + 4, 4), 0);
    EXPECT_EQ(got[32], 1u);  // a boolean's upper 31 bits are masked
    EXPECT_THAT(std::vector(got.begin() + 36, got.begin() + 41), testing::ElementsAre(1, 2, 3, 4, 5));
    EXPECT_EQ(got[44], 0u);  // a local pointer begins after the metadata's LDS, of which there is none
    EXPECT_EQ(got[48], 99u);
  }
}

TEST_F(CatalystCl1Launch, LocalPointersFollowTheKernelsOwnLds) {
  const auto got =
      run(devices[0], 32,
          ";memory:hwlocal:100\n;pointer:out:u32:1:1:0:uav:10:4\n;pointer:a:i32:1:1:16:hl:1:4\n"
          ";pointer:b:i32:1:1:32:hl:1:4\n",
          dump_constants(devices[0].dialect, 0, 12), {.grid = {1}, .block = {1}}, {LocalMemory{64}, LocalMemory{64}});
  ASSERT_EQ(error, "");
  EXPECT_GE(got[4], 100u);
  EXPECT_GE(got[8], got[4] + 64);
}

TEST_F(CatalystCl1Launch, InternalGlobalTableDescribesScratch) {
  // The table's second entry is the scratch resource. Each work-item keeps 3 * id in its scratch.
  const std::string code =
      "\ts_load_dwordx4 s[16:19], s[0:1], 0x4\n\tv_mul_u32_u24_e32 v1, 3, v0\n\ts_waitcnt lgkmcnt(0)\n"
      "\tbuffer_store_dword v1, off, s[16:19], s15 offset:8\n\ts_waitcnt vmcnt(0)\n\tv_mov_b32_e32 v1, 0\n\ts_barrier\n"
      "\tbuffer_load_dword v1, off, s[16:19], s15 offset:8\n\tv_lshlrev_b32_e32 v2, 2, v0\n\ts_waitcnt vmcnt(0)\n"
      "\tbuffer_store_dword v1, v2, s[8:11], 0 offen\n\ts_endpgm\n";
  for (const TestDevice& device : {devices[0], devices[1]}) {
    std::string text = container_text(device, 32, ";pointer:out:u32:1:1:0:uav:10:4\n", code);
    const std::string before = "IMM_CONST_BUFFER, 0, 0, 4\n";
    text.replace(text.find(before), before.size(), "PTR_INTERNAL_GLOBAL_TABLE, 0, 0, 2\n.catalyst_scratch 16\n");
    // SGPRs: 12 of user data, three work-group ids, the scratch offset.
    const auto got = run(device, text, {.grid = {192}, .block = {192}}, {});
    ASSERT_EQ(error, "");
    for (uint32_t i = 0; i < 192; ++i) ASSERT_EQ(got[i], 3 * i) << device.name;
  }
}

TEST_F(CatalystCl1Launch, RefusesByName) {
  const auto refused = [](const Bytes& file) {
    const auto gpu = Gpu::create("gfx600").value();
    const auto code = gpu.load(std::as_bytes(std::span(file)));
    return code ? "no error" : code.error().message;
  };
  const std::string_view metadata = ";ARGSTART:k\n;ARGEND:k\n";
  const auto of_machine = [&](uint16_t machine) {
    return test::cal_container<test::Elf32Types>(machine, metadata,
                                                 test::cal_image({{.notes = {}, .text = {}, .data = {}}}));
  };
  EXPECT_THAT(refused(of_machine(1001 + 5)), HasSubstr("kernel k is R700 code for rv770, which cannot be executed"));
  EXPECT_THAT(refused(of_machine(1001 + 8)),
              HasSubstr("kernel k is Evergreen code for cypress, which cannot be executed"));
  const Bytes il = test::cal_container<test::Elf32Types>(
      1021, metadata, test::cal_image({{.machine = 0x19, .notes = {}, .text = test::words({1, 2}), .data = {}}}));
  EXPECT_THAT(refused(il), HasSubstr("kernel k is AMD IL only, which cannot be executed"));
  run(devices[0], 32, ";pointer:out:u32:1:1:0:uav:10:4\n;counter:c:32:0:1:16\n", "\ts_endpgm\n",
      {.grid = {1}, .block = {1}}, {0u});
  EXPECT_THAT(error, HasSubstr("of kernel k is of a kind that Atoll cannot pass: Counter"));
  run(devices[0], 32, ";pointer:out:u32:1:1:0:uav:10:4\n;pointer:p:u32:1:1:16:uav:11:4\n", "\ts_endpgm\n",
      {.grid = {1}, .block = {1}}, {uint64_t{64}});
  EXPECT_THAT(error, HasSubstr("kernel k: argument p points to 0x40, which is not GPU memory"));
}

TEST_F(CatalystCl1Launch, KernelsWithoutArgumentsRun) {
  const auto made = assembler::assemble_catalyst("k.s", container_text(devices[0], 32, "", "\ts_endpgm\n"), {});
  ASSERT_TRUE(made.bytes) << made.messages;
  const auto gpu = Gpu::create("gfx600").value();
  const auto code = gpu.load(std::as_bytes(std::span(*made.bytes)));
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_TRUE(code->describe("k").value().parameters.empty());
  const auto done = gpu.launch_with(*code, "k", {.grid = {128}, .block = {64}}, {});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->wave_instructions, 2u);
}

TEST_F(CatalystCl1Launch, EveryCutIsRefused) {
  const auto made = assembler::assemble_catalyst(
      "k.s", container_text(devices[0], 32, ";pointer:out:u32:1:1:0:uav:10:4\n", "\ts_endpgm\n"), {});
  ASSERT_TRUE(made.bytes);
  ASSERT_TRUE(object::catalyst::make_code_object(*made.bytes));
  for (size_t size = 0; size < made.bytes->size(); ++size)
    EXPECT_FALSE(object::catalyst::is_catalyst(std::span(*made.bytes).first(size)) &&
                 object::catalyst::make_code_object(std::span(*made.bytes).first(size)))
        << size;
}

}  // namespace
}  // namespace Atoll

// Catalyst's launch layouts: a test for each sentence and table row of "AMD Catalyst OpenCL 2.0 ABI description" and of
// "Runtime ABI" in "AMD GPU Compiler and Runtime Metadata and ABI Specification".
#include <gtest/gtest.h>

#include "object/catalyst_abi.h"

using namespace Atoll::object;
using namespace Atoll::object::catalyst;
using Atoll::target::Generation;

namespace {

struct UserDataRow {
  Features features;
  Generation generation;
  uint8_t count;
  std::optional<uint8_t> setup, arguments, scratch;
};

TEST(CatalystUserData, FollowsEnabledFeatures) {
  const UserDataRow rows[] = {
      {{}, Generation::gfx7, 4, {}, {}, {}},
      {{.use_args = true}, Generation::gfx7, 6, {}, 4, {}},
      {{.use_setup = true, .use_args = true}, Generation::gfx7, 8, 4, 6, {}},
      {{.use_setup = true}, Generation::gfx8, 8, 4, 6, {}},
      {{.use_enqueue = true}, Generation::gfx8, 10, 4, 6, 8},
      {{.use_setup = true, .use_args = true, .use_enqueue = true}, Generation::gfx7, 10, 4, 6, 8},
      {{.use_generic = true}, Generation::gfx7, 12, 4, 8, 10},
      {{.use_setup = true, .use_args = true, .use_enqueue = true, .use_generic = true}, Generation::gfx8, 12, 4, 8, 10},
      {{}, Generation::gfx9, 10, 4, 6, 8},
      {{.use_setup = true, .use_args = true}, Generation::gfx9, 10, 4, 6, 8},
  };
  for (const UserDataRow& row : rows) {
    const UserDataLayout layout = user_data_layout(row.features, row.generation);
    EXPECT_EQ(layout.count, row.count);
    EXPECT_EQ(layout.first(UserSgprs::setup_pointer), row.setup);
    EXPECT_EQ(layout.first(UserSgprs::argument_pointer), row.arguments);
    EXPECT_EQ(layout.first(UserSgprs::scratch_offset_and_size), row.scratch);
    // "First four scalar registers holds scratch buffer descriptor."
    EXPECT_EQ(layout.first(UserSgprs::scratch_descriptor), 0);
    EXPECT_EQ(layout.ranges[0].count, 4);
    uint8_t next = 0;
    for (const UserSgprRange& range : layout.ranges) {
      EXPECT_EQ(range.first, next);
      next = static_cast<uint8_t>(next + range.count);
    }
    EXPECT_EQ(next, layout.count);
  }
}

TEST(CatalystUserData, HasFlatBasesForGenericPointers) {
  // "Registers S[6-7] holds special buffer"; "Register S10 ... base scratch buffer offset", "S11 ... size of scratch".
  const UserDataLayout layout = user_data_layout({.use_generic = true}, Generation::gfx8);
  EXPECT_EQ(layout.first(UserSgprs::flat_bases), 6);
  EXPECT_EQ(layout.first(UserSgprs::scratch_offset_and_size), 10);
  EXPECT_EQ(flat_lds_base_dword, 16u);
  EXPECT_EQ(flat_scratch_base_dword, 17u);
  EXPECT_FALSE(user_data_layout({.use_enqueue = true}, Generation::gfx8).first(UserSgprs::flat_bases));
}

TEST(CatalystUserData, ReadsFeaturesFromTheSetupRecord) {
  // The low bits of kernel_code_properties that drivers write for each feature.
  struct Row {
    uint32_t properties;
    uint8_t count;
  };
  for (const Row row : {Row{0x1, 4}, Row{0x9, 6}, Row{0xB, 8}, Row{0x2B, 10}, Row{0x2F, 12}}) {
    RawKernelCode record{};
    record[56] = static_cast<uint8_t>(row.properties);
    EXPECT_EQ(user_data_layout(features_of(record, Generation::gfx8), Generation::gfx8).count, row.count);
  }
  RawKernelCode record{};
  record[56] = 0x2B;
  EXPECT_FALSE(features_of(record, Generation::gfx9).use_enqueue);
  EXPECT_EQ(user_data_layout(features_of(record, Generation::gfx9), Generation::gfx9).count, 10);
}

TEST(CatalystSetup, LaysOutTheSetupBuffer) {
  const auto buffer = setup_buffer(3, {64, 2, 4}, {1024, 70000, 8});
  EXPECT_EQ(buffer[0] >> 16, 3u);  // "Bit 16-31 - dimensions number"
  EXPECT_EQ(buffer[1] & 0xFFFF, 64u);
  EXPECT_EQ(buffer[1] >> 16, 2u);
  EXPECT_EQ(buffer[2] & 0xFFFF, 4u);
  EXPECT_EQ(buffer[3], 1024u);
  EXPECT_EQ(buffer[4], 70000u);
  EXPECT_EQ(buffer[5], 8u);
}

TEST(CatalystArguments, BeginsWithSetupArguments) {
  constexpr std::string_view names[] = {"global_offset_0", "global_offset_1", "global_offset_2",
                                        "printf_buffer",   "vqueue_pointer",  "aqlwrap_pointer"};
  ASSERT_EQ(setup_arguments().size(), 6u);
  for (const unsigned bits : {32u, 64u}) {
    const auto layout = argument_layout({}, bits);
    ASSERT_TRUE(layout);
    EXPECT_EQ(layout->size, 6 * bits / 8);
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(setup_arguments()[i], names[i]);
      EXPECT_EQ(layout->setup[i].offset, i * bits / 8);
      EXPECT_EQ(layout->setup[i].size, bits / 8);
    }
  }
}

TEST(CatalystArguments, PassesObjectsAsPointers) {
  // "Any pointer, command queue, image, sampler, structure tooks 8 bytes ... or 4 bytes"
  for (const unsigned bits : {32u, 64u}) {
    for (const ArgumentType type : {ArgumentType::pointer, ArgumentType::queue, ArgumentType::image,
                                    ArgumentType::sampler, ArgumentType::structure}) {
      const ArgumentShape shapes[] = {{ArgumentType::int8}, {type}};
      const auto layout = argument_layout(shapes, bits);
      ASSERT_TRUE(layout);
      EXPECT_EQ(layout->arguments[1].size, bits / 8);
      EXPECT_EQ(layout->arguments[1].offset, 6 * bits / 8 + bits / 8);
    }
  }
}

TEST(CatalystArguments, AlignsByElement) {
  // "3 component vector tooks number of bytes of 4 element vector"; "Alignment depends on ... type of element".
  const ArgumentShape shapes[] = {{ArgumentType::int8},    {ArgumentType::int16, 3}, {ArgumentType::float32, 3},
                                  {ArgumentType::int8, 3}, {ArgumentType::int64, 2}, {ArgumentType::float64, 16},
                                  {ArgumentType::int8, 2}, {ArgumentType::int16}};
  const auto layout = argument_layout(shapes, 64);
  ASSERT_TRUE(layout);
  const uint32_t expected[][2] = {{48, 1}, {50, 8}, {60, 16}, {76, 4}, {80, 16}, {96, 128}, {224, 2}, {226, 2}};
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(layout->arguments[i].offset, expected[i][0]) << i;
    EXPECT_EQ(layout->arguments[i].size, expected[i][1]) << i;
  }
  EXPECT_EQ(layout->size, 228u);
  EXPECT_EQ(argument_layout(shapes, 32)->arguments[0].offset, 24u);
}

TEST(CatalystArguments, RefusesImpossibleShapes) {
  const ArgumentShape five[] = {{ArgumentType::int32, 5}}, images[] = {{ArgumentType::image, 2}};
  EXPECT_EQ(argument_layout(five, 64).error().message,
            "argument 0 is a vector of 5 elements; 2, 3, 4, 8 and 16 are allowed");
  EXPECT_EQ(argument_layout(images, 64).error().message, "argument 0 is a vector of elements that are not numbers");
  EXPECT_EQ(argument_layout({}, 16).error().message, "16 bits instead of 32 or 64");
}

TEST(CatalystImages, NamesChannelTypes) {
  constexpr std::string_view names[] = {
      "CL_SNORM_INT8",     "CL_SNORM_INT16",     "CL_UNORM_INT8",      "CL_UNORM_INT16",
      "CL_UNORM_INT24",    "CL_UNORM_SHORT_555", "CL_UNORM_SHORT_565", "CL_UNORM_INT_101010",
      "CL_SIGNED_INT8",    "CL_SIGNED_INT16",    "CL_SIGNED_INT32",    "CL_UNSIGNED_INT8",
      "CL_UNSIGNED_INT16", "CL_UNSIGNED_INT32",  "CL_HALF_FLOAT",      "CL_FLOAT"};
  for (uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(image_type_name(i), names[i]);
    EXPECT_EQ(image_type_name(i | 0xABCD0), names[i]);  // "should be masked: (value&0xf)"
    EXPECT_EQ(find_image_type(names[i]), i);
  }
  EXPECT_EQ(image_resource_dwords, 8u);
  EXPECT_EQ(image_type_dword, 8u);
  EXPECT_EQ(image_order_dword, 9u);
}

TEST(CatalystImages, NamesChannelOrders) {
  constexpr std::string_view names[] = {"CL_A",     "CL_R",         "CL_Rx",        "CL_RG",    "CL_RGx",
                                        "CL_RA",    "CL_RGB",       "CL_RGBx",      "CL_RGBA",  "CL_BGRA",
                                        "CL_ARGB",  "CL_ABGR",      "CL_sRGB",      "CL_sRGBx", "CL_sRGBA",
                                        "CL_sBGRA", "CL_INTENSITY", "CL_LUMINANCE", "CL_DEPTH", "CL_DEPTH_STENCIL"};
  for (uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(image_order_name(i), names[i]);
    EXPECT_EQ(image_order_name(i | 0xABC0), names[i]);  // "should be masked: (value&0x1f)"
    EXPECT_EQ(find_image_order(names[i]), i);
  }
  for (uint32_t i = 20; i < 32; ++i) EXPECT_FALSE(image_order_name(i));
}

ConstantSetup launch() {
  return {.dimensions = 2,
          .global_size = {1024, 64, 1},
          .local_size = {64, 2, 1},
          .global_offset = {5, 6, 7},
          .group_offset = {2, 3, 4},
          .private_ring_offset = 0x1000,
          .private_bytes = 48,
          .local_ring_offset = 0x2000,
          .local_bytes = 256,
          .math_tables = 0x3000,
          .data_segment_offset = 0x123456789A,
          .printf_offset = 0x4000,
          .printf_bytes = 65536};
}

TEST(CatalystConstants, LaysOutTheDocumentsBuffer) {
  // Each row of the table, for clEnqueueNDRangeKernel.
  const uint32_t expected[] = {1024, 64,     1, 2,          64,         2,          1,      0,      16,
                               32,   1,      0, 0x1000,     48,         0,          0,      0x2000, 256,
                               0,    0x3000, 0, 0x3F000000, 0x3F800000, 0x40000000, 5,      6,      7,
                               210,  2,      3, 4,          24,         0x3456789A, 0x4000, 65536};
  const auto buffer = fill_constant_buffer_0(launch(), ConstantLayout::document);
  EXPECT_EQ(buffer, std::vector<uint32_t>(std::begin(expected), std::end(expected)));
}

TEST(CatalystConstants, LaysOutTasks) {
  ConstantSetup setup = launch();
  setup.is_task = true;
  const auto buffer = fill_constant_buffer_0(setup, ConstantLayout::document);
  const uint32_t expected[] = {1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0};
  for (size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(buffer[i], expected[i]) << i;
}

TEST(CatalystConstants, LaysOutGcnsBuffers) {
  const auto narrow = fill_constant_buffer_0(launch(), ConstantLayout::gcn32);
  ASSERT_EQ(narrow.size(), 39u);
  EXPECT_EQ((std::vector<uint32_t>(narrow.begin(), narrow.begin() + 11)),
            (std::vector<uint32_t>{1024, 64, 1, 2, 64, 2, 1, 0, 16, 32, 1}));
  EXPECT_EQ(narrow[24], 5u);
  EXPECT_EQ(narrow[27], 210u);
  EXPECT_EQ(narrow[32], 0x3456789Au);
  EXPECT_EQ(narrow[33], 0u);
  EXPECT_EQ(narrow[36], 5u);
  EXPECT_EQ(narrow[38], 7u);
  const auto wide = fill_constant_buffer_0(launch(), ConstantLayout::gcn64);
  ASSERT_EQ(wide.size(), 40u);
  EXPECT_EQ(wide[32], 0x3456789Au);
  EXPECT_EQ(wide[33], 0x12u);
  EXPECT_EQ(wide[36], 0u);
  EXPECT_EQ(wide[37], 5u);
  EXPECT_EQ(wide[39], 7u);
}

TEST(CatalystConstants, SizesArguments) {
  struct Row {
    std::string_view type;
    uint32_t count, bytes;
  };
  const Row rows[] = {
      {"i32", 1, 16},    {"i64", 1, 16},     {"i1", 1, 16},      {"i8", 1, 16},  // scalars take one vector location
      {"float", 4, 16},  {"double", 2, 16},  {"i1", 4, 16},                      // up to 128 bits
      {"float", 8, 32},  {"double", 8, 64},  {"float", 16, 64},  {"i1", 8, 32},  // "a float8 requires 2 ..., double8 4"
      {"i8", 2, 16},     {"i16", 4, 16},     {"i8", 8, 32},      {"i16", 16, 64},    // narrow vectors
      {"struct", 1, 16}, {"struct", 16, 16}, {"struct", 17, 32}, {"union", 12, 16},  // (sizeof + 15) & ~15
      {"float", 3, 16},  {"double", 3, 32}};
  for (const Row& row : rows)
    EXPECT_EQ(constant_argument_bytes(row.type, row.count), row.bytes) << row.type << row.count;
  EXPECT_FALSE(constant_argument_bytes("quad", 1));
}

TEST(CatalystConstants, PacksNarrowVectors) {
  // "every 4 components align on the 128bit boundary"
  const uint8_t components[] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<uint8_t> expected(32);
  for (uint8_t i = 0; i < 4; ++i) {
    expected[i] = static_cast<uint8_t>(i + 1);
    expected[16u + i] = static_cast<uint8_t>(i + 5);
  }
  EXPECT_EQ(pack_narrow_vector(components, 1), expected);
  EXPECT_EQ(pack_narrow_vector(components, 2)[7], 8);
  EXPECT_EQ(pack_narrow_vector(components, 2).size(), 16u);
}

TEST(CatalystConstants, LaysOutImages) {
  const ImageConstants image{.width = 4,
                             .height = 2,
                             .depth = 1,
                             .data_type = 15,
                             .channel_order = 8,
                             .offset = 100,
                             .row_pitch = 64,
                             .slice_pitch = 128};
  EXPECT_EQ(image_constants_r700(image), (std::array<uint32_t, 8>{4, 2, 1, 100, 15, 8, 64, 128}));
  EXPECT_EQ(image_constants(image), (std::array<uint32_t, 8>{4, 2, 1, 15, 0x3E800000, 0x3F000000, 0x3F800000, 8}));
}

TEST(CatalystConstants, EncodesSamplers) {
  EXPECT_EQ(encode_sampler({.normalized = true, .addressing = 2, .filter = 2}), 0x25u);
  for (uint32_t value = 0; value < 64; ++value) {
    const auto sampler = decode_sampler(value);
    EXPECT_EQ(sampler.has_value(), (value >> 1 & 7) <= 4 && (value >> 4) <= 2) << value;
    if (sampler) EXPECT_EQ(encode_sampler(*sampler), value);
  }
  EXPECT_EQ(decode_sampler(0x40).error().message, "sampler 0x40 has bits beyond its 6");
  EXPECT_EQ(decode_sampler(0xC).error().message, "sampler 0xc has addressing mode 6; 0 to 4 exist");
}

}  // namespace

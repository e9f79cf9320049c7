// Images and samplers: which there are, the words that kernels read, contents. The words' fields are those of the Vega
// ISA manual.
#include <hsa/hsa_ext_image.h>

#include <cstring>
#include <vector>

#include "hsa/interface/rocm_7_2_extensions.h"
#include "hsa/runtime.h"

using namespace Atoll::test;

namespace {

class HsaImages : public HsaTest {
 protected:
  HsaImages() { gpu_name = "gfx906"; }

  static hsa_ext_image_descriptor_t describe(hsa_ext_image_geometry_t geometry, size_t width, size_t height,
                                             size_t depth, size_t layers, hsa_ext_image_channel_order_t order,
                                             hsa_ext_image_channel_type_t type) {
    return {geometry, width, height, depth, layers, {type, order}};
  }
  hsa_ext_image_t create(const hsa_ext_image_descriptor_t& descriptor) {
    hsa_ext_image_data_info_t info{};
    EXPECT_EQ(hsa_ext_image_data_get_info(gpu, &descriptor, HSA_ACCESS_PERMISSION_RW, &info), HSA_STATUS_SUCCESS);
    data = allocate<uint8_t>(gpu_pools[0], info.size);
    hsa_ext_image_t image{};
    EXPECT_EQ(hsa_ext_image_create(gpu, &descriptor, data, HSA_ACCESS_PERMISSION_RW, &image), HSA_STATUS_SUCCESS);
    return image;
  }
  /// Bits of the words that a handle points to.
  static uint64_t field(uint64_t handle, unsigned bit, unsigned width) {
    const auto* words = reinterpret_cast<const uint32_t*>(handle);
    uint64_t value = 0;
    for (unsigned i = 0; i < width; ++i) value |= uint64_t{words[(bit + i) / 32] >> (bit + i) % 32 & 1} << i;
    return value;
  }
  static int extended(hsa_status_t status) { return static_cast<int>(status); }

  uint8_t* data = nullptr;
};

// gfx90a loads, stores and samples, though not by all of gfx908's instructions.
class HsaImagesOfGfx90a : public HsaImages {
 protected:
  HsaImagesOfGfx90a() { gpu_name = "gfx90a"; }
};

TEST_F(HsaImagesOfGfx90a, BuffersAreImagesToo) {
  const auto descriptor = describe(HSA_EXT_IMAGE_GEOMETRY_1DB, 256, 0, 0, 0, HSA_EXT_IMAGE_CHANNEL_ORDER_R,
                                   HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32);
  const hsa_ext_image_t image = create(descriptor);
  EXPECT_EQ(field(image.handle, 0, 48), reinterpret_cast<uint64_t>(data));
  EXPECT_EQ(field(image.handle, 64, 32), 256U * 4);
  EXPECT_EQ(hsa_ext_image_destroy(gpu, image), HSA_STATUS_SUCCESS);
}

class HsaImagesOfRadeons : public HsaImages {
 protected:
  HsaImagesOfRadeons() { gpu_name = "gfx1030"; }
};

TEST_F(HsaImagesOfRadeons, BuffersHaveTheirWords) {
  const auto buffer = describe(HSA_EXT_IMAGE_GEOMETRY_1DB, 256, 0, 0, 0, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
                               HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT);
  const hsa_ext_image_t image = create(buffer);
  EXPECT_EQ(field(image.handle, 0, 48), reinterpret_cast<uint64_t>(data));
  EXPECT_EQ(field(image.handle, 48, 14), 16U);
  EXPECT_EQ(field(image.handle, 64, 32), 256U);
  EXPECT_EQ(field(image.handle, 108, 7), 77U);  // BUF_FMT_32_32_32_32_FLOAT of the RDNA2 guide's table
  EXPECT_EQ(hsa_ext_image_destroy(gpu, image), HSA_STATUS_SUCCESS);
}

// The places of fields are those of ROCr's resource_nv.h.
TEST_F(HsaImagesOfRadeons, ResourceWordsAreThoseOfGfx10) {
  const hsa_ext_image_t image =
      create(describe(HSA_EXT_IMAGE_GEOMETRY_2D, 1001, 50, 0, 0, HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA,
                      HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8));
  EXPECT_EQ(field(image.handle, 0, 40) << 8, reinterpret_cast<uint64_t>(data));
  EXPECT_EQ(field(image.handle, 52, 9), 56U);  // 8_8_8_8_UNORM
  EXPECT_EQ(field(image.handle, 62, 14), 1000U);
  EXPECT_EQ(field(image.handle, 78, 14), 49U);
  EXPECT_EQ(field(image.handle, 96, 12), 6U | 5U << 3 | 4U << 6 | 7U << 9);  // z, y, x, w
  EXPECT_EQ(field(image.handle, 116, 5), 0U);                                // linear
  EXPECT_EQ(field(image.handle, 124, 4), 9U);                                // 2D
  EXPECT_EQ(field(image.handle, 128, 14), 1023U);                            // rows of 4096 bytes
  EXPECT_EQ(hsa_ext_image_destroy(gpu, image), HSA_STATUS_SUCCESS);
  const hsa_ext_image_t layers = create(describe(HSA_EXT_IMAGE_GEOMETRY_2DA, 10, 6, 0, 3, HSA_EXT_IMAGE_CHANNEL_ORDER_R,
                                                 HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16));
  EXPECT_EQ(field(layers.handle, 52, 9), 11U);  // 16_UINT
  EXPECT_EQ(field(layers.handle, 124, 4), 13U);
  EXPECT_EQ(field(layers.handle, 128, 13), 2U);  // the last layer
  EXPECT_EQ(hsa_ext_image_destroy(gpu, layers), HSA_STATUS_SUCCESS);
}

// The words of arrays and 3D images have no field for the row pitch.
TEST_F(HsaImagesOfRadeons, ArraysHaveThePitchOfTheirWidth) {
  hsa_ext_image_data_info_t info{};
  const auto layout = [&](hsa_ext_image_geometry_t geometry, size_t layers, size_t row) {
    const auto image =
        describe(geometry, 100, 7, 0, layers, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8);
    return extended(hsa_ext_image_data_get_info_with_layout(gpu, &image, HSA_ACCESS_PERMISSION_RO,
                                                            HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, row, 0, &info));
  };
  EXPECT_EQ(layout(HSA_EXT_IMAGE_GEOMETRY_2D, 0, 1024), HSA_STATUS_SUCCESS);
  EXPECT_EQ(layout(HSA_EXT_IMAGE_GEOMETRY_2DA, 3, 512), HSA_STATUS_SUCCESS);
  EXPECT_EQ(layout(HSA_EXT_IMAGE_GEOMETRY_2DA, 3, 1024), HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED);
}

class HsaImagesOfGfx12 : public HsaImages {
 protected:
  HsaImagesOfGfx12() { gpu_name = "gfx1201"; }
};

// The places of fields are those of ROCr's resource_gfx12.h.
TEST_F(HsaImagesOfGfx12, WordsAreThoseOfGfx12) {
  const hsa_ext_image_t image =
      create(describe(HSA_EXT_IMAGE_GEOMETRY_2D, 1001, 50, 0, 0, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
                      HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8));
  EXPECT_EQ(field(image.handle, 49, 8), 42U);  // 8_8_8_8_UNORM
  EXPECT_EQ(field(image.handle, 62, 16), 1000U);
  EXPECT_EQ(field(image.handle, 78, 16), 49U);
  EXPECT_EQ(field(image.handle, 124, 4), 9U);
  EXPECT_EQ(field(image.handle, 128, 16), 1023U);
  EXPECT_EQ(hsa_ext_image_destroy(gpu, image), HSA_STATUS_SUCCESS);
}

TEST_F(HsaImages, FormatsHaveTheirCapabilities) {
  const auto mask = [&](hsa_ext_image_geometry_t geometry, hsa_ext_image_channel_order_t order,
                        hsa_ext_image_channel_type_t type) {
    uint32_t capabilities = UINT32_MAX, same = 0;
    const hsa_ext_image_format_t format{type, order};
    EXPECT_EQ(hsa_ext_image_get_capability(gpu, geometry, &format, &capabilities), HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_ext_image_get_capability_with_layout(gpu, geometry, &format, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, &same),
              HSA_STATUS_SUCCESS);
    EXPECT_EQ(capabilities, same);
    return capabilities & ~uint32_t{HSA_EXT_IMAGE_CAPABILITY_ACCESS_INVARIANT_DATA_LAYOUT};
  };
  constexpr uint32_t read = HSA_EXT_IMAGE_CAPABILITY_READ_ONLY, write = HSA_EXT_IMAGE_CAPABILITY_WRITE_ONLY,
                     both = HSA_EXT_IMAGE_CAPABILITY_READ_WRITE;
  // Requirements of the HSA PRM on every agent with images.
  for (const auto order :
       {HSA_EXT_IMAGE_CHANNEL_ORDER_R, HSA_EXT_IMAGE_CHANNEL_ORDER_RG, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA}) {
    for (const auto type : {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16,
                            HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32, HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT}) {
      EXPECT_EQ(mask(HSA_EXT_IMAGE_GEOMETRY_2D, order, type), read | write | both);
    }
  }
  EXPECT_EQ(mask(HSA_EXT_IMAGE_GEOMETRY_2D, HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8),
            read);
  EXPECT_EQ(mask(HSA_EXT_IMAGE_GEOMETRY_2DDEPTH, HSA_EXT_IMAGE_CHANNEL_ORDER_DEPTH, HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT),
            read | write);
  EXPECT_EQ(mask(HSA_EXT_IMAGE_GEOMETRY_2DDEPTH, HSA_EXT_IMAGE_CHANNEL_ORDER_R, HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT), 0U);
  EXPECT_EQ(
      mask(HSA_EXT_IMAGE_GEOMETRY_1DB, HSA_EXT_IMAGE_CHANNEL_ORDER_RGB, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565),
      0U);
  EXPECT_EQ(mask(HSA_EXT_IMAGE_GEOMETRY_2D, HSA_EXT_IMAGE_CHANNEL_ORDER_RGB, HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT), 0U);
  uint32_t ignored = 0;
  EXPECT_EQ(hsa_ext_image_get_capability(gpu, HSA_EXT_IMAGE_GEOMETRY_2D, nullptr, &ignored),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  const hsa_ext_image_format_t format{HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_R};
  EXPECT_EQ(hsa_ext_image_get_capability(cpu, HSA_EXT_IMAGE_GEOMETRY_2D, &format, &ignored),
            HSA_STATUS_ERROR_INVALID_AGENT);
  EXPECT_EQ(hsa_ext_image_get_capability_with_layout(gpu, HSA_EXT_IMAGE_GEOMETRY_2D, &format,
                                                     HSA_EXT_IMAGE_DATA_LAYOUT_OPAQUE, &ignored),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(HsaImages, SizesAndPitchesAreChecked) {
  hsa_ext_image_data_info_t info{};
  auto image = describe(HSA_EXT_IMAGE_GEOMETRY_2DA, 100, 7, 0, 3, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
                        HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8);
  const auto layout = [&](size_t row, size_t slice) {
    return extended(hsa_ext_image_data_get_info_with_layout(gpu, &image, HSA_ACCESS_PERMISSION_RO,
                                                            HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, row, slice, &info));
  };
  ASSERT_EQ(hsa_ext_image_data_get_info(gpu, &image, HSA_ACCESS_PERMISSION_RO, &info), HSA_STATUS_SUCCESS);
  EXPECT_GE(info.size, 100U * 4 * 7 * 3);
  EXPECT_EQ(info.alignment, 256U);
  EXPECT_EQ(layout(512, 0), HSA_STATUS_SUCCESS);
  EXPECT_EQ(info.size, 512U * 7 * 3);
  EXPECT_EQ(layout(512, 512 * 7), HSA_STATUS_SUCCESS);
  EXPECT_EQ(layout(256, 0), HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED);  // too short
  EXPECT_EQ(layout(404, 0), HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED);  // not of the agent's alignment
  EXPECT_EQ(layout(512, 512), HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED);
  image.width = 100'000;
  EXPECT_EQ(extended(hsa_ext_image_data_get_info(gpu, &image, HSA_ACCESS_PERMISSION_RO, &info)),
            HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED);
  image.width = 0;
  EXPECT_EQ(extended(hsa_ext_image_data_get_info(gpu, &image, HSA_ACCESS_PERMISSION_RO, &info)),
            HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED);
  image.width = 100;
  image.format.channel_order = HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA;
  EXPECT_EQ(hsa_ext_image_data_get_info(gpu, &image, HSA_ACCESS_PERMISSION_RO, &info), HSA_STATUS_SUCCESS);
  // As ROCr, which ignores the permission: HIP requests more than textures of sRGB values need.
  EXPECT_EQ(hsa_ext_image_data_get_info(gpu, &image, HSA_ACCESS_PERMISSION_RW, &info), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_ext_image_data_get_info(gpu, nullptr, HSA_ACCESS_PERMISSION_RO, &info),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(HsaImages, ResourceWordsAreThoseOfGfx9) {
  const hsa_ext_image_t image =
      create(describe(HSA_EXT_IMAGE_GEOMETRY_3D, 100, 50, 20, 0, HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA,
                      HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8));
  EXPECT_EQ(field(image.handle, 0, 40) << 8, reinterpret_cast<uint64_t>(data));
  EXPECT_EQ(field(image.handle, 52, 6), 10U);  // 8_8_8_8
  EXPECT_EQ(field(image.handle, 58, 4), 0U);   // unorm
  EXPECT_EQ(field(image.handle, 64, 14), 99U);
  EXPECT_EQ(field(image.handle, 78, 14), 49U);
  EXPECT_EQ(field(image.handle, 96, 12), 6U | 5U << 3 | 4U << 6 | 7U << 9);  // z, y, x, w
  EXPECT_EQ(field(image.handle, 116, 5), 0U);                                // linear
  EXPECT_EQ(field(image.handle, 124, 4), 10U);                               // 3D
  EXPECT_EQ(field(image.handle, 128, 13), 19U);
  EXPECT_EQ(field(image.handle, 141, 16), 127U);  // rows of 512 bytes
  const auto* words = reinterpret_cast<const uint32_t*>(image.handle);
  EXPECT_EQ(words[8], uint32_t{HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8});
  EXPECT_EQ(words[9], uint32_t{HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA});
  EXPECT_EQ(words[10], 100U);
  EXPECT_EQ(hsa_ext_image_destroy(gpu, image), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_ext_image_destroy(gpu, image), HSA_STATUS_ERROR_INVALID_ARGUMENT);

  const hsa_ext_image_t buffer = create(describe(HSA_EXT_IMAGE_GEOMETRY_1DB, 1000, 0, 0, 0,
                                                 HSA_EXT_IMAGE_CHANNEL_ORDER_RG, HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT));
  EXPECT_EQ(field(buffer.handle, 0, 48), reinterpret_cast<uint64_t>(data));
  EXPECT_EQ(field(buffer.handle, 48, 14), 8U);
  EXPECT_EQ(field(buffer.handle, 64, 32), 8000U);
  EXPECT_EQ(field(buffer.handle, 96, 12), 4U | 5U << 3 | 0U << 6 | 1U << 9);  // x, y, 0, 1
  EXPECT_EQ(field(buffer.handle, 108, 3), 7U);                                // float
  EXPECT_EQ(field(buffer.handle, 111, 4), 11U);                               // 32_32
  EXPECT_EQ(hsa_ext_image_destroy(gpu, buffer), HSA_STATUS_SUCCESS);
}

TEST_F(HsaImages, AnImageOfAGraphicsDriverHasItsPitch) {
  const auto descriptor = describe(HSA_EXT_IMAGE_GEOMETRY_2D, 100, 50, 0, 0, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
                                   HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8);
  uint32_t chip = 0;
  ASSERT_EQ(hsa_agent_get_info(gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_CHIP_ID), &chip),
            HSA_STATUS_SUCCESS);
  uint32_t metadata[10] = {1, 0x1002U << 16 | chip};
  metadata[2 + 1] = 10 << 20;         // 8_8_8_8, unorm
  metadata[2 + 2] = 99 | 49 << 14;    // width and height
  metadata[2 + 3] = 9U << 28;         // 2D
  metadata[2 + 4] = (256 - 1) << 13;  // rows of 256 elements
  const auto* layout = reinterpret_cast<const hsa_amd_image_descriptor_t*>(metadata);
  auto* bytes = allocate<uint8_t>(gpu_pools[0], 256 * 4 * 50);
  hsa_ext_image_t image{};
  ASSERT_EQ(hsa_amd_image_create(gpu, &descriptor, layout, bytes, HSA_ACCESS_PERMISSION_RW, &image),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(field(image.handle, 141, 16), 255U);
  EXPECT_EQ(hsa_ext_image_destroy(gpu, image), HSA_STATUS_SUCCESS);
  metadata[2 + 3] |= 9 << 20;  // 64 KB standard swizzle
  EXPECT_EQ(hsa_amd_image_create(gpu, &descriptor, layout, bytes, HSA_ACCESS_PERMISSION_RW, &image),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
  metadata[2 + 3] = 9U << 28;
  metadata[1] = 0;
  EXPECT_EQ(hsa_amd_image_create(gpu, &descriptor, layout, bytes, HSA_ACCESS_PERMISSION_RW, &image),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(HsaImages, ContentsComeAndGoInRows) {
  const hsa_ext_image_t image = create(describe(HSA_EXT_IMAGE_GEOMETRY_2DA, 10, 6, 0, 3, HSA_EXT_IMAGE_CHANNEL_ORDER_R,
                                                HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16));
  std::vector<uint16_t> source(5 * 20), result(4 * 3 * 2);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint16_t>(i + 1);
  // 4 by 3 elements of 2 layers, out of rows of 10 elements and slices of 50.
  const hsa_ext_image_region_t region{{2, 1, 1}, {4, 3, 2}};
  ASSERT_EQ(hsa_ext_image_import(gpu, source.data(), 20, 100, image, &region), HSA_STATUS_SUCCESS);
  ASSERT_EQ(hsa_ext_image_export(gpu, image, result.data(), 0, 0, &region), HSA_STATUS_SUCCESS);
  for (size_t z = 0; z < 2; ++z) {
    for (size_t y = 0; y < 3; ++y) {
      for (size_t x = 0; x < 4; ++x) {
        ASSERT_EQ(result[z * 12 + y * 4 + x], source[z * 50 + y * 10 + x]);
        uint16_t there = 0;  // rows of 256 bytes, slices of 6 of them
        std::memcpy(&there, data + (z + 1) * 6 * 256 + (y + 1) * 256 + (x + 2) * 2, sizeof there);
        ASSERT_EQ(there, source[z * 50 + y * 10 + x]);
      }
    }
  }
  // One layer into a 1D array: its rows are layers there.
  hsa_ext_image_t layers = create(describe(HSA_EXT_IMAGE_GEOMETRY_1DA, 10, 0, 0, 8, HSA_EXT_IMAGE_CHANNEL_ORDER_R,
                                           HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16));
  const hsa_dim3_t from{2, 1, 1}, to{0, 5, 0}, range{4, 3, 1};
  ASSERT_EQ(hsa_ext_image_copy(gpu, image, &from, layers, &to, &range), HSA_STATUS_SUCCESS);
  const hsa_ext_image_region_t copied{{0, 5, 0}, {4, 3, 1}};
  ASSERT_EQ(hsa_ext_image_export(gpu, layers, result.data(), 0, 0, &copied), HSA_STATUS_SUCCESS);
  for (size_t y = 0; y < 3; ++y) {
    for (size_t x = 0; x < 4; ++x) ASSERT_EQ(result[y * 4 + x], source[y * 10 + x]);
  }
  const hsa_ext_image_region_t outside{{0, 6, 0}, {4, 3, 1}};
  EXPECT_EQ(hsa_ext_image_export(gpu, layers, result.data(), 0, 0, &outside), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_ext_image_export(gpu, layers, nullptr, 0, 0, &copied), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_ext_image_import(gpu, source.data(), 0, 0, {1}, &copied), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_ext_image_destroy(gpu, layers), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_ext_image_destroy(gpu, image), HSA_STATUS_SUCCESS);
}

TEST_F(HsaImages, ClearingConvertsLikeAStore) {
  const auto cleared = [&](hsa_ext_image_channel_order_t order, hsa_ext_image_channel_type_t type, auto red, auto green,
                           auto blue, auto alpha) {
    const hsa_ext_image_t image = create(describe(HSA_EXT_IMAGE_GEOMETRY_1D, 4, 0, 0, 0, order, type));
    const decltype(red) value[4] = {red, green, blue, alpha};
    const hsa_ext_image_region_t region{{1, 0, 0}, {2, 1, 1}};
    EXPECT_EQ(hsa_ext_image_clear(gpu, image, value, &region), HSA_STATUS_SUCCESS);
    uint64_t element[2]{};
    const hsa_ext_image_region_t second{{2, 0, 0}, {1, 1, 1}}, third{{3, 0, 0}, {1, 1, 1}};
    EXPECT_EQ(hsa_ext_image_export(gpu, image, element, 0, 0, &third), HSA_STATUS_SUCCESS);
    EXPECT_EQ(element[0], 0U);
    EXPECT_EQ(hsa_ext_image_export(gpu, image, element, 0, 0, &second), HSA_STATUS_SUCCESS);
    EXPECT_EQ(hsa_ext_image_destroy(gpu, image), HSA_STATUS_SUCCESS);
    return element[0];
  };
  using Order = hsa_ext_image_channel_order_t;
  EXPECT_EQ(cleared(HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, 0.0F, 0.5F, 1.0F, 2.0F),
            0xFFFF8000U);  // 127.5 to the even 128
  EXPECT_EQ(cleared(HSA_EXT_IMAGE_CHANNEL_ORDER_BGRA, HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8, 1U, 2U, 3U, 400U),
            0xFF010203U);
  EXPECT_EQ(cleared(HSA_EXT_IMAGE_CHANNEL_ORDER_ARGB, HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8, 1, -2, 3, -300),
            0x03FE0180U);
  EXPECT_EQ(
      cleared(HSA_EXT_IMAGE_CHANNEL_ORDER_RGB, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565, 1.0F, 0.0F, 0.0F, 0.0F),
      0xF800U);
  EXPECT_EQ(
      cleared(HSA_EXT_IMAGE_CHANNEL_ORDER_RGB, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_555, 0.0F, 1.0F, 0.0F, 0.0F),
      0x03E0U);
  EXPECT_EQ(
      cleared(HSA_EXT_IMAGE_CHANNEL_ORDER_RGB, HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_SHORT_101010, 1.0F, 0.0F, 1.0F, 0.0F),
      0x3FF003FFU);
  EXPECT_EQ(cleared(HSA_EXT_IMAGE_CHANNEL_ORDER_RA, HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT, 1.0F, 9.0F, 9.0F, -2.0F),
            0xC0003C00U);
  EXPECT_EQ(cleared(HSA_EXT_IMAGE_CHANNEL_ORDER_A, HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16, 0.0F, 0.0F, 0.0F, -1.0F),
            0x8001U);
  EXPECT_EQ(
      cleared(Order{HSA_EXT_IMAGE_CHANNEL_ORDER_LUMINANCE}, HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, 1.5F, 0.0F, 0.0F, 0.0F),
      0x3FC00000U);
}

TEST_F(HsaImages, SamplerWordsAreThoseOfGfx9) {
  const hsa_ext_sampler_descriptor_v2_t descriptor{
      HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED,
      HSA_EXT_SAMPLER_FILTER_MODE_LINEAR,
      {HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT, HSA_EXT_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT,
       HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_BORDER}};
  hsa_ext_sampler_t sampler{}, other{};
  ASSERT_EQ(hsa_ext_sampler_create_v2(gpu, &descriptor, &sampler), HSA_STATUS_SUCCESS);
  EXPECT_EQ(field(sampler.handle, 0, 9), 0U | 1U << 3 | 6U << 6);  // wrap, mirror, border
  EXPECT_EQ(field(sampler.handle, 15, 1), 1U);                     // unnormalised
  EXPECT_EQ(field(sampler.handle, 44, 12), 4095U);
  EXPECT_EQ(field(sampler.handle, 84, 4), 5U);  // bilinear
  const hsa_ext_sampler_descriptor_t plain{HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED,
                                           HSA_EXT_SAMPLER_FILTER_MODE_NEAREST,
                                           HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE};
  ASSERT_EQ(hsa_ext_sampler_create(gpu, &plain, &other), HSA_STATUS_SUCCESS);
  EXPECT_EQ(field(other.handle, 0, 9), 2U | 2U << 3 | 2U << 6);  // the last texel
  EXPECT_EQ(field(other.handle, 15, 1), 0U);
  EXPECT_EQ(field(other.handle, 84, 4), 0U);
  EXPECT_EQ(hsa_ext_image_destroy(gpu, {other.handle}), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_ext_sampler_destroy(gpu, sampler), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa_ext_sampler_destroy(gpu, other), HSA_STATUS_SUCCESS);
  hsa_ext_sampler_descriptor_t wrong = plain;
  wrong.address_mode = 9;
  EXPECT_EQ(extended(hsa_ext_sampler_create(gpu, &wrong, &other)), HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED);
  EXPECT_EQ(hsa_ext_sampler_create(gpu, nullptr, &other), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(HsaImages, TheTableHasTheFunctions) {
  struct {
    hsa_ext_images_1_pfn_t of_5_2;
    decltype(hsa_ext_sampler_create_v2)* sampler_create_v2;
  } table{};
  ASSERT_EQ(hsa_system_get_major_extension_table(HSA_EXTENSION_IMAGES, 1, sizeof table, &table), HSA_STATUS_SUCCESS);
  EXPECT_EQ(table.of_5_2.hsa_ext_image_create, &hsa_ext_image_create);
  EXPECT_EQ(table.of_5_2.hsa_ext_image_create_with_layout, &hsa_ext_image_create_with_layout);
  EXPECT_EQ(table.sampler_create_v2, &hsa_ext_sampler_create_v2);
}

/// A GPU without image instructions.
class HsaNoImages : public HsaTest {
 protected:
  HsaNoImages() { gpu_name = "gfx942"; }
};

TEST_F(HsaNoImages, EveryFormatIsUnsupported) {
  const hsa_ext_image_descriptor_t image{
      HSA_EXT_IMAGE_GEOMETRY_2D, 16, 16, 0, 0, {HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA}};
  uint32_t mask = 1;
  EXPECT_EQ(hsa_ext_image_get_capability(gpu, image.geometry, &image.format, &mask), HSA_STATUS_SUCCESS);
  EXPECT_EQ(mask, uint32_t{HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED});
  hsa_ext_image_data_info_t info{};
  EXPECT_EQ(static_cast<int>(hsa_ext_image_data_get_info(gpu, &image, HSA_ACCESS_PERMISSION_RO, &info)),
            HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
  alignas(256) static char data[16 * 256];
  hsa_ext_image_t handle{};
  EXPECT_EQ(static_cast<int>(hsa_ext_image_create(gpu, &image, data, HSA_ACCESS_PERMISSION_RO, &handle)),
            HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
  EXPECT_EQ(static_cast<int>(hsa_ext_image_create_with_layout(gpu, &image, data, HSA_ACCESS_PERMISSION_RO,
                                                              HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 256, 0, &handle)),
            HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
  const hsa_ext_sampler_descriptor_t descriptor{};
  hsa_ext_sampler_t sampler{};
  EXPECT_EQ(static_cast<int>(hsa_ext_sampler_create(gpu, &descriptor, &sampler)),
            HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED);
}

}  // namespace

// semantics: the words that describe an image to its instructions (image resource, T#), four or eight SGPRs.
//
// Each generation has the same facts in other places: the places are a table (image_resource.cpp), which both reads
// resources, for the instructions, and writes them, for the HSA runtime.
//
// Layout in memory: rows of elements one after the other ("linear"). A layer of an array is followed by the next; a
// layer's levels follow each other, the largest first, each with rows of a multiple of 256 bytes. The planes of a
// multisampled image's samples lie as layers do. Hardware tiles images as its address library says, but a program sees
// a layout only of linear images without levels, which are the same there. Resources with another layout are refused.
// Sources: ISA guides, "Image Resource Descriptor"; ROCr's resource headers for GFX10 to GFX12; Mesa's register headers
// for ARRAY_PITCH and MAX_MIP.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "semantics/memory/buffer_format.h"
#include "semantics/memory/descriptor_field.h"
#include "support/error.h"
#include "target/processor.h"

namespace Atoll::semantics {

/// SQ_RSRC_IMG_*. The instructions' dim modifier counts the same from 0.
enum class ImageType : uint8_t {
  one_d = 8,
  two_d,
  three_d,
  cube,
  one_d_array,
  two_d_array,
  two_d_msaa,
  two_d_msaa_array
};

constexpr bool is_array(ImageType type) { return type >= ImageType::cube && type != ImageType::two_d_msaa; }
constexpr bool is_multisampled(ImageType type) { return type >= ImageType::two_d_msaa; }
/// Coordinates within a layer.
constexpr unsigned dimensions(ImageType type) {
  return type == ImageType::one_d || type == ImageType::one_d_array ? 1 : type == ImageType::three_d ? 3 : 2;
}

/// Selectors of DST_SEL: what a component that is read comes from.
enum class ComponentSelect : uint8_t { zero = 0, one = 1, x = 4, y = 5, z = 6, w = 7 };
using ComponentSelects = std::array<ComponentSelect, 4>;

inline constexpr uint32_t image_row_alignment = 256;  ///< of rows and of the base, in bytes

struct ImageResource {
  uint64_t base = 0;  ///< bytes
  ImageType type = ImageType::two_d;
  BufferFormat format;
  ComponentSelects selects{};
  uint32_t width = 1, height = 1, depth = 1;  ///< of level 0; the depth is that of 3D images
  uint32_t row_pitch = 1;                     ///< elements from row to row of level 0
  uint32_t first_layer = 0, last_layer = 0;
  uint8_t first_level = 0, last_level = 0;  ///< of the view
  uint8_t max_level = 0;                    ///< of the image: where levels end in memory
  uint8_t samples = 1;
  float min_lod = 0;

  uint32_t layers() const { return last_layer - first_layer + 1; }

  struct Level {
    uint32_t width, height, depth;
    uint64_t offset;  ///< bytes from the layer's begin
    uint64_t row_bytes, slice_bytes;
  };
  Level level(unsigned number) const;
  /// From the beginning of a layer to that of the next.
  uint64_t layer_bytes() const;
};

/// Elements from row to row where the resource does not say it.
uint32_t default_row_pitch(uint32_t width, uint32_t element_bytes);
/// Whether resources of that kind say it.
bool says_row_pitch(ImageType type, const target::Processor& processor);

/// The resource of four or eight words; the error says which field has no meaning.
support::Result<ImageResource> read_image_resource(std::span<const uint32_t> words, const target::Processor& processor);

/// Its words; nothing if a field has no room for what it is to hold or the format has no number.
std::optional<std::array<uint32_t, 8>> write_image_resource(const ImageResource& resource,
                                                            const target::Processor& processor);

/// Components in the order of the resource's selectors.
std::array<uint32_t, 4> select_components(const ImageResource& resource, const std::array<uint32_t, 4>& components);
/// The inverse, for stores: each component of memory gets the first that is read from it.
std::array<uint32_t, 4> unselect_components(const ComponentSelects& selects, const std::array<uint32_t, 4>& components);

}  // namespace Atoll::semantics

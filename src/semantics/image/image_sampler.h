// semantics: the words of a sampler (S#), four SGPRs that say how coordinates become elements and elements a value.
// Sources: ISA guides, "Image Sampler Descriptor"; ROCr's resource headers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "support/error.h"
#include "target/processor.h"

namespace Atoll::semantics {

struct ImageSampler {
  /// SQ_TEX_*: what a coordinate outside the image leads to. Those that mirror once do so at 0.
  enum class Clamp : uint8_t {
    wrap,
    mirror,
    last_texel,
    mirror_once_last_texel,
    half_border,
    mirror_once_half_border,
    border,
    mirror_once_border
  };
  /// Comparison between the reference value and an element.
  enum class Compare : uint8_t { never, less, equal, less_equal, greater, not_equal, greater_equal, always };
  enum class Filter : uint8_t { none, point, linear };
  enum class Reduction : uint8_t { blend, minimum, maximum };
  enum class Border : uint8_t { transparent_black, opaque_black, opaque_white, from_table };

  std::array<Clamp, 3> clamp{};
  Compare compare = Compare::never;
  bool unnormalized = false;  ///< coordinates are in elements
  /// A point filter cuts coordinates off. Otherwise it rounds them to the 256th part of an element first.
  bool truncates = false;
  Reduction reduction = Reduction::blend;
  float min_lod = 0, max_lod = 0, lod_bias = 0;
  bool magnifies_linearly = false, minifies_linearly = false;
  Filter z = Filter::none;    ///< in a 3D image's third direction; none: as in the others
  Filter mip = Filter::none;  ///< none: the view's first level alone
  Border border = Border::transparent_black;
};

support::Result<ImageSampler> read_image_sampler(std::span<const uint32_t, 4> words,
                                                 const target::Processor& processor);
std::array<uint32_t, 4> write_image_sampler(const ImageSampler& sampler, const target::Processor& processor);

}  // namespace Atoll::semantics

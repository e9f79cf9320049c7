// semantics: what lies at coordinates of an image: elements by integer coordinates, and filtered values by a sampler.
//
// Coordinates become elements by the formulas of the OpenCL C specification, "Image addressing and filtering", in
// double precision, and weights of a linear filter are not rounded: hardware has 8 bits of a weight's fraction, so
// that its results differ from these by up to 1/256 of the difference between two elements. Anisotropy is not
// computed, and a linear filter at the edge of a cube's face stays on the face.
#pragma once

#include <array>
#include <cstdint>

#include "semantics/image/image_resource.h"
#include "semantics/image/image_sampler.h"

namespace Atoll::semantics {

/// An element by its place; of images without layers, rows or depth these are 0.
struct ElementPlace {
  uint32_t x = 0, y = 0, z = 0;
  uint32_t layer = 0;  ///< from the view's first
  uint32_t sample = 0;
  uint32_t level = 0;  ///< from the view's first
};

/// The element's address; null outside the image.
uint8_t* element_address(const ImageResource& resource, const ElementPlace& place);

/// Components as an instruction that loads returns them: outside the image memory's are 0.
std::array<uint32_t, 4> load_element(const ImageResource& resource, const ElementPlace& place);
/// Nothing happens outside the image.
void store_element(const ImageResource& resource, const ElementPlace& place, const std::array<uint32_t, 4>& components);

/// Where to sample.
struct SamplePoint {
  std::array<float, 3> at{};  ///< x, y, z; those that the image does not have are ignored
  float layer = 0;            ///< of arrays; of cubes the face and the layer
  float lod = 0;              ///< before the sampler's and the image's limits
  std::array<int8_t, 3> offset{};
  float reference = 0;  ///< of a comparison
};

/// Returns the level of detail that a sampler uses for the given one.
float clamp_lod(const ImageResource& resource, const ImageSampler& sampler, float lod);

/// How many of the image's elements a step is long whose coordinates change by these: its logarithm is a level of
/// detail.
float scale_of_step(const ImageResource& resource, bool unnormalized, const std::array<float, 3>& step);

/// Components as image_sample returns them; `compares`: the result of the comparison with each element, filtered.
std::array<uint32_t, 4> sample_image(const ImageResource& resource, const ImageSampler& sampler,
                                     const SamplePoint& point, bool compares);

/// One component of the four elements that a linear filter would blend, or of four in a row (`in_a_row`), in the
/// order that image_gather4 returns them.
std::array<uint32_t, 4> gather_image(const ImageResource& resource, const ImageSampler& sampler,
                                     const SamplePoint& point, unsigned component, bool compares, bool in_a_row);

}  // namespace Atoll::semantics

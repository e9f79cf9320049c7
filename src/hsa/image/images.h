// hsa: images and samplers. Their handles point to the resource or sampler words that kernels read, in GPU memory.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_image.h>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "hsa/image/image_format.h"
#include "machine/memory/memory.h"

namespace Atoll::hsa {

/// Properties of an image besides its words.
struct Image {
  hsa_ext_image_descriptor_t descriptor;
  ImageFormat format;
  uint8_t* data;
  uint64_t row_pitch, slice_pitch;  ///< in bytes; the slice pitch also applies to array layers

  uint8_t* element(const hsa_dim3_t& at) const {
    const bool layers_of_rows = descriptor.geometry == HSA_EXT_IMAGE_GEOMETRY_1DA;
    return data + uint64_t{at.x} * format.bytes() + uint64_t{at.y} * (layers_of_rows ? slice_pitch : row_pitch) +
           uint64_t{at.z} * slice_pitch;
  }
  /// Returns the elements along each axis of a region: y counts layers of 1DA images, z those of 2DA images.
  hsa_dim3_t extent() const;
};

class Images {
 public:
  /// The memory behind a handle as kernels read it: eight words of a resource (four for a buffer), then channel type,
  /// channel order and width for the device library's functions; or four words of a sampler.
  using Words = std::array<uint32_t, 16>;

  explicit Images(machine::Memory& memory) : memory_(memory) {}

  /// Return the handle; 0 if memory runs out.
  uint64_t add_image(const Image& image, const Words& words);
  uint64_t add_sampler(const Words& words);
  std::optional<Image> find(hsa_ext_image_t handle) const;
  bool remove_image(hsa_ext_image_t handle);
  bool remove_sampler(hsa_ext_sampler_t handle);

 private:
  uint64_t place(const Words& words);  ///< with mutex_ held

  machine::Memory& memory_;
  mutable std::mutex mutex_;
  std::map<uint64_t, std::optional<Image>> handles_;  ///< nothing: a sampler
  std::vector<uint64_t> free_;                        ///< places for words; their memory goes with the GPU's
};

}  // namespace Atoll::hsa

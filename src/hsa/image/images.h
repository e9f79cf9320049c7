// hsa: the books of images and samplers. What their handles point to is what kernels read: the resource or sampler
// words, in memory of the GPU's.
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

/// What is known of an image beside its words.
struct Image {
  hsa_ext_image_descriptor_t descriptor;
  ImageFormat format;
  uint8_t* data;
  uint64_t row_pitch, slice_pitch;  ///< in bytes; the slice pitch is that of array layers, too

  uint8_t* element(const hsa_dim3_t& at) const {
    const bool layers_of_rows = descriptor.geometry == HSA_EXT_IMAGE_GEOMETRY_1DA;
    return data + uint64_t{at.x} * format.bytes() + uint64_t{at.y} * (layers_of_rows ? slice_pitch : row_pitch) +
           uint64_t{at.z} * slice_pitch;
  }
  /// How many elements there are along each axis of a region: of 1DA images y counts layers, of 2DA images z does.
  hsa_dim3_t extent() const;
};

class Images {
 public:
  /// As a kernel reads what a handle points to: eight words of a resource (four of a buffer's), then the channel type,
  /// the channel order and the width, as the device library's functions look for them; or four words of a sampler.
  using Words = std::array<uint32_t, 16>;

  explicit Images(machine::Memory& memory) : memory_(memory) {}

  /// Return the handle, 0 without memory.
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

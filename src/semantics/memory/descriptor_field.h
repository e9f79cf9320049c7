// semantics: fields of the descriptors in scalar registers that images, samplers and copies of tensors have.
#pragma once

#include <cstdint>
#include <span>

namespace Atoll::semantics {

/// Bits of descriptors: a field that may lie across words, `width` 0 where a generation has none.
struct DescriptorField {
  uint16_t bit = 0;
  uint8_t width = 0;

  uint64_t get(std::span<const uint32_t> words) const;
  /// False: the value has more bits.
  bool set(std::span<uint32_t> words, uint64_t value) const;
};

}  // namespace Atoll::semantics

// semantics: fields of descriptors (descriptor_field.h).
#include "semantics/memory/descriptor_field.h"

#include <algorithm>

namespace Atoll::semantics {

uint64_t DescriptorField::get(std::span<const uint32_t> words) const {
  uint64_t value = 0;
  for (unsigned done = 0; done < width;) {
    const unsigned at = bit + done, in_word = at % 32, count = std::min(32 - in_word, width - done);
    if (at / 32 >= words.size()) break;
    const uint64_t part = words[at / 32] >> in_word & ((uint64_t{1} << count) - 1);
    value |= part << done;
    done += count;
  }
  return value;
}

bool DescriptorField::set(std::span<uint32_t> words, uint64_t value) const {
  if (width < 64 && value >> width != 0) return false;
  for (unsigned i = 0; i < width; ++i) {
    if ((value >> i & 1) != 0) words[(bit + i) / 32] |= 1U << (bit + i) % 32;
  }
  return true;
}

}  // namespace Atoll::semantics

// engine: the buffer resource descriptor (V#), four SGPRs that describe a buffer.
// Source: ISA guides of GFX9, "Buffer Resource Descriptor".
#pragma once

#include <cstdint>

namespace Atoll::engine {

struct BufferResource {
  uint64_t base;         ///< bytes; 48 bits
  uint32_t stride;       ///< bytes from record to record
  uint32_t num_records;  ///< bytes of a raw buffer, records of a structured one
  bool swizzled;         ///< records are interleaved, so that lanes' dwords lie side by side
  bool add_thread_id;    ///< the lane's number is added to the index
  uint32_t word3;

  explicit BufferResource(const uint32_t* words)
      : base(words[0] | uint64_t{words[1] & 0xFFFF} << 32),
        stride(words[1] >> 16 & 0x3FFF),
        num_records(words[2]),
        swizzled(words[1] >> 31 != 0),
        add_thread_id((words[3] >> 23 & 1) != 0),
        word3(words[3]) {
    if (add_thread_id) stride |= data_format() << 14;  // the format's bits extend the stride then
  }

  uint8_t number_format() const { return word3 >> 12 & 7; }
  uint8_t data_format() const { return word3 >> 15 & 0xF; }
  uint32_t index_stride() const { return 8u << (word3 >> 21 & 3); }  ///< records that are interleaved

  /// The size that scalar accesses are checked against.
  uint64_t scalar_bytes() const { return stride == 0 ? num_records : uint64_t{stride} * num_records; }
};

}  // namespace Atoll::engine

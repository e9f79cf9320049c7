// engine: the buffer resource descriptor (V#), four SGPRs that describe a buffer.
// Source: ISA guides, "Buffer Resource Descriptor"; the values of OOB_SELECT also as Mesa names them
// (V_008F0C_OOB_SELECT).
#pragma once

#include <cstdint>

#include "target/buffer_elements.h"
#include "target/processor.h"

namespace Atoll::engine {

struct BufferResource {
  /// When an access is out of bounds. Until GFX9 the rule follows from stride and addressing mode. The compared offset
  /// is that of the first byte on GFX10, and of the last byte on GFX11 and later (Mesa, "OOB_SELECT").
  enum class Bounds : uint8_t {
    structured_with_offset,  ///< index past the last record, or offset past the record
    structured,              ///< index past the last record
    empty,                   ///< always if there are no records, else never
    raw,                     ///< offset past the last byte
    by_addressing,           ///< `structured` if there are an index and a stride, else `raw`
  };

  // Fields of the words.
  static constexpr uint32_t stride_field = 0x3FFF << 16;                             ///< of word 1
  static constexpr uint32_t swizzle_field = 1u << 31;                                ///< of word 1
  static constexpr uint32_t wide_swizzle_field = 3u << 30;                           ///< from GFX11 on
  static constexpr uint32_t add_thread_id_field = 1u << 23;                          ///< of word 3
  static constexpr uint32_t index_stride_field = 3u << 21;                           ///< of word 3
  static constexpr uint32_t element_size_field = 3u << 19, element_size_shift = 19;  ///< of word 3, until GFX8
  static constexpr uint32_t bounds_field = 3u << 28, bounds_shift = 28;              ///< of word 3, from GFX10 on

  uint64_t base;              ///< bytes; 48 bits
  uint32_t stride;            ///< distance between records in bytes
  uint32_t num_records;       ///< raw buffer: bytes; structured buffer: records
  bool swizzled;              ///< records are interleaved, so that lanes' dwords lie side by side
  bool add_thread_id;         ///< the lane number is added to the index
  uint8_t element_bytes = 4;  ///< bytes that stay adjacent in a swizzled buffer
  Bounds bounds;
  uint32_t word3;
  target::BufferResources layout;

  BufferResource(const uint32_t* words, const target::Processor& processor)
      : base(words[0] | uint64_t{words[1] & 0xFFFF} << 32),
        stride(words[1] >> 16 & 0x3FFF),
        num_records(words[2]),
        swizzled((words[1] & swizzle_field) != 0),
        add_thread_id((words[3] & add_thread_id_field) != 0),
        bounds(Bounds::by_addressing),
        word3(words[3]),
        layout(processor.buffer_resources) {
    using enum target::BufferResources;
    if (processor.generation >= target::Generation::gfx12_5) {
      read_gfx12_5(words);
      return;
    }
    if (layout == gfx8 && add_thread_id) stride |= data_format() << 14;  // the data format's bits extend the stride
    if (target::has_element_size(processor)) {  // the addressing mode does not affect the bounds check
      element_bytes = static_cast<uint8_t>(2u << ((word3 & element_size_field) >> element_size_shift));
      const bool has_records = stride != 0 && (swizzled || !counts_bytes(processor));
      bounds = has_records ? Bounds::structured : Bounds::raw;
    }
    if (layout >= gfx10) bounds = static_cast<Bounds>((word3 & bounds_field) >> bounds_shift);
    if (layout == gfx11) {
      const uint32_t swizzle = words[1] >> 30;
      swizzled = swizzle != 0;
      element_bytes = static_cast<uint8_t>(2u << swizzle);
      if (bounds == Bounds::raw && swizzled && stride != 0) bounds = Bounds::structured_with_offset;
    }
  }

  /// GFX12.5: 57 bits of base and 45 of size (LLVM, lowerPointerAsRsrcIntrin), of which 32 count here.
  struct Gfx12_5 {
    static constexpr uint32_t upper_base_field = 0x1FF'FFFF;                   ///< of word 1; the size begins after it
    static constexpr unsigned lower_size_bits = 7, middle_size_bits = 32;      ///< in words 1 and 2
    static constexpr uint32_t upper_size_field = 0x3F;                         ///< of word 3
    static constexpr uint32_t stride_field = 0x3FFF << 12, stride_shift = 12;  ///< of word 3
    static constexpr uint32_t raw_field = 1u << 31;                            ///< of word 3
  };
  void read_gfx12_5(const uint32_t* words) {
    base = words[0] | uint64_t{words[1] & Gfx12_5::upper_base_field} << 32;
    const uint64_t records =
        uint64_t{words[3] & Gfx12_5::upper_size_field} << (Gfx12_5::lower_size_bits + Gfx12_5::middle_size_bits) |
        uint64_t{words[2]} << Gfx12_5::lower_size_bits | words[1] >> (32 - Gfx12_5::lower_size_bits);
    num_records = static_cast<uint32_t>(records < UINT32_MAX ? records : UINT32_MAX);
    stride = (word3 & Gfx12_5::stride_field) >> Gfx12_5::stride_shift;
    swizzled = add_thread_id = false;
    bounds = (word3 & Gfx12_5::raw_field) != 0 ? Bounds::raw : Bounds::by_addressing;
  }

  /// Returns whether num_records counts bytes even in a structured buffer that is not swizzled: on GFX8.
  static constexpr bool counts_bytes(const target::Processor& processor) {
    return processor.generation == target::Generation::gfx8;
  }

  /// Returns whether the bounds check includes the access size, not only its first byte.
  constexpr bool checks_last_byte() const { return layout != target::BufferResources::gfx10; }

  /// Format of formatted accesses; from GFX10 on there is only the data format.
  uint8_t data_format() const {
    if (layout < target::BufferResources::gfx10) return word3 >> 15 & 0xF;
    return word3 >> 12 & (layout == target::BufferResources::gfx10 ? 0x7F : 0x3F);
  }
  uint8_t number_format() const { return layout < target::BufferResources::gfx10 ? word3 >> 12 & 7 : 0; }
  uint32_t index_stride() const { return 8u << (word3 >> 21 & 3); }  ///< number of interleaved records

  /// Returns the size that scalar accesses are checked against.
  uint64_t scalar_bytes() const { return stride == 0 ? num_records : uint64_t{stride} * num_records; }
};

}  // namespace Atoll::engine

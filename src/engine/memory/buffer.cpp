// engine: MUBUF and MTBUF instructions: memory that a buffer resource describes.
//
// An address is made of the resource's base, a scalar offset, an index times the stride, and an offset; in a swizzled
// buffer the records are interleaved by dwords, or by elements of another size that the resource says. Scratch of GFX6
// up to gfx90a is such a buffer, indexed by the lane. What lies outside the buffer reads as 0 and is not written.
// Source: ISA guides of GFX9, "Buffer Addressing" and "Range Checking"; Mesa's notes on NUM_RECORDS for its unit;
// LLVM's selection of addr64, whose resources have no records.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "engine/interpreter/observation.h"
#include "engine/interpreter/prepare.h"
#include "engine/interpreter/vector.h"
#include "engine/memory/buffer_resource.h"
#include "engine/memory/fine_grained_atomics.h"
#include "engine/memory/float_atomics.h"
#include "engine/memory/gather_scatter.h"
#include "engine/memory/guest_bounds.h"
#include "isa/table.h"
#include "semantics/memory/buffer_format.h"

namespace Atoll::engine {
ATOLL_HOST_ISA_BEGIN

namespace {

using machine::Fault;
using semantics::MemoryAccess;
using semantics::wave_lanes;

// MemoryOp::bits. `address` holds the index and the offset, those that there are; `result` a constant scalar offset.
constexpr uint8_t has_index = 1, has_offset = 2, has_scalar_offset = 4, returns = 8, has_address = 16;

/// Where the lanes' data are. In a swizzled buffer, elements of a record do not follow each other.
struct Places {
  LaneAddresses addresses;
  uint32_t word_stride = linear;  ///< of data that begin with an element
  bool swizzled = false;
  uint32_t element_shift = 0;          ///< of a swizzled buffer: the power of two that an element's size is
  uint32_t element_stride = 0;         ///< bytes from an element of a record to its next
  uint8_t in_element[wave_lanes]{};    ///< bytes from where the element begins to where the data do
  uint64_t inside = 0;                 ///< lanes whose data are in the buffer whole
  uint8_t words_inside[wave_lanes]{};  ///< of the others: how many of the data's dwords are

  uint64_t byte(unsigned lane, unsigned i) const {
    if (!swizzled) return addresses.of[lane] + i;
    const uint32_t at = in_element[lane] + i, element = at >> element_shift;
    return addresses.of[lane] - in_element[lane] + uint64_t{element} * element_stride + at - (element << element_shift);
  }
  /// Whether a lane's data are in more than one element, and not in such a way that word_stride says where.
  bool in_pieces(unsigned lane, unsigned bytes) const {
    const unsigned element_bytes = 1u << element_shift;
    const bool by_words = element_bytes == 4 && in_element[lane] == 0;
    return swizzled && !by_words && in_element[lane] + bytes > element_bytes;
  }
};

uint32_t scalar_offset_of(const Wave& wave, const MemoryOp& m) {
  return (m.bits & has_scalar_offset) != 0 ? wave.scalar[m.scalar_offset] : m.result;
}

/// addr64 of GFX6 and GFX7: the lanes' 64-bit offsets from the resource's base, with no end.
void find_addresses(const MemoryOp& m, const Run& run, uint64_t base, Places& places) {
  const Row* address = rows_at(run, RowBase::vgpr, m.address);
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    places.addresses.of[lane] =
        base + (address[0][lane] | uint64_t{address[1][lane]} << 32) + static_cast<uint32_t>(m.offset);
  }
  places.inside = all_lanes;
}

void find_places(const Wave& wave, const MemoryOp& m, const Run& run, const BufferResource& resource, unsigned bytes,
                 Places& places) {
  static constexpr Row zeros{};
  const Row* next = rows_at(run, RowBase::vgpr, m.address);
  const Row& indices = (m.bits & has_index) != 0 ? *next++ : zeros;
  const Row& offsets = (m.bits & has_offset) != 0 ? *next : zeros;
  const uint32_t scalar_offset = scalar_offset_of(wave, m);
  const uint64_t base = resource.base + scalar_offset;
  if ((m.bits & has_address) != 0) return find_addresses(m, run, base, places);
  const auto element_shift = static_cast<uint32_t>(std::countr_zero(resource.element_bytes));
  const auto stride_shift = static_cast<uint32_t>(std::countr_zero(resource.index_stride()));
  using enum BufferResource::Bounds;
  BufferResource::Bounds bounds = resource.bounds;
  if (bounds == by_addressing) bounds = (m.bits & has_index) != 0 && resource.stride != 0 ? structured : raw;
  if (resource.swizzled) {
    places.swizzled = true;
    places.element_shift = element_shift;
    places.element_stride = 1u << (element_shift + stride_shift);
    if (resource.element_bytes == 4) places.word_stride = places.element_stride;
  }

  const target::Processor& processor = *run.code->target().processor;
  const bool wraps = target::has_wrapping_buffer_offsets(processor);
  const bool is_unchecked =
      target::leaves_thread_buffers_unchecked(processor) && resource.add_thread_id && (m.bits & has_index) == 0;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    uint64_t offset = uint64_t{offsets[lane]} + static_cast<uint32_t>(m.offset);
    if (wraps) offset = static_cast<uint32_t>(offset);
    const uint64_t index = uint64_t{indices[lane]} + (resource.add_thread_id ? lane : 0);
    uint64_t distance = index * resource.stride + offset;
    if (resource.swizzled) {
      const uint64_t in_element = offset & (resource.element_bytes - 1u);
      distance = (((index >> stride_shift) * resource.stride + offset - in_element) << stride_shift) +
                 ((index & (resource.index_stride() - 1)) << element_shift) + in_element;
      places.in_element[lane] = static_cast<uint8_t>(in_element);
    }
    places.addresses.of[lane] = base + distance;

    uint64_t left = 0;  // bytes from the element's first to the buffer's end
    const auto left_until = [&](uint64_t end, uint64_t begin) {
      left = begin < end ? (resource.checks_last_byte() ? end - begin : bytes) : 0;
    };
    if (is_unchecked) {
      left = bytes;
    } else if (bounds == raw) {
      const bool by_offset = resource.swizzled && resource.layout < target::BufferResources::gfx10;
      left_until(resource.num_records, (by_offset ? offset : distance) + scalar_offset);
    } else if (bounds == empty) {
      left = resource.num_records != 0 ? bytes : 0;
    } else {
      left = index < resource.num_records ? bytes : 0;
      if (bounds == structured_with_offset && left != 0) left_until(resource.stride, offset);
    }
    places.inside |= uint64_t{left >= bytes} << lane;
    places.words_inside[lane] = static_cast<uint8_t>(std::min<uint64_t>(left, bytes) / 4);
  }
}

BufferResource resource_of(const Wave& wave, const MicroOp& op, const Run& run) {
  return {&wave.scalar[op.memory.scalar_base], *run.code->target().processor};
}

/// That the GPU may touch what lies in the buffer. Scratch has a buffer of its own: an address in it that is not the
/// wave's is an overflow, not merely out of range.
bool check_places(Wave& wave, const MicroOp& op, const BufferResource& resource, const Places& places, uint64_t lanes,
                  unsigned bytes) {
  const bool writes = semantics::memory_access(op.origin->instruction).kind != MemoryAccess::Kind::load;
  if (!resource.swizzled || !resource.add_thread_id || wave.scratch == nullptr) {
    // Of an element that is cut off, the first dword is inside.
    for_each_lane(lanes, [&](unsigned lane) {
      const bool any = (places.inside >> lane & 1) != 0 || places.words_inside[lane] != 0;
      if (any) check_bounds(wave, places.addresses.of[lane], writes);
    });
    return true;
  }
  const auto begin = reinterpret_cast<uint64_t>(wave.scratch);
  const uint64_t size = uint64_t{wave.scratch_bytes_per_lane} * wave.wave_size;
  uint64_t outside = 0;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    const uint64_t first = places.byte(lane, 0) - begin, last = places.byte(lane, bytes - 1) - begin;
    outside |= uint64_t{first >= size || last >= size} << lane;
  }
  outside &= lanes;
  if (outside == 0) [[likely]]
    return true;
  const auto lane = static_cast<unsigned>(__builtin_ctzll(outside));
  const uint64_t address = (places.addresses.of[lane] - begin) / wave.wave_size;
  fault(wave, op.origin->pc, Fault::Kind::scratch_overflow,
        fmt::format("private address {:#x}, but the wave has {:#x} bytes of scratch for each lane", address,
                    wave.scratch_bytes_per_lane),
        address, writes, lane);
  return false;
}

/// Whether an element of these lanes has dwords inside and others outside.
bool any_cut_off(const Places& places, uint64_t lanes) {
  bool any = false;
  for_each_lane(lanes & ~places.inside, [&](unsigned lane) { any |= places.words_inside[lane] != 0; });
  return any;
}

/// Calls `access(addresses, lanes, word_stride)` for the lanes whose data can be moved at once, and for each of the
/// others with a copy in the place of its data: dwords outside the buffer, or data in pieces of a swizzled one.
template <typename Access>
void visit(const Places& places, uint64_t exec, unsigned bytes, bool writes, const Access& access) {
  uint64_t in_pieces = 0;
  if (places.swizzled && bytes > 1) {
    for (unsigned lane = 0; lane < wave_lanes; ++lane) in_pieces |= uint64_t{places.in_pieces(lane, bytes)} << lane;
  }
  in_pieces &= exec & places.inside;
  uint64_t whole = exec & places.inside & ~in_pieces;
  // The last lane to store to a place wins.
  if (writes && (in_pieces != 0 || any_cut_off(places, exec & ~whole))) whole = 0;
  if (whole != 0) access(places.addresses, whole, places.word_stride);
  for_each_lane(exec & ~whole, [&](unsigned lane) {
    alignas(16) uint8_t buffer[16]{};
    const unsigned count = (places.inside >> lane & 1) != 0 ? bytes : places.words_inside[lane] * 4u;
    const auto byte = [&](unsigned i) { return reinterpret_cast<uint8_t*>(places.byte(lane, i)); };
    for (unsigned i = 0; i < count; ++i) buffer[i] = *byte(i);
    LaneAddresses addresses;
    addresses.of[lane] = reinterpret_cast<uint64_t>(buffer);
    access(addresses, uint64_t{1} << lane, linear);
    for (unsigned i = 0; writes && i < count; ++i) *byte(i) = buffer[i];
  });
}

/// Loads and stores without format.
bool transfer(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  if (exec == 0) return true;
  wave.pc = m.pc;
  const MemoryAccess& access = semantics::memory_access(op.origin->instruction);
  const BufferResource resource = resource_of(wave, op, run);
  Places places;
  find_places(wave, m, run, resource, access.bytes, places);
  if (!check_places(wave, op, resource, places, exec, access.bytes)) return false;
  visit(places, exec, access.bytes, access.kind == MemoryAccess::Kind::store,
        [&](const LaneAddresses& addresses, uint64_t lanes, uint32_t word_stride) {
          m.transfer(addresses, lanes, word_stride, rows_at(run, m.data_base, m.data));
        });
  return true;
}

bool atomic(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  if (exec == 0) return true;
  wave.pc = m.pc;
  const MemoryAccess& access = semantics::memory_access(op.origin->instruction);
  const BufferResource resource = resource_of(wave, op, run);
  Places places;
  find_places(wave, m, run, resource, access.bytes, places);
  if (!check_places(wave, op, resource, places, exec, access.bytes)) return false;
  Row* data = rows_at(run, m.data_base, m.data);
  Row* result = (m.bits & returns) != 0 ? data : nullptr;
  const uint64_t lanes = exec & places.inside;
  if (!check_aligned(wave, op, places.addresses, lanes, access.bytes)) return false;
  const uint64_t done = without_dropped_atomics(*run.code->target().processor, access.operation, places.addresses,
                                                lanes, result, access.words());
  m.atomic(places.addresses, done, data, data + access.words(), result,
           memory_denormals(wave, run, access.operation, access.bytes));
  for_each_lane(exec & ~lanes, [&](unsigned lane) {
    for (unsigned word = 0; result != nullptr && word < access.words(); ++word) result[word][lane] = 0;
  });
  return true;
}

// --- Between memory and LDS -----------------------------------------------------------------------------------------

/// A lane's place in LDS, M0[15:0] + the instruction's offset + its place among 64 elements; null outside LDS.
uint32_t address_in_lds(const Wave& wave, const MemoryOp& m, unsigned lane, unsigned bytes) {
  return (wave.scalar[isa::scalar::m0] & 0xFFFF) + static_cast<uint32_t>(m.offset) + lane * bytes;
}
uint8_t* lds_place(const Wave& wave, const MemoryOp& m, unsigned lane, unsigned bytes) {
  const machine::WorkGroup& group = *wave.work_group;
  const uint32_t address = address_in_lds(wave, m, lane, bytes);
  return uint64_t{address} + bytes <= group.lds_bytes ? group.lds + address : nullptr;
}

/// Elements of whole dwords that a load has put into rows.
void store_to_lds(const Wave& wave, const MemoryOp& m, unsigned words, const Row* rows) {
  for_each_lane(wave.exec(), [&](unsigned lane) {
    uint8_t* place = lds_place(wave, m, lane, words * 4);
    if (place == nullptr) return;
    for (unsigned word = 0; word < words; ++word) std::memcpy(place + word * 4, &rows[word][lane], 4);
  });
}

bool load_to_lds(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  if (exec == 0) return true;
  wave.pc = m.pc;
  const MemoryAccess& access = semantics::memory_access(op.origin->instruction);
  const BufferResource resource = resource_of(wave, op, run);
  Places places;
  find_places(wave, m, run, resource, access.bytes, places);
  if (!check_places(wave, op, resource, places, exec, access.bytes)) return false;
  Row* rows = run.temporary;
  visit(places, exec, access.bytes, false, [&](const LaneAddresses& addresses, uint64_t lanes, uint32_t word_stride) {
    m.transfer(addresses, lanes, word_stride, rows);
  });
  store_to_lds(wave, m, access.words(), rows);
  return true;
}

/// buffer_store_lds_dword
bool store_from_lds(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  if (exec == 0) return true;
  wave.pc = m.pc;
  const BufferResource resource = resource_of(wave, op, run);
  Places places;
  find_places(wave, m, run, resource, 4, places);
  if (!check_places(wave, op, resource, places, exec, 4)) return false;
  for_each_lane(exec & places.inside, [&](unsigned lane) {
    uint32_t value = 0;
    if (const uint8_t* place = lds_place(wave, m, lane, 4)) std::memcpy(&value, place, 4);
    std::memcpy(reinterpret_cast<void*>(places.addresses.of[lane]), &value, 4);
  });
  return true;
}

// --- Formats --------------------------------------------------------------------------------------------------------

/// Component i of a lane, from or to the registers: a register each, or half of one; unpacked, a register's low half.
uint32_t component(const MemoryAccess& access, bool unpacked, const semantics::BufferFormat& format, const Row* data,
                   unsigned lane, unsigned i) {
  if (!access.is_d16) return data[i][lane];
  if (unpacked) return semantics::widen_component(format, static_cast<uint16_t>(data[i][lane]));
  const bool high = access.half == MemoryAccess::Half::high || i % 2 != 0;
  return semantics::widen_component(format, static_cast<uint16_t>(data[i / 2][lane] >> (high ? 16 : 0)));
}
void set_component(const MemoryAccess& access, bool unpacked, const semantics::BufferFormat& format, Row* data,
                   unsigned lane, unsigned i, uint32_t value) {
  if (!access.is_d16 || unpacked) {
    data[i][lane] = access.is_d16 ? semantics::narrow_component(format, value) : value;
    return;
  }
  const bool high = access.half == MemoryAccess::Half::high || i % 2 != 0;
  const uint32_t half = semantics::narrow_component(format, value);
  uint32_t& word = data[i / 2][lane];
  if (access.clears_other_half && i % 2 == 0) word = 0;
  word = high ? (word & 0xFFFF) | half << 16 : (word & 0xFFFF0000) | half;
}

/// The format of a formatted access: by the instruction if it is typed, else by the resource.
struct FormatNumbers {
  uint8_t data, number;
  bool unified;

  FormatNumbers(const isa::Instruction& instruction, const BufferResource& resource)
      : data(is_typed(instruction) ? instruction.data_format : resource.data_format()),
        number(is_typed(instruction) ? instruction.number_format : resource.number_format()),
        unified(resource.layout >= target::BufferResources::gfx10) {}
  static bool is_typed(const isa::Instruction& instruction) { return instruction.encoding == isa::Encoding::mtbuf; }
  auto find(const isa::Instruction& instruction) const {
    return unified ? semantics::unified_buffer_format(data, instruction.generation)
                   : semantics::buffer_format(data, number);
  }
};

bool formatted(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t exec = wave.exec();
  if (exec == 0) return true;
  wave.pc = m.pc;
  const isa::Instruction& instruction = op.origin->instruction;
  const MemoryAccess& access = semantics::memory_access(instruction);
  const BufferResource resource = resource_of(wave, op, run);
  const bool typed = instruction.encoding == isa::Encoding::mtbuf;
  const FormatNumbers numbers(instruction, resource);
  const auto format = numbers.find(instruction);
  if (!format) {
    const std::string_view name = isa::row(instruction.opcode).name;
    fault(wave, op.origin->pc, Fault::Kind::illegal_instruction,
          numbers.unified ? fmt::format("{}: there is no buffer format {}", name, numbers.data)
                          : fmt::format("{}: there is no buffer format with data format {} and number format {}", name,
                                        numbers.data, numbers.number));
    return false;
  }
  Places places;
  find_places(wave, m, run, resource, format->bytes, places);
  if (!check_places(wave, op, resource, places, exec, format->bytes)) return false;
  Row* data = instruction.lds ? run.temporary : rows_at(run, m.data_base, m.data);
  const bool store = access.kind == MemoryAccess::Kind::store;
  const bool unpacked = run.code->target().processor->has(target::Feature::unpacked_d16);
  for_each_lane(exec, [&](unsigned lane) {
    const bool inside = (places.inside >> lane & 1) != 0;
    uint8_t element[16]{};
    const auto piece = [&](unsigned at) { return reinterpret_cast<uint8_t*>(places.byte(lane, at)); };
    std::array<uint32_t, 4> components{};
    if (store) {
      if (!inside) return;
      for (unsigned i = 0; i < access.components; ++i)
        components[i] = component(access, unpacked, *format, data, lane, i);
      semantics::write_components(*format, components, element);
      for (unsigned at = 0; at < format->bytes; ++at) *piece(at) = element[at];
      return;
    }
    if (inside) {
      for (unsigned at = 0; at < format->bytes; ++at) element[at] = *piece(at);
      components = semantics::read_components(*format, element);
      if (!typed) components = semantics::select_components(*format, components, resource.word3);
    }
    for (unsigned i = 0; i < access.components; ++i) {
      set_component(access, unpacked, *format, data, lane, i, components[i]);
    }
  });
  if (instruction.lds) store_to_lds(wave, m, 1, data);
  return true;
}

void nothing(Wave&, const MicroOp&, Run&) {}

// --- Access reports --------------------------------------------------------------------------------------------------

/// Private addresses of what lies in the wave's scratch.
void report_scratch(AccessReporter& reporter, const Wave& wave, const Places& places, uint64_t lanes, unsigned bytes) {
  const auto begin = reinterpret_cast<uint64_t>(wave.scratch);
  const uint64_t row = wave.wave_size * 4u, size = uint64_t{wave.scratch_bytes_per_lane} * wave.wave_size;
  alignas(64) uint32_t offsets[wave_lanes]{};
  for_each_lane(lanes, [&](unsigned lane) {
    const uint64_t distance = places.byte(lane, 0) - begin;
    const uint64_t offset = distance < size ? distance / row * 4 + distance % 4 : distance / wave.wave_size;
    offsets[lane] = static_cast<uint32_t>(std::min<uint64_t>(offset, UINT32_MAX));
  });
  reporter.scratch(offsets, lanes, bytes);
}

void report_places(AccessReporter& reporter, const Wave& wave, const BufferResource& resource, const Places& places,
                   unsigned bytes) {
  const uint64_t exec = wave.exec();
  if (resource.swizzled && resource.add_thread_id && wave.scratch != nullptr) {
    return report_scratch(reporter, wave, places, exec, bytes);
  }
  if (!places.swizzled) {
    reporter.global(places.addresses, exec & places.inside, bytes);
    uint64_t cut[4]{};  // by the number of dwords that are inside
    for_each_lane(exec & ~places.inside,
                  [&](unsigned lane) { cut[places.words_inside[lane] & 3] |= uint64_t{1} << lane; });
    for (unsigned words = 1; words < 4; ++words) reporter.global(places.addresses, cut[words], words * 4);
    return;
  }
  // Byte by byte where an element may be cut anywhere.
  const unsigned piece = bytes % 4 == 0 && resource.element_bytes % 4 == 0 ? 4 : 1;
  for (unsigned at = 0; at < bytes; at += piece) {
    LaneAddresses addresses;
    uint64_t lanes = 0;
    for_each_lane(exec, [&](unsigned lane) {
      if ((places.inside >> lane & 1) == 0 && at >= places.words_inside[lane] * 4u) return;
      lanes |= uint64_t{1} << lane;
      addresses.of[lane] = places.byte(lane, at);
    });
    reporter.global(addresses, lanes, piece);
  }
}

void accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  if (wave.exec() == 0) return;
  const MemoryOp& m = op.memory;
  const isa::Instruction& instruction = op.origin->instruction;
  const MemoryAccess& access = semantics::memory_access(instruction);
  const BufferResource resource = resource_of(wave, op, run);
  unsigned bytes = access.bytes;
  if (access.components != 0) {
    const auto format = FormatNumbers(instruction, resource).find(instruction);
    if (!format) return;
    bytes = format->bytes;
  }
  if (access.kind == MemoryAccess::Kind::store_from_lds) bytes = 4;
  Places places;
  find_places(wave, m, run, resource, bytes, places);
  report_places(reporter, wave, resource, places, bytes);
  if (!instruction.lds && access.kind != MemoryAccess::Kind::store_from_lds) return;
  const bool stores = access.kind == MemoryAccess::Kind::store_from_lds;
  const unsigned in_lds = stores || access.components != 0 ? 4 : access.words() * 4;
  alignas(64) uint32_t offsets[wave_lanes];
  for (unsigned lane = 0; lane < wave_lanes; ++lane) offsets[lane] = address_in_lds(wave, m, lane, in_lds);
  reporter.lds_side(offsets, stores ? wave.exec() & places.inside : wave.exec(), in_lds, !stores);
}

}  // namespace

Handler prepare_buffer(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  if (orders_memory(instruction.opcode)) return step<nothing>;
  if (instruction.tfe) return nullptr;  // partially resident textures

  const MemoryAccess& access = semantics::memory_access(instruction);
  MemoryOp& m = p.op.memory;
  m.pc = p.origin.pc;
  m.offset = instruction.offset;
  m.bits = static_cast<uint8_t>((instruction.idxen ? has_index : 0) | (instruction.offen ? has_offset : 0) |
                                (instruction.addr64 ? has_address : 0));
  m.address = m.data = m.data2 = m.result = 0;
  m.data_base = RowBase::vgpr;

  // Operands: data (not for LDS), vector address, resource, scalar offset.
  unsigned at = 0;
  while (at < instruction.operand_count && instruction.operands[at].kind != isa::OperandKind::scalar) ++at;
  if (at + 1 >= instruction.operand_count || instruction.operands[at].words != 4) return nullptr;
  m.scalar_base = static_cast<uint8_t>(instruction.operands[at].reg);
  const isa::Operand& scalar_offset = instruction.operands[at + 1];
  if (const auto value = constant_value(scalar_offset)) {
    m.result = static_cast<uint32_t>(*value);
  } else if (scalar_offset.kind == isa::OperandKind::scalar) {
    m.scalar_offset = static_cast<uint8_t>(scalar_offset.reg);
    m.bits |= has_scalar_offset;
  } else {
    return nullptr;
  }
  if ((m.bits & (has_index | has_offset | has_address)) != 0) {
    if (at == 0 || instruction.operands[at - 1].kind != isa::OperandKind::vgpr) return nullptr;
    m.address = row_offset(instruction.operands[at - 1]);
  }
  if (at >= 2) {
    m.data_base = row_base(instruction.operands[0]);
    m.data = row_offset(instruction.operands[0]);
  }
  if (instruction.destinations != 0) m.bits |= returns;

  p.origin.accesses = accesses;
  if (access.kind == MemoryAccess::Kind::store_from_lds) return step_or_stop<store_from_lds>;
  if (access.components != 0) return instruction.lds || at >= 2 ? step_or_stop<formatted> : nullptr;
  switch (access.kind) {
    case MemoryAccess::Kind::load:
    case MemoryAccess::Kind::store:
      m.transfer = transfer_function(access);
      if (m.transfer == nullptr) return nullptr;
      if (instruction.lds) return step_or_stop<load_to_lds>;
      return at >= 2 ? step_or_stop<transfer> : nullptr;
    case MemoryAccess::Kind::atomic:
      m.atomic = atomic_function(access.operation, access.bytes);
      return m.atomic != nullptr && at >= 2 ? step_or_stop<atomic> : nullptr;
    default:
      return nullptr;
  }
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::engine

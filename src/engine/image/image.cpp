// engine: image instructions (MIMG, from GFX12 on VIMAGE and VSAMPLE): loads, stores and atomics of elements by integer
// coordinates, and what they share with those that sample (image_sample.cpp).
#include "engine/image/image.h"

#include <bit>
#include <cstring>
#include <span>
#include <string>

#include <fmt/format.h>

#include "engine/image/image_rows.h"
#include "engine/interpreter/observation.h"
#include "engine/interpreter/prepare.h"
#include "engine/memory/fine_grained_atomics.h"
#include "engine/memory/float_atomics.h"
#include "engine/memory/guest_bounds.h"
#include "isa/table.h"

namespace Atoll::engine {

namespace {

using machine::Fault;
using semantics::ElementPlace;
using semantics::ImageOperation;
using semantics::ImageResource;
using semantics::ImageType;
using Kind = ImageOperation::Kind;

// MemoryOp::bits.
constexpr uint8_t short_resource = 1;  ///< of four words

/// The place that a lane's address names.
ElementPlace place_of(const ImageAccess& access, const Row* vgprs, unsigned lane) {
  const ImageAddress address = read_address(access, vgprs, lane, false);
  const ImageCoordinates coordinates = coordinates_of(access, address);
  return {.x = coordinates.at[0],
          .y = coordinates.at[1],
          .z = coordinates.at[2],
          .layer = coordinates.layer,
          .sample = coordinates.sample,
          .level = address.level};
}

/// An element's bytes as they are, in as many registers as they fill.
std::array<uint32_t, 4> packed_element(const ImageAccess& access, const ElementPlace& place) {
  std::array<uint32_t, 4> words{};
  const unsigned bytes = access.resource.format.bytes;
  const uint8_t* memory = element_address(access.resource, place);
  if (memory == nullptr) return words;
  std::memcpy(words.data(), memory, bytes);
  if (access.operation.sign_extends && bytes < 4) {
    const unsigned shift = 32 - 8 * bytes;
    words[0] = static_cast<uint32_t>(static_cast<int32_t>(words[0] << shift) >> shift);
  }
  return words;
}

void load(const ImageAccess& access, uint64_t lanes, const Row* vgprs, Row* rows) {
  if (load_image_rows(access, lanes, vgprs, rows)) return;
  ImageData data;
  for_each_lane(lanes, [&](unsigned lane) {
    const ElementPlace place = place_of(access, vgprs, lane);
    const auto components =
        access.operation.packed ? packed_element(access, place) : load_element(access.resource, place);
    data.keep(lane, access.mask(), components);
  });
  write_data(access, lanes, data, rows);
}

/// Components that the instruction does not name are stored as 0.
void store(const ImageAccess& access, uint64_t lanes, const Row* vgprs, const Row* rows) {
  for_each_lane(lanes, [&](unsigned lane) {
    const ElementPlace place = place_of(access, vgprs, lane);
    std::array<uint32_t, 4> components{};
    unsigned next = 0;
    for (unsigned i = 0; i < 4; ++i) {
      if ((access.mask() >> i & 1) != 0) components[i] = read_data(access, rows, lane, next++);
    }
    if (!access.operation.packed) return store_element(access.resource, place, components);
    uint8_t* memory = element_address(access.resource, place);
    if (memory != nullptr) std::memcpy(memory, components.data(), access.resource.format.bytes);
  });
}

/// Four samples of one component, from the one of the address on.
void load_samples(const ImageAccess& access, uint64_t lanes, const Row* vgprs, Row* rows, unsigned registers) {
  ImageData data;
  const bool packed = access.instruction.d16 && !access.has_unpacked_halves;
  data.count = std::min(4U, packed ? registers * 2 : registers);
  const auto component = static_cast<unsigned>(std::countr_zero(access.mask()));
  for_each_lane(lanes, [&](unsigned lane) {
    ElementPlace place = place_of(access, vgprs, lane);
    for (unsigned i = 0; i < data.count; ++i, ++place.sample) {
      data.of[lane][i] = load_element(access.resource, place)[component];
    }
  });
  write_data(access, lanes, data, rows);
}

/// Sizes of a level in elements, layers in the place of what an array lacks, and how many levels there are.
void resource_info(const ImageAccess& access, uint64_t lanes, const Row* vgprs, Row* rows) {
  const ImageResource& resource = access.resource;
  const unsigned levels = resource.last_level - resource.first_level + 1U;
  ImageData data;
  for_each_lane(lanes, [&](unsigned lane) {
    const uint32_t level = read_address(access, vgprs, lane, false).level;
    std::array<uint32_t, 4> sizes{0, 0, 0, levels};
    if (level < levels) {
      const ImageResource::Level size = resource.level(resource.first_level + level);
      sizes = {size.width, size.height, size.depth, levels};
      if (semantics::is_array(resource.type)) sizes[semantics::dimensions(resource.type)] = resource.layers();
    }
    data.keep(lane, access.mask(), sizes);
  });
  write_data(access, lanes, data, rows);
}

/// The bytes that an atomic changes: registers for data, as many for what is compared.
unsigned atomic_bytes(const ImageAccess& access) {
  const bool two = semantics::has_two_operands(access.operation.atomic);
  return static_cast<unsigned>(std::popcount(access.mask())) * 4 / (two ? 2 : 1);
}

/// The addresses of the lanes' elements. Which of the lanes have one: the others are outside of the image.
uint64_t find_elements(const ImageAccess& access, uint64_t lanes, const Row* vgprs, LaneAddresses& addresses) {
  uint64_t inside = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    const uint8_t* element = element_address(access.resource, place_of(access, vgprs, lane));
    addresses.of[lane] = reinterpret_cast<uint64_t>(element);
    inside |= uint64_t{element != nullptr} << lane;
  });
  return inside;
}

bool atomic(Wave& wave, const MicroOp& op, Run& run, const ImageAccess& access) {
  const MemoryOp& m = op.memory;
  const unsigned bytes = atomic_bytes(access);
  const Atomic function = bytes == 4 || bytes == 8 ? atomic_function(access.operation.atomic, bytes) : nullptr;
  if (function == nullptr || access.resource.format.bytes != bytes) {
    image_fault(wave, op, fmt::format("no atomic of {} bytes on elements of {}", bytes, access.resource.format.bytes));
    return false;
  }
  LaneAddresses addresses{};
  const uint64_t inside = find_elements(access, wave.exec(), rows_at(run, RowBase::vgpr, 0), addresses);
  Row* data = rows_at(run, m.data_base, m.data);
  Row* result = access.instruction.glc ? data : nullptr;
  const uint64_t done = without_dropped_atomics(*run.code->target().processor, access.operation.atomic, addresses,
                                                inside, result, bytes / 4);
  function(addresses, done, data, data + bytes / 4, result,
           memory_denormals(wave, run, access.operation.atomic, bytes));
  for_each_lane(wave.exec() & ~inside, [&](unsigned lane) {
    for (unsigned word = 0; result != nullptr && word < bytes / 4; ++word) result[word][lane] = 0;
  });
  return true;
}

bool execute(Wave& wave, const MicroOp& op, Run& run) {
  const MemoryOp& m = op.memory;
  const uint64_t lanes = wave.exec();
  if (lanes == 0) return true;
  wave.pc = m.pc;
  const target::Processor& processor = *run.code->target().processor;
  const unsigned resource_words = (m.bits & short_resource) != 0 ? 4 : 8;
  const auto resource = semantics::read_image_resource({&wave.scalar[m.scalar_base], resource_words}, processor);
  if (!resource) {
    image_fault(wave, op, resource.error().message);
    return false;
  }
  const ImageAccess access(op.origin->instruction, *resource, processor);
  if (const unsigned words = access.address_words(); words != 0 && access.address_register(words - 1) >= 256) {
    image_fault(wave, op, "its address would be in registers that do not exist");
    return false;
  }
  if (access.operation.kind != Kind::resource_info) {  // the image as a whole
    const bool writes = access.operation.kind == Kind::store || access.operation.kind == Kind::atomic;
    const uint64_t layers = (uint64_t{resource->last_layer} + 1) * resource->samples;
    check_bounds(wave, resource->base, writes);
    check_bounds(wave, resource->base + layers * resource->layer_bytes() - 1, writes);
  }
  const Row* vgprs = rows_at(run, RowBase::vgpr, 0);
  Row* data = rows_at(run, m.data_base, m.data);
  switch (access.operation.kind) {
    case Kind::load:
      load(access, lanes, vgprs, data);
      return true;
    case Kind::store:
      store(access, lanes, vgprs, data);
      return true;
    case Kind::resource_info:
      resource_info(access, lanes, vgprs, data);
      return true;
    case Kind::msaa_load:
      load_samples(access, lanes, vgprs, data, op.origin->instruction.operands[0].words);
      return true;
    case Kind::atomic:
      return atomic(wave, op, run, access);
    default:
      return sample(wave, op, run, access);
  }
}

/// Reports the existing elements of loads, stores and atomics. Samples are not reported.
void accesses(const Wave& wave, const MicroOp& op, const Run& run, AccessReporter& reporter) {
  const MemoryOp& m = op.memory;
  const target::Processor& processor = *run.code->target().processor;
  const unsigned resource_words = (m.bits & short_resource) != 0 ? 4 : 8;
  const auto resource = semantics::read_image_resource({&wave.scalar[m.scalar_base], resource_words}, processor);
  if (!resource) return;
  const ImageAccess access(op.origin->instruction, *resource, processor);
  if (const unsigned words = access.address_words(); words != 0 && access.address_register(words - 1) >= 256) return;
  const Kind kind = access.operation.kind;
  reporter.set_direction(kind != Kind::store, kind != Kind::load, kind == Kind::atomic);
  LaneAddresses addresses{};
  const uint64_t inside = find_elements(access, wave.exec(), rows_at(run, RowBase::vgpr, 0), addresses);
  reporter.global(addresses, inside, access.resource.format.bytes);
}

}  // namespace

void image_fault(Wave& wave, const MicroOp& op, const std::string& words) {
  fault(wave, op.origin->pc, Fault::Kind::illegal_instruction,
        fmt::format("{}: {}", isa::row(op.origin->instruction.opcode).name, words));
}

Handler prepare_image(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  const Kind kind = semantics::image_operation(instruction.opcode).kind;
  if (kind == Kind::none) return nullptr;
  // Operands: data, address, resource, sampler.
  if (instruction.operand_count < 3 || !is_row(instruction.operands[0])) return nullptr;
  const isa::Operand& resource = instruction.operands[2];
  if (resource.kind != isa::OperandKind::scalar) return nullptr;
  MemoryOp& m = p.op.memory;
  m.pc = p.origin.pc;
  m.data_base = row_base(instruction.operands[0]);
  m.data = row_offset(instruction.operands[0]);
  m.scalar_base = static_cast<uint8_t>(resource.reg);
  m.bits = resource.words == 4 ? short_resource : 0;
  if (instruction.operand_count > 3) {
    if (instruction.operands[3].kind != isa::OperandKind::scalar) return nullptr;
    m.scalar_offset = static_cast<uint8_t>(instruction.operands[3].reg);
  }
  if (kind == Kind::load || kind == Kind::store || kind == Kind::atomic) p.origin.accesses = accesses;
  return step_or_stop<execute>;
}

}  // namespace Atoll::engine

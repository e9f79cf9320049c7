// engine: image_bvh_intersect_ray and image_bvh64_intersect_ray of GFX10.3 and GFX11: each lane's ray against a node
// that lies in memory (semantics/image/ray_tracing.h).
//
// GFX12 reads nodes of other layouts, of which there is no public description: its instructions stay faults by name.
// Sources: RDNA2 and RDNA3 ISA guides, "Ray tracing"; for the order of 16-bit directions, what LLVM's code generator
// passes (SIISelLowering.cpp).
#include "semantics/image/ray_tracing.h"

#include <array>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "engine/interpreter/prepare.h"
#include "engine/interpreter/vector.h"
#include "engine/memory/gather_scatter.h"
#include "engine/memory/guest_bounds.h"
#include "support/half.h"

namespace Atoll::engine {

namespace {

using semantics::BvhResource;

constexpr unsigned max_address_words = 12;

/// The registers of the address's words: one after the other, or where the instruction names them one by one (GFX10) or
/// by group (GFX11).
std::array<uint8_t, max_address_words> address_registers(const isa::Instruction& instruction, unsigned node_words,
                                                         bool has_groups) {
  std::array<uint8_t, max_address_words> registers{};
  const unsigned groups[] = {node_words, 1, 3, 3, 3};
  unsigned word = 0;
  for (unsigned group = 0; group < std::size(groups); ++group) {
    for (unsigned i = 0; i < groups[group]; ++i, ++word) {
      registers[word] = instruction.address_count == 0 ? static_cast<uint8_t>(instruction.addresses[0] + word)
                        : has_groups                   ? static_cast<uint8_t>(instruction.addresses[group] + i)
                                                       : instruction.addresses[word];
    }
  }
  return registers;
}

/// Directions of 16 bits: GFX10 packs the six values two by two, GFX11 a direction's with its inverse's.
void unpack_directions(const uint32_t* words, bool is_gfx11, semantics::Ray& ray) {
  const auto half = [&](unsigned number) { return support::half_value(words[number / 2] >> number % 2 * 16); };
  for (unsigned axis = 0; axis < 3; ++axis) {
    ray.direction[axis] = half(is_gfx11 ? axis * 2 : axis);
    ray.inverse_direction[axis] = half(is_gfx11 ? axis * 2 + 1 : 3 + axis);
  }
}

template <bool is_gfx11>
bool intersect(Wave& wave, const MicroOp& op, Run& run) {
  const isa::Instruction& instruction = op.origin->instruction;
  const bool is_wide = instruction.opcode == isa::Opcode::image_bvh64_intersect_ray;
  const unsigned node_words = is_wide ? 2 : 1;
  const auto registers = address_registers(instruction, node_words, is_gfx11);
  const BvhResource resource(std::span<const uint32_t, 4>(&wave.scalar[op.memory.scalar_base], 4), is_gfx11);
  wave.pc = op.memory.pc;
  const Row* vgprs = rows_at(run, RowBase::vgpr, 0);
  std::array<std::array<uint32_t, 4>, semantics::wave_lanes> results;
  for (uint64_t left = wave.exec(); left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    uint32_t words[max_address_words];
    for (unsigned i = 0; i < max_address_words; ++i) words[i] = vgprs[registers[i]][lane];
    const uint64_t pointer = words[0] | (is_wide ? uint64_t{words[1]} << 32 : 0);
    const uint32_t* ray_words = words + node_words;
    semantics::Ray ray;
    ray.extent = std::bit_cast<float>(ray_words[0]);
    for (unsigned axis = 0; axis < 3; ++axis) {
      ray.origin[axis] = std::bit_cast<float>(ray_words[1 + axis]);
      ray.direction[axis] = std::bit_cast<float>(ray_words[4 + axis]);
      if (!instruction.a16) ray.inverse_direction[axis] = std::bit_cast<float>(ray_words[7 + axis]);
    }
    if (instruction.a16) unpack_directions(ray_words + 4, is_gfx11, ray);
    const uint64_t offset = semantics::node_offset(pointer, resource);
    const unsigned bytes = semantics::node_bytes(pointer);
    if (offset + bytes > resource.size) {
      fault(wave, op.memory.pc, machine::Fault::Kind::memory,
            fmt::format("node pointer {:#x} is beyond the hierarchy's {:#x} bytes", pointer, resource.size),
            resource.base + offset, false, lane);
      return false;
    }
    check_bounds(wave, resource.base + offset, false);
    results[lane] =
        semantics::intersect_node(pointer, reinterpret_cast<const uint8_t*>(resource.base + offset), ray, resource);
  }
  // The results come last, as they may be where an address was.
  Row* data = rows_at(run, RowBase::vgpr, op.memory.data);
  for_each_lane(wave.exec(), [&](unsigned lane) {
    for (unsigned word = 0; word < 4; ++word) data[word][lane] = results[lane][word];
  });
  return true;
}

}  // namespace

Handler prepare_ray_tracing(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  const bool is_ray = instruction.opcode == isa::Opcode::image_bvh_intersect_ray ||
                      instruction.opcode == isa::Opcode::image_bvh64_intersect_ray;
  if (!is_ray || instruction.generation >= target::Generation::gfx12) return nullptr;
  MemoryOp& m = p.op.memory;
  m.pc = p.origin.pc;
  m.data = row_offset(instruction.dst());
  for (unsigned i = 0; i < instruction.sources(); ++i) {
    const isa::Operand& operand = instruction.src(i);
    if (operand.kind == isa::OperandKind::scalar) m.scalar_base = static_cast<uint8_t>(operand.reg);
  }
  const bool is_gfx11 = instruction.generation >= target::Generation::gfx11;
  return is_gfx11 ? step_or_stop<intersect<true>> : step_or_stop<intersect<false>>;
}

}  // namespace Atoll::engine

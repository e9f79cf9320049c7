// engine: tensor_load_to_lds and tensor_store_from_lds (GFX12.5): a tile of a tensor in memory, whose rows, planes and
// so on are apart, is in LDS without gaps, or with padding after each so many dwords.
//
// A descriptor of up to four groups of scalar registers says what to copy. Its fields are those that AMD's kernels fill
// in (Composable Kernel's rocke, core/tdm.py, and ck_tile's TDM_GROUP0 to 3; Triton's TDMUtility.cpp); what they mean
// is in AMD's CDNA5 ISA guide, section 10.11, as others quote it. The address is the tile's, and the sizes of the
// tensor count from there: what a tile has beyond them is zeros on its way to LDS, and is not stored. A wave copies
// once, whatever EXEC says, and the copy is done when its instruction is; if it is to, it arrives at a barrier in LDS
// then.
//
// A descriptor that gathers has indices of rows, 16 of 16 bits or 8 of 32, in the place of what further dimensions
// need; one that iterates does the same for further tiles, whose addresses in memory and LDS are so many elements on.
// What the guide does not say is refused: more indices than there is room for, more than 256 tiles, and four dimensions
// of which each tile has more.
#include "engine/memory/tensor_copies.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "engine/interpreter/observation.h"
#include "engine/memory/async_copies.h"
#include "engine/memory/guest_bounds.h"
#include "isa/table.h"
#include "semantics/memory/descriptor_field.h"

namespace Atoll::engine {

namespace {

constexpr unsigned max_dimensions = 5;

/// A descriptor, in elements unless something else is said.
struct Tensor {
  bool is_valid = false, gathers = false, has_barrier = false, is_padded = false;
  const char* unknown = nullptr;                      ///< what it does that no source says the meaning of
  uint32_t barrier_address = 0;                       ///< in LDS
  std::array<uint32_t, 16> rows{};                    ///< of one that gathers
  uint32_t tiles = 1;                                 ///< more than one if it iterates, ...
  uint64_t lds_increment = 0, address_increment = 0;  ///< ... and how far apart they are
  uint64_t address = 0;
  uint32_t lds_address = 0, element_bytes = 1;
  uint32_t pad_interval = 0, pad_amount = 0;            ///< dwords
  std::array<uint32_t, max_dimensions> tile{}, size{};  ///< the first is the one whose elements are neighbours
  std::array<uint64_t, max_dimensions> stride{};        ///< of the first, 1
};

/// `count` bits of a group, from `first` on.
uint64_t bits_of(const uint32_t* group, unsigned first, unsigned count) {
  const semantics::DescriptorField field{static_cast<uint16_t>(first), static_cast<uint8_t>(count)};
  return field.get({group, (first + count + 31) / 32});
}

/// Rows by their indices. A group that is missing is zeros.
void gather(Tensor& tensor, bool has_wide_indices, const uint32_t* group2, const uint32_t* group3) {
  const unsigned bits = has_wide_indices ? 32 : 16, in_group = 128 / bits;
  for (unsigned i = 0; i < 2 * in_group; ++i) {
    const uint32_t* group = i < in_group ? group2 : group3;
    if (group != nullptr) tensor.rows[i] = static_cast<uint32_t>(bits_of(group, i % in_group * bits, bits));
  }
  tensor.tile[2] = 0;
  if (tensor.tile[1] > 2 * in_group) tensor.unknown = "gathers more rows than it has indices for";
}

/// Two or three dimensions, and several tiles.
void iterate(Tensor& tensor, const uint32_t* group2, const uint32_t* group3) {
  constexpr uint32_t most = 256;
  if (group2 == nullptr) {
    tensor.tile[2] = 0;
    return;
  }
  tensor.size[2] = group2[0];
  tensor.lds_increment = group2[1];
  tensor.address_increment = bits_of(group2, 64, 48);
  tensor.tiles = static_cast<uint32_t>(bits_of(group2, 112, 16)) + 1;
  if (tensor.tiles > most) tensor.unknown = "iterates over more than 256 tiles";
  if (group3 != nullptr && bits_of(group3, 80, 16) != 0) tensor.unknown = "iterates over tiles of five dimensions";
}

Tensor describe(const uint32_t* group0, const uint32_t* group1, const uint32_t* group2, const uint32_t* group3) {
  Tensor tensor;
  tensor.is_valid = bits_of(group0, 0, 2) != 0;
  tensor.gathers = bits_of(group0, 31, 1) != 0;
  tensor.lds_address = group0[1];
  tensor.address = bits_of(group0, 64, 57);

  tensor.element_bytes = 1u << bits_of(group1, 16, 2);
  tensor.has_barrier = bits_of(group1, 18, 1) != 0;
  tensor.barrier_address = static_cast<uint32_t>(bits_of(group1, 32, 16)) * 8;
  tensor.is_padded = bits_of(group1, 20, 1) != 0;
  tensor.pad_interval = 2u << bits_of(group1, 22, 3);
  tensor.pad_amount = static_cast<uint32_t>(bits_of(group1, 25, 7)) + 1;
  tensor.size[0] = static_cast<uint32_t>(bits_of(group1, 48, 32));
  tensor.size[1] = static_cast<uint32_t>(bits_of(group1, 80, 32));
  for (unsigned i = 0; i < 3; ++i) tensor.tile[i] = static_cast<uint32_t>(bits_of(group1, 112 + 16 * i, 16));
  tensor.stride = {1, bits_of(group1, 160, 48), bits_of(group1, 208, 48), 0, 0};
  if (tensor.gathers) {
    gather(tensor, bits_of(group0, 30, 1) != 0, group2, group3);
    return tensor;
  }
  const bool iterates = bits_of(group1, 19, 1) != 0;
  if (iterates) {
    iterate(tensor, group2, group3);
  } else if (group2 != nullptr) {
    tensor.size[2] = group2[0];
    tensor.size[3] = group2[1];
    tensor.stride[3] = bits_of(group2, 64, 48);
    tensor.tile[3] = static_cast<uint32_t>(bits_of(group2, 112, 16));
  } else {
    tensor.tile[2] = 0;
  }
  if (group3 != nullptr && !iterates) {
    tensor.stride[4] = bits_of(group3, 0, 48);
    tensor.size[4] = static_cast<uint32_t>(bits_of(group3, 48, 32));
    tensor.tile[4] = static_cast<uint32_t>(bits_of(group3, 80, 16));
  }
  return tensor;
}

/// Where the element of that number is in LDS.
uint64_t place_in_lds(const Tensor& tensor, uint64_t number, bool loads) {
  const uint64_t bytes = number * tensor.element_bytes;
  uint64_t padding = 0;
  if (loads && tensor.is_padded) padding = bytes / (uint64_t{tensor.pad_interval} * 4) * tensor.pad_amount * 4;
  return uint64_t{tensor.lds_address} + bytes + padding;
}

/// Calls `visit(in LDS, address, inside of the tensor)` for each element of the tile that LDS has room for.
template <typename Visit>
void for_each_element(const Wave& wave, const Tensor& tensor, bool loads, const Visit& visit) {
  const machine::WorkGroup& group = *wave.work_group;
  std::array<uint32_t, max_dimensions> extent{};
  for (unsigned d = 0; d < max_dimensions; ++d) extent[d] = std::max(tensor.tile[d], d == 0 ? 0u : 1u);
  if (tensor.gathers) extent[1] = tensor.tile[1];
  uint64_t count = 1;
  for (const uint32_t each : extent) count *= each;
  std::array<uint32_t, max_dimensions> at{};
  for (uint64_t number = 0; number < count; ++number) {
    const uint64_t lds = place_in_lds(tensor, number, loads);
    if (lds + tensor.element_bytes > group.lds_bytes) return;  // nor is any after it
    bool inside = true;
    uint64_t offset = 0;
    for (unsigned d = 0; d < max_dimensions; ++d) {
      const uint64_t place = d == 1 && tensor.gathers ? tensor.rows[at[d]] : at[d];
      inside &= tensor.tile[d] == 0 || place < tensor.size[d];
      offset += place * tensor.stride[d];
    }
    const uint64_t address = tensor.address + offset * tensor.element_bytes;
    visit(lds, address, inside);
    for (unsigned d = 0; d < max_dimensions && ++at[d] == extent[d]; ++d) at[d] = 0;
  }
}

void copy_tile(const Wave& wave, const Tensor& tensor, bool loads) {
  uint8_t* in_lds = wave.work_group->lds;
  for_each_element(wave, tensor, loads, [&](uint64_t lds, uint64_t address, bool inside) {
    if (inside) check_bounds(wave, address, !loads);
    auto* memory = reinterpret_cast<void*>(address);
    if (!loads && inside) std::memcpy(memory, in_lds + lds, tensor.element_bytes);
    if (loads && inside) std::memcpy(in_lds + lds, memory, tensor.element_bytes);
    if (loads && !inside) std::memset(in_lds + lds, 0, tensor.element_bytes);
  });
}

const uint32_t* group_of(const Wave& wave, const isa::Instruction& instruction, unsigned number) {
  if (number >= instruction.operand_count) return nullptr;
  const isa::Operand& operand = instruction.operands[number];
  if (operand.kind != isa::OperandKind::scalar || operand.reg == isa::scalar::null) return nullptr;
  return &wave.scalar[operand.reg];
}

Tensor tensor_of(const Wave& wave, const isa::Instruction& instruction) {
  return describe(group_of(wave, instruction, 0), group_of(wave, instruction, 1), group_of(wave, instruction, 2),
                  group_of(wave, instruction, 3));
}

/// Returns whether the copy is non-empty.
bool is_copied(const Tensor& tensor) { return tensor.is_valid && tensor.tile[0] != 0; }

/// Calls `visit(tensor)` for each tile, with where it begins.
template <typename Visit>
void for_each_tile(Tensor tensor, const Visit& visit) {
  for (uint32_t tile = 0; tile < tensor.tiles; ++tile) {
    visit(std::as_const(tensor));
    tensor.lds_address += static_cast<uint32_t>(tensor.lds_increment * tensor.element_bytes);
    tensor.address += tensor.address_increment * tensor.element_bytes;
  }
}

template <bool loads>
bool copy(Wave& wave, const MicroOp& op, Run&) {
  const isa::Instruction& instruction = op.origin->instruction;
  const Tensor tensor = tensor_of(wave, instruction);
  if (!is_copied(tensor)) return true;
  if (tensor.unknown != nullptr) {
    fault(wave, op.origin->pc, machine::Fault::Kind::illegal_instruction,
          std::string(isa::row_of(instruction).name) + " whose descriptor " + tensor.unknown + " is not implemented");
    return false;
  }
  wave.pc = op.origin->pc;
  for_each_tile(tensor, [&](const Tensor& tile) { copy_tile(wave, tile, loads); });
  if (tensor.has_barrier) arrive_in_lds(*wave.work_group, tensor.barrier_address, 1);
  return true;
}

/// Reports both sides in groups of up to a wave's lanes, and the barrier.
template <bool loads>
void copy_accesses(const Wave& wave, const MicroOp& op, const Run&, AccessReporter& reporter) {
  const Tensor tensor = tensor_of(wave, op.origin->instruction);
  if (!is_copied(tensor) || tensor.unknown != nullptr) return;
  reporter.set_direction(loads, !loads);
  constexpr unsigned at_a_time = 32;
  LaneAddresses addresses{};
  uint32_t offsets[semantics::wave_lanes]{};
  uint64_t in_lds = 0, in_memory = 0;
  unsigned lane = 0;
  const auto report = [&] {
    if (in_memory != 0) reporter.global(addresses, in_memory, tensor.element_bytes);
    if (in_lds != 0) reporter.lds_side(offsets, in_lds, tensor.element_bytes, loads);
    in_lds = in_memory = lane = 0;
  };
  for_each_tile(tensor, [&](const Tensor& tile) {
    for_each_element(wave, tile, loads, [&](uint64_t lds, uint64_t address, bool inside) {
      addresses.of[lane] = address;
      offsets[lane] = static_cast<uint32_t>(lds);
      if (loads || inside) in_lds |= uint64_t{1} << lane;
      if (inside) in_memory |= uint64_t{1} << lane;
      if (++lane == at_a_time) report();
    });
  });
  report();
  if (!tensor.has_barrier) return;
  offsets[0] = tensor.barrier_address;
  reporter.set_direction(true, true, true);
  reporter.lds(offsets, 1, 8);
}

}  // namespace

Handler prepare_tensor_copy(Preparation& p) {
  const isa::Instruction& instruction = p.instruction;
  if (!isa::row_of(instruction).has(isa::flag::tensor) || instruction.operand_count < 2) return nullptr;
  if (instruction.operands[0].kind != isa::OperandKind::scalar ||
      instruction.operands[1].kind != isa::OperandKind::scalar) {
    return nullptr;
  }
  if (instruction.opcode == isa::Opcode::tensor_load_to_lds) {
    p.origin.accesses = copy_accesses<true>;
    return step_or_stop<copy<true>>;
  }
  if (instruction.opcode != isa::Opcode::tensor_store_from_lds) return nullptr;
  p.origin.accesses = copy_accesses<false>;
  return step_or_stop<copy<false>>;
}

}  // namespace Atoll::engine

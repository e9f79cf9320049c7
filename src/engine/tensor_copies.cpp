// engine: tensor_load_to_lds and tensor_store_from_lds (GFX12.5): a tile of a tensor in memory, whose rows, planes and
// so on are apart, is in LDS without gaps, or with padding after each so many dwords.
//
// A descriptor of up to four groups of scalar registers says what to copy. Its fields are those that AMD's kernels fill
// in (Composable Kernel's rocke, core/tdm.py; Triton's TDMUtility.cpp). The address is the tile's, and the sizes of the
// tensor count from there: what a tile has beyond them is zeros on its way to LDS, and is not stored. A wave copies
// once, whatever EXEC says, and the copy is done when its instruction is. Gathering rows by index, iterating and
// barriers in LDS are refused.
#include "engine/tensor_copies.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/guest_bounds.h"
#include "engine/observation.h"
#include "isa/table.h"
#include "semantics/descriptor_field.h"

namespace Atoll::engine {

namespace {

constexpr unsigned most_dimensions = 5;

/// A descriptor, in elements unless something else is said.
struct Tensor {
  bool is_valid = false, gathers = false, iterates = false, has_barrier = false, is_padded = false;
  uint64_t address = 0;
  uint32_t lds_address = 0, element_bytes = 1;
  uint32_t pad_interval = 0, pad_amount = 0;             ///< dwords
  std::array<uint32_t, most_dimensions> tile{}, size{};  ///< the first is the one whose elements are neighbours
  std::array<uint64_t, most_dimensions> stride{};        ///< of the first, 1
};

/// `count` bits of a group, from `first` on.
uint64_t bits_of(const uint32_t* group, unsigned first, unsigned count) {
  const semantics::DescriptorField field{static_cast<uint16_t>(first), static_cast<uint8_t>(count)};
  return field.get({group, (first + count + 31) / 32});
}

Tensor describe(const uint32_t* group0, const uint32_t* group1, const uint32_t* group2, const uint32_t* group3) {
  Tensor tensor;
  tensor.is_valid = bits_of(group0, 0, 2) != 0;
  tensor.gathers = bits_of(group0, 31, 1) != 0;
  tensor.lds_address = group0[1];
  tensor.address = bits_of(group0, 64, 57);

  tensor.element_bytes = 1u << bits_of(group1, 16, 2);
  tensor.has_barrier = bits_of(group1, 18, 1) != 0;
  tensor.iterates = bits_of(group1, 19, 1) != 0;
  tensor.is_padded = bits_of(group1, 20, 1) != 0;
  tensor.pad_interval = 2u << bits_of(group1, 22, 3);
  tensor.pad_amount = static_cast<uint32_t>(bits_of(group1, 25, 7)) + 1;
  tensor.size[0] = static_cast<uint32_t>(bits_of(group1, 48, 32));
  tensor.size[1] = static_cast<uint32_t>(bits_of(group1, 80, 32));
  for (unsigned i = 0; i < 3; ++i) tensor.tile[i] = static_cast<uint32_t>(bits_of(group1, 112 + 16 * i, 16));
  tensor.stride = {1, bits_of(group1, 160, 48), bits_of(group1, 208, 48), 0, 0};
  if (group2 != nullptr) {
    tensor.size[2] = group2[0];
    tensor.size[3] = group2[1];
    tensor.stride[3] = bits_of(group2, 64, 48);
    tensor.tile[3] = static_cast<uint32_t>(bits_of(group2, 112, 16));
  } else {
    tensor.tile[2] = 0;
  }
  if (group3 != nullptr) {
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
  std::array<uint32_t, most_dimensions> extent{};
  for (unsigned d = 0; d < most_dimensions; ++d) extent[d] = std::max(tensor.tile[d], d == 0 ? 0u : 1u);
  uint64_t count = 1;
  for (const uint32_t each : extent) count *= each;
  std::array<uint32_t, most_dimensions> at{};
  for (uint64_t number = 0; number < count; ++number) {
    const uint64_t lds = place_in_lds(tensor, number, loads);
    if (lds + tensor.element_bytes > group.lds_bytes) return;  // nor is any after it
    bool inside = true;
    uint64_t offset = 0;
    for (unsigned d = 0; d < most_dimensions; ++d) {
      inside &= tensor.tile[d] == 0 || at[d] < tensor.size[d];
      offset += at[d] * tensor.stride[d];
    }
    const uint64_t address = tensor.address + offset * tensor.element_bytes;
    visit(lds, address, inside);
    for (unsigned d = 0; d < most_dimensions && ++at[d] == extent[d]; ++d) at[d] = 0;
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

template <bool loads>
bool copy(Wave& wave, const MicroOp& op, Run&) {
  const isa::Instruction& instruction = op.origin->instruction;
  const Tensor tensor = describe(group_of(wave, instruction, 0), group_of(wave, instruction, 1),
                                 group_of(wave, instruction, 2), group_of(wave, instruction, 3));
  if (!tensor.is_valid) return true;
  const char* lacking = tensor.gathers       ? "gathers rows by index"
                        : tensor.iterates    ? "iterates over tiles"
                        : tensor.has_barrier ? "arrives at a barrier in LDS"
                                             : nullptr;
  if (lacking != nullptr) {
    fault(wave, op.origin->pc, machine::Fault::Kind::illegal_instruction,
          std::string(isa::row_of(instruction).name) + " whose descriptor " + lacking + " is not implemented");
    return false;
  }
  wave.pc = op.origin->pc;
  copy_tile(wave, tensor, loads);
  return true;
}

/// What an observer is told: both sides, of as many elements at a time as a wave has lanes; and the barrier.
template <bool loads>
void copy_accesses(const Wave& wave, const MicroOp& op, const Run&, AccessTeller& teller) {
  const isa::Instruction& instruction = op.origin->instruction;
  const uint32_t* group1 = group_of(wave, instruction, 1);
  const Tensor tensor =
      describe(group_of(wave, instruction, 0), group1, group_of(wave, instruction, 2), group_of(wave, instruction, 3));
  if (!tensor.is_valid) return;
  constexpr unsigned at_a_time = 32;
  LaneAddresses addresses{};
  uint32_t offsets[semantics::wave_lanes]{};
  uint64_t in_lds = 0, in_memory = 0;
  unsigned lane = 0;
  const auto tell = [&] {
    if (in_memory != 0) teller.global(addresses, in_memory, tensor.element_bytes);
    if (in_lds != 0) teller.lds_side(offsets, in_lds, tensor.element_bytes, loads);
    in_lds = in_memory = lane = 0;
  };
  teller.set_direction(loads, !loads);
  for_each_element(wave, tensor, loads, [&](uint64_t lds, uint64_t address, bool inside) {
    addresses.of[lane] = address;
    offsets[lane] = static_cast<uint32_t>(lds);
    if (loads || inside) in_lds |= uint64_t{1} << lane;
    if (inside) in_memory |= uint64_t{1} << lane;
    if (++lane == at_a_time) tell();
  });
  tell();
  if (!tensor.has_barrier) return;
  offsets[0] = static_cast<uint32_t>(bits_of(group1, 32, 16)) * 8;
  teller.set_direction(true, true, true);
  teller.lds(offsets, 1, 8);
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

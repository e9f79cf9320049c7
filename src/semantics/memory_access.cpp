// semantics: the table of memory accesses (memory_access.h).
//
// What an instruction moves is the same in every encoding that has it: flat_load_ubyte, global_load_ubyte and
// buffer_load_ubyte differ in their addresses only. So the rows below are keyed by the opcode's name without its
// encoding's prefix, and the table by opcode is made from them on first use.
#include "semantics/memory_access.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "isa/table.h"

namespace Atoll::semantics {

namespace {

using Kind = MemoryAccess::Kind;
using Half = MemoryAccess::Half;
using enum AtomicOperation;

constexpr auto opcode_count = static_cast<uint32_t>(isa::Opcode::count);

struct Row {
  std::string_view name;
  MemoryAccess access;
};

constexpr MemoryAccess plain(Kind kind, uint8_t bytes) { return {.kind = kind, .bytes = bytes}; }
constexpr MemoryAccess load(uint8_t bytes) { return plain(Kind::load, bytes); }
constexpr MemoryAccess load_signed(uint8_t bytes, Half half = Half::none) {
  return {.kind = Kind::load, .bytes = bytes, .sign_extend = true, .half = half};
}
constexpr MemoryAccess load_half(uint8_t bytes, Half half) {
  return {.kind = Kind::load, .bytes = bytes, .half = half};
}
constexpr MemoryAccess store(uint8_t bytes, Half half = Half::none) {
  return {.kind = Kind::store, .bytes = bytes, .half = half};
}
constexpr MemoryAccess two(Kind kind, uint8_t bytes, uint16_t offset_unit) {
  return {.kind = kind, .bytes = bytes, .elements = 2, .offset_unit = offset_unit};
}
constexpr MemoryAccess by_lane(Kind kind) { return {.kind = kind, .bytes = 4, .by_lane = true}; }
constexpr MemoryAccess formatted(Kind kind, uint8_t components, bool is_d16 = false, Half half = Half::none) {
  return {.kind = kind, .half = half, .components = components, .is_d16 = is_d16};
}
constexpr MemoryAccess atomic_of(AtomicOperation operation_, uint8_t bytes) {
  return {.kind = Kind::atomic, .bytes = bytes, .operation = operation_};
}
constexpr MemoryAccess exchange_two(uint8_t bytes, uint16_t offset_unit) {
  return {.kind = Kind::atomic,
          .bytes = bytes,
          .elements = 2,
          .offset_unit = offset_unit,
          .operation = swap,
          .returns = true};
}

// FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF and SMEM.
constexpr Row memory_rows[] = {
    {"load_ubyte", load(1)},
    {"load_sbyte", load_signed(1)},
    {"load_ushort", load(2)},
    {"load_sshort", load_signed(2)},
    {"load_dword", load(4)},
    {"load_dwordx2", load(8)},
    {"load_dwordx3", load(12)},
    {"load_dwordx4", load(16)},
    {"load_b96", load(12)},  // SMEM
    {"load_u8", load(1)},
    {"load_i8", load_signed(1)},
    {"load_u16", load(2)},
    {"load_i16", load_signed(2)},
    {"load_dwordx8", load(32)},
    {"load_dwordx16", load(64)},
    {"load_ubyte_d16", load_half(1, Half::low)},
    {"load_ubyte_d16_hi", load_half(1, Half::high)},
    {"load_sbyte_d16", load_signed(1, Half::low)},
    {"load_sbyte_d16_hi", load_signed(1, Half::high)},
    {"load_short_d16", load_half(2, Half::low)},
    {"load_short_d16_hi", load_half(2, Half::high)},
    {"store_byte", store(1)},
    {"store_short", store(2)},
    {"store_dword", store(4)},
    {"store_dwordx2", store(8)},
    {"store_dwordx3", store(12)},
    {"store_dwordx4", store(16)},
    {"store_byte_d16_hi", store(1, Half::high)},
    {"store_short_d16_hi", store(2, Half::high)},

    {"load_b32", load(4)},  // cluster_load_b32 ...
    {"load_b64", load(8)},
    {"load_b128", load(16)},
    {"load_monitor_b32", load(4)},
    {"load_monitor_b64", load(8)},
    {"load_monitor_b128", load(16)},
    {"load_dword_addtid", by_lane(Kind::load)},
    {"store_dword_addtid", by_lane(Kind::store)},
    {"load_block", plain(Kind::load_block, 4)},
    {"store_block", plain(Kind::store_block, 4)},

    {"load_lds_ubyte", plain(Kind::load_to_lds, 1)},
    {"load_lds_sbyte", {.kind = Kind::load_to_lds, .bytes = 1, .sign_extend = true}},
    {"load_lds_ushort", plain(Kind::load_to_lds, 2)},
    {"load_lds_sshort", {.kind = Kind::load_to_lds, .bytes = 2, .sign_extend = true}},
    {"load_lds_dword", plain(Kind::load_to_lds, 4)},
    {"load_lds_dwordx3", plain(Kind::load_to_lds, 12)},
    {"load_lds_dwordx4", plain(Kind::load_to_lds, 16)},
    {"store_lds_dword", plain(Kind::store_from_lds, 4)},

    {"load_format_x", formatted(Kind::load, 1)},
    {"load_format_xy", formatted(Kind::load, 2)},
    {"load_format_xyz", formatted(Kind::load, 3)},
    {"load_format_xyzw", formatted(Kind::load, 4)},
    {"store_format_x", formatted(Kind::store, 1)},
    {"store_format_xy", formatted(Kind::store, 2)},
    {"store_format_xyz", formatted(Kind::store, 3)},
    {"store_format_xyzw", formatted(Kind::store, 4)},
    {"load_format_d16_x", formatted(Kind::load, 1, true, Half::low)},
    {"load_format_d16_xy", formatted(Kind::load, 2, true)},
    {"load_format_d16_xyz", formatted(Kind::load, 3, true)},
    {"load_format_d16_xyzw", formatted(Kind::load, 4, true)},
    {"load_format_d16_hi_x", formatted(Kind::load, 1, true, Half::high)},
    {"store_format_d16_x", formatted(Kind::store, 1, true, Half::low)},
    {"store_format_d16_xy", formatted(Kind::store, 2, true)},
    {"store_format_d16_xyz", formatted(Kind::store, 3, true)},
    {"store_format_d16_xyzw", formatted(Kind::store, 4, true)},
    {"store_format_d16_hi_x", formatted(Kind::store, 1, true, Half::high)},

    {"atomic_swap", atomic_of(swap, 4)},
    {"atomic_cmpswap", atomic_of(compare_swap, 4)},
    {"atomic_add", atomic_of(add, 4)},
    {"atomic_sub", atomic_of(subtract, 4)},
    {"atomic_smin", atomic_of(signed_min, 4)},
    {"atomic_umin", atomic_of(unsigned_min, 4)},
    {"atomic_smax", atomic_of(signed_max, 4)},
    {"atomic_umax", atomic_of(unsigned_max, 4)},
    {"atomic_and", atomic_of(bit_and, 4)},
    {"atomic_or", atomic_of(bit_or, 4)},
    {"atomic_xor", atomic_of(bit_xor, 4)},
    {"atomic_inc", atomic_of(increment, 4)},
    {"atomic_dec", atomic_of(decrement, 4)},
    {"atomic_swap_x2", atomic_of(swap, 8)},
    {"atomic_cmpswap_x2", atomic_of(compare_swap, 8)},
    {"atomic_add_x2", atomic_of(add, 8)},
    {"atomic_sub_x2", atomic_of(subtract, 8)},
    {"atomic_smin_x2", atomic_of(signed_min, 8)},
    {"atomic_umin_x2", atomic_of(unsigned_min, 8)},
    {"atomic_smax_x2", atomic_of(signed_max, 8)},
    {"atomic_umax_x2", atomic_of(unsigned_max, 8)},
    {"atomic_and_x2", atomic_of(bit_and, 8)},
    {"atomic_or_x2", atomic_of(bit_or, 8)},
    {"atomic_xor_x2", atomic_of(bit_xor, 8)},
    {"atomic_inc_x2", atomic_of(increment, 8)},
    {"atomic_dec_x2", atomic_of(decrement, 8)},
    {"atomic_csub", atomic_of(subtract_clamp, 4)},
    {"atomic_sub_clamp_u32", atomic_of(subtract_clamp, 4)},
    {"atomic_cond_sub_u32", atomic_of(conditional_subtract, 4)},
    {"atomic_fcmpswap", atomic_of(float_compare_swap, 4)},
    {"atomic_fcmpswap_x2", atomic_of(float_compare_swap, 8)},
    {"atomic_fmin", atomic_of(float_min, 4)},
    {"atomic_fmin_x2", atomic_of(float_min, 8)},
    {"atomic_fmax", atomic_of(float_max, 4)},
    {"atomic_fmax_x2", atomic_of(float_max, 8)},
    {"atomic_add_f32", atomic_of(float_add, 4)},
    {"atomic_add_f64", atomic_of(float_add, 8)},
    {"atomic_min_f64", atomic_of(float_min, 8)},
    {"atomic_max_f64", atomic_of(float_max, 8)},
    {"atomic_pk_add_f16", atomic_of(packed_add_f16, 4)},
    {"atomic_pk_add_bf16", atomic_of(packed_add_bf16, 4)},
};

// DS; its atomics are in ds_atomic_rows.
constexpr Row ds_rows[] = {
    {"read_u8", load(1)},
    {"read_i8", load_signed(1)},
    {"read_u16", load(2)},
    {"read_i16", load_signed(2)},
    {"read_b32", load(4)},
    {"read_b64", load(8)},
    {"read_b96", load(12)},
    {"read_b128", load(16)},
    {"read_u8_d16", load_half(1, Half::low)},
    {"read_u8_d16_hi", load_half(1, Half::high)},
    {"read_i8_d16", load_signed(1, Half::low)},
    {"read_i8_d16_hi", load_signed(1, Half::high)},
    {"read_u16_d16", load_half(2, Half::low)},
    {"read_u16_d16_hi", load_half(2, Half::high)},
    {"read2_b32", two(Kind::load, 4, 4)},
    {"read2st64_b32", two(Kind::load, 4, 4 * 64)},
    {"read2_b64", two(Kind::load, 8, 8)},
    {"read2st64_b64", two(Kind::load, 8, 8 * 64)},
    {"read_addtid_b32", by_lane(Kind::load)},
    {"write_b8", store(1)},
    {"write_b16", store(2)},
    {"write_b32", store(4)},
    {"write_b64", store(8)},
    {"write_b96", store(12)},
    {"write_b128", store(16)},
    {"write_b8_d16_hi", store(1, Half::high)},
    {"write_b16_d16_hi", store(2, Half::high)},
    {"write2_b32", two(Kind::store, 4, 4)},
    {"write2st64_b32", two(Kind::store, 4, 4 * 64)},
    {"write2_b64", two(Kind::store, 8, 8)},
    {"write2st64_b64", two(Kind::store, 8, 8 * 64)},
    {"write_addtid_b32", by_lane(Kind::store)},
    {"wrxchg2_rtn_b32", exchange_two(4, 4)},
    {"wrxchg2st64_rtn_b32", exchange_two(4, 4 * 64)},
    {"wrxchg2_rtn_b64", exchange_two(8, 8)},
    {"wrxchg2st64_rtn_b64", exchange_two(8, 8 * 64)},
    {"condxchg32_rtn_b64", {.kind = Kind::conditional_exchange, .bytes = 8, .returns = true}},
    {"append", {.kind = Kind::append, .bytes = 4, .returns = true}},
    {"consume", {.kind = Kind::consume, .bytes = 4, .returns = true}},
};

// DS atomics, named <operation>_<type>, <operation>_rtn_<type> and <operation>_src2_<type>. For src2, a write is a
// copy from the second address, which a swap does.
struct DsAtomic {
  std::string_view operation, type;
  MemoryAccess access;
};
constexpr DsAtomic ds_atomic_rows[] = {
    {"add", "u32", atomic_of(add, 4)},
    {"sub", "u32", atomic_of(subtract, 4)},
    {"rsub", "u32", atomic_of(reverse_subtract, 4)},
    {"inc", "u32", atomic_of(increment, 4)},
    {"dec", "u32", atomic_of(decrement, 4)},
    {"min", "i32", atomic_of(signed_min, 4)},
    {"max", "i32", atomic_of(signed_max, 4)},
    {"min", "u32", atomic_of(unsigned_min, 4)},
    {"max", "u32", atomic_of(unsigned_max, 4)},
    {"and", "b32", atomic_of(bit_and, 4)},
    {"or", "b32", atomic_of(bit_or, 4)},
    {"xor", "b32", atomic_of(bit_xor, 4)},
    {"mskor", "b32", atomic_of(mask_or, 4)},
    {"wrxchg", "b32", atomic_of(swap, 4)},
    {"write", "b32", atomic_of(swap, 4)},
    {"cmpst", "b32", atomic_of(compare_store, 4)},
    {"cmpst", "f32", atomic_of(float_compare_store, 4)},
    {"min", "f32", atomic_of(float_min, 4)},
    {"max", "f32", atomic_of(float_max, 4)},
    {"add", "f32", atomic_of(float_add, 4)},
    {"wrap", "b32", atomic_of(wrap, 4)},
    {"cmpstore", "b32", atomic_of(compare_swap, 4)},
    {"cmpstore", "f32", atomic_of(float_compare_swap, 4)},
    {"cmpstore", "b64", atomic_of(compare_swap, 8)},
    {"cmpstore", "f64", atomic_of(float_compare_swap, 8)},
    {"cond_sub", "u32", atomic_of(conditional_subtract, 4)},
    {"sub_clamp", "u32", atomic_of(subtract_clamp, 4)},
    {"pk_add", "f16", atomic_of(packed_add_f16, 4)},
    {"pk_add", "bf16", atomic_of(packed_add_bf16, 4)},
    {"add", "u64", atomic_of(add, 8)},
    {"sub", "u64", atomic_of(subtract, 8)},
    {"rsub", "u64", atomic_of(reverse_subtract, 8)},
    {"inc", "u64", atomic_of(increment, 8)},
    {"dec", "u64", atomic_of(decrement, 8)},
    {"min", "i64", atomic_of(signed_min, 8)},
    {"max", "i64", atomic_of(signed_max, 8)},
    {"min", "u64", atomic_of(unsigned_min, 8)},
    {"max", "u64", atomic_of(unsigned_max, 8)},
    {"and", "b64", atomic_of(bit_and, 8)},
    {"or", "b64", atomic_of(bit_or, 8)},
    {"xor", "b64", atomic_of(bit_xor, 8)},
    {"mskor", "b64", atomic_of(mask_or, 8)},
    {"wrxchg", "b64", atomic_of(swap, 8)},
    {"write", "b64", atomic_of(swap, 8)},
    {"cmpst", "b64", atomic_of(compare_store, 8)},
    {"cmpst", "f64", atomic_of(float_compare_store, 8)},
    {"min", "f64", atomic_of(float_min, 8)},
    {"max", "f64", atomic_of(float_max, 8)},
    {"add", "f64", atomic_of(float_add, 8)},
};

constexpr std::string_view memory_prefixes[] = {"flat_", "global_",   "scratch_",   "buffer_", "tbuffer_",
                                                "s_",    "s_buffer_", "s_scratch_", "cluster_"};

template <size_t Size>
std::optional<MemoryAccess> find(const Row (&rows)[Size], std::string_view name) {
  for (const Row& row : rows) {
    if (row.name == name) return row.access;
  }
  return {};
}

std::optional<MemoryAccess> find_ds_atomic(std::string_view name) {
  for (const DsAtomic& row : ds_atomic_rows) {
    if (name.size() <= row.operation.size() + row.type.size()) continue;
    if (!name.starts_with(row.operation) || !name.ends_with(row.type)) continue;
    const std::string_view middle =
        name.substr(row.operation.size(), name.size() - row.operation.size() - row.type.size());
    MemoryAccess access = row.access;
    if (middle == "_") return access;
    if (middle == "_rtn_") {
      access.returns = true;
      return access;
    }
    if (middle == "_src2_") {
      access.data_in_lds = true;
      return access;
    }
  }
  return {};
}

MemoryAccess access_of(std::string_view name) {
  if (name.starts_with("ds_")) {
    name.remove_prefix(3);
    if (const auto access = find(ds_rows, name)) return *access;  // before the atomics: "write_b32" is a store
    return find_ds_atomic(name).value_or(MemoryAccess{});
  }
  for (const std::string_view prefix : memory_prefixes) {
    if (!name.starts_with(prefix)) continue;
    if (const auto access = find(memory_rows, name.substr(prefix.size()))) return *access;
  }
  return {};
}

}  // namespace

// The accesses of all opcodes, and after them the same for GPUs whose D16 loads clear what they don't load.
AccessNumber access_number(const isa::Instruction& instruction) {
  const auto opcode = static_cast<uint32_t>(instruction.opcode);
  return AccessNumber{instruction.clears_other_half ? opcode + opcode_count : opcode};
}

const MemoryAccess& memory_access(AccessNumber number) {
  static const auto table = [] {
    std::array<MemoryAccess, size_t{opcode_count} * 2> accesses;
    for (uint32_t i = 0; i < opcode_count; ++i) {
      accesses[i] = accesses[opcode_count + i] = access_of(isa::row(static_cast<isa::Opcode>(i)).name);
      MemoryAccess& clearing = accesses[opcode_count + i];
      clearing.clears_other_half = clearing.kind == Kind::load && (clearing.half != Half::none || clearing.is_d16);
    }
    return accesses;
  }();
  return table[static_cast<uint32_t>(number)];
}

}  // namespace Atoll::semantics

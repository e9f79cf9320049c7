// semantics: the scalar ALU's arithmetic and logic: SOP1, SOP2, SOPK and SOPC.
//
// Most instructions are a plain function of one or two words; what they do to SCC follows one of a few rules, which
// the templates below attach: leave it alone, set it when the result is not zero, or set it from a compare. What fits
// no rule writes the ScalarCall itself.
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "semantics/registry.h"

namespace Atoll::semantics {

namespace {

// --- How operands come and SCC goes ---------------------------------------------------------------------------------

template <typename Function>
struct Words;
template <typename R, typename... Args>
struct Words<R (*)(Args...)> {
  template <auto Operation, size_t... I>
  static uint64_t apply(const ScalarCall& call, std::index_sequence<I...>) {
    // Through the unsigned type of the result's width: a negative 32-bit result is zero-extended too.
    return static_cast<std::make_unsigned_t<R>>(Operation(static_cast<Args>(call.src[I])...));
  }
  template <auto Operation>
  static uint64_t apply(const ScalarCall& call) {
    return apply<Operation>(call, std::index_sequence_for<Args...>{});
  }
};
template <typename... Args>
struct Words<bool (*)(Args...)> {
  template <auto Operation, size_t... I>
  static bool apply(const ScalarCall& call, std::index_sequence<I...>) {
    return Operation(static_cast<Args>(call.src[I])...);
  }
  template <auto Operation>
  static bool apply(const ScalarCall& call) {
    return apply<Operation>(call, std::index_sequence_for<Args...>{});
  }
};

/// The result; SCC stays.
template <auto Operation>
void keeps_scc(ScalarCall& call) {
  call.dst = Words<decltype(Operation)>::template apply<Operation>(call);
}
/// Returns the result; SCC is whether it is non-zero.
template <auto Operation>
void scc_nonzero(ScalarCall& call) {
  call.dst = Words<decltype(Operation)>::template apply<Operation>(call);
  call.scc = call.dst != 0;
}
/// No result but SCC.
template <auto Predicate>
void compares(ScalarCall& call) {
  call.scc = Words<decltype(Predicate)>::template apply<Predicate>(call);
}
/// The first source if the predicate holds, else the second; SCC is the predicate (s_min, s_max).
template <auto Predicate>
void chooses(ScalarCall& call) {
  call.scc = Words<decltype(Predicate)>::template apply<Predicate>(call);
  call.dst = call.scc ? call.src[0] : call.src[1];
}
/// The operation on the source and EXEC.
template <auto Operation>
uint64_t with_exec(const ScalarCall& call) {
  ScalarCall operands = call;
  operands.src[1] = call.exec;
  return Words<decltype(Operation)>::template apply<Operation>(operands);
}
/// EXEC becomes the operation on the source and the old EXEC, which goes to the destination.
template <auto Operation>
void saves_exec(ScalarCall& call) {
  call.dst = call.exec;
  call.exec = with_exec<Operation>(call);
  call.scc = call.exec != 0;
}
/// As above, and the destination also gets the new EXEC.
template <auto Operation>
void writes_exec(ScalarCall& call) {
  call.exec = with_exec<Operation>(call);
  call.dst = call.exec;
  call.scc = call.exec != 0;
}

// --- Logic and moves ------------------------------------------------------------------------------------------------

template <typename T>
T move(T a) {
  return a;
}
template <typename T>
T invert(T a) {
  return ~a;
}
template <typename T>
T and_(T a, T b) {
  return a & b;
}
template <typename T>
T or_(T a, T b) {
  return a | b;
}
template <typename T>
T xor_(T a, T b) {
  return a ^ b;
}
template <typename T>
T andn1(T a, T b) {
  return ~a & b;
}
template <typename T>
T andn2(T a, T b) {
  return a & ~b;
}
template <typename T>
T orn1(T a, T b) {
  return ~a | b;
}
template <typename T>
T orn2(T a, T b) {
  return a | ~b;
}
template <typename T>
T nand(T a, T b) {
  return ~(a & b);
}
template <typename T>
T nor(T a, T b) {
  return ~(a | b);
}
template <typename T>
T xnor(T a, T b) {
  return ~(a ^ b);
}

void cselect(ScalarCall& call) { call.dst = call.scc ? call.src[0] : call.src[1]; }
void cmov(ScalarCall& call) {
  if (call.scc) call.dst = call.src[0];
}
uint32_t movk(uint16_t a) { return static_cast<uint32_t>(int32_t{static_cast<int16_t>(a)}); }
void cmovk(ScalarCall& call) {
  if (call.scc) call.dst = movk(static_cast<uint16_t>(call.src[0]));
}

uint32_t pack_ll(uint32_t a, uint32_t b) { return (a & 0xFFFF) | b << 16; }
uint32_t pack_lh(uint32_t a, uint32_t b) { return (a & 0xFFFF) | (b & 0xFFFF0000); }
uint32_t pack_hl(uint32_t a, uint32_t b) { return a >> 16 | b << 16; }
uint32_t pack_hh(uint32_t a, uint32_t b) { return a >> 16 | (b & 0xFFFF0000); }

int32_t sext8(int8_t a) { return a; }
int32_t sext16(int16_t a) { return a; }

// --- Bits -----------------------------------------------------------------------------------------------------------

template <typename T>
inline constexpr unsigned width_of = 8 * sizeof(T);

template <typename T>
T shift_left(T a, uint32_t amount) {
  return a << (amount % width_of<T>);
}
template <typename T>
T shift_right(T a, uint32_t amount) {  // arithmetic if T is signed
  return a >> (amount % width_of<T>);
}

/// The lowest `count` bits of a T, all of them if it has no more.
template <typename T>
T low_ones(unsigned count) {
  return count >= width_of<T> ? ~T{0} : (T{1} << count) - 1;
}
template <typename T>
T bit_field_mask(uint32_t width, uint32_t offset) {
  return low_ones<T>(width % width_of<T>) << (offset % width_of<T>);
}
/// `where` holds the offset in its low bits, the width in bits 22:16.
template <typename T>
T bit_field_extract(T a, uint32_t where) {
  using Unsigned = std::make_unsigned_t<T>;
  const unsigned width = where >> 16 & 0x7F;
  const T shifted = a >> (where % width_of<T>);
  if (width >= width_of<T>) return shifted;
  if (width == 0) return 0;
  // Up to the top and down again: the arithmetic shift of a signed T extends the sign.
  const unsigned unused = width_of<T> - width;
  return static_cast<T>(static_cast<Unsigned>(shifted) << unused) >> unused;
}

template <typename T>
T reverse(T a) {
  return sizeof(T) == 8 ? static_cast<T>(__builtin_bitreverse64(a))
                        : static_cast<T>(__builtin_bitreverse32(static_cast<uint32_t>(a)));
}
template <typename T>
uint32_t count_ones(T a) {
  return static_cast<uint32_t>(std::popcount(a));
}
template <typename T>
uint32_t count_zeros(T a) {
  return static_cast<uint32_t>(std::popcount(static_cast<T>(~a)));
}
// The searches give -1 where there is nothing to find.
template <typename T>
int32_t find_first_one(T a) {
  return a == 0 ? -1 : std::countr_zero(a);
}
template <typename T>
int32_t find_first_zero(T a) {
  return find_first_one(static_cast<T>(~a));
}
template <typename T>
int32_t find_last_one(T a) {  // counted from the top
  return a == 0 ? -1 : std::countl_zero(a);
}
template <typename T>
int32_t find_sign_change(T a) {  // T unsigned; counted from the top
  using Signed = std::make_signed_t<T>;
  return find_last_one(static_cast<T>(a ^ static_cast<T>(static_cast<Signed>(a) >> (width_of<T> - 1))));
}

template <typename T, bool Bit>
void set_bit(ScalarCall& call) {
  const T bit = T{1} << (call.src[0] % width_of<T>);
  call.dst = static_cast<T>(Bit ? call.dst | bit : call.dst & ~bit);
}
template <typename T, bool Bit>
bool bit_is(T a, uint32_t index) {
  return (a >> (index % width_of<T>)&1) == Bit;
}

/// A bit for each quad (group of four bits) that is not all zeros.
template <typename T>
T quad_mask(T a) {
  T result = 0;
  for (unsigned quad = 0; quad < width_of<T> / 4; ++quad) {
    if ((a >> (4 * quad) & 0xF) != 0) result |= T{1} << quad;
  }
  return result;
}
/// All four bits of each quad that is not all zeros: "whole quad mode".
template <typename T>
T whole_quads(T a) {
  T result = 0;
  for (unsigned bit = 0; bit < width_of<T>; bit += 4) {
    if ((a >> bit & 0xF) != 0) result |= T{0xF} << bit;
  }
  return result;
}
/// Each bit twice, side by side.
uint64_t replicate(uint32_t a) {
  uint64_t spread = a;
  for (unsigned step = 16; step != 0; step /= 2) {  // move the upper half of each group away, groups getting smaller
    const uint64_t keep = ~uint64_t{0} / ((uint64_t{1} << step) + 1);
    spread = (spread | spread << step) & keep;
  }
  return spread | spread << 1;
}

// --- Arithmetic -----------------------------------------------------------------------------------------------------

void add_u32(ScalarCall& call) {
  const uint64_t sum = call.src[0] + call.src[1];
  call.dst = static_cast<uint32_t>(sum);
  call.scc = sum >> 32 != 0;
}
void addc_u32(ScalarCall& call) {
  const uint64_t sum = call.src[0] + call.src[1] + call.scc;
  call.dst = static_cast<uint32_t>(sum);
  call.scc = sum >> 32 != 0;
}
void sub_u32(ScalarCall& call) {
  call.dst = static_cast<uint32_t>(call.src[0] - call.src[1]);
  call.scc = call.src[1] > call.src[0];
}
void subb_u32(ScalarCall& call) {
  const uint64_t subtrahend = call.src[1] + call.scc;
  call.dst = static_cast<uint32_t>(call.src[0] - subtrahend);
  call.scc = subtrahend > call.src[0];
}

/// Stores a signed result and, in SCC, whether it overflowed 32 bits.
void store_signed(ScalarCall& call, int64_t exact) {
  call.dst = static_cast<uint32_t>(exact);
  call.scc = exact != static_cast<int32_t>(exact);
}
void add_i32(ScalarCall& call) {
  store_signed(call, int64_t{static_cast<int32_t>(call.src[0])} + static_cast<int32_t>(call.src[1]));
}
void sub_i32(ScalarCall& call) {
  store_signed(call, int64_t{static_cast<int32_t>(call.src[0])} - static_cast<int32_t>(call.src[1]));
}
void addk_i32(ScalarCall& call) {
  store_signed(call, int64_t{static_cast<int32_t>(call.dst)} + static_cast<int16_t>(call.src[0]));
}
void mulk_i32(ScalarCall& call) {
  call.dst = static_cast<uint32_t>(call.dst) * movk(static_cast<uint16_t>(call.src[0]));
}

template <unsigned Shift>
void shift_add(ScalarCall& call) {
  const uint64_t sum = (call.src[0] << Shift) + call.src[1];
  call.dst = static_cast<uint32_t>(sum);
  call.scc = sum >> 32 != 0;
}

uint32_t mul(uint32_t a, uint32_t b) { return a * b; }
uint64_t mul_64(uint64_t a, uint64_t b) { return a * b; }
uint64_t add_64(uint64_t a, uint64_t b) { return a + b; }
uint64_t sub_64(uint64_t a, uint64_t b) { return a - b; }
uint32_t mul_hi_u32(uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t{a} * b >> 32); }
int32_t mul_hi_i32(int32_t a, int32_t b) { return static_cast<int32_t>(int64_t{a} * b >> 32); }
uint32_t absolute(uint32_t a) { return a >> 31 != 0 ? 0 - a : a; }
uint32_t absolute_difference(uint32_t a, uint32_t b) { return absolute(a - b); }

// --- Compares -------------------------------------------------------------------------------------------------------

template <typename T>
bool equal(T a, T b) {
  return a == b;
}
template <typename T>
bool unequal(T a, T b) {
  return a != b;
}
template <typename T>
bool less(T a, T b) {
  return a < b;
}
template <typename T>
bool less_or_equal(T a, T b) {
  return a <= b;
}
template <typename T>
bool greater(T a, T b) {
  return a > b;
}
template <typename T>
bool greater_or_equal(T a, T b) {
  return a >= b;
}
// With a 16-bit immediate, sign- or zero-extended.
template <bool (*Compare)(int32_t, int32_t)>
bool with_signed_immediate(int32_t a, int16_t b) {
  return Compare(a, b);
}
template <bool (*Compare)(uint32_t, uint32_t)>
bool with_unsigned_immediate(uint32_t a, uint16_t b) {
  return Compare(a, b);
}

// --- The table ------------------------------------------------------------------------------------------------------

using i32 = int32_t;
using u32 = uint32_t;
using i64 = int64_t;
using u64 = uint64_t;
using enum isa::Opcode;

struct Entry {
  isa::Opcode opcode;
  ScalarFunction function;
};

constexpr Entry entries[] = {
    {s_mov_b32, keeps_scc<move<u32>>},
    {s_mov_b64, keeps_scc<move<u64>>},
    {s_cmov_b32, cmov},
    {s_cmov_b64, cmov},
    {s_not_b32, scc_nonzero<invert<u32>>},
    {s_not_b64, scc_nonzero<invert<u64>>},
    {s_wqm_b32, scc_nonzero<whole_quads<u32>>},
    {s_wqm_b64, scc_nonzero<whole_quads<u64>>},
    {s_brev_b32, keeps_scc<reverse<u32>>},
    {s_brev_b64, keeps_scc<reverse<u64>>},
    {s_bcnt0_i32_b32, scc_nonzero<count_zeros<u32>>},
    {s_bcnt0_i32_b64, scc_nonzero<count_zeros<u64>>},
    {s_bcnt1_i32_b32, scc_nonzero<count_ones<u32>>},
    {s_bcnt1_i32_b64, scc_nonzero<count_ones<u64>>},
    {s_ff0_i32_b32, keeps_scc<find_first_zero<u32>>},
    {s_ff0_i32_b64, keeps_scc<find_first_zero<u64>>},
    {s_ff1_i32_b32, keeps_scc<find_first_one<u32>>},
    {s_ff1_i32_b64, keeps_scc<find_first_one<u64>>},
    {s_flbit_i32_b32, keeps_scc<find_last_one<u32>>},
    {s_flbit_i32_b64, keeps_scc<find_last_one<u64>>},
    {s_flbit_i32, keeps_scc<find_sign_change<u32>>},
    {s_flbit_i32_i64, keeps_scc<find_sign_change<u64>>},
    {s_sext_i32_i8, keeps_scc<sext8>},
    {s_sext_i32_i16, keeps_scc<sext16>},
    {s_bitset0_b32, set_bit<u32, false>},
    {s_bitset0_b64, set_bit<u64, false>},
    {s_bitset1_b32, set_bit<u32, true>},
    {s_bitset1_b64, set_bit<u64, true>},
    {s_quadmask_b32, scc_nonzero<quad_mask<u32>>},
    {s_quadmask_b64, scc_nonzero<quad_mask<u64>>},
    {s_abs_i32, scc_nonzero<absolute>},
    {s_bitreplicate_b64_b32, keeps_scc<replicate>},

    {s_and_saveexec_b64, saves_exec<and_<u64>>},
    {s_or_saveexec_b64, saves_exec<or_<u64>>},
    {s_xor_saveexec_b64, saves_exec<xor_<u64>>},
    {s_andn2_saveexec_b64, saves_exec<andn2<u64>>},
    {s_orn2_saveexec_b64, saves_exec<orn2<u64>>},
    {s_nand_saveexec_b64, saves_exec<nand<u64>>},
    {s_nor_saveexec_b64, saves_exec<nor<u64>>},
    {s_xnor_saveexec_b64, saves_exec<xnor<u64>>},
    {s_andn1_saveexec_b64, saves_exec<andn1<u64>>},
    {s_orn1_saveexec_b64, saves_exec<orn1<u64>>},
    {s_andn1_wrexec_b64, writes_exec<andn1<u64>>},
    {s_andn2_wrexec_b64, writes_exec<andn2<u64>>},
    // In waves of 32, whose EXEC has no upper half.
    {s_and_saveexec_b32, saves_exec<and_<u32>>},
    {s_or_saveexec_b32, saves_exec<or_<u32>>},
    {s_xor_saveexec_b32, saves_exec<xor_<u32>>},
    {s_andn2_saveexec_b32, saves_exec<andn2<u32>>},
    {s_orn2_saveexec_b32, saves_exec<orn2<u32>>},
    {s_nand_saveexec_b32, saves_exec<nand<u32>>},
    {s_nor_saveexec_b32, saves_exec<nor<u32>>},
    {s_xnor_saveexec_b32, saves_exec<xnor<u32>>},
    {s_andn1_saveexec_b32, saves_exec<andn1<u32>>},
    {s_orn1_saveexec_b32, saves_exec<orn1<u32>>},
    {s_andn1_wrexec_b32, writes_exec<andn1<u32>>},
    {s_andn2_wrexec_b32, writes_exec<andn2<u32>>},

    {s_add_u32, add_u32},
    {s_sub_u32, sub_u32},
    {s_add_i32, add_i32},
    {s_sub_i32, sub_i32},
    {s_addc_u32, addc_u32},
    {s_subb_u32, subb_u32},
    {s_min_i32, chooses<less<i32>>},
    {s_min_u32, chooses<less<u32>>},
    {s_max_i32, chooses<greater_or_equal<i32>>},
    {s_max_u32, chooses<greater_or_equal<u32>>},
    {s_cselect_b32, cselect},
    {s_cselect_b64, cselect},
    {s_and_b32, scc_nonzero<and_<u32>>},
    {s_and_b64, scc_nonzero<and_<u64>>},
    {s_or_b32, scc_nonzero<or_<u32>>},
    {s_or_b64, scc_nonzero<or_<u64>>},
    {s_xor_b32, scc_nonzero<xor_<u32>>},
    {s_xor_b64, scc_nonzero<xor_<u64>>},
    {s_andn2_b32, scc_nonzero<andn2<u32>>},
    {s_andn2_b64, scc_nonzero<andn2<u64>>},
    {s_orn2_b32, scc_nonzero<orn2<u32>>},
    {s_orn2_b64, scc_nonzero<orn2<u64>>},
    {s_nand_b32, scc_nonzero<nand<u32>>},
    {s_nand_b64, scc_nonzero<nand<u64>>},
    {s_nor_b32, scc_nonzero<nor<u32>>},
    {s_nor_b64, scc_nonzero<nor<u64>>},
    {s_xnor_b32, scc_nonzero<xnor<u32>>},
    {s_xnor_b64, scc_nonzero<xnor<u64>>},
    {s_lshl_b32, scc_nonzero<shift_left<u32>>},
    {s_lshl_b64, scc_nonzero<shift_left<u64>>},
    {s_lshr_b32, scc_nonzero<shift_right<u32>>},
    {s_lshr_b64, scc_nonzero<shift_right<u64>>},
    {s_ashr_i32, scc_nonzero<shift_right<i32>>},
    {s_ashr_i64, scc_nonzero<shift_right<i64>>},
    {s_bfm_b32, keeps_scc<bit_field_mask<u32>>},
    {s_bfm_b64, keeps_scc<bit_field_mask<u64>>},
    {s_mul_i32, keeps_scc<mul>},
    {s_mul_u64, keeps_scc<mul_64>},
    {s_add_nc_u64, keeps_scc<add_64>},
    {s_sub_nc_u64, keeps_scc<sub_64>},
    {s_bfe_u32, scc_nonzero<bit_field_extract<u32>>},
    {s_bfe_i32, scc_nonzero<bit_field_extract<i32>>},
    {s_bfe_u64, scc_nonzero<bit_field_extract<u64>>},
    {s_bfe_i64, scc_nonzero<bit_field_extract<i64>>},
    {s_absdiff_i32, scc_nonzero<absolute_difference>},
    {s_mul_hi_u32, keeps_scc<mul_hi_u32>},
    {s_mul_hi_i32, keeps_scc<mul_hi_i32>},
    {s_lshl1_add_u32, shift_add<1>},
    {s_lshl2_add_u32, shift_add<2>},
    {s_lshl3_add_u32, shift_add<3>},
    {s_lshl4_add_u32, shift_add<4>},
    {s_pack_ll_b32_b16, keeps_scc<pack_ll>},
    {s_pack_lh_b32_b16, keeps_scc<pack_lh>},
    {s_pack_hl_b32_b16, keeps_scc<pack_hl>},
    {s_pack_hh_b32_b16, keeps_scc<pack_hh>},

    {s_movk_i32, keeps_scc<movk>},
    {s_cmovk_i32, cmovk},
    {s_cmpk_eq_i32, compares<with_signed_immediate<equal<i32>>>},
    {s_cmpk_lg_i32, compares<with_signed_immediate<unequal<i32>>>},
    {s_cmpk_gt_i32, compares<with_signed_immediate<greater<i32>>>},
    {s_cmpk_ge_i32, compares<with_signed_immediate<greater_or_equal<i32>>>},
    {s_cmpk_lt_i32, compares<with_signed_immediate<less<i32>>>},
    {s_cmpk_le_i32, compares<with_signed_immediate<less_or_equal<i32>>>},
    {s_cmpk_eq_u32, compares<with_unsigned_immediate<equal<u32>>>},
    {s_cmpk_lg_u32, compares<with_unsigned_immediate<unequal<u32>>>},
    {s_cmpk_gt_u32, compares<with_unsigned_immediate<greater<u32>>>},
    {s_cmpk_ge_u32, compares<with_unsigned_immediate<greater_or_equal<u32>>>},
    {s_cmpk_lt_u32, compares<with_unsigned_immediate<less<u32>>>},
    {s_cmpk_le_u32, compares<with_unsigned_immediate<less_or_equal<u32>>>},
    {s_addk_i32, addk_i32},
    {s_mulk_i32, mulk_i32},

    {s_cmp_eq_i32, compares<equal<i32>>},
    {s_cmp_lg_i32, compares<unequal<i32>>},
    {s_cmp_gt_i32, compares<greater<i32>>},
    {s_cmp_ge_i32, compares<greater_or_equal<i32>>},
    {s_cmp_lt_i32, compares<less<i32>>},
    {s_cmp_le_i32, compares<less_or_equal<i32>>},
    {s_cmp_eq_u32, compares<equal<u32>>},
    {s_cmp_lg_u32, compares<unequal<u32>>},
    {s_cmp_gt_u32, compares<greater<u32>>},
    {s_cmp_ge_u32, compares<greater_or_equal<u32>>},
    {s_cmp_lt_u32, compares<less<u32>>},
    {s_cmp_le_u32, compares<less_or_equal<u32>>},
    {s_bitcmp0_b32, compares<bit_is<u32, false>>},
    {s_bitcmp1_b32, compares<bit_is<u32, true>>},
    {s_bitcmp0_b64, compares<bit_is<u64, false>>},
    {s_bitcmp1_b64, compares<bit_is<u64, true>>},
    {s_cmp_eq_u64, compares<equal<u64>>},
    {s_cmp_lg_u64, compares<unequal<u64>>},
};

using Table = std::array<ScalarFunction, static_cast<size_t>(count)>;

constexpr Table scalar_function_table = [] {
  Table by_opcode{};
  for (const Entry& entry : entries) by_opcode[static_cast<size_t>(entry.opcode)] = entry.function;
  return by_opcode;
}();

}  // namespace

ScalarFunction scalar_function(isa::Opcode opcode) { return scalar_function_table[static_cast<size_t>(opcode)]; }

}  // namespace Atoll::semantics

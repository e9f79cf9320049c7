// What memory instructions move, what atomics compute, and how buffer formats convert.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "semantics/memory/atomic.h"
#include "semantics/memory/buffer_format.h"
#include "semantics/memory/memory_access.h"

namespace Atoll::semantics::test {
namespace {

using isa::Opcode;
using Kind = MemoryAccess::Kind;
using Half = MemoryAccess::Half;

const MemoryAccess& memory_access(Opcode opcode) {
  return semantics::memory_access(isa::Instruction{.opcode = opcode});
}

// --- The table ------------------------------------------------------------------------------------------------------

TEST(MemoryAccess, LoadsAndStores) {
  for (const Opcode opcode : {Opcode::flat_load_sbyte, Opcode::global_load_sbyte, Opcode::scratch_load_sbyte,
                              Opcode::buffer_load_sbyte, Opcode::ds_read_i8}) {
    const MemoryAccess& access = memory_access(opcode);
    EXPECT_EQ(access.kind, Kind::load);
    EXPECT_EQ(access.bytes, 1);
    EXPECT_EQ(access.words(), 1);
    EXPECT_TRUE(access.sign_extend);
    EXPECT_EQ(access.half, Half::none);
  }
  EXPECT_FALSE(memory_access(Opcode::global_load_ushort).sign_extend);
  EXPECT_EQ(memory_access(Opcode::global_load_dwordx3).bytes, 12);
  EXPECT_EQ(memory_access(Opcode::global_load_dwordx3).words(), 3);
  EXPECT_EQ(memory_access(Opcode::ds_write_b128).kind, Kind::store);
  EXPECT_EQ(memory_access(Opcode::ds_write_b128).bytes, 16);
  EXPECT_EQ(memory_access(Opcode::s_load_dwordx16).bytes, 64);
  EXPECT_EQ(memory_access(Opcode::s_buffer_load_dwordx8).bytes, 32);
  EXPECT_EQ(memory_access(Opcode::s_scratch_store_dwordx4).kind, Kind::store);
  EXPECT_EQ(memory_access(Opcode::s_scratch_store_dwordx4).bytes, 16);
}

TEST(MemoryAccess, HalvesOfRegisters) {
  EXPECT_EQ(memory_access(Opcode::ds_read_u8_d16).half, Half::low);
  EXPECT_EQ(memory_access(Opcode::ds_read_i8_d16_hi).half, Half::high);
  EXPECT_TRUE(memory_access(Opcode::ds_read_i8_d16_hi).sign_extend);
  EXPECT_EQ(memory_access(Opcode::global_load_short_d16_hi).half, Half::high);
  EXPECT_EQ(memory_access(Opcode::global_load_short_d16_hi).bytes, 2);
  EXPECT_EQ(memory_access(Opcode::buffer_store_byte_d16_hi).half, Half::high);
  EXPECT_EQ(memory_access(Opcode::buffer_store_byte_d16_hi).bytes, 1);
}

TEST(MemoryAccess, TwoAddressesOfDs) {
  const struct {
    Opcode opcode;
    Kind kind;
    unsigned bytes, unit;
  } rows[] = {{Opcode::ds_read2_b32, Kind::load, 4, 4},         {Opcode::ds_read2_b64, Kind::load, 8, 8},
              {Opcode::ds_read2st64_b32, Kind::load, 4, 256},   {Opcode::ds_read2st64_b64, Kind::load, 8, 512},
              {Opcode::ds_write2_b32, Kind::store, 4, 4},       {Opcode::ds_write2st64_b64, Kind::store, 8, 512},
              {Opcode::ds_wrxchg2_rtn_b32, Kind::atomic, 4, 4}, {Opcode::ds_wrxchg2st64_rtn_b64, Kind::atomic, 8, 512}};
  for (const auto& row : rows) {
    const MemoryAccess& access = memory_access(row.opcode);
    EXPECT_EQ(access.kind, row.kind);
    EXPECT_EQ(access.elements, 2);
    EXPECT_EQ(access.bytes, row.bytes);
    EXPECT_EQ(access.offset_unit, row.unit);
  }
}

TEST(MemoryAccess, Atomics) {
  const struct {
    Opcode opcode;
    AtomicOperation operation;
    unsigned bytes;
    bool returns;
  } rows[] = {{Opcode::ds_add_u32, AtomicOperation::add, 4, false},
              {Opcode::ds_add_rtn_u64, AtomicOperation::add, 8, true},
              {Opcode::ds_min_rtn_i32, AtomicOperation::signed_min, 4, true},
              {Opcode::ds_max_u64, AtomicOperation::unsigned_max, 8, false},
              {Opcode::ds_max_rtn_f64, AtomicOperation::float_max, 8, true},
              {Opcode::ds_cmpst_rtn_b32, AtomicOperation::compare_store, 4, true},
              {Opcode::ds_cmpst_f64, AtomicOperation::float_compare_store, 8, false},
              {Opcode::ds_wrxchg_rtn_b64, AtomicOperation::swap, 8, true},
              {Opcode::ds_pk_add_rtn_bf16, AtomicOperation::packed_add_bf16, 4, true},
              {Opcode::ds_pk_add_f16, AtomicOperation::packed_add_f16, 4, false},
              {Opcode::ds_wrap_rtn_b32, AtomicOperation::wrap, 4, true},
              {Opcode::ds_mskor_b64, AtomicOperation::mask_or, 8, false},
              {Opcode::flat_atomic_cmpswap_x2, AtomicOperation::compare_swap, 8, false},
              {Opcode::global_atomic_umin, AtomicOperation::unsigned_min, 4, false},
              {Opcode::buffer_atomic_add_f64, AtomicOperation::float_add, 8, false},
              {Opcode::s_atomic_xor, AtomicOperation::bit_xor, 4, false},
              {Opcode::s_buffer_atomic_dec_x2, AtomicOperation::decrement, 8, false}};
  for (const auto& row : rows) {
    const MemoryAccess& access = memory_access(row.opcode);
    EXPECT_EQ(access.kind, Kind::atomic);
    EXPECT_EQ(access.operation, row.operation);
    EXPECT_EQ(access.bytes, row.bytes);
    EXPECT_EQ(access.returns, row.returns);
    EXPECT_FALSE(access.data_in_lds);
  }
}

TEST(MemoryAccess, OddOnes) {
  EXPECT_TRUE(memory_access(Opcode::ds_rsub_src2_u32).data_in_lds);
  EXPECT_EQ(memory_access(Opcode::ds_rsub_src2_u32).operation, AtomicOperation::reverse_subtract);
  EXPECT_EQ(memory_access(Opcode::ds_write_src2_b64).operation, AtomicOperation::swap);
  EXPECT_TRUE(memory_access(Opcode::ds_read_addtid_b32).by_lane);
  EXPECT_EQ(memory_access(Opcode::ds_write_b32).kind, Kind::store);
  EXPECT_EQ(memory_access(Opcode::ds_append).kind, Kind::append);
  EXPECT_EQ(memory_access(Opcode::ds_condxchg32_rtn_b64).kind, Kind::conditional_exchange);
  EXPECT_EQ(memory_access(Opcode::global_load_lds_dword).kind, Kind::load_to_lds);
  EXPECT_EQ(memory_access(Opcode::buffer_load_format_d16_xyz).words(), 2);
  EXPECT_EQ(memory_access(Opcode::tbuffer_store_format_xyz).words(), 3);
  EXPECT_EQ(memory_access(Opcode::buffer_load_format_d16_hi_x).half, Half::high);
  for (const Opcode opcode : {Opcode::s_dcache_inv, Opcode::s_memtime, Opcode::buffer_wbinvl1, Opcode::ds_swizzle_b32,
                              Opcode::ds_gws_barrier, Opcode::v_add_f32, Opcode::invalid}) {
    EXPECT_EQ(memory_access(opcode).kind, Kind::none);
  }
}

TEST(MemoryAccess, SecondLdsAddressOfSrc2) {
  EXPECT_EQ(src2_address(100, 3, 0), 112U);
  EXPECT_EQ(src2_address(1000, 0xFF, 0x7F), 996U) << "15 bits, signed";
  EXPECT_EQ(src2_address(0x0006'0000 + 100, 9, 0x80), 0x0006'0000U + 100 + 12) << "distance in the address itself";
}

// --- Atomics --------------------------------------------------------------------------------------------------------

template <typename Word>
void check_integer_atomics() {
  using Signed = std::make_signed_t<Word>;
  std::mt19937_64 random(3);
  constexpr Word edges[] = {0,
                            1,
                            2,
                            std::numeric_limits<Word>::max() / 2,
                            std::numeric_limits<Word>::max() / 2 + 1,
                            std::numeric_limits<Word>::max()};
  const auto next = [&] {
    return random() % 2 != 0 ? edges[random() % std::size(edges)] : static_cast<Word>(random());
  };
  for (unsigned i = 0; i < 2000; ++i) {
    const Word old = next(), data = random() % 4 != 0 ? next() : old, data2 = random() % 4 != 0 ? next() : old;
    const auto is = [&](AtomicOperation operation, Word expected) {
      ASSERT_EQ(atomic_result(operation, old, data, data2), expected)
          << static_cast<int>(operation) << " of " << old << ", " << data << ", " << data2;
    };
    using enum AtomicOperation;
    is(swap, data);
    is(compare_swap, old == data2 ? data : old);
    is(compare_store, old == data ? data2 : old);
    is(add, old + data);
    is(subtract, old - data);
    is(reverse_subtract, data - old);
    is(signed_min, static_cast<Word>(std::min(static_cast<Signed>(old), static_cast<Signed>(data))));
    is(signed_max, static_cast<Word>(std::max(static_cast<Signed>(old), static_cast<Signed>(data))));
    is(unsigned_min, std::min(old, data));
    is(unsigned_max, std::max(old, data));
    is(bit_and, old & data);
    is(bit_or, old | data);
    is(bit_xor, old ^ data);
    is(increment, old < data ? old + 1 : 0);
    is(decrement, old >= 1 && old <= data ? old - 1 : data);
    is(mask_or, static_cast<Word>((old | data) ^ data) | data2);
    is(wrap, old < data ? old + data2 : old - data);
  }
}
TEST(Atomic, Integers) {
  check_integer_atomics<uint32_t>();
  check_integer_atomics<uint64_t>();
}

uint32_t word(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t word(double value) { return std::bit_cast<uint64_t>(value); }

TEST(Atomic, FloatingPointSums) {
  using enum AtomicOperation;
  EXPECT_EQ(atomic_result(float_add, word(1.5F), word(2.25F), 0U), word(3.75F));
  EXPECT_EQ(atomic_result(float_add, word(1e300), word(-1e299), uint64_t{0}), word(9e299));
  const uint32_t tiny = 1, tinier = 0x80000003;
  EXPECT_EQ(atomic_result(float_add, tiny, tinier, 0U), 0x80000002U) << "denormals are kept";
  EXPECT_EQ(atomic_result(float_add, tiny, word(2.0F), 0U, Denormals::flush_in_out), word(2.0F));
  EXPECT_EQ(atomic_result(float_add, 0x00800000U, 0x80800001U, 0U, Denormals::flush_in_out), 0x80000000U)
      << "a denormal result becomes a zero of its sign";
}

/// Which denormals an atomic flushes: "Denormal (Subnormal) Handling" in the CDNA3 ISA guide, "Float Memory Atomics" in
/// the RDNA3 ISA guide, and for sums of f32 on memory what LLVM 22 makes of atomicrmw fadd on each GPU.
TEST(Atomic, DenormalsByPlaceOperationAndGpu) {
  using enum AtomicOperation;
  constexpr Denormals keep = Denormals::allow_in_out, flush = Denormals::flush_in_out;
  const FloatMode keeping, flushing{.denormals32 = flush, .denormals16_64 = Denormals::allow_in};
  struct Gpu {
    const char* name;
    bool sums_keep, compares_use_mode;
  };
  constexpr Gpu gpus[] = {{"gfx803", false, false}, {"gfx908", false, false}, {"gfx90a", false, false},
                          {"gfx942", true, false},  {"gfx950", true, false},  {"gfx1010", false, true},
                          {"gfx1030", false, true}, {"gfx1100", true, true},  {"gfx1151", true, true},
                          {"gfx1170", true, true},  {"gfx1201", true, true},  {"gfx1250", true, true}};
  for (const Gpu& gpu : gpus) {
    SCOPED_TRACE(gpu.name);
    const target::Processor& processor = *target::find_processor(gpu.name);
    for (const FloatMode& mode : {keeping, flushing}) {
      EXPECT_EQ(memory_atomic_denormals(float_add, 4, mode, processor), gpu.sums_keep ? keep : flush);
      EXPECT_EQ(memory_atomic_denormals(float_add, 8, mode, processor), keep);
      EXPECT_EQ(memory_atomic_denormals(packed_add_f16, 4, mode, processor), keep);
      EXPECT_EQ(memory_atomic_denormals(packed_add_bf16, 4, mode, processor), keep);
    }
    for (const AtomicOperation compares : {float_min, float_max, float_compare_store, float_compare_swap}) {
      EXPECT_EQ(memory_atomic_denormals(compares, 4, flushing, processor), gpu.compares_use_mode ? flush : keep);
      EXPECT_EQ(memory_atomic_denormals(compares, 8, keeping, processor), keep);
    }
  }
  EXPECT_EQ(lds_atomic_denormals(float_add, 4, flushing), flush);
  EXPECT_EQ(lds_atomic_denormals(float_add, 4, keeping), keep);
  EXPECT_EQ(lds_atomic_denormals(float_add, 8, flushing), keep);
  for (const AtomicOperation other : {packed_add_f16, packed_add_bf16}) {
    EXPECT_EQ(lds_atomic_denormals(other, 4, flushing), Denormals::allow_in);
  }
  for (const AtomicOperation compares : {float_min, float_max, float_compare_store, float_compare_swap}) {
    EXPECT_EQ(lds_atomic_denormals(compares, 4, flushing), flush);
    EXPECT_EQ(lds_atomic_denormals(compares, 8, flushing), Denormals::allow_in);
  }
}

/// The same guides: the comparison flushes, the minimum or maximum is a source as it was; compare-and-swap flushes.
TEST(Atomic, ComparisonsFlushAndMinimaDoNot) {
  using enum AtomicOperation;
  constexpr Denormals flush = Denormals::flush_in_out;
  const uint32_t smaller = 1, larger = 3;
  EXPECT_EQ(atomic_result(float_min, larger, smaller, 0U), smaller);
  EXPECT_EQ(atomic_result(float_min, larger, smaller, 0U, flush), larger) << "both are 0 to the comparison";
  EXPECT_EQ(atomic_result(float_max, word(-1.0F), larger, 0U, flush), larger);
  EXPECT_EQ(atomic_result(float_compare_store, smaller, larger, word(2.0F)), smaller);
  EXPECT_EQ(atomic_result(float_compare_store, smaller, larger, word(2.0F), flush), word(2.0F));
  EXPECT_EQ(atomic_result(float_compare_swap, 0x80000001U, word(2.0F), word(1.0F), flush), 0x80000000U);
  EXPECT_EQ(atomic_result(packed_add_f16, 0x00018001U, 0x3C000000U, 0U), 0x3C008001U);
  EXPECT_EQ(atomic_result(packed_add_f16, 0x00018001U, 0U, 0U, flush), 0U) << "-0 + 0 is 0";
  EXPECT_EQ(atomic_result(packed_add_bf16, 0x00010001U, 0x00010000U, 0U), 0x00020001U);
  EXPECT_EQ(atomic_result(packed_add_bf16, 0x00010001U, 0x3F800000U, 0U, flush), 0x3F800000U);
}

TEST(Atomic, InvalidSumsGiveTheGpusNan) {
  using enum AtomicOperation;
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(atomic_result(float_add, word(infinity), word(-infinity), 0U), 0x7FC00000U) << "positive, unlike x86's";
  EXPECT_EQ(atomic_result(float_add, 0xFF800123U, word(1.0F), 0U), 0xFFC00123U) << "an operand's NaN, made quiet";
  EXPECT_EQ(atomic_result(packed_add_f16, 0x7C003C00U, 0xFC003C00U, 0U), 0x7E004000U);
}

TEST(Atomic, FloatingPointExtrema) {
  using enum AtomicOperation;
  const uint32_t nan = 0x7FC00000;
  EXPECT_EQ(atomic_result(float_min, word(1.0F), word(-2.0F), 0U), word(-2.0F));
  EXPECT_EQ(atomic_result(float_max, word(1.0F), word(-2.0F), 0U), word(1.0F));
  EXPECT_EQ(atomic_result(float_min, word(-1.0), word(2.0), uint64_t{0}), word(-1.0));
  EXPECT_EQ(atomic_result(float_max, word(-1.0), word(2.0), uint64_t{0}), word(2.0));
  EXPECT_EQ(atomic_result(float_min, nan, word(2.0F), 0U), word(2.0F));
  EXPECT_EQ(atomic_result(float_max, word(2.0F), nan, 0U), word(2.0F));
}

TEST(Atomic, FloatingPointCompareStore) {
  using enum AtomicOperation;
  EXPECT_EQ(atomic_result(float_compare_store, word(-0.0F), word(0.0F), 7U), 7U) << "the zeros are equal";
  EXPECT_EQ(atomic_result(float_compare_store, 0x7FC00000U, 0x7FC00000U, 7U), 0x7FC00000U) << "NaNs are not";
}

TEST(Atomic, PackedSums) {
  using enum AtomicOperation;
  // 1.0 + 2.0 below, 65504 + 65504 above: overflows to infinity.
  EXPECT_EQ(atomic_result(packed_add_f16, 0x7BFF3C00U, 0x7BFF4000U, 0U), 0x7C004200U);
  // 1 + 2^-11 is a tie, which goes to the even 1; 1 + 3 * 2^-11 is one that goes up.
  EXPECT_EQ(atomic_result(packed_add_f16, 0x3C003C00U, 0x12001000U, 0U) & 0xFFFF, 0x3C00U);
  EXPECT_EQ(atomic_result(packed_add_f16, 0x3C003C00U, 0x16001000U, 0U) >> 16, 0x3C02U);
  // bfloat16: 1 + 2^-8 is a tie, which goes to the even 1; 1 + 3 * 2^-8 goes up to 1 + 4 * 2^-8.
  EXPECT_EQ(atomic_result(packed_add_bf16, 0x3F803F80U, 0x3C403B80U, 0U), 0x3F823F80U);
  EXPECT_EQ(atomic_result(packed_add_bf16, 0xC0404000U, 0x40404040U, 0U), 0x000040A0U);
}

// --- Buffer formats -------------------------------------------------------------------------------------------------

constexpr unsigned unorm = 0, snorm = 1, uscaled = 2, sscaled = 3, uint = 4, sint = 5, floating = 7;

std::array<uint32_t, 4> read(unsigned data_format, unsigned number_format, std::initializer_list<uint32_t> words) {
  uint8_t memory[16]{};
  std::memcpy(memory, words.begin(), words.size() * 4);
  const auto format = buffer_format(static_cast<uint8_t>(data_format), static_cast<uint8_t>(number_format));
  EXPECT_TRUE(format.has_value());
  return read_components(*format, memory);
}
float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }

TEST(BufferFormat, LayoutsReadTheirComponentsFromTheLowestBitUp) {
  using Four = std::array<uint32_t, 4>;
  EXPECT_EQ(read(1, uint, {0x12345678}), (Four{0x78, 0, 0, 1}));
  EXPECT_EQ(read(2, uint, {0x12345678}), (Four{0x5678, 0, 0, 1}));
  EXPECT_EQ(read(3, uint, {0x12345678}), (Four{0x78, 0x56, 0, 1}));
  EXPECT_EQ(read(4, uint, {0x12345678}), (Four{0x12345678, 0, 0, 1}));
  EXPECT_EQ(read(5, uint, {0x12345678}), (Four{0x5678, 0x1234, 0, 1}));
  EXPECT_EQ(read(6, uint, {1 | 2 << 11 | 3U << 22}), (Four{1, 2, 3, 1}));
  EXPECT_EQ(read(7, uint, {1 | 2 << 10 | 3U << 21}), (Four{1, 2, 3, 1}));
  EXPECT_EQ(read(8, uint, {1 | 2 << 2 | 3 << 12 | 4U << 22}), (Four{1, 2, 3, 4}));
  EXPECT_EQ(read(9, uint, {1 | 2 << 10 | 3 << 20 | 2U << 30}), (Four{1, 2, 3, 2}));
  EXPECT_EQ(read(10, uint, {0x12345678}), (Four{0x78, 0x56, 0x34, 0x12}));
  EXPECT_EQ(read(11, uint, {5, 6}), (Four{5, 6, 0, 1}));
  EXPECT_EQ(read(12, uint, {0x00020001, 0x00040003}), (Four{1, 2, 3, 4}));
  EXPECT_EQ(read(13, uint, {5, 6, 7}), (Four{5, 6, 7, 1}));
  EXPECT_EQ(read(14, uint, {5, 6, 7, 8}), (Four{5, 6, 7, 8}));
}

TEST(BufferFormat, NumbersMeanWhatTheirFormatSays) {
  EXPECT_EQ(as_float(read(1, unorm, {0xFF})[0]), 1.0F);
  EXPECT_EQ(as_float(read(1, unorm, {0x33})[0]), 0.2F);
  EXPECT_EQ(as_float(read(1, unorm, {0x33})[3]), 1.0F);
  EXPECT_EQ(as_float(read(1, snorm, {0x7F})[0]), 1.0F);
  EXPECT_EQ(as_float(read(1, snorm, {0x81})[0]), -1.0F);
  EXPECT_EQ(as_float(read(1, snorm, {0x80})[0]), -1.0F);
  EXPECT_EQ(as_float(read(2, uscaled, {0xFFFF})[0]), 65535.0F);
  EXPECT_EQ(as_float(read(2, sscaled, {0xFFFF})[0]), -1.0F);
  EXPECT_EQ(read(1, sint, {0x80})[0], 0xFFFFFF80U);
  EXPECT_EQ(as_float(read(2, floating, {0xC500})[0]), -5.0F);
  EXPECT_EQ(as_float(read(2, floating, {0x0001})[0]), std::ldexp(1.0F, -24));
  EXPECT_EQ(as_float(read(2, floating, {0xFC00})[0]), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(as_float(read(2, floating, {0x7C01})[0])));
  EXPECT_EQ(as_float(read(4, floating, {word(1.5F)})[0]), 1.5F);
  // 11 bits: exponent 15 is 2^0, six bits of mantissa; 10 bits: five.
  EXPECT_EQ(as_float(read(6, floating, {15 << 6 | 32})[0]), 1.5F);
  EXPECT_EQ(as_float(read(6, floating, {(16U << 5 | 8) << 22})[2]), 2.5F);
}

TEST(BufferFormat, WhatTheHardwareLacksIsRefused) {
  EXPECT_FALSE(buffer_format(0, uint).has_value());
  EXPECT_FALSE(buffer_format(15, uint).has_value());
  EXPECT_FALSE(buffer_format(1, 6).has_value());
  EXPECT_FALSE(buffer_format(1, floating).has_value());
  EXPECT_FALSE(buffer_format(4, unorm).has_value());
  EXPECT_FALSE(buffer_format(16, uint).has_value());
}

TEST(BufferFormat, WritingEveryElementReadGivesItBack) {
  std::mt19937 random(4);
  for (uint8_t data_format = 1; data_format < 15; ++data_format) {
    for (const unsigned number_format : {unorm, snorm, uscaled, sscaled, uint, sint, floating}) {
      const auto format = buffer_format(data_format, static_cast<uint8_t>(number_format));
      if (!format) continue;
      for (unsigned i = 0; i < 300; ++i) {
        uint8_t memory[16], back[16];
        for (uint8_t& byte : memory) byte = static_cast<uint8_t>(random());
        std::memcpy(back, memory, sizeof back);
        const auto components = read_components(*format, memory);
        bool reversible = true;  // NaNs lose their payload, snorm has two ways to write -1
        for (unsigned c = 0; c < 4; ++c) {
          if (number_format == floating && std::isnan(as_float(components[c]))) reversible = false;
          if (number_format == snorm && as_float(components[c]) == -1.0F) reversible = false;
        }
        if (!reversible) continue;
        write_components(*format, components, back);
        ASSERT_EQ(std::memcmp(memory, back, sizeof back), 0) << int{data_format} << ", " << number_format;
      }
    }
  }
}

uint32_t written(unsigned data_format, unsigned number_format, uint32_t component) {
  uint8_t memory[16]{};
  const auto format = buffer_format(static_cast<uint8_t>(data_format), static_cast<uint8_t>(number_format));
  write_components(*format, {component, 0, 0, 0}, memory);
  uint32_t result;
  std::memcpy(&result, memory, sizeof result);
  return result;
}

TEST(BufferFormat, WritingClampsAndRounds) {
  const uint32_t nan = 0x7FC00000;
  EXPECT_EQ(written(1, unorm, word(2.0F)), 255U);
  EXPECT_EQ(written(1, unorm, word(-2.0F)), 0U);
  EXPECT_EQ(written(1, unorm, nan), 0U);
  EXPECT_EQ(written(1, unorm, word(0.5F)), 128U) << "127.5, to even";
  EXPECT_EQ(written(1, snorm, word(-2.0F)), 0x81U);
  EXPECT_EQ(written(1, uscaled, word(300.0F)), 255U);
  EXPECT_EQ(written(1, sscaled, word(-300.0F)), 0x80U);
  EXPECT_EQ(written(1, uint, 300), 255U);
  EXPECT_EQ(written(1, sint, static_cast<uint32_t>(-300)), 0x80U);
  EXPECT_EQ(written(2, sint, 40000), 0x7FFFU);
  EXPECT_EQ(written(2, floating, word(65519.0F)), 0x7BFFU);
  EXPECT_EQ(written(2, floating, word(65520.0F)), 0x7C00U);
  EXPECT_EQ(written(2, floating, word(-1e-10F)), 0x8000U);
  EXPECT_EQ(written(6, floating, word(-1.0F)), 0U) << "no sign bit";
  EXPECT_EQ(written(6, floating, word(1.5F)), 15U << 6 | 32);
}

TEST(BufferFormat, HalfPrecisionAgreesWithTheHost) {
  const auto format = *buffer_format(2, floating);
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = std::bit_cast<_Float16>(static_cast<uint16_t>(bits));
    const uint32_t wide = widen_component(format, static_cast<uint16_t>(bits));
    if (half != half) {
      ASSERT_TRUE(std::isnan(as_float(wide)));
      continue;
    }
    ASSERT_EQ(wide, word(static_cast<float>(half))) << bits;
    ASSERT_EQ(narrow_component(format, wide), bits);
  }
  std::mt19937 random(5);
  for (unsigned i = 0; i < 100000; ++i) {
    const float value = as_float(static_cast<uint32_t>(random()) % 0x15000000 + 0x33000000);
    const auto expected = std::bit_cast<uint16_t>(static_cast<_Float16>(value));
    ASSERT_EQ(narrow_component(format, word(value)), expected) << value;
  }
}

TEST(BufferFormat, SixteenBitIntegersAreExtendedBySign) {
  EXPECT_EQ(widen_component(*buffer_format(2, sint), 0x8000), 0xFFFF8000U);
  EXPECT_EQ(widen_component(*buffer_format(2, uint), 0x8000), 0x8000U);
  EXPECT_EQ(narrow_component(*buffer_format(4, uint), 0x12345678), 0x5678U);
}

TEST(BufferFormat, SelectsReorderComponents) {
  const auto format = *buffer_format(10, unorm);
  const std::array<uint32_t, 4> components{10, 11, 12, 13};
  const auto selects = [](unsigned x, unsigned y, unsigned z, unsigned w) { return x | y << 3 | z << 6 | w << 9; };
  EXPECT_EQ(select_components(format, components, selects(4, 5, 6, 7)), components);
  EXPECT_EQ(select_components(format, components, selects(7, 0, 1, 4)),
            (std::array<uint32_t, 4>{13, 0, word(1.0F), 10}));
  EXPECT_EQ(select_components(*buffer_format(10, uint), components, selects(1, 0, 6, 5)),
            (std::array<uint32_t, 4>{1, 0, 12, 11}));
}

}  // namespace
}  // namespace Atoll::semantics::test

// engine: moving data between registers and memory (gather_scatter.h).
//
// Most accesses are of a whole wave, and many of neighbouring dwords: those are found out and become copies of rows.
#include "engine/memory/gather_scatter.h"

#include <cstring>
#include <type_traits>

#include "engine/memory/guest_access.h"

namespace Atoll::engine {
ATOLL_HOST_ISA_BEGIN

namespace {

using semantics::AtomicOperation;
using semantics::Denormals;
using semantics::MemoryAccess;
using semantics::wave_lanes;
using Half = MemoryAccess::Half;

template <typename T>
[[gnu::always_inline]] inline T read(uint64_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}
template <typename T>
[[gnu::always_inline]] inline void write(uint64_t address, T value) {
  std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

ATOLL_GUEST_ACCESS inline void copy_row(void* to, const void* from) { __builtin_memcpy_inline(to, from, sizeof(Row)); }

using Four = uint32_t __attribute__((ext_vector_type(4)));
struct [[gnu::packed]] UnalignedFour {
  Four words;
};

/// One lane's element. Two dwords and four that are aligned to their size are read and written at once, as by a GPU, so
/// that no other wave sees one of them without the others: chained scans keep a sum and its state in them. A host's
/// atomic access is an ordinary one here, but one that compilers leave in one piece, and so is a volatile one of a
/// vector (with AVX, 16 aligned bytes are one piece for other processors, too: Intel's and AMD's manuals).
template <unsigned words>
ATOLL_GUEST_ACCESS [[gnu::always_inline]] inline void read_element(uint64_t address, uint32_t (&element)[words]) {
  if constexpr (words == 4) {
    const Four four = reinterpret_cast<const volatile UnalignedFour*>(address)->words;
    std::memcpy(element, &four, sizeof four);
    return;
  }
  for (unsigned word = 0; word + 1 < words; word += 2) {
    const uint64_t two = __atomic_load_n(reinterpret_cast<const uint64_t*>(address + word * 4), __ATOMIC_RELAXED);
    std::memcpy(&element[word], &two, sizeof two);
  }
  if constexpr (words % 2 != 0) element[words - 1] = read<uint32_t>(address + (words - 1) * 4);
}
template <unsigned words>
ATOLL_GUEST_ACCESS [[gnu::always_inline]] inline void write_element(uint64_t address,
                                                                    const uint32_t (&element)[words]) {
  if constexpr (words == 4) {
    Four four;
    std::memcpy(&four, element, sizeof four);
    reinterpret_cast<volatile UnalignedFour*>(address)->words = four;
    return;
  }
  for (unsigned word = 0; word + 1 < words; word += 2) {
    const uint64_t two = element[word] | uint64_t{element[word + 1]} << 32;
    __atomic_store_n(reinterpret_cast<uint64_t*>(address + word * 4), two, __ATOMIC_RELAXED);
  }
  if constexpr (words % 2 != 0) write(address + (words - 1) * 4, element[words - 1]);
}

/// Whether the whole wave's elements of `bytes` lie one after the other.
[[gnu::always_inline]] inline bool are_neighbours(const LaneAddresses& addresses, unsigned bytes) {
  const uint64_t first = addresses.of[0];
  if (addresses.of[1] != first + bytes || addresses.of[63] != first + 63 * bytes) return false;
  uint64_t difference = 0;
  for (unsigned lane = 0; lane < wave_lanes; ++lane) difference |= addresses.of[lane] ^ (first + lane * bytes);
  return difference == 0;
}

template <Half half, bool clears>
[[gnu::always_inline]] inline uint32_t place(uint32_t old, uint32_t value) {
  if constexpr (clears) old = 0;
  if constexpr (half == Half::low) return (old & 0xFFFF0000) | (value & 0xFFFF);
  if constexpr (half == Half::high) return (old & 0xFFFF) | value << 16;
  return value;
}

/// Bytes and shorts: `Element` is signed where they are sign-extended.
template <typename Element, Half half, bool clears>
ATOLL_GUEST_ACCESS void load_small(const LaneAddresses& addresses, uint64_t lanes, uint32_t, Row* data) {
  const auto load = [&](unsigned lane) ATOLL_GUEST_ACCESS {
    const auto value = static_cast<uint32_t>(int32_t{read<Element>(addresses.of[lane])});
    data[0][lane] = place<half, clears>(data[0][lane], value);
  };
  if (lanes == all_lanes) {
    for (unsigned lane = 0; lane < wave_lanes; ++lane) load(lane);
  } else {
    for_each_lane(lanes, load);
  }
}

template <typename Element, Half half>
ATOLL_GUEST_ACCESS void store_small(const LaneAddresses& addresses, uint64_t lanes, uint32_t, Row* data) {
  for_each_lane(lanes, [&](unsigned lane) ATOLL_GUEST_ACCESS {
    const uint32_t value = half == Half::high ? data[0][lane] >> 16 : data[0][lane];
    write(addresses.of[lane], static_cast<Element>(value));
  });
}

// Elements of four dwords and rows of four lanes are each other's transpose.
[[gnu::always_inline]] inline void transpose(Four (&m)[4]) {
  const Four low01 = __builtin_shufflevector(m[0], m[1], 0, 4, 1, 5),
             low23 = __builtin_shufflevector(m[2], m[3], 0, 4, 1, 5);
  const Four high01 = __builtin_shufflevector(m[0], m[1], 2, 6, 3, 7),
             high23 = __builtin_shufflevector(m[2], m[3], 2, 6, 3, 7);
  m[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  m[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  m[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  m[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

/// The whole wave's elements, wherever they are.
template <unsigned words>
ATOLL_GUEST_ACCESS [[gnu::always_inline]] inline void load_all(const LaneAddresses& addresses, Row* data) {
  if constexpr (words == 4) {
    for (unsigned lane = 0; lane < wave_lanes; lane += 4) {
      Four elements[4];
      for (unsigned i = 0; i < 4; ++i) elements[i] = read<Four>(addresses.of[lane + i]);
      transpose(elements);
      for (unsigned word = 0; word < 4; ++word) std::memcpy(&data[word][lane], &elements[word], sizeof(Four));
    }
  } else {
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      uint32_t element[words];
      read_element(addresses.of[lane], element);
      for (unsigned word = 0; word < words; ++word) data[word][lane] = element[word];
    }
  }
}

template <unsigned words>
ATOLL_GUEST_ACCESS [[gnu::always_inline]] inline void store_all(const LaneAddresses& addresses, const Row* data) {
  if constexpr (words == 4) {
    for (unsigned lane = 0; lane < wave_lanes; lane += 4) {
      Four elements[4];
      for (unsigned word = 0; word < 4; ++word) std::memcpy(&elements[word], &data[word][lane], sizeof(Four));
      transpose(elements);
      for (unsigned i = 0; i < 4; ++i) write(addresses.of[lane + i], elements[i]);
    }
  } else {
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      uint32_t element[words];
      for (unsigned word = 0; word < words; ++word) element[word] = data[word][lane];
      write_element(addresses.of[lane], element);
    }
  }
}

template <unsigned words>
ATOLL_GUEST_ACCESS void load_words(const LaneAddresses& addresses, uint64_t lanes, uint32_t word_stride, Row* data) {
  if (lanes == all_lanes && word_stride == linear) {
    if (words == 1 && are_neighbours(addresses, 4)) {
      copy_row(data[0], reinterpret_cast<const void*>(addresses.of[0]));
      return;
    }
    return load_all<words>(addresses, data);
  }
  if (lanes == all_lanes && are_neighbours(addresses, 4)) {  // scratch at one address
    for (unsigned word = 0; word < words; ++word) {
      copy_row(data[word], reinterpret_cast<const void*>(addresses.of[0] + word * word_stride));
    }
    return;
  }
  if (word_stride == linear) {
    for_each_lane(lanes, [&](unsigned lane) ATOLL_GUEST_ACCESS {
      uint32_t element[words];
      read_element(addresses.of[lane], element);
      for (unsigned word = 0; word < words; ++word) data[word][lane] = element[word];
    });
    return;
  }
  for_each_lane(lanes, [&](unsigned lane) ATOLL_GUEST_ACCESS {
    for (unsigned word = 0; word < words; ++word) {
      data[word][lane] = read<uint32_t>(addresses.of[lane] + word * word_stride);
    }
  });
}

template <unsigned words>
ATOLL_GUEST_ACCESS void store_words(const LaneAddresses& addresses, uint64_t lanes, uint32_t word_stride, Row* data) {
  if (lanes == all_lanes && words == 1 && are_neighbours(addresses, 4)) {
    copy_row(reinterpret_cast<void*>(addresses.of[0]), data[0]);
    return;
  }
  if (lanes == all_lanes && word_stride != linear && are_neighbours(addresses, 4)) {
    for (unsigned word = 0; word < words; ++word) {
      copy_row(reinterpret_cast<void*>(addresses.of[0] + word * word_stride), data[word]);
    }
    return;
  }
  if (lanes == all_lanes && word_stride == linear) return store_all<words>(addresses, data);
  if (word_stride == linear) {
    for_each_lane(lanes, [&](unsigned lane) ATOLL_GUEST_ACCESS {
      uint32_t element[words];
      for (unsigned word = 0; word < words; ++word) element[word] = data[word][lane];
      write_element(addresses.of[lane], element);
    });
    return;
  }
  for_each_lane(lanes, [&](unsigned lane) ATOLL_GUEST_ACCESS {
    for (unsigned word = 0; word < words; ++word) write(addresses.of[lane] + word * word_stride, data[word][lane]);
  });
}

template <Half half, bool clears>
Transfer small_load(const MemoryAccess& access) {
  if (access.sign_extend) {
    return access.bytes == 1 ? load_small<int8_t, half, clears> : load_small<int16_t, half, clears>;
  }
  return access.bytes == 1 ? load_small<uint8_t, half, clears> : load_small<uint16_t, half, clears>;
}

template <Half half>
Transfer small_transfer(const MemoryAccess& access) {
  if (access.kind == MemoryAccess::Kind::store) {
    return access.bytes == 1 ? store_small<uint8_t, half> : store_small<uint16_t, half>;
  }
  return access.clears_other_half ? small_load<half, true>(access) : small_load<half, false>(access);
}

// --- Atomics --------------------------------------------------------------------------------------------------------

template <typename Word>
[[gnu::always_inline]] inline Word word_of(const Row* rows, unsigned lane) {
  if constexpr (sizeof(Word) == 4) return rows[0][lane];
  return rows[0][lane] | uint64_t{rows[sizeof(Word) / 8][lane]} << 32;
}

/// One lane's atomic; yields the old value.
template <AtomicOperation operation, typename Word, bool shared>
ATOLL_GUEST_ACCESS [[gnu::always_inline]] inline Word one_atomic(uint64_t address, Word data, Word data2,
                                                                 Denormals denormals) {
  [[maybe_unused]] auto* memory = reinterpret_cast<Word*>(address);
  using enum AtomicOperation;
  constexpr int order = __ATOMIC_ACQ_REL;
  if constexpr (!shared) {
    const Word old = read<Word>(address);
    write(address, semantics::atomic_result<Word>(operation, old, data, data2, denormals));
    return old;
  } else if constexpr (operation == add) {
    return __atomic_fetch_add(memory, data, order);
  } else if constexpr (operation == subtract) {
    return __atomic_fetch_sub(memory, data, order);
  } else if constexpr (operation == swap) {
    return __atomic_exchange_n(memory, data, order);
  } else if constexpr (operation == bit_or) {
    return __atomic_fetch_or(memory, data, order);
  } else if constexpr (operation == bit_and) {
    return __atomic_fetch_and(memory, data, order);
  } else if constexpr (operation == bit_xor) {
    return __atomic_fetch_xor(memory, data, order);
  } else {
    Word old = __atomic_load_n(memory, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(memory, &old,
                                        semantics::atomic_result<Word>(operation, old, data, data2, denormals), true,
                                        order, __ATOMIC_RELAXED)) {
    }
    return old;
  }
}

template <typename Word>
[[gnu::always_inline]] inline void set_word(Row* rows, unsigned lane, Word word) {
  rows[0][lane] = static_cast<uint32_t>(word);
  if constexpr (sizeof(Word) == 8) rows[1][lane] = static_cast<uint32_t>(word >> 32);
}

/// Whether several of the operation, one after the other, are one with the operands joined().
constexpr bool can_be_joined(AtomicOperation operation) {
  using enum AtomicOperation;
  switch (operation) {
    case add:
    case subtract:
    case signed_min:
    case unsigned_min:
    case signed_max:
    case unsigned_max:
    case bit_and:
    case bit_or:
    case bit_xor:
      return true;
    default:
      return false;
  }
}
template <AtomicOperation operation, typename Word>
[[gnu::always_inline]] inline Word joined(Word first, Word second) {
  constexpr bool sums = operation == AtomicOperation::subtract;
  return semantics::atomic_result<Word>(sums ? AtomicOperation::add : operation, first, second, Word{});
}

inline bool are_same(const LaneAddresses& addresses, uint64_t lanes) {
  const uint64_t first = addresses.of[__builtin_ctzll(lanes)];
  uint64_t differs = 0;
  for (lanes &= lanes - 1; lanes != 0 && differs == 0; lanes &= lanes - 1) {
    differs = addresses.of[__builtin_ctzll(lanes)] ^ first;
  }
  return differs == 0;
}

/// The lanes' atomics on one word, as one of the host's.
template <AtomicOperation operation, typename Word>
ATOLL_GUEST_ACCESS void joined_atomic(uint64_t address, uint64_t lanes, const Row* data, Row* result) {
  const auto first = static_cast<unsigned>(__builtin_ctzll(lanes));
  auto whole = word_of<Word>(data, first);
  for_each_lane(lanes & (lanes - 1),
                [&](unsigned lane) { whole = joined<operation, Word>(whole, word_of<Word>(data, lane)); });
  Word old = one_atomic<operation, Word, true>(address, whole, Word{}, Denormals::allow_in_out);
  if (result == nullptr) return;
  for_each_lane(lanes, [&](unsigned lane) {
    const auto value = word_of<Word>(data, lane);  // perhaps where the result goes
    set_word(result, lane, old);
    old = semantics::atomic_result<Word>(operation, old, value, Word{});
  });
}

template <AtomicOperation operation, typename Word>
ATOLL_GUEST_ACCESS void atomic(const LaneAddresses& addresses, uint64_t lanes, const Row* data, const Row* data2,
                               Row* result, Denormals denormals) {
  if constexpr (can_be_joined(operation)) {
    if ((lanes & (lanes - 1)) != 0 && are_same(addresses, lanes)) {
      return joined_atomic<operation, Word>(addresses.of[__builtin_ctzll(lanes)], lanes, data, result);
    }
  }
  for_each_lane(lanes, [&](unsigned lane) {
    Word second{};
    if constexpr (semantics::has_two_operands(operation)) second = word_of<Word>(data2, lane);
    const Word old =
        one_atomic<operation, Word, true>(addresses.of[lane], word_of<Word>(data, lane), second, denormals);
    if (result != nullptr) set_word(result, lane, old);
  });
}

/// Atomics on LDS, which only the work-group's host thread accesses. They are frequent in histograms, so address,
/// computation and store of each lane are fused.
template <AtomicOperation operation, typename Word>
void lds_atomic(const Lds& lds, const LaneAddresses& offsets, uint64_t lanes, const Row* data, const Row* data2,
                Row* result, Denormals denormals) {
  for_each_lane(lanes, [&](unsigned lane) {
    const uint64_t offset = offsets.of[lane] & 0xFFFF'FFFF;
    Word old{}, second{};
    if constexpr (semantics::has_two_operands(operation)) second = word_of<Word>(data2, lane);
    if (offset + sizeof(Word) <= lds.bytes) {
      const auto place = reinterpret_cast<uint64_t>(lds.start) + offset;
      old = one_atomic<operation, Word, false>(place, word_of<Word>(data, lane), second, denormals);
    }
    if (result != nullptr) set_word(result, lane, old);
  });
}

/// What `make` makes for an operation; null for none.
template <typename Made, typename Make>
Made for_operation(AtomicOperation operation, const Make& make) {
  using enum AtomicOperation;
  switch (operation) {
#define ATOLL_CASE(name) \
  case name:             \
    return make.template operator()<name>();
    ATOLL_CASE(swap)
    ATOLL_CASE(compare_swap)
    ATOLL_CASE(compare_store)
    ATOLL_CASE(add)
    ATOLL_CASE(subtract)
    ATOLL_CASE(reverse_subtract)
    ATOLL_CASE(signed_min)
    ATOLL_CASE(unsigned_min)
    ATOLL_CASE(signed_max)
    ATOLL_CASE(unsigned_max)
    ATOLL_CASE(bit_and)
    ATOLL_CASE(bit_or)
    ATOLL_CASE(bit_xor)
    ATOLL_CASE(increment)
    ATOLL_CASE(decrement)
    ATOLL_CASE(mask_or)
    ATOLL_CASE(wrap)
    ATOLL_CASE(subtract_clamp)
    ATOLL_CASE(conditional_subtract)
    ATOLL_CASE(float_add)
    ATOLL_CASE(float_min)
    ATOLL_CASE(float_max)
    ATOLL_CASE(float_compare_store)
    ATOLL_CASE(float_compare_swap)
    ATOLL_CASE(packed_add_f16)
    ATOLL_CASE(packed_add_bf16)
#undef ATOLL_CASE
    case none:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

machine::AccessPattern access_pattern(const uint64_t* addresses, uint64_t lanes, uint32_t bytes) {
  using Chunk = uint64_t __attribute__((ext_vector_type(semantics::chunk_lanes)));
  machine::AccessPattern pattern{.begin = UINT64_MAX, .end = 0};
  const auto read_chunk = [&](unsigned first) {
    Chunk chunk;
    std::memcpy(&chunk, addresses + first, sizeof chunk);
    return chunk;
  };
  Chunk least = Chunk(UINT64_MAX), most = Chunk(0);
  for (unsigned first = 0; first < wave_lanes; first += semantics::chunk_lanes) {
    const auto of_chunk = static_cast<uint16_t>(lanes >> first);
    if (of_chunk == 0) continue;
    const Chunk now = read_chunk(first);
    using Bits = bool __attribute__((ext_vector_type(semantics::chunk_lanes)));
    const Chunk is_there = -semantics::convert<Chunk>(__builtin_bit_cast(Bits, of_chunk));
    least = __builtin_elementwise_min(least, now | ~is_there);
    most = __builtin_elementwise_max(most, now & is_there);
    // The lane before the first one has none; what is said of that is masked out.
    const Chunk before = first == 0
                             ? __builtin_shufflevector(now, now, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
                             : read_chunk(first - 1);
    pattern.follows |= uint64_t{semantics::mask_of(now - before == Chunk(bytes)).bits} << first;
    pattern.repeats |= uint64_t{semantics::mask_of(now == before).bits} << first;
  }
  const uint64_t with_one_before = lanes & lanes << 1;
  pattern.follows &= with_one_before;
  pattern.repeats &= with_one_before;
  pattern.begin = __builtin_reduce_min(least);
  pattern.end = __builtin_reduce_max(most) + bytes;
  return pattern;
}

Transfer transfer_function(const MemoryAccess& access) {
  const bool store = access.kind == MemoryAccess::Kind::store;
  if ((!store && access.kind != MemoryAccess::Kind::load) || access.components != 0) return nullptr;
  switch (access.bytes) {
    case 1:
    case 2:
      if (access.half == Half::high) return small_transfer<Half::high>(access);
      if (access.half == Half::low) return small_transfer<Half::low>(access);
      return small_transfer<Half::none>(access);
    case 4:
      return store ? store_words<1> : load_words<1>;
    case 8:
      return store ? store_words<2> : load_words<2>;
    case 12:
      return store ? store_words<3> : load_words<3>;
    case 16:
      return store ? store_words<4> : load_words<4>;
    default:
      return nullptr;
  }
}

Atomic atomic_function(AtomicOperation operation, unsigned bytes) {
  return for_operation<Atomic>(operation, [&]<AtomicOperation name>() -> Atomic {
    return bytes == 4 ? atomic<name, uint32_t> : atomic<name, uint64_t>;
  });
}

LdsAtomic lds_atomic_function(AtomicOperation operation, unsigned bytes) {
  return for_operation<LdsAtomic>(operation, [&]<AtomicOperation name>() -> LdsAtomic {
    return bytes == 4 ? lds_atomic<name, uint32_t> : lds_atomic<name, uint64_t>;
  });
}

ATOLL_HOST_ISA_END
}  // namespace Atoll::engine

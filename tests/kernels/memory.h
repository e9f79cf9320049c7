// Memory: global, constant and private, in all sizes and at any address.
#include "kernel.h"

/// Bytes, shorts and unaligned structures in memory.
KERNEL(memory) {
  const unsigned char* bytes = (const unsigned char*)in + item * 5;
  struct __attribute__((packed)) Packed {
    unsigned char tag;
    unsigned short half;
    unsigned word;
    uint64 wide;
  };
  const struct Packed record = *(const struct Packed*)bytes;
  out[item * 4] = record.tag + record.half * 3u + record.word;
  out[item * 4 + 1] = (unsigned)(record.wide >> 7);
  unsigned char* to = (unsigned char*)(out + item * 4 + 2);
  for (unsigned i = 0; i < 8; ++i) to[i] = (unsigned char)(bytes[i * 3 % 11] ^ i);
}

/// A private array that no register can be: scratch, indexed at run time.
KERNEL(sorting) {
  unsigned values[24];
  unsigned char order[24];
  for (unsigned i = 0; i < 24; ++i) {
    values[i] = in[(item * 7 + i * 13) % in_words];
    order[i] = (unsigned char)i;
  }
  for (unsigned i = 1; i < 24; ++i) {
    for (unsigned j = i; j > 0 && values[j - 1] > values[j]; --j) {
      const unsigned value = values[j];
      values[j] = values[j - 1];
      values[j - 1] = value;
      const unsigned char place = order[j];
      order[j] = order[j - 1];
      order[j - 1] = place;
    }
  }
  unsigned sum = 0;
  for (unsigned i = 0; i < 24; ++i) sum = sum * 31 + order[i];
  out[item * 4] = values[0];
  out[item * 4 + 1] = values[in[item] % 24];
  out[item * 4 + 2] = values[23];
  out[item * 4 + 3] = sum;
}

/// Elements of several members in scratch: loads and stores of 8, 16, 32 and 64 bits there.
KERNEL(heap) {
  struct Element {
    uint64 key;
    short tag;
    unsigned char letter;
    float weight;
  } elements[15];
  for (unsigned i = 0; i < 15; ++i) {
    const unsigned word = in[(item + i * 17) % in_words];
    const struct Element element = {(uint64)word << 9 | i, (short)(word >> 3), (unsigned char)(word * 7),
                                    (float)(word % 1000) * 0.5f};
    unsigned at = i;
    for (; at > 0 && elements[(at - 1) / 2].key < element.key; at = (at - 1) / 2) elements[at] = elements[(at - 1) / 2];
    elements[at] = element;
  }
  unsigned sum = 0;
  for (unsigned i = 0; i < 15; ++i) {
    sum = mixed64(sum, elements[i].key) ^ (unsigned)elements[i].tag ^ (unsigned)elements[i].letter << 20;
    sum = mixed(sum, bits_of(elements[i].weight));
  }
  out[item * 4] = sum;
  out[item * 4 + 1] = (unsigned)(int)elements[in[item] % 15].tag;
  out[item * 4 + 2] = elements[in[item + 1] % 15].letter;
  out[item * 4 + 3] = bits_of(elements[in[item + 2] % 15].weight);
}

/// Copies of sizes that are no power of two, from unaligned places, overlapping in the end.
KERNEL(copies) {
  unsigned char space[64];
  const unsigned char* from = (const unsigned char*)in + item * 3;
  __builtin_memset(space, (int)(item & 0x7F), 64);
  __builtin_memcpy(space + 1, from, 23);
  __builtin_memcpy(space + in[item] % 16 + 24, from + 5, 13);
  __builtin_memmove(space + 3, space, 31);
  unsigned sum = 0;
  for (unsigned i = 0; i < 64; ++i) sum = sum * 33 + space[i];
  out[item * 4] = sum;
  __builtin_memcpy((unsigned char*)out + item * 16 + 5, space + in[item + 1] % 32, 11);
}

/// Members of odd numbers of bits.
KERNEL(bit_fields) {
  struct Fields {
    unsigned a : 3;
    int b : 7;
    unsigned c : 13;
    int d : 9;
    uint64 e : 37;
    int64 f : 27;
  } fields[3];
  for (unsigned i = 0; i < 3; ++i) {
    fields[i].a = in[item + i] & 7;
    fields[i].b = (int)(in[item + i] << 10) >> 25;
    fields[i].c = in[item + i] >> 19;
    fields[i].d = (int)in[item + i] >> 23;
    fields[i].e = ((uint64)in[item + i] << 5 | 9) & 0x1FFFFFFFFF;
    fields[i].f = (int64)(int)in[item + i] >> 6;
  }
  struct Fields* one = &fields[in[item + 3] % 3];
  one->b = one->b / 2;
  one->c = (one->c + 5) & 0x1FFF;
  one->f = one->f / 3;
  one->e ^= 0x155;
  for (unsigned i = 0; i < 3; ++i) {
    unsigned sum = fields[i].a;
    sum = mixed(mixed(sum, (unsigned)fields[i].b), fields[i].c);
    sum = mixed64(mixed(sum, (unsigned)fields[i].d), fields[i].e);
    out[item * 4 + i] = mixed64(sum, (uint64)(int64)fields[i].f);
  }
}

static const unsigned short primes[] = {2,  3,  5,  7,  11, 13, 17, 19, 23, 29, 31, 37,
                                        41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89};
static const char* const names[] = {"zero", "one", "twenty-two", "three hundred", "", "five"};
static const double weights[3][4] = {{0.5, 1.5, 2.25, -3}, {1e10, -1e-3, 7, 9}, {0, 0.125, 1, -1}};

/// Constants: numbers, strings by pointers, tables of tables.
KERNEL(tables) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 10; ++i) sum = sum * 3 + primes[in[item + i] % 24];
  out[item * 4] = sum;
  unsigned hash = 5381;
  for (const char* at = names[in[item] % 6]; *at != 0; ++at) hash = hash * 33 + (unsigned char)*at;
  out[item * 4 + 1] = hash;
  out[item * 4 + 2] = mixed64(0, bits_of_double(weights[in[item + 1] % 3][in[item + 2] % 4] * 3));
}

/// Loads and stores of up to 64 bytes.
KERNEL(wide_accesses) {
  typedef unsigned words4 __attribute__((ext_vector_type(4)));
  typedef uint64 longs8 __attribute__((ext_vector_type(8), aligned(4)));
  typedef unsigned words3 __attribute__((ext_vector_type(3), aligned(4)));
  const longs8 a = *(const longs8*)(in + item), b = *(const longs8*)(in + item * 2 + 16);
  const longs8 c = a * b.s76543210 + (a >> (b & (longs8)31));
  const words4 d = *(const words4*)(in + item * 4);
  const words3 e = *(const words3*)(in + item * 3);
  words4 f = d.wzyx;
  f.x ^= e.x + e.y * 3 + e.z * 5;
  for (unsigned i = 0; i < 8; ++i) f[i % 4] += mixed64(i, c[i]);
  *(words4*)(out + item * 4) = f;
}

static NOINLINE void accumulate(unsigned* into, const unsigned* from, unsigned count) {
  for (unsigned i = 0; i < count; ++i) *into = mixed(*into, from[i]);
}

/// Generic pointers that may or may not lead to private memory.
KERNEL(generic_pointers) {
  unsigned own[6] = {item, 2, 3, 4, 5, 6}, sum = 1;
  const unsigned* from = in[item] % 2 != 0 ? own : in + item;
  accumulate(&sum, from, 6);
  unsigned* to = in[item + 1] % 3 != 0 ? &own[item % 6] : &out[item * 4 + 1];
  *to = 0x1234;
  accumulate(to, in, 3);
  out[item * 4] = sum;
  out[item * 4 + 2] = own[0] + own[1] * 3 + own[2] * 5 + own[3] * 7 + own[4] * 11 + own[5] * 13;
}

/// A table by rows in scratch: the distance of two words.
KERNEL(edit_distance) {
  const unsigned char* a = (const unsigned char*)(in + item);
  const unsigned char* b = (const unsigned char*)(in + item * 2 + 3);
  unsigned char row[17];
  for (unsigned i = 0; i <= 16; ++i) row[i] = (unsigned char)i;
  for (unsigned i = 1; i <= 12; ++i) {
    unsigned char diagonal = row[0];
    row[0] = (unsigned char)i;
    for (unsigned j = 1; j <= 16; ++j) {
      const unsigned char above = row[j], changed_one = diagonal + (a[i] % 4 != b[j] % 4);
      const unsigned char shorter = (unsigned char)((above < row[j - 1] ? above : row[j - 1]) + 1);
      row[j] = shorter < changed_one ? shorter : changed_one;
      diagonal = above;
    }
  }
  out[item * 4] = row[16];
  out[item * 4 + 1] = row[in[item] % 17];
}

/// Accesses that must stay as they are written.
KERNEL(volatiles) {
  volatile unsigned space[5];
  for (unsigned i = 0; i < 5; ++i) space[i] = in[item + i];
  space[space[0] % 5] += space[1];
  volatile unsigned char* bytes = (volatile unsigned char*)space;
  bytes[space[2] % 20] = (unsigned char)item;
  const volatile unsigned* again = in + item;
  volatile unsigned short* halves_out = (volatile unsigned short*)(out + item * 4);
  halves_out[0] = (unsigned short)space[3];
  halves_out[1] = (unsigned short)(again[0] + again[0]);
  out[item * 4 + 1] = space[0] ^ space[4];
  out[item * 4 + 2] = halves_out[1];
}

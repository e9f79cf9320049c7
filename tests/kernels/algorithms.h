// Small programs: hashes, ciphers, searches, arithmetic of many words, text.
#include "kernel.h"

static inline unsigned rotated(unsigned value, unsigned by) { return value >> by | value << (32 - by); }

/// SHA-256 of one block (FIPS 180-4), whose constants are computed: the fractions of primes' cube roots, in integers.
KERNEL(secure_hash) {
  unsigned constants[64], found = 0;
  for (unsigned prime = 2; found < 64; ++prime) {
    unsigned divisor = 2;
    while (divisor * divisor <= prime && prime % divisor != 0) ++divisor;
    if (divisor * divisor <= prime) continue;
    // The largest root of 36 bits with root^3 <= prime * 2^96.
    uint64 root = 0;
    for (unsigned bit = 36; bit-- > 0;) {
      const uint64 tried = root | 1ul << bit;
      const unsigned __int128 square = (unsigned __int128)tried * tried;
      // tried^3 >> 64, of which all bits above are needed, too.
      const unsigned __int128 low = (unsigned __int128)(uint64)square * tried;
      const unsigned __int128 high = (unsigned __int128)(uint64)(square >> 64) * tried + (uint64)(low >> 64);
      if (high < (unsigned __int128)prime << 32) root = tried;
    }
    constants[found++] = (unsigned)root;
  }
  unsigned words[64];
  for (unsigned i = 0; i < 16; ++i) words[i] = in[item + i];
  for (unsigned i = 16; i < 64; ++i) {
    const unsigned a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + words[i - 7] +
               (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
  }
  unsigned state[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned e = state[4], a = state[0];
    const unsigned first = state[7] + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
                           ((e & state[5]) ^ (~e & state[6])) + constants[i] + words[i];
    const unsigned second =
        (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & state[1]) ^ (a & state[2]) ^ (state[1] & state[2]));
    for (unsigned j = 7; j > 0; --j) state[j] = state[j - 1];
    state[4] += first;
    state[0] = first + second;
  }
  for (unsigned i = 0; i < 4; ++i) out[item * 4 + i] = state[i] + state[i + 4];
}

/// XTEA there and back, and a stream of ChaCha's quarter rounds.
KERNEL(ciphers) {
  unsigned a = in[item], b = in[item + 1], sum = 0;
  for (unsigned round = 0; round < 32; ++round) {
    a += ((b << 4 ^ b >> 5) + b) ^ (sum + in[sum & 3]);
    sum += 0x9E3779B9;
    b += ((a << 4 ^ a >> 5) + a) ^ (sum + in[sum >> 11 & 3]);
  }
  out[item * 4] = a;
  for (unsigned round = 0; round < 32; ++round) {
    b -= ((a << 4 ^ a >> 5) + a) ^ (sum + in[sum >> 11 & 3]);
    sum -= 0x9E3779B9;
    a -= ((b << 4 ^ b >> 5) + b) ^ (sum + in[sum & 3]);
  }
  out[item * 4 + 1] = a ^ b;
  unsigned w = in[item + 2], x = in[item + 3], y = in[item + 4], z = item;
  for (unsigned round = 0; round < 20; ++round) {
    w += x, z = rotated(z ^ w, 16), y += z, x = rotated(x ^ y, 20);
    w += x, z = rotated(z ^ w, 24), y += z, x = rotated(x ^ y, 25);
  }
  out[item * 4 + 2] = w ^ y;
  out[item * 4 + 3] = x + z;
}

/// CRC-32 bit by bit and with a table made on the way.
KERNEL(checksums) {
  unsigned table[16];
  for (unsigned i = 0; i < 16; ++i) {
    unsigned entry = i;
    for (unsigned bit = 0; bit < 4; ++bit) entry = (entry & 1) != 0 ? entry >> 1 ^ 0xEDB88320u : entry >> 1;
    table[i] = entry;
  }
  const unsigned char* bytes = (const unsigned char*)in + item * 2;
  const unsigned length = in[item] % 40 + 1;
  unsigned slow = ~0u, fast = ~0u, a = 1, b = 0;
  for (unsigned i = 0; i < length; ++i) {
    slow ^= bytes[i];
    for (unsigned bit = 0; bit < 8; ++bit) slow = slow >> 1 ^ ((slow & 1) != 0 ? 0xEDB88320u : 0);
    fast ^= bytes[i];
    fast = fast >> 4 ^ table[fast & 15];
    fast = fast >> 4 ^ table[fast & 15];
    a = (a + bytes[i]) % 65521;
    b = (b + a) % 65521;
  }
  out[item * 4] = ~slow;
  out[item * 4 + 1] = slow ^ fast;
  out[item * 4 + 2] = b << 16 | a;
}

/// Queens on a board of 5 to 7, by backtracking.
KERNEL(queens) {
  const unsigned size = in[item] % 3 + 5, all = (1u << size) - 1;
  unsigned free_places[8], columns[8] = {0}, left[8] = {0}, right[8] = {0}, row = 0, found = 0, steps = 0;
  free_places[0] = all & ~(1u << item % size);
  for (;;) {
    ++steps;
    if (free_places[row] == 0) {
      if (row-- == 0) break;
      continue;
    }
    const unsigned queen = free_places[row] & (~free_places[row] + 1);
    free_places[row] ^= queen;
    if (row + 1 == size) {
      ++found;
      continue;
    }
    columns[row + 1] = columns[row] | queen;
    left[row + 1] = (left[row] | queen) << 1;
    right[row + 1] = (right[row] | queen) >> 1;
    ++row;
    free_places[row] = all & ~(columns[row] | left[row] | right[row]);
  }
  out[item * 4] = found;
  out[item * 4 + 1] = steps;
}

/// Numbers of 256 bits: products, and powers modulo a prime of 61 bits.
KERNEL(long_numbers) {
  uint64 a[4], b[4], product[8] = {0};
  for (unsigned i = 0; i < 4; ++i) {
    a[i] = (uint64)in[item + i] << 32 | in[item + i + 4];
    b[i] = (uint64)in[item + i + 8] << 32 | in[item + i + 12];
  }
  for (unsigned i = 0; i < 4; ++i) {
    uint64 carry = 0;
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned __int128 sum = (unsigned __int128)a[i] * b[j] + product[i + j] + carry;
      product[i + j] = (uint64)sum;
      carry = (uint64)(sum >> 64);
    }
    product[i + 4] = carry;
  }
  unsigned sum = 0;
  for (unsigned i = 0; i < 8; ++i) sum = mixed64(sum, product[i]);
  out[item * 4] = sum;
  const uint64 prime = (1ul << 61) - 1;
  uint64 base = a[0] % prime, power = 1;
  for (unsigned exponent = in[item] & 0xFFFF; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) {
      const unsigned __int128 wide = (unsigned __int128)power * base;
      power = ((uint64)wide & prime) + (uint64)(wide >> 61);
      if (power >= prime) power -= prime;
    }
    const unsigned __int128 wide = (unsigned __int128)base * base;
    base = ((uint64)wide & prime) + (uint64)(wide >> 61);
    if (base >= prime) base -= prime;
  }
  out[item * 4 + 1] = (unsigned)power;
  out[item * 4 + 2] = (unsigned)(power >> 32);
}

/// Game of Life on a torus of 8 x 8, a board in one number.
KERNEL(life) {
  uint64 board = (uint64)in[item] << 32 | in[item + 1];
  for (unsigned generation = 0; generation < 5; ++generation) {
    uint64 next = 0;
    for (unsigned place = 0; place < 64; ++place) {
      unsigned neighbours = 0;
      for (unsigned i = 0; i < 9; ++i) {
        if (i == 4) continue;
        const unsigned x = (place + i % 3 + 7) % 8, y = (place / 8 + i / 3 + 7) % 8;
        neighbours += (unsigned)(board >> (y * 8 + x) & 1);
      }
      if (neighbours == 3 || (neighbours == 2 && (board >> place & 1) != 0)) next |= 1ul << place;
    }
    board = next;
  }
  out[item * 4] = (unsigned)board;
  out[item * 4 + 1] = (unsigned)(board >> 32);
}

/// Numbers written in decimal and read again; Roman numerals.
KERNEL(text) {
  char letters[32];
  unsigned length = 0;
  for (uint64 value = (uint64)in[item] * in [item + 1]; value != 0 || length == 0; value /= 10) {
    letters[length++] = (char)('0' + value % 10);
  }
  unsigned hash = 5381;
  uint64 again = 0;
  for (unsigned i = length; i-- > 0;) {
    hash = hash * 33 + (unsigned char)letters[i];
    again = again * 10 + (uint64)(letters[i] - '0');
  }
  out[item * 4] = hash;
  out[item * 4 + 1] = mixed64(0, again);
  static const struct {
    unsigned value;
    char text[3];
  } numerals[] = {{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
                  {40, "XL"},  {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"}};
  unsigned value = in[item] % 4000;
  for (unsigned i = 0; i < 13; ++i) {
    for (; value >= numerals[i].value; value -= numerals[i].value) {
      for (unsigned j = 0; j < 2 && numerals[i].text[j] != 0; ++j)
        hash = hash * 33 + (unsigned char)numerals[i].text[j];
    }
  }
  out[item * 4 + 2] = hash;
}

/// Pseudorandom numbers as Mersenne Twister has them, with a state of 32 words in scratch; a shuffle by them.
KERNEL(shuffles) {
  unsigned state[32], order[20];
  for (unsigned i = 0; i < 32; ++i) {
    state[i] = i == 0 ? in[item] : 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
  }
  for (unsigned i = 0; i < 20; ++i) order[i] = i;
  for (unsigned i = 0; i < 40; ++i) {
    const unsigned at = i % 32, joined = (state[at] & 0x80000000u) | (state[(at + 1) % 32] & 0x7FFFFFFFu);
    state[at] = state[(at + 13) % 32] ^ joined >> 1 ^ ((joined & 1) != 0 ? 0x9908B0DFu : 0);
    unsigned word = state[at];
    word ^= word >> 11;
    word ^= word << 7 & 0x9D2C5680u;
    word ^= word << 15 & 0xEFC60000u;
    word ^= word >> 18;
    const unsigned a = word % 20, b = (word >> 16) % 20, other = order[a];
    order[a] = order[b];
    order[b] = other;
  }
  unsigned sum = 0;
  for (unsigned i = 0; i < 20; ++i) sum = sum * 21 + order[i];
  out[item * 4] = sum;
  out[item * 4 + 1] = state[in[item + 1] % 32];
}

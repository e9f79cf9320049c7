// Control flow that differs from lane to lane, and calls.
#include "kernel.h"

/// Divergent loops, early exits and a switch.
KERNEL(branches) {
  unsigned n = in[item] % 1000 + 1, steps = 0, kinds = 0;
  while (n != 1) {
    n = n % 2 != 0 ? 3 * n + 1 : n / 2;
    ++steps;
    switch (n % 7) {
      case 0:
        kinds += 1;
        break;
      case 1:
        kinds ^= 0x10;
        continue;
      case 2:
        kinds = kinds * 3;
        break;
      case 5:
        kinds -= n;
        break;
      default:
        kinds = kinds << 1 | kinds >> 31;
    }
    if (steps > 300) break;
  }
  out[item * 4] = steps;
  out[item * 4 + 1] = kinds;
  out[item * 4 + 2] = n;
  out[item * 4 + 3] = item;
}

/// A machine whose program is the input: a switch of many cases in a loop, some of which fall through.
KERNEL(virtual_machine) {
  unsigned a = item, b = 1, stack[8], top = 0, place = item;
  for (unsigned i = 0; i < 8; ++i) stack[i] = i * 11;
  for (unsigned step = 0; step < 60; ++step) {
    const unsigned instruction = in[place % in_words];
    ++place;
    switch (instruction % 19) {
      case 0:
        a += b;
        break;
      case 1:
        a -= b;
        break;
      case 2:
        a *= b | 1;
        break;
      case 3:
        a ^= instruction;
        break;
      case 4:
        b = a;
        break;
      case 5:
        b = instruction >> 7;
        break;
      case 6:
        stack[top++ % 8] = a;
        break;
      case 7:
        a = stack[--top % 8];
        break;
      case 8:
        stack[top++ % 8] = b;
        [[fallthrough]];
      case 9:
        b += 3;
        break;
      case 10:
        place += a % 5;
        break;
      case 11:
        place -= b % 3;
        break;
      case 12:
        a = a >> (b & 15) | a << 16;
        break;
      case 13:
        if (a > b) place += 7;
        break;
      case 14:
        stack[a % 8] ^= b;
        break;
      case 15:
        b = stack[b % 8];
        break;
      case 16:
        a = a / (b | 3);
        break;
      case 17:
        if ((a & b) == 0) step += 5;
        break;
      default:
        a = ~a;
    }
  }
  out[item * 4] = a;
  out[item * 4 + 1] = b;
  out[item * 4 + 2] = stack[0] ^ stack[3] ^ stack[6];
  out[item * 4 + 3] = place;
}

/// Jumps into loops and out of them: no loop of this has one entry. (`n += 13` comes before both jumps: otherwise clang
/// 22 with optimization takes the old n to `end`, too.)
KERNEL(gotos) {
  unsigned n = in[item] % 97, sum = 0, budget = 200;
  if (n % 3 == 0) goto middle;
begin:
  sum += n;
  n = n * 7 % 101;
  if (budget-- == 0) goto done;
middle:
  sum ^= n << 3;
  if (n % 5 == 0) goto end;
  n += 13;
  if (n % 2 == 0) goto begin;
end:
  sum = sum * 5 + 1;
  n = n / 2 + 9;
  if (budget-- == 0) goto done;
  if (sum % 4 != 0) goto middle;
  if (sum % 9 != 0) goto begin;
done:
  out[item * 4] = sum;
  out[item * 4 + 1] = n;
  out[item * 4 + 2] = budget;
}

/// Loops in loops, left from within.
KERNEL(nested_loops) {
  unsigned sum = 0, count = 0;
  for (unsigned i = 0; i < in[item] % 12; ++i) {
    for (unsigned j = i; j < in[item + 1] % 15; ++j) {
      if ((i + j) % 6 == 5) continue;
      unsigned k = in[item + i] % 9;
      do {
        sum += i * 100 + j * 10 + k;
        if (sum % 31 == 7) break;
        if (++count > 400) goto out;
      } while (k-- > 2);
      if (in[item + j] % 11 == 0) break;
    }
  }
out:
  out[item * 4] = sum;
  out[item * 4 + 1] = count;
}

static NOINLINE unsigned add_up(const unsigned* in, unsigned from, unsigned depth) {
  if (depth == 0) return in[from % in_words];
  return add_up(in, from * 5 + 1, depth - 1) * 3 + add_up(in, from + depth, depth / 2);
}
static NOINLINE unsigned twice(unsigned value) { return value * 2; }
static NOINLINE unsigned inverted(unsigned value) { return ~value; }
static NOINLINE unsigned squared(unsigned value) { return value * value; }
static NOINLINE unsigned halved(unsigned value) { return value >> 1; }

/// Calls: recursion with a stack frame, and through pointers that differ from lane to lane.
KERNEL(calls) {
  out[item * 4] = add_up(in, item, item % 6);
  unsigned (*function)(unsigned) = in[item] % 3 != 0 ? twice : inverted;
  out[item * 4 + 1] = function(in[item + 1]);
  out[item * 4 + 2] = function(item);
  out[item * 4 + 3] = 0;
}

/// A table of functions, from which lanes choose again and again.
KERNEL(function_tables) {
  static unsigned (*const table[])(unsigned) = {twice, inverted, squared, halved};
  unsigned value = in[item];
  for (unsigned i = 0; i < 6; ++i) {
    value = table[value % 4](value) + i;
    if (value % 13 == 0) break;
  }
  out[item * 4] = value;
}

static unsigned is_odd(unsigned value, unsigned* steps);
static NOINLINE unsigned is_even(unsigned value, unsigned* steps) {
  ++*steps;
  return value == 0 ? 1 : is_odd(value - 1, steps);
}
static NOINLINE unsigned is_odd(unsigned value, unsigned* steps) {
  *steps += 2;
  return value == 0 ? 0 : is_even(value - 1, steps);
}
static NOINLINE unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

/// Functions that call each other, with pointers to their callers' frames.
KERNEL(recursion) {
  unsigned steps = 0;
  out[item * 4] = is_even(in[item] % 10, &steps);
  out[item * 4 + 1] = steps;
  out[item * 4 + 2] = ackermann(item % 3, in[item + 1] % 3);
}

struct Record {
  unsigned words[9];
  double number;
  char letters[5];
};
static NOINLINE struct Record changed(struct Record record, unsigned by) {
  record.words[by % 9] += by;
  record.number = record.number * 0.5 + (double)by;
  record.letters[by % 5] = (char)(record.letters[by % 5] ^ 0x20);
  return record;
}
static NOINLINE unsigned many_arguments(unsigned a, uint64 b, float c, unsigned char d, double e, const unsigned* f,
                                        short g, unsigned h[40], unsigned k, unsigned l, unsigned m, unsigned n) {
  for (unsigned i = 0; i < 40; ++i) h[i] = a + i * d;
  return a + (unsigned)(b >> 9) + bits_of(c) + d + (unsigned)e + f[k % 50] + (unsigned)g + l * m - n + h[k % 40];
}

/// Structures by value, and more arguments than registers take.
KERNEL(structures) {
  struct Record record = {{1, 2, 3, 4, 5, 6, 7, 8, 9}, 0.25, {'a', 'b', 'c', 'd', 'e'}};
  for (unsigned i = 0; i < 4; ++i) record = changed(record, in[item + i] % 1000);
  unsigned sum = 0;
  for (unsigned i = 0; i < 9; ++i) sum = mixed(sum, record.words[i]);
  for (unsigned i = 0; i < 5; ++i) sum = mixed(sum, (unsigned char)record.letters[i]);
  out[item * 4] = sum;
  out[item * 4 + 1] = mixed64(0, bits_of_double(record.number));
  unsigned space[40];
  out[item * 4 + 2] = many_arguments(in[item], (uint64)in[item + 1] << 13, 1.5f, (unsigned char)item, 77.5, in,
                                     (short)in[item + 2], space, in[item + 3], 5, item, 7);
  out[item * 4 + 3] = space[in[item] % 40];
}

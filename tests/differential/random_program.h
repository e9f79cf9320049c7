// Differential tests: random C programs.
#pragma once

#include <cstdint>
#include <string>

namespace Atoll::test {

inline constexpr unsigned random_functions = 6;  ///< in a program

/// A C program out of the words of prelude.c: functions of three 64-bit numbers with one 64-bit result each, over
/// integers of 8 to 64 bits, floats, doubles and halves; with branches, loops, an array and calls. What it does is
/// defined on every compiler with -fwrapv, and its loops end. The same seed gives the same program.
std::string random_program(uint64_t seed);

}  // namespace Atoll::test

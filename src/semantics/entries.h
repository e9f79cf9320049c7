// semantics: the tables of the instruction files.
//
// Each file of instructions ends with its table of entries and hands it out by one function, named here;
// vector_function.cpp joins them into the one table that vector_function() looks opcodes up in. Tables are reached
// through functions, not as global objects, so that the room can be compiled more than once in one program, for
// several host instruction sets.
#pragma once

#include <span>

#include "semantics/host_isa.h"
#include "semantics/row.h"

namespace Atoll::semantics {
ATOLL_HOST_ISA_BEGIN

std::span<const VectorEntry> float_arithmetic_entries();
std::span<const VectorEntry> float_brain_entries();
std::span<const VectorEntry> float_compare_entries();
std::span<const VectorEntry> float_convert_entries();
std::span<const VectorEntry> float_cube_entries();
std::span<const VectorEntry> float_division_entries();
std::span<const VectorEntry> float_dot_entries();
std::span<const VectorEntry> float_eight_entries();
std::span<const VectorEntry> float_half_entries();
std::span<const VectorEntry> float_interpolation_entries();
std::span<const VectorEntry> float_minmax_entries();
std::span<const VectorEntry> float_rounding_entries();
std::span<const VectorEntry> float_scaled_entries();
std::span<const VectorEntry> float_transcendental_entries();
std::span<const VectorEntry> integer_arithmetic_entries();
std::span<const VectorEntry> integer_bits_entries();
std::span<const VectorEntry> integer_bytes_entries();
std::span<const VectorEntry> integer_compare_entries();
std::span<const VectorEntry> integer_packed_entries();

ATOLL_HOST_ISA_END
}  // namespace Atoll::semantics

// For tests that run whole families of instructions on each generation: which of them a processor has and what they are
// called there, and many short programs assembled at once.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "isa/opcode.h"
#include "target/processor.h"

namespace Atoll::test {

class WaveRunner;

/// What LLVM calls the instruction on the processor, whose row in the table has that name; empty if the processor lacks
/// it or nothing executes it.
std::string name_on(const target::Processor& processor, std::string_view row_name);

/// The machine code of each source, by one call of clang.
std::vector<std::vector<uint8_t>> assemble_programs(const std::vector<std::string>& sources,
                                                    const target::Processor& processor, unsigned wave_size);

/// The suffix of an atomic that returns what was there.
std::string_view returning(const target::Processor& processor);

/// The last word of the resource of a buffer of bytes, without structure (LLVM, AMDGPUUsage and what ROCm's libraries
/// use).
uint32_t raw_buffer_word(const target::Processor& processor);

/// Puts the resource of such a buffer into four scalar registers from `first` on; with a stride, `size` counts records.
void set_buffer(WaveRunner& runner, unsigned first, const void* base, uint32_t size, uint32_t stride = 0);

/// A register, or more of them from `first` on: "v3", "v[4:5]", "s[8:11]".
std::string registers(char kind, unsigned first, unsigned count);

/// One processor or more of each generation, with each size of its waves.
struct Machine {
  const char* processor;
  unsigned wave_size;
};
inline void PrintTo(const Machine& machine, std::ostream* out) {
  *out << machine.processor << " wave" << machine.wave_size;
}
inline constexpr Machine all_machines[] = {
    {"gfx600", 64},  {"gfx701", 64},  {"gfx803", 64},  {"gfx900", 64},  {"gfx906", 64},  {"gfx908", 64},
    {"gfx90a", 64},  {"gfx942", 64},  {"gfx950", 64},  {"gfx1010", 32}, {"gfx1010", 64}, {"gfx1012", 32},
    {"gfx1030", 32}, {"gfx1030", 64}, {"gfx1100", 32}, {"gfx1100", 64}, {"gfx1150", 32}, {"gfx1150", 64},
    {"gfx1170", 32}, {"gfx1170", 64}, {"gfx1201", 32}, {"gfx1201", 64}, {"gfx1250", 32}};
/// Machines for tests that iterate over them: those of the processors in ATOLL_TEST_MACHINES (separated by commas), or
/// all.
extern const std::vector<Machine> machines, machines_from_gfx9;
/// Expects `count` machines of `machines` to have the tested feature. Does nothing when ATOLL_TEST_MACHINES selects a
/// sample.
void expect_machines(unsigned found, unsigned count);
std::string name_of_machine(const Machine& machine);

}  // namespace Atoll::test

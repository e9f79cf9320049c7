// The kernels of the .h files, compiled for the host.
#include "kernels/algorithms.h"
#include "kernels/classes.h"
#include "kernels/control_flow.h"
#include "kernels/floats.h"
#include "kernels/integers.h"
#include "kernels/memory.h"
#include "kernels/recent.h"
#include "kernels/references.h"
#include "kernels/registers.h"

namespace Atoll::test {
namespace {

template <void (*item_function)(unsigned, const unsigned*, unsigned*)>
void each_item(const Launch& launch) {
  for (unsigned item = 0; item < launch.items; ++item) item_function(item, launch.in, launch.out);
}

#define ENTRY(name) {#name, each_item<name##_item>}

constexpr Kernel of_integers[] = {ENTRY(integers),        ENTRY(wide_integers), ENTRY(narrow_integers),
                                  ENTRY(packed_integers), ENTRY(bits),          ENTRY(constant_divisors),
                                  ENTRY(overflows)};
constexpr Kernel of_floats[] = {ENTRY(floats),     ENTRY(any_floats),    ENTRY(doubles),          ENTRY(halves),
                                ENTRY(roundings),  ENTRY(conversions),   ENTRY(kinds_of_numbers), ENTRY(float_vectors),
                                ENTRY(mandelbrot), ENTRY(linear_system), ENTRY(fourier)};
constexpr Kernel of_control_flow[] = {ENTRY(branches), ENTRY(virtual_machine), ENTRY(gotos),     ENTRY(nested_loops),
                                      ENTRY(calls),    ENTRY(function_tables), ENTRY(recursion), ENTRY(structures)};
constexpr Kernel of_memory[] = {ENTRY(memory),        ENTRY(sorting),  ENTRY(heap),          ENTRY(copies),
                                ENTRY(bit_fields),    ENTRY(tables),   ENTRY(wide_accesses), ENTRY(generic_pointers),
                                ENTRY(edit_distance), ENTRY(volatiles)};
constexpr Kernel of_algorithms[] = {ENTRY(secure_hash),  ENTRY(ciphers), ENTRY(checksums), ENTRY(queens),
                                    ENTRY(long_numbers), ENTRY(life),    ENTRY(text),      ENTRY(shuffles)};
constexpr Kernel of_recent[] = {ENTRY(powers_of_two), ENTRY(roots)};
constexpr Kernel of_registers[] = {ENTRY(many_registers)};
constexpr Kernel of_classes[] = {ENTRY(templates), ENTRY(virtual_functions), ENTRY(operators), ENTRY(lifetimes)};

}  // namespace

std::span<const Kernel> integer_kernels() { return of_integers; }
std::span<const Kernel> float_kernels() { return of_floats; }
std::span<const Kernel> control_flow_kernels() { return of_control_flow; }
std::span<const Kernel> memory_kernels() { return of_memory; }
std::span<const Kernel> algorithm_kernels() { return of_algorithms; }
std::span<const Kernel> recent_kernels() { return of_recent; }
std::span<const Kernel> register_kernels() { return of_registers; }
std::span<const Kernel> class_kernels() { return of_classes; }

}  // namespace Atoll::test

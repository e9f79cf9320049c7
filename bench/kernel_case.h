// The kernels of kernels.cl with the data that they are measured on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace Atoll::bench {

/// The element type of a buffer.
enum class Elements : uint8_t { words, floats, doubles };

/// One argument of a kernel: a buffer with its initial contents, or the bytes of a number.
struct KernelValue {
  bool is_buffer;
  std::vector<std::byte> bytes;
  Elements elements = Elements::words;
};

struct KernelCase {
  std::string kernel;
  std::string size;  ///< for the table
  std::vector<KernelValue> arguments;
  size_t result = 0;                    ///< which argument holds the results
  Elements elements = Elements::words;  ///< of the results
  double tolerance = 0;                 ///< relative, for results that are not words; 0: every bit the same
  std::array<uint32_t, 2> grid{};       ///< work-items
  std::array<uint32_t, 2> block{};
};

/// All of them, in the order of the table.
std::vector<KernelCase> kernel_cases();

/// The n-body kernel with `count` bodies at random places in a cube.
KernelCase nbody_case(uint32_t count);

/// The case with denormals in the place of 2% of the numbers that are not 0 in its buffers. Returns an empty optional
/// if it reads no floating-point buffers.
std::optional<KernelCase> with_denormals(const KernelCase& work);

/// Whether two results of a case are the same within its tolerance.
bool agree(const KernelCase& work, const std::vector<std::byte>& got, const std::vector<std::byte>& want);

}  // namespace Atoll::bench

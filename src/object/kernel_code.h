// object: amd_kernel_code_t, the record that stands before a kernel's code in code object V2 and says what the kernel
// descriptor says later. A table has its fields: reading, explaining and assembling derive from it.
// Source: the older ABI document, "AMD Kernel Code Object amd_kernel_code_t"; the names are LLVM's keys, which are the
// document's but for a few letters.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "object/kernel_descriptor.h"

namespace Atoll::object {

using RawKernelCode = std::array<uint8_t, 256>;  ///< as it lies in memory

/// How the assembler uses the field's name as a key.
enum class KernelCodeKey : uint8_t {
  sets,
  ignored,  ///< accepted without effect, as by LLVM
  none      ///< refused
};

struct KernelCodeField {
  std::string_view name;
  std::string_view older_key;  ///< another key for it; empty: no other key
  uint16_t bit;                ///< counted from the lowest of the record's first byte
  uint8_t width;
  uint64_t usual = 0;  ///< LLVM's default
  KernelCodeKey key = KernelCodeKey::sets;

  uint64_t of(const RawKernelCode& code) const;
  void set(RawKernelCode& code, uint64_t value) const;  ///< the bits of the value that there is room for
};

/// All of them, by place.
std::span<const KernelCodeField> kernel_code_fields();

/// The field of that name, which must be one.
const KernelCodeField& kernel_code_field(std::string_view name);

/// Returns the equivalent descriptor. Fields without an equivalent are left out: the number of work-groups of the
/// grid is a register that descriptors cannot request (KernelDescriptor::grid_work_groups).
RawKernelDescriptor descriptor_of(const RawKernelCode& code, const target::Processor& processor);

/// Decodes the record and checks it as a descriptor.
support::Result<KernelDescriptor> decode_kernel_code(const RawKernelCode& code, const target::Processor& processor);

}  // namespace Atoll::object

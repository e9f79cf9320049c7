// object: what the value of a field of a kernel descriptor, or of V2's amd_kernel_code_t, says, in words.
// Source: user guide, "Kernel Descriptor" (tables of floating-point modes and work-item IDs).
#pragma once

#include <string>

#include "object/kernel_code.h"
#include "object/kernel_descriptor_fields.h"

namespace Atoll::object {

std::string_view word_name(DescriptorWord word);  ///< "COMPUTE_PGM_RSRC1"

/// "to nearest even", "32 VGPRs"; empty where the number itself says it.
std::string meaning_of(const DescriptorField& field, const RawKernelDescriptor& raw,
                       const target::Processor& processor);

std::string meaning_of(const KernelCodeField& field, const RawKernelCode& code, const target::Processor& processor);

}  // namespace Atoll::object

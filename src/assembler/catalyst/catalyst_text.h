// assembler: Catalyst's containers as text.
//
// Directives of Atoll's own describe the container; the lines between them are pieces, each an ordinary assembly text
// of code or data. A table has the directives of both formats. Documented in docs/abis.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembler/assembler.h"
#include "object/catalyst_cl2.h"

namespace Atoll::assembler {

/// True if the text's first directive is .catalyst_target.
bool is_catalyst_text(std::string_view text);

struct AssembledContainer {
  std::optional<std::vector<uint8_t>> bytes;  ///< nothing if there were errors
  std::string messages;
};

/// Assembles a text called `name`. The text names the device, `options` the rest.
AssembledContainer assemble_catalyst(const std::string& name, std::string_view text, const Options& options);

/// Returns the record that .amd_kernel_code_t begins with, before its lines change it.
object::RawKernelCode usual_kernel_code(const target::Processor& processor, bool wave32);

/// Appends an OpenCL 2.0 kernel's setup record as .amd_kernel_code_t, by what differs from the usual record.
void append_kernel_code(std::string& out, const object::RawKernelCode& record, const target::Processor& processor);

/// Returns the text after .catalyst_argument for an argument.
std::string argument_text(const object::catalyst::Cl2Argument& argument);

}  // namespace Atoll::assembler

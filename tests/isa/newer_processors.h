// LLVM 22 asked under the names that it knows, and the answers for processors that it does not know put together from
// its answers for others.
#pragma once

#include "isa/oracle.h"

namespace Atoll::isa::test {

/// What LLVM 22 itself says; `processor` is one that it knows.
std::vector<Disassembled> disassembled_by_llvm(std::string_view processor, std::span<const Bytes> sequences,
                                               std::string_view features);
std::vector<Assembled> assembled_by_llvm(std::string_view processor, std::span<const std::string> lines,
                                         std::string_view features);

}  // namespace Atoll::isa::test

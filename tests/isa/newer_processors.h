// Queries of LLVM 22 for every processor. The answers for processors that it does not know are composed of those
// for others.
#pragma once

#include "isa/oracle.h"

namespace Atoll::isa::test {

/// LLVM 22's own answer; `processor` is one that it knows.
std::vector<Disassembled> disassembled_by_llvm(std::string_view processor, std::span<const Bytes> sequences,
                                               std::string_view features);
std::vector<Assembled> assembled_by_llvm(std::string_view processor, std::span<const std::string> lines,
                                         std::string_view features);

}  // namespace Atoll::isa::test

// Byte sequences that exercise every opcode value of every encoding of a processor. The formats (isa/format.h) say
// where fields are; what the bytes mean is the oracle's to say. Further sequences are random after every 9-bit prefix,
// so that encodings that no format describes are seen too.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "isa/opcode.h"
#include "isa/oracle.h"
#include "target/processor.h"

namespace Atoll::isa::test {

/// `each` random sequences for each opcode value (more where most of them are no instructions), and one plain one. They
/// avoid what crashes the oracle.
std::vector<Bytes> patterns(const target::Processor& processor, unsigned each, uint64_t seed);

/// The rows that the processor has.
std::set<Opcode> all_opcodes(const target::Processor& processor);

/// Further patterns that are one of these instructions.
std::vector<Bytes> patterns_of(const std::set<Opcode>& opcodes, const target::Processor& processor, uint64_t seed);

/// Instructions with an immediate that has names (counters, messages, hardware registers, swizzles, ...), over the
/// immediate's whole range for its low values and a sample of the others.
std::vector<Bytes> immediates(const target::Processor& processor);

}  // namespace Atoll::isa::test

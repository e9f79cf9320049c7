// The assembler that Atoll's is compared with: llvm-mc-22, run as a process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace Atoll::test {

struct LlvmAssembled {
  std::vector<uint8_t> object;  ///< empty when there were errors
  std::string messages;
};

/// Assembles a text called "test.s" into a relocatable object. Fails the test when the program cannot be run.
LlvmAssembled llvm_assemble(const std::string& text, const std::string& processor,
                            const std::string& program = "llvm-mc-22");

/// The same by Atoll.
LlvmAssembled atoll_assemble(const std::string& text, const std::string& processor);

/// Expects both to give the same bytes.
void expect_same_object(const std::string& text, const std::string& processor,
                        const std::string& program = "llvm-mc-22");

/// The places ("line:column") of the errors among the messages, in order.
std::vector<std::string> error_places(const std::string& messages);

}  // namespace Atoll::test

// Input: a Catalyst container as assembly text. What is written is read again and converted for a launch.
#include "assembler/catalyst/catalyst_text.h"
#include "fuzz/fuzzer.h"
#include "object/catalyst_code.h"

using namespace Atoll;
using namespace Atoll::object::catalyst;

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!assembler::is_catalyst_text(text) || text.contains(".inc")) return 0;  // no files of the host
  const auto made = assembler::assemble_catalyst("input.s", text, {});
  test::require(made.bytes.has_value() || !made.messages.empty(), "an assembly without a container has messages");
  if (!made.bytes) return 0;
  if (is_cl2_container(*made.bytes))
    test::require(read_cl2_container(*made.bytes).has_value(), "a written container of OpenCL 2.0 can be read");
  else
    test::require(read_container(*made.bytes).has_value(), "a written container of OpenCL 1.x can be read");
  static_cast<void>(make_code_object(*made.bytes));
  return 0;
}

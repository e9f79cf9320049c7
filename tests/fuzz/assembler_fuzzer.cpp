// Input: a processor and assembly text, whose object is written and read again.
#include "assembler/assembler.h"

#include "fuzz/fuzzer.h"

using namespace Atoll;

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const target::Processor& processor = test::processor_of(data[0]);
  const auto target = target::parse_target_id(processor.name);
  test::require(target.has_value(), "a processor's name is a target ID");
  const auto made = assembler::assemble("input.s", {reinterpret_cast<const char*>(data) + 1, size - 1},
                                        {.target = *target, .include_directories = {}, .symbols = {}});
  test::require(made.object.has_value() || !made.messages.empty(), "an assembly without an object has messages");
  if (!made.object) return 0;
  const auto file = object::write_relocatable(*made.object);
  test::require(object::read_relocatable(file).has_value(), "what is written can be read");
  return 0;
}

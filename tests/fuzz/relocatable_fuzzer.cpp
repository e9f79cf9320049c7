// Input: a relocatable object, which is read, written, and linked with itself alone.
#include "object/relocatable.h"

#include "fuzz/fuzzer.h"
#include "object/code_object.h"
#include "object/link.h"

using namespace Atoll;
using test::require;

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto object = object::read_relocatable({data, size});
  if (!object) return 0;
  for (const object::RelocatableSection& section : object->sections)
    for (const object::RelocatableRelocation& relocation : section.relocations)
      require(relocation.symbol < object->symbols.size(), "relocations name symbols");
  static_cast<void>(object::write_relocatable(*object));
  const std::vector<object::LinkInput> inputs{{.name = "input", .object = std::move(*object)}};
  if (const auto linked = object::link(inputs)) static_cast<void>(object::read_code_object(*linked));
  return 0;
}

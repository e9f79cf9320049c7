// Input: the text of a note, MessagePack; or, after a '#', YAML as the assembler reads it.
#include "object/metadata.h"

#include "fuzz/fuzzer.h"
#include "object/metadata_writer.h"

using namespace Atoll;

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span<const uint8_t> note(data, size);
  std::vector<uint8_t> written;
  if (size > 0 && data[0] == '#') {
    const auto made = object::metadata_from_yaml({reinterpret_cast<const char*>(data) + 1, size - 1});
    if (!made) return 0;
    written = *made;
    note = written;
  }
  const auto metadata = object::read_metadata(note);
  if (!metadata) return 0;
  for (const object::KernelMetadata& kernel : metadata->kernels) {
    test::touch(kernel.name);
    for (const object::KernelArgument& argument : kernel.arguments) {
      test::touch(argument.kind_name);
      test::require(uint64_t{argument.offset} + argument.size <= kernel.kernarg_segment_size,
                    "arguments lie in their segment");
    }
  }
  return 0;
}

// Input: a byte for the processor, whose highest bit chooses the older note of register pairs; then the note.
#include "object/pal/metadata.h"

#include "fuzz/fuzzer.h"

using namespace Atoll;

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const uint8_t> note(data + 1, size - 1);
  const bool pairs = (data[0] & 0x80) != 0;
  const target::Processor& processor = test::processor_of(data[0] & 0x7F);
  const auto metadata = object::read_pal_metadata(
      {.owner = pairs ? "AMD" : "AMDGPU", .type = pairs ? object::nt_amd_pal_metadata : 32, .description = note},
      processor.generation);
  if (!metadata) return 0;
  for (const object::PalPipeline& pipeline : metadata->pipelines)
    for (const object::PalUserData& each : pipeline.user_data)
      test::touch(object::user_data_mapping(each.mapping).name);
  test::touch(object::to_yaml(metadata->document));
  return 0;
}

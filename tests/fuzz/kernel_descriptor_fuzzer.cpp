// Input: a processor and the 64 bytes of a kernel descriptor.
#include <cstring>

#include "fuzz/fuzzer.h"
#include "object/kernel_descriptor_fields.h"

using namespace Atoll;
using test::require;

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  object::RawKernelDescriptor raw;
  if (size < 1 + sizeof raw) return 0;
  const target::Processor& processor = test::processor_of(data[0]);
  std::memcpy(&raw, data + 1, sizeof raw);
  for (const object::DescriptorField* field : object::descriptor_field::all)
    require(field->of(raw) <= field->mask(), "a field has its bits");
  const auto descriptor = object::decode_kernel_descriptor(raw, processor);
  if (!descriptor) return 0;
  require(descriptor->vgprs > 0 && descriptor->vgprs <= processor.addressable_vgprs, "VGPRs are addressable");
  require(descriptor->group_segment_fixed_size <= processor.lds_bytes, "there is as much LDS");
  require(descriptor->user_sgprs <= processor.user_sgprs, "there are as many user SGPRs");
  require((processor.wave_sizes & (descriptor->wave32 ? 1 : 2)) != 0, "the processor has the wave size");
  return 0;
}

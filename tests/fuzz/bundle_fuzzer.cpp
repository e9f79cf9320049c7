// Input: a file that may hold code objects: a bundle, compressed or not, a host's program, an archive.
#include "object/bundle.h"

#include "fuzz/fuzzer.h"

using namespace Atoll;

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  uint64_t consumed = 0;
  if (const auto bundle = object::read_bundle(bytes, &consumed)) {
    test::require(consumed > 0 && consumed <= size, "a bundle has bytes that are there");
    for (const object::BundleEntry& entry : bundle->entries) test::touch(entry.bytes);
  }
  const auto found = object::find_code_objects(bytes);
  if (!found) return 0;
  for (const object::FoundCodeObject& each : found->code_objects) {
    test::touch(each.bytes);
    test::require(each.bundle < found->bundles.size(), "code objects name their bundles");
  }
  if (const auto gpu = target::find_gpu("gfx90a")) static_cast<void>(object::choose_code_objects(*found, gpu->target));
  test::touch(object::targets_of(*found));
  return 0;
}

// Input: a PAL or Mesa3D object, which is linked and made ready for a launch.
#include "object/loadable_code.h"

#include "fuzz/fuzzer.h"

using namespace Atoll;

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto loaded = object::read_loadable_code({data, size});
  if (!loaded) return 0;
  for (const object::EntryPoint& entry : loaded->entry_points) {
    test::touch(entry.name);
    test::require(entry.wave_size == 32 || entry.wave_size == 64, "waves have 32 or 64 lanes");
  }
  for (const object::Segment& segment : loaded->code.segments) test::touch(segment.bytes);
  return 0;
}

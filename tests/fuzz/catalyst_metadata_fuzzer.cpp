// Input: AMD IL metadata. What was read is written, and reads back to the same text.
#include "fuzz/fuzzer.h"
#include "object/catalyst_metadata.h"

using namespace Atoll;
using namespace Atoll::object::catalyst;

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto text = read_metadata_text({reinterpret_cast<const char*>(data), size});
  if (!text) return 0;
  std::string written;
  for (const KernelText& kernel : text->kernels) {
    static_cast<void>(kernel.arguments());
    written += write_kernel_text(kernel);
  }
  for (const DataSegment& segment : text->data) written += write_data_segment(segment);
  const auto again = read_metadata_text(written);
  test::require(again.has_value(), "written metadata can be read");
  std::string twice;
  for (const KernelText& kernel : again->kernels) twice += write_kernel_text(kernel);
  for (const DataSegment& segment : again->data) twice += write_data_segment(segment);
  test::require(twice == written, "written metadata does not change");
  return 0;
}

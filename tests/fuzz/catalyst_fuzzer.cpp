// Input: an OpenCL binary of AMD's Catalyst driver, of OpenCL 1.x or 2.0. It is read, and converted for a launch.
#include "fuzz/fuzzer.h"
#include "object/catalyst_code.h"
#include "object/loadable_code.h"

using namespace Atoll;
using namespace Atoll::object::catalyst;
using test::touch;

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  if (const auto container = read_container(bytes)) {
    touch(container->driver);
    touch(container->compile_options);
    for (const GlobalData& each : container->global_data) touch(each.bytes);
    for (const Kernel& kernel : container->kernels) {
      touch(kernel.image);
      touch(kernel.header);
      for (const Encoding& encoding : kernel.encodings) {
        touch(encoding.text);
        touch(encoding.data);
        for (const CalNote& note : encoding.notes) touch(note.description);
      }
      static_cast<void>(launch_info(*container, kernel));
    }
  }
  if (const auto container = read_cl2_container(bytes)) {
    touch(container->inner);
    touch(container->read_only_data);
    touch(container->global_data);
    for (const Cl2Kernel& kernel : container->kernels) {
      touch(kernel.code);
      touch(kernel.stub);
      for (const Cl2Argument& argument : kernel.arguments) {
        touch(argument.name);
        touch(argument.type_name);
      }
      static_cast<void>(launch_info(*container, kernel));
    }
  }
  if (is_catalyst(bytes)) {
    if (const auto converted = make_code_object(bytes)) {
      const auto read = object::read_loadable_code(*converted, object::AcceptedAbis::amdhsa);
      test::require(read.has_value(), "a converted container can be loaded");
      test::require(container_of(*converted).has_value(), "a converted container has the original in it");
      test::require(constant_buffer_code(*converted).has_value(), "a converted container has its launches");
    }
  }
  return 0;
}

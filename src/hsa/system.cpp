// hsa: facts about the whole system.
#include <hsa/hsa.h>

#include <cstring>

#include "hsa/attribute.h"
#include "hsa/extension_tables.h"
#include "hsa/runtime.h"
#include "machine/signal.h"

using namespace Atoll;
using namespace Atoll::hsa;

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (attribute) {
    case HSA_SYSTEM_INFO_VERSION_MAJOR:
      return give<uint16_t>(value, 1);
    case HSA_SYSTEM_INFO_VERSION_MINOR:
      return give<uint16_t>(value, 1);
    case HSA_SYSTEM_INFO_TIMESTAMP:
      return give<uint64_t>(value, machine::now_ns());
    case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
      return give<uint64_t>(value, 1'000'000'000);
    case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT:
      return give<uint64_t>(value, UINT64_MAX);
    case HSA_SYSTEM_INFO_ENDIANNESS:
      return give(value, HSA_ENDIANNESS_LITTLE);
    case HSA_SYSTEM_INFO_MACHINE_MODEL:
      return give(value, HSA_MACHINE_MODEL_LARGE);
    case HSA_SYSTEM_INFO_EXTENSIONS: {
      auto* bits = static_cast<uint8_t*>(value);
      std::memset(bits, 0, 128);
      for (const Extension& extension : extensions()) {
        if (extension.available) bits[extension.number / 8] |= static_cast<uint8_t>(1U << extension.number % 8);
      }
      return HSA_STATUS_SUCCESS;
    }
    case HSA_AMD_SYSTEM_INFO_BUILD_VERSION:
      return give<const char*>(value, "atoll");
    case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED:
      return give(value, true);
    case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT:
      // True of Atoll whatever the setting; programs are told what the GPU with this target ID would say.
      return give(value, Runtime::get()->gpu().model().target.xnack == target::Setting::on);
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

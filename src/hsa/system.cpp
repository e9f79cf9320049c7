// hsa: facts about the whole system.
#include <hsa/hsa.h>

#include <algorithm>
#include <cstring>

#include "hsa/interface/attribute.h"
#include "hsa/interface/extension_tables.h"
#include "hsa/interface/rocm_7_2.h"
#include "hsa/runtime.h"
#include "machine/queue/signal.h"

using namespace Atoll;
using namespace Atoll::hsa;

namespace {

/// The version of hsa_ext_amd.h that Atoll implements: ROCm 7.2's.
constexpr uint16_t interface_major = 1, interface_minor = 15;

/// The driver has one setting for a process; it is on where every GPU has it on.
bool is_xnack_on() {
  const auto& gpus = Runtime::get()->gpu_agents;
  const auto is_on = [](const auto& gpu) { return gpu->model().target.xnack == target::Setting::on; };
  return !gpus.empty() && std::ranges::all_of(gpus, is_on);
}

}  // namespace

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (static_cast<int>(attribute)) {  // ROCm 7.2 has more than the enumeration of 5.2
    case HSA_SYSTEM_INFO_VERSION_MAJOR:
      return give<uint16_t>(value, 1);
    case HSA_SYSTEM_INFO_VERSION_MINOR:
      return give<uint16_t>(value, 1);
    case HSA_SYSTEM_INFO_TIMESTAMP:
      return give<uint64_t>(value, machine::now_ns());
    case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY:
      return give(value, machine::clock_hz);
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
      // True of Atoll whatever the setting; programs are told what the GPUs with these target IDs would say.
    case HSA_AMD_SYSTEM_INFO_XNACK_ENABLED:
      return give(value, is_xnack_on());
    case HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED:  // waiting threads sleep on futexes
      return give(value, false);
    case HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED:
    case HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED:
      return give(value, true);
    case HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR:
      return give(value, interface_major);
    case HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR:
      return give(value, interface_minor);
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

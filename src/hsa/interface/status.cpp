// hsa: status codes, their texts, and reports.
#include "hsa/interface/status.h"

#include <hsa/hsa_ext_image.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "hsa/interface/api_names.h"

namespace Atoll::hsa {

namespace {

struct StatusText {
  int status;
  const char* text;
};

#define ATOLL_STATUS(name, text) {name, #name ": " text}
constexpr StatusText status_texts[] = {
    ATOLL_STATUS(HSA_STATUS_SUCCESS, "The call succeeded."),
    ATOLL_STATUS(HSA_STATUS_INFO_BREAK, "A callback ended an iteration early."),
    ATOLL_STATUS(HSA_STATUS_ERROR, "Something failed."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, "An argument is not what the function accepts."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION, "A queue of this kind cannot be made."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_ALLOCATION, "An allocation of this kind cannot be made."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_AGENT, "There is no such agent."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_REGION, "There is no such memory region."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_SIGNAL, "There is no such signal."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_QUEUE, "There is no such queue."),
    ATOLL_STATUS(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "Not enough memory or another resource is left."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "An AQL packet is malformed."),
    ATOLL_STATUS(HSA_STATUS_ERROR_RESOURCE_FREE, "A resource could not be given back."),
    ATOLL_STATUS(HSA_STATUS_ERROR_NOT_INITIALIZED, "hsa_init has not been called."),
    ATOLL_STATUS(HSA_STATUS_ERROR_REFCOUNT_OVERFLOW, "A reference count is at its greatest value."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, "The arguments do not fit each other."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_INDEX, "An index is out of range."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_ISA, "There is no such instruction set architecture."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_ISA_NAME, "No instruction set architecture has this name."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "The code object is damaged or of an unknown kind."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_EXECUTABLE, "There is no such executable."),
    ATOLL_STATUS(HSA_STATUS_ERROR_FROZEN_EXECUTABLE, "The executable is frozen."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_SYMBOL_NAME, "No symbol has this name."),
    ATOLL_STATUS(HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED, "The variable has a definition already."),
    ATOLL_STATUS(HSA_STATUS_ERROR_VARIABLE_UNDEFINED, "A variable has no definition."),
    ATOLL_STATUS(HSA_STATUS_ERROR_EXCEPTION, "A kernel raised an exception."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_CODE_SYMBOL, "There is no such code object symbol."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL, "There is no such executable symbol."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_FILE, "The file descriptor cannot be read."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER, "There is no such code object reader."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_CACHE, "There is no such cache."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_WAVEFRONT, "There is no such wavefront."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP, "There is no such signal group."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_RUNTIME_STATE, "The runtime is not in the configuration state."),
    ATOLL_STATUS(HSA_STATUS_ERROR_FATAL, "The queue met an error that it cannot recover from."),
    ATOLL_STATUS(HSA_STATUS_ERROR_INVALID_MEMORY_POOL, "There is no such memory pool."),
    ATOLL_STATUS(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION, "A kernel left an aperture of its memory."),
    ATOLL_STATUS(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, "A kernel ran into an illegal instruction."),
    ATOLL_STATUS(HSA_STATUS_ERROR_MEMORY_FAULT, "A kernel accessed memory that is not mapped."),
    ATOLL_STATUS(HSA_STATUS_CU_MASK_REDUCED, "Some compute units of the mask were not available."),
    ATOLL_STATUS(HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED, "The image format is not supported."),
    ATOLL_STATUS(HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED, "The image size is not supported."),
    ATOLL_STATUS(HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED, "The image pitch is not supported."),
    ATOLL_STATUS(HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED, "The sampler is not supported."),
};
#undef ATOLL_STATUS

}  // namespace

hsa_status_t status_of(support::ErrorKind kind) {
  switch (kind) {
    case support::ErrorKind::invalid_argument:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    case support::ErrorKind::invalid_file:
      return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    case support::ErrorKind::incompatible:
      return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
    case support::ErrorKind::not_found:
      return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
    case support::ErrorKind::out_of_resources:
    case support::ErrorKind::system:
      return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    case support::ErrorKind::memory_fault:
      return static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_FAULT);
    case support::ErrorKind::illegal_instruction:
      return static_cast<hsa_status_t>(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
    case support::ErrorKind::aborted:
      return HSA_STATUS_ERROR_EXCEPTION;
    case support::ErrorKind::unsupported:
      break;
  }
  return HSA_STATUS_ERROR;
}

hsa_status_t status_of(const std::exception& exception) {
  const bool out_of_resources = dynamic_cast<const std::bad_alloc*>(&exception) != nullptr ||
                                dynamic_cast<const std::length_error*>(&exception) != nullptr ||
                                dynamic_cast<const std::system_error*>(&exception) != nullptr;
  return out_of_resources ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_ERROR;
}

hsa_status_t report(std::string_view function, const support::Error& error, hsa_status_t status) {
  std::fputs(fmt::format("atoll: {}: {}\n", function, error.message).c_str(), stderr);
  return status;
}

hsa_status_t report(std::string_view function, const support::Error& error) {
  return report(function, error, status_of(error.kind));
}

}  // namespace Atoll::hsa

hsa_status_t hsa_status_string(hsa_status_t status, const char** status_string) {
  if (status_string == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const auto& row : Atoll::hsa::status_texts) {
    if (row.status == static_cast<int>(status)) {
      *status_string = row.text;
      return HSA_STATUS_SUCCESS;
    }
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

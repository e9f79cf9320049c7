// hsa: AMD's loader extension, by which debuggers and profilers find out what was loaded where.
#include <hsa/hsa_ven_amd_loader.h>

#include <cstring>

#include "hsa/interface/attribute.h"
#include "hsa/runtime.h"

using namespace Atoll::hsa;

namespace {

hsa_executable_t handle_of(const Executable* executable) { return {reinterpret_cast<uint64_t>(executable)}; }

auto storage_type(const LoadedCodeObject& loaded) {
  return loaded.file >= 0 ? HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE
                          : HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY;
}

}  // namespace

hsa_status_t hsa_ven_amd_loader_query_host_address(const void* device_address, const void** host_address) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (device_address == nullptr || host_address == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const bool known = Runtime::get()->executables.around(reinterpret_cast<uint64_t>(device_address)) != nullptr;
  *host_address = known ? device_address : nullptr;
  return known ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_ven_amd_loader_query_segment_descriptors(hsa_ven_amd_loader_segment_descriptor_t* segment_descriptors,
                                                          size_t* num_segment_descriptors) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (num_segment_descriptors == nullptr || (segment_descriptors == nullptr) != (*num_segment_descriptors == 0)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  std::vector<hsa_ven_amd_loader_segment_descriptor_t> descriptors;
  for (Executable* executable : Runtime::get()->executables.all()) {
    const std::scoped_lock lock(executable->mutex);
    for (const LoadedCodeObject& loaded : executable->loaded) {
      hsa_ven_amd_loader_segment_descriptor_t descriptor{};
      descriptor.agent = loaded.agent->handle();
      descriptor.executable = handle_of(executable);
      descriptor.code_object_storage_type = storage_type(loaded);
      descriptor.code_object_storage_base = loaded.storage;
      descriptor.code_object_storage_size = loaded.storage_size;
      descriptor.segment_base = reinterpret_cast<const void*>(loaded.code->base());
      descriptor.segment_size = loaded.code->size();
      descriptors.push_back(descriptor);
    }
  }
  if (segment_descriptors == nullptr) {
    *num_segment_descriptors = descriptors.size();
    return HSA_STATUS_SUCCESS;
  }
  if (*num_segment_descriptors != descriptors.size()) return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
  std::ranges::copy(descriptors, segment_descriptors);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_ven_amd_loader_query_executable(const void* device_address, hsa_executable_t* executable) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (device_address == nullptr || executable == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const LoadedCodeObject* loaded = Runtime::get()->executables.around(reinterpret_cast<uint64_t>(device_address));
  if (loaded == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *executable = handle_of(loaded->executable);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
    hsa_executable_t executable,
    hsa_status_t (*callback)(hsa_executable_t executable, hsa_loaded_code_object_t loaded_code_object, void* data),
    void* data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const Executable* found = Runtime::get()->executables.find(executable);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  std::vector<const LoadedCodeObject*> list;
  {
    const std::scoped_lock lock(found->mutex);
    for (const LoadedCodeObject& loaded : found->loaded) list.push_back(&loaded);
  }
  for (const LoadedCodeObject* loaded : list) {
    const hsa_status_t status = callback(executable, {reinterpret_cast<uint64_t>(loaded)}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_ven_amd_loader_loaded_code_object_get_info(hsa_loaded_code_object_t loaded_code_object,
                                                            hsa_ven_amd_loader_loaded_code_object_info_t attribute,
                                                            void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const LoadedCodeObject* loaded = Runtime::get()->executables.find_loaded(loaded_code_object);
  if (loaded == nullptr) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  const bool in_memory = loaded->file < 0;
  switch (attribute) {
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE:
      return give(value, handle_of(loaded->executable));
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
      return give(value, loaded->is_program ? HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_PROGRAM
                                            : HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT);
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT:
      if (loaded->is_program) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
      return give(value, loaded->agent->handle());
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
      return give<uint32_t>(value, storage_type(*loaded));
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE:
      return in_memory ? give(value, loaded->storage) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE:
      return in_memory ? give<uint64_t>(value, loaded->storage_size) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE:
      return in_memory ? HSA_STATUS_ERROR_INVALID_ARGUMENT : give<int>(value, loaded->file);
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA:  // addresses in the file start at 0
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE:
      return give<uint64_t>(value, loaded->code->base());
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE:
      return give<uint64_t>(value, loaded->code->size());
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH:
      return give(value, static_cast<uint32_t>(loaded->code->uri.size()));
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI:  // without a zero at the end
      std::memcpy(value, loaded->code->uri.data(), loaded->code->uri.size());
      return HSA_STATUS_SUCCESS;
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(
    hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t* code_object_reader) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (code_object_reader == nullptr || size == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::unique_ptr<CodeObjectReader> reader;
  const hsa_status_t status = read_code_object_file(file, offset, size, reader);
  if (status != HSA_STATUS_SUCCESS) return status;
  *code_object_reader = {reinterpret_cast<uint64_t>(Runtime::get()->executables.add_reader(std::move(reader)))};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_ven_amd_loader_iterate_executables(hsa_status_t (*callback)(hsa_executable_t executable, void* data),
                                                    void* data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const Executable* executable : Runtime::get()->executables.all()) {
    const hsa_status_t status = callback(handle_of(executable), data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

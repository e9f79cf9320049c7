// hsa: extension queries.
//
// Images are called available on GPUs without image instructions, too: from their limits HIP takes the pitch of
// ordinary two-dimensional memory, and will not allocate any without them. There every image's format is unsupported.
#include "hsa/interface/extension_tables.h"

#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>

#include <algorithm>
#include <cstring>

#include "hsa/interface/api_names.h"
#include "hsa/interface/rocm_7_2_extensions.h"
#include "hsa/runtime.h"

namespace Atoll::hsa {

namespace {

// The functions that tools may replace are in the tables by their entry points (api_names.h).
#define ATOLL_ENTRY_POINT(function) extern "C" decltype(function) entry_point_##function __asm__(#function);
ATOLL_HSA_IMAGE_FUNCTIONS(ATOLL_ENTRY_POINT)
ATOLL_HSA_PC_SAMPLING_FUNCTIONS(ATOLL_ENTRY_POINT)
#undef ATOLL_ENTRY_POINT

/// Version 1 as ROCm 7.2 has it.
struct ImageFunctions {
  hsa_ext_images_1_pfn_t of_5_2;
  decltype(hsa_ext_sampler_create_v2)* hsa_ext_sampler_create_v2;
};
constexpr ImageFunctions image_table{
    .of_5_2 = {.hsa_ext_image_get_capability = entry_point_hsa_ext_image_get_capability,
               .hsa_ext_image_data_get_info = entry_point_hsa_ext_image_data_get_info,
               .hsa_ext_image_create = entry_point_hsa_ext_image_create,
               .hsa_ext_image_destroy = entry_point_hsa_ext_image_destroy,
               .hsa_ext_image_copy = entry_point_hsa_ext_image_copy,
               .hsa_ext_image_import = entry_point_hsa_ext_image_import,
               .hsa_ext_image_export = entry_point_hsa_ext_image_export,
               .hsa_ext_image_clear = entry_point_hsa_ext_image_clear,
               .hsa_ext_sampler_create = entry_point_hsa_ext_sampler_create,
               .hsa_ext_sampler_destroy = entry_point_hsa_ext_sampler_destroy,
               .hsa_ext_image_get_capability_with_layout = entry_point_hsa_ext_image_get_capability_with_layout,
               .hsa_ext_image_data_get_info_with_layout = entry_point_hsa_ext_image_data_get_info_with_layout,
               .hsa_ext_image_create_with_layout = entry_point_hsa_ext_image_create_with_layout},
    .hsa_ext_sampler_create_v2 = entry_point_hsa_ext_sampler_create_v2};

constexpr hsa_ven_amd_pc_sampling_1_00_pfn_t pc_sampling_table{
    .hsa_ven_amd_pcs_iterate_configuration = entry_point_hsa_ven_amd_pcs_iterate_configuration,
    .hsa_ven_amd_pcs_create = entry_point_hsa_ven_amd_pcs_create,
    .hsa_ven_amd_pcs_create_from_id = entry_point_hsa_ven_amd_pcs_create_from_id,
    .hsa_ven_amd_pcs_destroy = entry_point_hsa_ven_amd_pcs_destroy,
    .hsa_ven_amd_pcs_start = entry_point_hsa_ven_amd_pcs_start,
    .hsa_ven_amd_pcs_stop = entry_point_hsa_ven_amd_pcs_stop,
    .hsa_ven_amd_pcs_flush = entry_point_hsa_ven_amd_pcs_flush};

constexpr hsa_ven_amd_loader_1_03_pfn_t loader_table{
    .hsa_ven_amd_loader_query_host_address = hsa_ven_amd_loader_query_host_address,
    .hsa_ven_amd_loader_query_segment_descriptors = hsa_ven_amd_loader_query_segment_descriptors,
    .hsa_ven_amd_loader_query_executable = hsa_ven_amd_loader_query_executable,
    .hsa_ven_amd_loader_executable_iterate_loaded_code_objects =
        hsa_ven_amd_loader_executable_iterate_loaded_code_objects,
    .hsa_ven_amd_loader_loaded_code_object_get_info = hsa_ven_amd_loader_loaded_code_object_get_info,
    .hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size =
        hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size,
    .hsa_ven_amd_loader_iterate_executables = hsa_ven_amd_loader_iterate_executables};

constexpr Extension known[] = {
    {HSA_EXTENSION_FINALIZER, "HSA_EXTENSION_FINALIZER", false, 0, 0, nullptr, 0},
    {HSA_EXTENSION_IMAGES, "HSA_EXTENSION_IMAGES", true, 1, 0, &image_table, sizeof image_table},
    {HSA_EXTENSION_PERFORMANCE_COUNTERS, "HSA_EXTENSION_PERFORMANCE_COUNTERS", false, 0, 0, nullptr, 0},
    {HSA_EXTENSION_PROFILING_EVENTS, "HSA_EXTENSION_PROFILING_EVENTS", false, 0, 0, nullptr, 0},
    {HSA_EXTENSION_AMD_PROFILER, "HSA_EXTENSION_AMD_PROFILER", true, 1, 0, nullptr, 0},
    {HSA_EXTENSION_AMD_LOADER, "HSA_EXTENSION_AMD_LOADER", true, 1, 3, &loader_table, sizeof loader_table},
    {HSA_EXTENSION_AMD_AQLPROFILE, "HSA_EXTENSION_AMD_AQLPROFILE", false, 0, 0, nullptr, 0},
    // Unavailable, but its table has functions that return an error.
    {HSA_EXTENSION_AMD_PC_SAMPLING, "HSA_EXTENSION_AMD_PC_SAMPLING", false, 1, 0, &pc_sampling_table,
     sizeof pc_sampling_table},
};

const Extension* find(uint16_t number) {
  const auto* row = std::ranges::find(known, number, &Extension::number);
  return row == std::end(known) ? nullptr : row;
}

/// Writes the table, or as much of it as `length` bytes hold.
hsa_status_t give_table(uint16_t number, uint16_t major, uint16_t minor, size_t length, void* table) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (table == nullptr || length == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const Extension* extension = find(number);
  if (extension == nullptr || extension->table == nullptr) return HSA_STATUS_ERROR;
  if (major != extension->major || minor > extension->minor) return HSA_STATUS_ERROR;
  std::memset(table, 0, length);
  std::memcpy(table, extension->table, std::min(length, extension->table_bytes));
  return HSA_STATUS_SUCCESS;
}

}  // namespace

std::span<const Extension> extensions() { return known; }

}  // namespace Atoll::hsa

using namespace Atoll::hsa;

hsa_status_t hsa_extension_get_name(uint16_t extension, const char** name) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Extension* row = find(extension);
  if (row == nullptr || name == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *name = row->name;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t version_major, uint16_t version_minor,
                                            bool* result) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Extension* row = find(extension);
  if (row == nullptr || result == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = row->available && version_major == row->major && version_minor <= row->minor;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t version_major, uint16_t* version_minor,
                                                  bool* result) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Extension* row = find(extension);
  if (row == nullptr || version_minor == nullptr || result == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = row->available && version_major == row->major;
  if (*result) *version_minor = row->minor;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t version_major, uint16_t version_minor,
                                            void* table) {
  // The caller's structure is that of the version it names.
  size_t length = 0;
  const Extension* row = find(extension);
  if (row != nullptr) length = row->table_bytes;
  if (extension == HSA_EXTENSION_IMAGES && version_minor == 0) length = sizeof(hsa_ext_images_1_00_pfn_t);
  if (extension == HSA_EXTENSION_AMD_LOADER) {
    constexpr size_t sizes[] = {sizeof(hsa_ven_amd_loader_1_00_pfn_t), sizeof(hsa_ven_amd_loader_1_01_pfn_t),
                                sizeof(hsa_ven_amd_loader_1_02_pfn_t), sizeof(hsa_ven_amd_loader_1_03_pfn_t)};
    if (version_minor < std::size(sizes)) length = sizes[version_minor];
  }
  if (is_initialized() && table != nullptr && length == 0) return HSA_STATUS_ERROR;
  return give_table(extension, version_major, version_minor, length, table);
}

hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t version_major, size_t table_length,
                                                  void* table) {
  return give_table(extension, version_major, 0, table_length, table);
}

hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t version_major,
                                           uint16_t version_minor, bool* result) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (result == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = false;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  const hsa_status_t status = hsa_system_extension_supported(extension, version_major, version_minor, result);
  *result = *result && found->is_gpu();
  return status;
}

hsa_status_t hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t version_major,
                                                 uint16_t* version_minor, bool* result) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (result == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = false;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  const hsa_status_t status = hsa_system_major_extension_supported(extension, version_major, version_minor, result);
  *result = *result && found->is_gpu();
  return status;
}

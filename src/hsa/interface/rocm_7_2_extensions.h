// hsa: what ROCm 7.2's headers of the extensions declare and those of ROCm 5.2, with which Atoll is built, do not:
// samplers with an addressing mode for each axis, PC sampling, coordinates of hardware counters.
// Source: hsa_ext_image.h, hsa_ven_amd_pc_sampling.h, hsa_ven_amd_aqlprofile.h of ROCm 7.2;
// tests/hsa/extensions_test.cpp compares the layouts.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_aqlprofile.h>

#include <cstddef>
#include <cstdint>

#if __has_include(<hsa/hsa_ven_amd_pc_sampling.h>)
#include <hsa/hsa_ven_amd_pc_sampling.h>
#else

inline constexpr uint16_t HSA_EXTENSION_AMD_PC_SAMPLING = 0x203;

extern "C" {

// Images.
struct hsa_ext_sampler_descriptor_v2_t {
  hsa_ext_sampler_coordinate_mode32_t coordinate_mode;
  hsa_ext_sampler_filter_mode32_t filter_mode;
  hsa_ext_sampler_addressing_mode32_t address_modes[3];  // of x, y and z
};
hsa_status_t hsa_ext_sampler_create_v2(hsa_agent_t agent, const hsa_ext_sampler_descriptor_v2_t* sampler_descriptor,
                                       hsa_ext_sampler_t* sampler);

// PC sampling.
enum hsa_ven_amd_pcs_method_kind_t : uint32_t {
  HSA_VEN_AMD_PCS_METHOD_HOSTTRAP_V1,
  HSA_VEN_AMD_PCS_METHOD_STOCHASTIC_V1
};
enum hsa_ven_amd_pcs_units_t : uint32_t {
  HSA_VEN_AMD_PCS_INTERVAL_UNITS_MICRO_SECONDS,
  HSA_VEN_AMD_PCS_INTERVAL_UNITS_CLOCK_CYCLES,
  HSA_VEN_AMD_PCS_INTERVAL_UNITS_INSTRUCTIONS
};
struct hsa_ven_amd_pcs_t {
  uint64_t handle;
};
struct hsa_ven_amd_pcs_configuration_t {
  hsa_ven_amd_pcs_method_kind_t method;
  hsa_ven_amd_pcs_units_t units;
  size_t min_interval, max_interval;
  uint64_t flags;
};
typedef hsa_status_t (*hsa_ven_amd_pcs_data_copy_callback_t)(void* hsa_callback_data, size_t data_size,
                                                             void* destination);
typedef void (*hsa_ven_amd_pcs_data_ready_callback_t)(void* client_callback_data, size_t data_size,
                                                      size_t lost_sample_count,
                                                      hsa_ven_amd_pcs_data_copy_callback_t data_copy_callback,
                                                      void* hsa_callback_data);
typedef hsa_status_t (*hsa_ven_amd_pcs_iterate_configuration_callback_t)(
    const hsa_ven_amd_pcs_configuration_t* configuration, void* callback_data);
hsa_status_t hsa_ven_amd_pcs_iterate_configuration(
    hsa_agent_t agent, hsa_ven_amd_pcs_iterate_configuration_callback_t configuration_callback, void* callback_data);
hsa_status_t hsa_ven_amd_pcs_create(hsa_agent_t agent, hsa_ven_amd_pcs_method_kind_t method,
                                    hsa_ven_amd_pcs_units_t units, size_t interval, size_t latency, size_t buffer_size,
                                    hsa_ven_amd_pcs_data_ready_callback_t data_ready_callback,
                                    void* client_callback_data, hsa_ven_amd_pcs_t* pc_sampling);
hsa_status_t hsa_ven_amd_pcs_create_from_id(uint32_t pcs_id, hsa_agent_t agent, hsa_ven_amd_pcs_method_kind_t method,
                                            hsa_ven_amd_pcs_units_t units, size_t interval, size_t latency,
                                            size_t buffer_size,
                                            hsa_ven_amd_pcs_data_ready_callback_t data_ready_callback,
                                            void* client_callback_data, hsa_ven_amd_pcs_t* pc_sampling);
hsa_status_t hsa_ven_amd_pcs_destroy(hsa_ven_amd_pcs_t pc_sampling);
hsa_status_t hsa_ven_amd_pcs_start(hsa_ven_amd_pcs_t pc_sampling);
hsa_status_t hsa_ven_amd_pcs_stop(hsa_ven_amd_pcs_t pc_sampling);
hsa_status_t hsa_ven_amd_pcs_flush(hsa_ven_amd_pcs_t pc_sampling);

/// The extension's table, version 1.00.
struct hsa_ven_amd_pc_sampling_1_00_pfn_t {
  decltype(::hsa_ven_amd_pcs_iterate_configuration)* hsa_ven_amd_pcs_iterate_configuration;
  decltype(::hsa_ven_amd_pcs_create)* hsa_ven_amd_pcs_create;
  decltype(::hsa_ven_amd_pcs_create_from_id)* hsa_ven_amd_pcs_create_from_id;
  decltype(::hsa_ven_amd_pcs_destroy)* hsa_ven_amd_pcs_destroy;
  decltype(::hsa_ven_amd_pcs_start)* hsa_ven_amd_pcs_start;
  decltype(::hsa_ven_amd_pcs_stop)* hsa_ven_amd_pcs_stop;
  decltype(::hsa_ven_amd_pcs_flush)* hsa_ven_amd_pcs_flush;
};

// Hardware counters.
enum hsa_ven_amd_aqlprofile_att_marker_channel_t : uint32_t {
  HSA_VEN_AMD_AQLPROFILE_ATT_CHANNEL_0,
  HSA_VEN_AMD_AQLPROFILE_ATT_CHANNEL_1,
  HSA_VEN_AMD_AQLPROFILE_ATT_CHANNEL_2,
  HSA_VEN_AMD_AQLPROFILE_ATT_CHANNEL_3
};
typedef hsa_status_t (*hsa_ven_amd_aqlprofile_eventname_callback_t)(int id, const char* name);
typedef hsa_status_t (*hsa_ven_amd_aqlprofile_coordinate_callback_t)(int position, int id, int extent, int coordinate,
                                                                     const char* name, void* userdata);
hsa_status_t hsa_ven_amd_aqlprofile_iterate_event_ids(hsa_ven_amd_aqlprofile_eventname_callback_t callback);
hsa_status_t hsa_ven_amd_aqlprofile_iterate_event_coord(hsa_agent_t agent, hsa_ven_amd_aqlprofile_event_t event,
                                                        uint32_t sample_id,
                                                        hsa_ven_amd_aqlprofile_coordinate_callback_t callback,
                                                        void* userdata);
hsa_status_t hsa_ven_amd_aqlprofile_att_marker(hsa_ven_amd_aqlprofile_profile_t* profile,
                                               hsa_ext_amd_aql_pm4_packet_t* aql_marker_packet, uint32_t data,
                                               hsa_ven_amd_aqlprofile_att_marker_channel_t channel);

}  // extern "C"

#endif

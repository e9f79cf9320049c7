// object: the keys of PAL metadata's MessagePack maps, as a table: the map a key is in, the type of its value, and, for
// a value that is a map itself, that map's keys.
#pragma once

#include <cstdint>
#include <string_view>

namespace Atoll::object {

enum class PalMap : uint8_t {
  none,
  root,
  pipeline,
  xgl_cache_info,
  shaders,
  shader,
  stages,
  stage,
  function,
  compute_registers,
  graphics_registers,
  preraster_output_semantic,
  ps_input_semantic,
  cb_const_usage,
  pa_cl_clip_cntl,
  pa_cl_vte_cntl,
  pa_su_vtx_cntl,
  vgt_shader_stages_en,
  vgt_gs_mode,
  vgt_tf_param,
  vgt_ls_hs_config,
  ia_multi_vgt_param,
  spi_interp_control,
  spi_ps_input_cntl,
  spi_shader_gs_meshlet_dim,
  spi_shader_gs_meshlet_exp_alloc,
  vgt_gs_instance_cnt,
  vgt_gs_out_prim_type,
  ge_ngg_subgrp_cntl,
  vgt_gs_onchip_cntl,
  pa_cl_vs_out_cntl,
  spi_vs_out_config,
  vgt_strmout_config,
  vgt_strmout_buffer_config,
  cb_shader_mask,
  db_shader_control,
  spi_ps_in_control,
  pa_sc_shader_control,
  spi_baryc_cntl,
  spi_ps_input_ena,
  spi_ps_input_addr,
  spi_shader_col_format,
  spi_shader_gs_meshlet_ctrl
};

enum class PalType : uint8_t {
  integer,
  boolean,
  scalar,  ///< an integer, a boolean, a float or text
  text,
  binary,
  integers,    ///< a list
  texts,       ///< a list
  map,         ///< with the keys of PalKey::value_map
  maps,        ///< a list of such maps
  named_maps,  ///< a map of such maps, its keys chosen by the compiler
  registers    ///< a map of integers to integers
};

struct PalKey {
  PalMap map;
  std::string_view key;
  PalType type;
  PalMap value_map;
};

/// Returns the key's row, or nullptr.
const PalKey* find_pal_key(PalMap map, std::string_view key);

std::string_view type_name(PalType type);  ///< "a list of integers"

}  // namespace Atoll::object

// semantics: the functions of one level that code outside of the levels calls.
//
// Each level fills in one LevelFunctions. Outside of the levels, the functions of registry.h, modifiers.h and
// lane_movement.h go through that of the level in use (host_vectors.cpp).
#pragma once

#include "semantics/host_vectors.h"
#include "semantics/lanes/lane_movement.h"
#include "semantics/matrix/mfma.h"
#include "semantics/matrix/wmma.h"
#include "semantics/matrix/wmma_gfx12_5.h"
#include "semantics/modifiers.h"
#include "semantics/registry.h"

namespace Atoll::semantics {

struct LevelFunctions {
  decltype(&semantics::vector_function) vector_function;
  decltype(&semantics::has_source_modifiers) has_source_modifiers;
  decltype(&semantics::apply_source_modifiers) apply_source_modifiers;
  decltype(&semantics::apply_mixed_source) apply_mixed_source;
  decltype(&semantics::apply_result_modifiers) apply_result_modifiers;
  decltype(&semantics::merge_high_half) merge_high_half;
  decltype(&semantics::merge_sdwa) merge_sdwa;
  decltype(&semantics::apply_dpp) apply_dpp;
  decltype(&semantics::swizzle) swizzle;
  decltype(&semantics::permute) permute;
  decltype(&semantics::backward_permute) backward_permute;
  decltype(&semantics::multiply) multiply;
  decltype(&semantics::wave_multiply) wave_multiply;
  decltype(&semantics::deep_multiply) deep_multiply;
};

/// Functions of a level that the host supports.
const LevelFunctions& functions_of(HostVectors level);

}  // namespace Atoll::semantics

// hsa: the finalizer, which compiled HSAIL. No runtime of AMD's has had one since ROCm 1.6, and neither has Atoll: the
// extension is said to be unsupported, no program can be created, and no handle of a program is valid.
#include <hsa/hsa_ext_finalize.h>

#include "hsa/interface/api_names.h"
#include "hsa/runtime.h"

using namespace Atoll::hsa;

namespace {

hsa_status_t refuse_program() {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return static_cast<hsa_status_t>(HSA_EXT_STATUS_ERROR_INVALID_PROGRAM);
}

}  // namespace

hsa_status_t hsa_ext_program_create(hsa_machine_model_t machine_model, hsa_profile_t profile,
                                    hsa_default_float_rounding_mode_t default_float_rounding_mode, const char*,
                                    hsa_ext_program_t* program) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (program == nullptr || machine_model > HSA_MACHINE_MODEL_LARGE || profile > HSA_PROFILE_FULL ||
      default_float_rounding_mode > HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_ext_program_destroy(hsa_ext_program_t) { return refuse_program(); }

hsa_status_t hsa_ext_program_add_module(hsa_ext_program_t, hsa_ext_module_t) { return refuse_program(); }

hsa_status_t hsa_ext_program_iterate_modules(hsa_ext_program_t,
                                             hsa_status_t (*)(hsa_ext_program_t, hsa_ext_module_t, void*), void*) {
  return refuse_program();
}

hsa_status_t hsa_ext_program_get_info(hsa_ext_program_t, hsa_ext_program_info_t, void*) { return refuse_program(); }

hsa_status_t hsa_ext_program_finalize(hsa_ext_program_t, hsa_isa_t, int32_t, hsa_ext_control_directives_t, const char*,
                                      hsa_code_object_type_t, hsa_code_object_t*) {
  return refuse_program();
}

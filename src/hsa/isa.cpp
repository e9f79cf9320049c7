// hsa: ISA queries.
#include "hsa/isa.h"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "hsa/interface/attribute.h"
#include "hsa/runtime.h"
#include "support/fork.h"

namespace Atoll::hsa {

namespace {

/// What the handles of an hsa_isa_t and of its hsa_wavefront_t point to.
struct Isa {
  target::TargetId target;
  std::string name;
};

/// All requested ISAs by name; never freed, because handles may be kept.
class Isas {
 public:
  const Isa* named(const target::TargetId& target) {
    const std::scoped_lock lock(mutex_);
    const std::string name = "amdgcn-amd-amdhsa--" + target.to_string();
    std::unique_ptr<Isa>& isa = isas_[name];
    if (!isa) isa = std::make_unique<Isa>(Isa{target, name});
    return isa.get();
  }
  const Isa* find(uint64_t handle) const {
    const std::scoped_lock lock(mutex_);
    for (const auto& [name, isa] : isas_) {
      if (reinterpret_cast<uint64_t>(isa.get()) == handle) return isa.get();
    }
    return nullptr;
  }

  mutable std::mutex mutex_;

 private:
  std::map<std::string, std::unique_ptr<Isa>> isas_;
};

Isas& isas() {
  static auto* const instance = [] {
    auto* made = new Isas;
    support::keep_free_in_forks(made->mutex_, support::LockDepth::innermost);
    return made;
  }();
  return *instance;
}

}  // namespace

hsa_isa_t isa_of(const GpuAgent& agent) { return {reinterpret_cast<uint64_t>(isas().named(agent.model().target))}; }

uint32_t wave_size(const target::Processor& processor) { return processor.has_wave_size(32) ? 32 : 64; }

}  // namespace Atoll::hsa

using namespace Atoll;
using namespace Atoll::hsa;

hsa_status_t hsa_isa_from_name(const char* name, hsa_isa_t* isa) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (name == nullptr || isa == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto target = target::parse_target_id(name);
  if (!target) return HSA_STATUS_ERROR_INVALID_ISA_NAME;
  *isa = {reinterpret_cast<uint64_t>(isas().named(*target))};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_status_t (*callback)(hsa_isa_t isa, void* data),
                                    void* data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Agent* found = Runtime::get()->find_agent(agent);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const GpuAgent* gpu = Runtime::get()->find_gpu(agent);
  return gpu != nullptr ? callback(isa_of(*gpu), data) : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_get_info_alt(hsa_isa_t handle, hsa_isa_info_t attribute, void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Isa* isa = isas().find(handle.handle);
  if (isa == nullptr) return HSA_STATUS_ERROR_INVALID_ISA;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const target::Processor& processor = *isa->target.processor;
  switch (attribute) {
    case HSA_ISA_INFO_NAME_LENGTH:  // ROCr counts the zero at the end
      return give(value, static_cast<uint32_t>(isa->name.size() + 1));
    case HSA_ISA_INFO_NAME:
      std::memcpy(value, isa->name.c_str(), isa->name.size() + 1);
      return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_CALL_CONVENTION_COUNT:
      return give<uint32_t>(value, 1);
    case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE:
      return give<uint32_t>(value, wave_size(processor));
    case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT:
      return give<uint32_t>(value, uint32_t{processor.simds_per_cu} * processor.waves_per_simd);
    case HSA_ISA_INFO_MACHINE_MODELS: {
      const bool models[2] = {false, true};
      return give(value, models);
    }
    case HSA_ISA_INFO_PROFILES: {
      const bool profiles[2] = {true, false};
      return give(value, profiles);
    }
    case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
    case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES: {
      const bool modes[3] = {false, false, true};  // default, towards zero, to nearest
      return give(value, modes);
    }
    case HSA_ISA_INFO_FAST_F16_OPERATION:
      return give(value, processor.generation >= target::Generation::gfx8);
    case HSA_ISA_INFO_WORKGROUP_MAX_DIM: {
      const uint16_t size[3] = {max_work_group_size, max_work_group_size, max_work_group_size};
      return give(value, size);
    }
    case HSA_ISA_INFO_WORKGROUP_MAX_SIZE:
      return give<uint32_t>(value, max_work_group_size);
    case HSA_ISA_INFO_GRID_MAX_DIM:
      return give(value, hsa_dim3_t{UINT32_MAX, UINT32_MAX, UINT32_MAX});
    case HSA_ISA_INFO_GRID_MAX_SIZE:
      return give<uint64_t>(value, UINT64_MAX);
    case HSA_ISA_INFO_FBARRIER_MAX_SIZE:
      return give<uint32_t>(value, 32);
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_isa_get_info(hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index, void* value) {
  // The index chooses a call convention, of which there is one.
  if (is_initialized() && index != 0) return HSA_STATUS_ERROR_INVALID_INDEX;
  return hsa_isa_get_info_alt(isa, attribute, value);
}

hsa_status_t hsa_isa_get_exception_policies(hsa_isa_t isa, hsa_profile_t profile, uint16_t* mask) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (isas().find(isa.handle) == nullptr) return HSA_STATUS_ERROR_INVALID_ISA;
  if (mask == nullptr || (profile != HSA_PROFILE_BASE && profile != HSA_PROFILE_FULL)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  *mask = 0;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_get_round_method(hsa_isa_t isa, hsa_fp_type_t fp_type, hsa_flush_mode_t flush_mode,
                                      hsa_round_method_t* round_method) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (isas().find(isa.handle) == nullptr) return HSA_STATUS_ERROR_INVALID_ISA;
  const bool known_type = fp_type == HSA_FP_TYPE_16 || fp_type == HSA_FP_TYPE_32 || fp_type == HSA_FP_TYPE_64;
  const bool known_mode = flush_mode == HSA_FLUSH_MODE_FTZ || flush_mode == HSA_FLUSH_MODE_NON_FTZ;
  if (!known_type || !known_mode || round_method == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *round_method = HSA_ROUND_METHOD_SINGLE;  // multiply-add is fused
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_isa_iterate_wavefronts(hsa_isa_t isa, hsa_status_t (*callback)(hsa_wavefront_t wavefront, void* data),
                                        void* data) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (isas().find(isa.handle) == nullptr) return HSA_STATUS_ERROR_INVALID_ISA;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return callback({isa.handle}, data);
}

hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t wavefront, hsa_wavefront_info_t attribute, void* value) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Isa* isa = isas().find(wavefront.handle);
  if (isa == nullptr) return HSA_STATUS_ERROR_INVALID_WAVEFRONT;
  if (value == nullptr || attribute != HSA_WAVEFRONT_INFO_SIZE) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return give<uint32_t>(value, wave_size(*isa->target.processor));
}

hsa_status_t hsa_isa_compatible(hsa_isa_t code_object_isa, hsa_isa_t agent_isa, bool* result) {
  if (!is_initialized()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const Isa* code = isas().find(code_object_isa.handle);
  const Isa* agent = isas().find(agent_isa.handle);
  if (code == nullptr || agent == nullptr) return HSA_STATUS_ERROR_INVALID_ISA;
  if (result == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = target::check_runs_on(code->target, agent->target).has_value();
  return HSA_STATUS_SUCCESS;
}

// engine: from code outside of the levels to the level in use (host_isa_functions.h).
#include "engine/host_isa/host_isa_functions.h"
#include "semantics/host_vectors.h"

namespace Atoll::engine {

namespace portable {
extern const LevelFunctions level_functions;
}
namespace avx2 {
extern const LevelFunctions level_functions;
}
namespace avx512 {
extern const LevelFunctions level_functions;
}

namespace {

const LevelFunctions& level() {
  switch (semantics::host_vectors()) {
    case semantics::HostVectors::avx512:
      return avx512::level_functions;
    case semantics::HostVectors::avx2:
      return avx2::level_functions;
    case semantics::HostVectors::portable:
      break;
  }
  return portable::level_functions;
}

}  // namespace

Handler prepare_vector(Preparation& p) { return level().prepare_vector(p); }
Handler prepare_matrix(Preparation& p) { return level().prepare_matrix(p); }
void multiply_ops(Wave* wave, const MicroOp* const* ops, uint64_t count, Run* run) {
  level().multiply_ops(wave, ops, count, run);
}
Handler prepare_lane_operation(Preparation& p) { return level().prepare_lane_operation(p); }
Handler prepare_flat_memory(Preparation& p) { return level().prepare_flat_memory(p); }
Handler prepare_buffer(Preparation& p) { return level().prepare_buffer(p); }
Handler prepare_lds(Preparation& p) { return level().prepare_lds(p); }
Transfer transfer_function(const semantics::MemoryAccess& access) { return level().transfer_function(access); }
Atomic atomic_function(semantics::AtomicOperation operation, unsigned bytes) {
  return level().atomic_function(operation, bytes);
}
LdsAtomic lds_atomic_function(semantics::AtomicOperation operation, unsigned bytes) {
  return level().lds_atomic_function(operation, bytes);
}
machine::AccessPattern access_pattern(const uint64_t* addresses, uint64_t lanes, uint32_t bytes) {
  return level().access_pattern(addresses, lanes, bytes);
}
bool load_image_rows(const ImageAccess& access, uint64_t lanes, const Row* vgprs, Row* rows) {
  return level().load_image_rows(access, lanes, vgprs, rows);
}
bool sample_image_rows(const ImageAccess& access, const semantics::ImageSampler& sampler, uint64_t lanes,
                       const Row* vgprs, Row* rows) {
  return level().sample_image_rows(access, sampler, lanes, vgprs, rows);
}

}  // namespace Atoll::engine

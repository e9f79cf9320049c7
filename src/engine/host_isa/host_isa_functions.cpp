// engine: the functions of one level (host_isa_functions.h).
#include "engine/host_isa/host_isa_functions.h"

namespace Atoll::engine {
inline namespace ATOLL_LEVEL {

extern const LevelFunctions level_functions;
constexpr LevelFunctions level_functions = {
    .prepare_vector = &prepare_vector,
    .prepare_matrix = &prepare_matrix,
    .multiply_ops = &multiply_ops,
    .prepare_lane_operation = &prepare_lane_operation,
    .prepare_flat_memory = &prepare_flat_memory,
    .prepare_buffer = &prepare_buffer,
    .prepare_lds = &prepare_lds,
    .transfer_function = &transfer_function,
    .atomic_function = &atomic_function,
    .lds_atomic_function = &lds_atomic_function,
    .access_pattern = &access_pattern,
    .load_image_rows = &load_image_rows,
    .sample_image_rows = &sample_image_rows,
};

}  // namespace ATOLL_LEVEL
}  // namespace Atoll::engine

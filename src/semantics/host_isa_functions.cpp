// semantics: the functions of one level (host_isa_functions.h).
#include "semantics/host_isa_functions.h"

namespace Atoll::semantics {
inline namespace ATOLL_LEVEL {

extern const LevelFunctions level_functions;
constexpr LevelFunctions level_functions = {
    .vector_function = &vector_function,
    .has_source_modifiers = &has_source_modifiers,
    .apply_source_modifiers = &apply_source_modifiers,
    .apply_mixed_source = &apply_mixed_source,
    .apply_result_modifiers = &apply_result_modifiers,
    .merge_high_half = &merge_high_half,
    .merge_sdwa = &merge_sdwa,
    .apply_dpp = &apply_dpp,
    .swizzle = &swizzle,
    .permute = &permute,
    .backward_permute = &backward_permute,
    .multiply = &multiply,
    .wave_multiply = &wave_multiply,
    .deep_multiply = &deep_multiply,
};

}  // namespace ATOLL_LEVEL
}  // namespace Atoll::semantics

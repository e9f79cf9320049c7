// engine: vectorised image loads and samples of a whole wave.
//
// The common case has one level, 32-bit coordinates, and no reference value, gradients or offsets. It is executed on
// rows of lanes with the host ISA level's instructions. image.h executes all other cases lane by lane. Both are
// bit-identical, except which of several NaNs a filter returns.
#pragma once

#include "engine/image/image.h"

namespace Atoll::engine {

ATOLL_HOST_ISA_BEGIN
/// Executes image_load into `rows`. Returns false, without any effect, if it is not the common case.
bool load_image_rows(const ImageAccess& access, uint64_t lanes, const Row* vgprs, Row* rows);
/// Executes image_sample in the same way.
bool sample_image_rows(const ImageAccess& access, const semantics::ImageSampler& sampler, uint64_t lanes,
                       const Row* vgprs, Row* rows);
ATOLL_HOST_ISA_END

}  // namespace Atoll::engine
